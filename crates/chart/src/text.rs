//! A machine as tables for a terminal.
//!
//! Headings start at the margin and everything else is indented, so that a caller who wants to emphasise the headings
//! can tell them apart.

use std::fmt::Write as _;

use crate::chart::{Chart, ChartState};
use crate::links::edges_by_state;

/// The machine as text: what it is, its states, its edges.
pub(super) fn render(chart: &Chart) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}: {}", chart.name, chart.summary);

    out.push_str("\nstates\n");
    let states = chart.states.iter().map(|state| [state.name.to_owned(), marks(state), state.doc.to_owned()]);
    push_table(&mut out, &states.collect::<Vec<_>>());

    out.push_str("\nedges\n");
    let header = ["from", "trigger", "to", "by", "note"].map(str::to_owned);
    let edges = edges_by_state(chart).map(|edge| {
        [
            edge.from.to_owned(),
            edge.trigger.to_owned(),
            edge.to.to_owned(),
            edge.actors.join(", "),
            edge.note.to_owned(),
        ]
    });
    push_table(&mut out, &std::iter::once(header).chain(edges).collect::<Vec<_>>());
    out
}

/// What is special about a state, in words.
pub(super) fn marks(state: &ChartState) -> String {
    let marks = [(state.initial, "initial"), (state.terminal, "terminal"), (state.stable, "stable")];
    marks.into_iter().filter_map(|(is, name)| is.then_some(name)).collect::<Vec<_>>().join(", ")
}

/// Columns as wide as their widest cell, two spaces apart, nothing trailing.
fn push_table<const N: usize>(out: &mut String, rows: &[[String; N]]) {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in rows {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row) {
            let _ = write!(line, "  {cell:width$}");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
