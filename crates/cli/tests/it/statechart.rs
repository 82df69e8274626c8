//! `adjourn statechart`.

use std::process::{Command, Stdio};

use adjourn_chart::{Chart, Format, json_list, render};

use crate::{adjourn, stdout, wrong_use};

#[test]
fn each_machine_in_each_format_is_what_the_chart_crate_renders() {
    for chart in Chart::all() {
        for &format in Format::ALL {
            let shown = stdout(&["statechart", chart.name, "--format", format.name()]);
            assert_eq!(shown, render(&chart, format), "{} as {format}", chart.name);
        }
    }
}

#[test]
fn text_is_the_default_and_without_a_machine_all_are_shown() {
    let all: Vec<_> = Chart::all().iter().map(|chart| render(chart, Format::Text)).collect();
    assert_eq!(stdout(&["statechart", "run"]), render(&Chart::named("run").unwrap(), Format::Text));
    assert_eq!(stdout(&["statechart"]), all.join("\n"));
    let mermaid = stdout(&["statechart", "--format", "mermaid"]);
    assert_eq!(mermaid.matches("stateDiagram-v2\n").count(), all.len());
}

#[test]
fn json_means_the_format_json_before_and_after_the_command() {
    let run = render(&Chart::named("run").unwrap(), Format::Json);
    assert_eq!(stdout(&["--json", "statechart", "run"]), run);
    assert_eq!(stdout(&["statechart", "run", "--json"]), run);
    assert_eq!(stdout(&["statechart", "run", "--json", "--format", "json"]), run);
    assert_eq!(stdout(&["statechart", "--json"]), json_list(&Chart::all()));
}

#[test]
fn json_and_another_format_are_refused_together() {
    let complaint = wrong_use(&["statechart", "run", "--json", "--format", "svg"]);
    assert!(
        complaint.contains("--json asks for JSON and --format for svg: give one of the two"),
        "{complaint}"
    );
}

#[test]
fn a_wrong_machine_is_refused_with_the_right_ones() {
    let complaint = wrong_use(&["statechart", "runn"]);
    for chart in Chart::all() {
        assert!(complaint.contains(chart.name), "{complaint}");
    }
    assert!(complaint.contains("a similar value exists: 'run'"), "{complaint}");
}

#[test]
fn a_wrong_format_is_refused_with_the_right_ones() {
    let complaint = wrong_use(&["statechart", "run", "--format", "png"]);
    assert!(complaint.contains("[possible values: text, mermaid, svg, json]"), "{complaint}");
}

#[test]
fn svg_without_a_machine_is_refused_and_says_what_to_do() {
    let complaint = wrong_use(&["statechart", "--format", "svg"]);
    assert!(complaint.contains("name it, as in `adjourn statechart run --format svg`"), "{complaint}");
}

#[test]
fn colour_is_only_for_those_who_ask() {
    let piped = stdout(&["statechart", "topic"]);
    assert!(!piped.contains('\u{1b}'));
    let coloured = adjourn(&["statechart", "topic"]).env("CLICOLOR_FORCE", "1").output().unwrap().stdout;
    assert!(String::from_utf8(coloured).unwrap().starts_with("\u{1b}[1mtopic: "));
}

#[test]
fn a_reader_who_left_is_no_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
        .arg("statechart")
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert!(output.status.success(), "{}", output.status);
}
