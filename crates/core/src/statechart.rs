//! The machines, drawn: as text, as Mermaid, as SVG, as JSON, and as the pages under `docs/`.
//!
//! Every drawing is a pure function of a [`Chart`]. Nothing here knows a particular machine: a new state or edge in a
//! table shows up by itself, laid out with the rest.
//!
//! ```
//! use adjourn_core::Chart;
//! use adjourn_core::statechart::{Format, render};
//!
//! let topic = Chart::named("topic").expect("there is a topic machine");
//! assert!(render(&topic, Format::Mermaid).starts_with("stateDiagram-v2\n"));
//! ```

mod layout;
mod markdown;
mod mermaid;
mod svg;
mod text;

pub use layout::{Curve, Layout, Placed, Point, Rect, Route, layout};
pub use markdown::{document, documents};

use crate::chart::{Chart, ChartEdge};
use crate::names::named;

named! {
    /// A way to show a machine.
    pub enum Format {
        /// Tables for a terminal.
        Text = "text",
        /// A Mermaid state diagram.
        Mermaid = "mermaid",
        /// A drawing that stands by itself.
        Svg = "svg",
        /// The machine as data.
        Json = "json",
    }
}

/// One machine in the given format. Ends with a line break.
pub fn render(chart: &Chart, format: Format) -> String {
    match format {
        Format::Text => text::render(chart),
        Format::Mermaid => mermaid::render(chart),
        Format::Svg => svg::render(chart),
        Format::Json => json(chart),
    }
}

/// Several machines as one JSON list. Ends with a line break.
pub fn json_list(charts: &[Chart]) -> String {
    json(charts)
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    let mut json =
        serde_json::to_string_pretty(value).expect("a chart is strings, flags and lists, which are all JSON");
    json.push('\n');
    json
}

/// All edges that lead from one state to another, drawn as one line with several labels.
#[derive(Debug)]
struct Link<'a> {
    /// Position of the first state in the chart.
    from: usize,
    /// Position of the second state in the chart; the same for a loop.
    to: usize,
    /// The edges, in the order of the table; at least one.
    edges: Vec<&'a ChartEdge>,
}

/// The edges of a chart, merged by the pair of states that they join, in the order of the table.
fn links(chart: &Chart) -> Vec<Link<'_>> {
    let mut links: Vec<Link<'_>> = Vec::new();
    for edge in &chart.edges {
        let (from, to) = (position(chart, edge.from), position(chart, edge.to));
        match links.iter_mut().find(|link| (link.from, link.to) == (from, to)) {
            Some(link) => link.edges.push(edge),
            None => links.push(Link { from, to, edges: vec![edge] }),
        }
    }
    links
}

/// The edges of a chart, those that leave the same state together: a reader asks what can happen next.
fn edges_by_state(chart: &Chart) -> impl Iterator<Item = &ChartEdge> {
    chart.states.iter().flat_map(|state| chart.edges.iter().filter(move |edge| edge.from == state.name))
}

fn position(chart: &Chart, state: &str) -> usize {
    chart
        .states
        .iter()
        .position(|known| known.name == state)
        .expect("a table's edges join states of the same table")
}
