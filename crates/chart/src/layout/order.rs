//! The order of each layer from top to bottom, chosen so that few lines cross.

use super::graph::Graph;

/// Sweeps over all layers. The nine machines settle within two; the rest is room for larger ones.
const SWEEPS: usize = 12;

/// Orders each layer by the average place of its neighbours (the barycentre), sweeping to and fro, then swaps neighbours
/// while that helps. The best order seen wins.
pub(super) fn order(graph: &mut Graph<'_>) {
    let mut best = graph.layers.clone();
    let mut fewest = crossings(graph);
    for sweep in 0..SWEEPS {
        let count = graph.layers.len();
        for step in 1..count {
            if sweep % 2 == 0 {
                sort_by_neighbours(graph, step, Side::Left);
            } else {
                sort_by_neighbours(graph, count - 1 - step, Side::Right);
            }
        }
        swap_while_better(graph);
        let now = crossings(graph);
        if now < fewest {
            fewest = now;
            best.clone_from(&graph.layers);
        }
    }
    graph.layers = best;
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

fn sort_by_neighbours(graph: &mut Graph<'_>, layer: usize, side: Side) {
    let places = places(graph);
    let average = |node: usize| {
        let neighbours: Vec<_> = graph
            .segments
            .iter()
            .filter_map(|segment| match side {
                Side::Left if segment.right == node => Some(places[segment.left]),
                Side::Right if segment.left == node => Some(places[segment.right]),
                Side::Left | Side::Right => None,
            })
            .collect();
        // What has no neighbour on this side stays about where it is.
        if neighbours.is_empty() { places[node] as f64 } else { mean(&neighbours) }
    };
    let mut keyed: Vec<_> = graph.layers[layer].iter().map(|&node| (average(node), node)).collect();
    keyed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    graph.layers[layer] = keyed.into_iter().map(|(_, node)| node).collect();
}

fn mean(places: &[usize]) -> f64 {
    places.iter().sum::<usize>() as f64 / places.len() as f64
}

fn swap_while_better(graph: &mut Graph<'_>) {
    let mut improved = true;
    while improved {
        improved = false;
        for layer in 0..graph.layers.len() {
            let mut fewest = crossings_beside(graph, layer);
            for upper in 1..graph.layers[layer].len() {
                graph.layers[layer].swap(upper - 1, upper);
                let now = crossings_beside(graph, layer);
                if now < fewest {
                    fewest = now;
                    improved = true;
                } else {
                    graph.layers[layer].swap(upper - 1, upper);
                }
            }
        }
    }
}

/// The place of each node within its layer.
pub(super) fn places(graph: &Graph<'_>) -> Vec<usize> {
    let mut places = vec![0; graph.nodes.len()];
    for layer in &graph.layers {
        for (place, &node) in layer.iter().enumerate() {
            places[node] = place;
        }
    }
    places
}

/// How many lines cross in the whole drawing.
fn crossings(graph: &Graph<'_>) -> usize {
    let places = places(graph);
    (0..graph.layers.len()).map(|layer| crossings_after(graph, &places, layer)).sum()
}

/// How many lines cross in the gaps before and after a layer: all that its order can change.
fn crossings_beside(graph: &Graph<'_>, layer: usize) -> usize {
    let places = places(graph);
    let before = layer.checked_sub(1).map_or(0, |before| crossings_after(graph, &places, before));
    before + crossings_after(graph, &places, layer)
}

/// How many lines cross in the gap that follows a layer.
fn crossings_after(graph: &Graph<'_>, places: &[usize], layer: usize) -> usize {
    let lines: Vec<_> = graph
        .segments
        .iter()
        .filter(|segment| graph.nodes[segment.left].layer == layer)
        .map(|segment| (places[segment.left], places[segment.right]))
        .collect();
    let mut count = 0;
    for (position, a) in lines.iter().enumerate() {
        for b in &lines[position + 1..] {
            let swapped = (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1);
            count += usize::from(swapped);
        }
    }
    count
}
