//! What the drawings look like, and whether those under `docs/` are up to date.

use std::collections::BTreeSet;
use std::path::Path;

use adjourn_chart::{Chart, Format, documents, json_list, render};

#[test]
fn text_mermaid_and_json_of_a_large_and_a_small_machine() {
    for name in ["run", "topic"] {
        let chart = Chart::named(name).unwrap();
        for format in [Format::Text, Format::Mermaid, Format::Json] {
            insta::assert_snapshot!(format!("{name}.{format}"), render(&chart, format));
        }
    }
}

#[test]
fn several_machines_are_one_json_list() {
    let charts = Chart::all();
    let list: Vec<serde_json::Value> = serde_json::from_str(&json_list(&charts)).unwrap();
    let each: Vec<serde_json::Value> =
        charts.iter().map(|chart| serde_json::from_str(&render(chart, Format::Json)).unwrap()).collect();
    assert_eq!(list, each);
}

#[test]
fn every_format_names_every_state_and_every_trigger() {
    for chart in Chart::all() {
        for &format in Format::ALL {
            let drawing = render(&chart, format);
            let states = chart.states.iter().map(|state| state.name);
            for name in states.chain(chart.edges.iter().map(|edge| edge.trigger)) {
                assert!(drawing.contains(name), "{} as {format} does not name {name}", chart.name);
            }
        }
    }
}

#[test]
fn mermaid_draws_one_line_for_each_pair_of_states() {
    for chart in Chart::all() {
        let drawing = render(&chart, Format::Mermaid);
        let pairs: BTreeSet<_> = chart.edges.iter().map(|edge| (edge.from, edge.to)).collect();
        let ends = chart.states.iter().filter(|state| state.initial || state.terminal).count();
        assert_eq!(drawing.matches(" --> ").count(), pairs.len() + ends, "{}", chart.name);
    }
}

#[test]
fn the_pages_under_docs_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let documents = documents();
    let stale: Vec<_> = documents
        .iter()
        .filter(|(path, content)| std::fs::read_to_string(root.join(path)).ok().as_ref() != Some(content))
        .map(|(path, _)| path)
        .collect();
    assert!(stale.is_empty(), "run `cargo xtask docs`: these are missing or out of date: {stale:?}");

    let there = std::fs::read_dir(root.join("docs/statecharts")).unwrap();
    for file in there {
        let path = format!("docs/statecharts/{}", file.unwrap().file_name().display());
        assert!(documents.iter().any(|(known, _)| *known == path), "{path} shows no machine: remove it");
    }
}
