//! The edges of a chart, grouped the way the drawings need them.

use crate::chart::{Chart, ChartEdge};

/// All edges that lead from one state to another, drawn as one line with several labels.
#[derive(Debug)]
pub(crate) struct Link<'a> {
    /// Position of the first state in the chart.
    pub(crate) from: usize,
    /// Position of the second state in the chart; the same for a loop.
    pub(crate) to: usize,
    /// The edges, in the order of the table; at least one.
    pub(crate) edges: Vec<&'a ChartEdge>,
}

/// The edges of a chart, merged by the pair of states that they join, in the order of the table.
pub(crate) fn links(chart: &Chart) -> Vec<Link<'_>> {
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

/// The edges of a chart, ordered by the state they leave, because a reader asks what can happen next.
pub(crate) fn edges_by_state(chart: &Chart) -> impl Iterator<Item = &ChartEdge> {
    chart.states.iter().flat_map(|state| chart.edges.iter().filter(move |edge| edge.from == state.name))
}

fn position(chart: &Chart, state: &str) -> usize {
    chart
        .states
        .iter()
        .position(|known| known.name == state)
        .expect("a table's edges join states of the same table")
}
