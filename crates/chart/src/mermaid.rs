//! A machine as a Mermaid state diagram.

use std::fmt::Write as _;

use crate::chart::Chart;
use crate::links::links;

/// The machine as `stateDiagram-v2`: what GitHub and most documentation tools draw from a fenced block.
pub(super) fn render(chart: &Chart) -> String {
    let mut out = String::from("stateDiagram-v2\n    direction LR\n");
    // Writing to a string cannot fail.
    for state in chart.states.iter().filter(|state| state.initial) {
        let _ = writeln!(out, "    [*] --> {}", state.name);
    }
    for link in links(chart) {
        let (from, to) = (chart.states[link.from].name, chart.states[link.to].name);
        let triggers: Vec<_> = link.edges.iter().map(|edge| edge.trigger).collect();
        let _ = writeln!(out, "    {from} --> {to}: {}", triggers.join("<br/>"));
    }
    for state in chart.states.iter().filter(|state| state.terminal) {
        let _ = writeln!(out, "    {} --> [*]", state.name);
    }
    let stable: Vec<_> = chart.states.iter().filter(|state| state.stable).map(|state| state.name).collect();
    if !stable.is_empty() {
        // Only the border: a fill that reads well on a light page does not on a dark one.
        out.push_str("    classDef stable stroke-width:3px\n");
        let _ = writeln!(out, "    class {} stable", stable.join(","));
    }
    out
}
