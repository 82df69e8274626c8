//! The machines as pages of the documentation.

use std::fmt::Write as _;

use crate::chart::Chart;
use crate::format::{Format, render};
use crate::links::edges_by_state;
use crate::text::marks;

const INTRODUCTION: &str = "\
<!-- Generated from the tables in crates/core/src/machines by `cargo xtask docs`. Do not edit. -->

# The machines

Every status in Adjourn changes along the edges of one of these tables and in no other way. A trigger that is not in the
table for the state a thing is in, or that somebody else fires, is refused and changes nothing.

The dot marks where things begin. A double border marks a *terminal* state: nothing leads out of it. A tinted one is
*stable*: things may stay there for any length of time. A run that waits holds nothing, unless its process stays
(`sticky_process`).

`adjourn statechart` prints the same, also as Mermaid, SVG and JSON.
";

/// The pages that are generated from the tables: their paths, relative to the repository's root, and contents.
pub fn documents() -> Vec<(String, String)> {
    let drawings = Chart::all()
        .into_iter()
        .map(|chart| (format!("docs/{}", drawing_path(&chart)), render(&chart, Format::Svg)));
    std::iter::once(("docs/statecharts.md".to_owned(), document())).chain(drawings).collect()
}

/// `docs/statecharts.md`: every machine with its drawing, its states and its edges.
pub fn document() -> String {
    let mut out = String::from(INTRODUCTION);
    for chart in Chart::all() {
        push_machine(&mut out, &chart);
    }
    out
}

/// Relative to `docs/`, where the page is that shows it.
fn drawing_path(chart: &Chart) -> String {
    format!("statecharts/{}.svg", chart.name)
}

fn push_machine(out: &mut String, chart: &Chart) {
    let name = chart.name;
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n## {name}\n\n{}\n", chart.summary);
    let _ = writeln!(
        out,
        "![The states of the {name} machine and what leads from one to the next.]({})\n",
        drawing_path(chart)
    );
    out.push_str("<details>\n<summary>As Mermaid</summary>\n\n```mermaid\n");
    out.push_str(&render(chart, Format::Mermaid));
    out.push_str("```\n\n</details>\n\n");

    let states = chart.states.iter().map(|state| [code(state.name), marks(state), state.doc.to_owned()]);
    push_table(out, ["state", "", "means"], states);
    out.push('\n');
    let triggers = chart.triggers.iter().map(|trigger| [code(trigger.name), trigger.doc.to_owned()]);
    push_table(out, ["trigger", "means"], triggers);
    out.push('\n');
    let edges = edges_by_state(chart).map(|edge| {
        let actors = edge.actors.join(", ");
        [code(edge.from), code(edge.trigger), code(edge.to), actors, edge.note.to_owned()]
    });
    push_table(out, ["from", "trigger", "to", "by", "note"], edges);
}

fn push_table<const N: usize>(out: &mut String, header: [&str; N], rows: impl Iterator<Item = [String; N]>) {
    let _ = writeln!(out, "| {} |", header.join(" | "));
    let _ = writeln!(out, "| {} |", ["---"; N].join(" | "));
    for row in rows {
        // A bar would end the cell.
        let cells = row.map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}

fn code(name: &str) -> String {
    format!("`{name}`")
}
