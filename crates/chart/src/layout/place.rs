//! Where each node stands, given the order of the layers.

use super::graph::{Graph, Kind};
use super::order::places;
use super::size;

/// Rounds of straightening. Stiff lines settle slowly; in the last of these rounds nothing in the nine machines moves by
/// more than a fiftieth of a pixel.
const ROUNDS: usize = 300;

/// The height at which each node and each end of a segment lies. Down is positive.
#[derive(Debug)]
pub(super) struct Heights {
    /// The centre line of each node.
    pub(super) nodes: Vec<f64>,
    /// Where each segment leaves its left node, measured from that node's centre line.
    pub(super) left: Vec<f64>,
    /// Where each segment meets its right node, measured from that node's centre line.
    pub(super) right: Vec<f64>,
}

impl Heights {
    pub(super) fn at_left(&self, graph: &Graph<'_>, segment: usize) -> f64 {
        self.nodes[graph.segments[segment].left] + self.left[segment]
    }

    pub(super) fn at_right(&self, graph: &Graph<'_>, segment: usize) -> f64 {
        self.nodes[graph.segments[segment].right] + self.right[segment]
    }
}

/// Makes the lines as straight as the room between the nodes allows.
pub(super) fn heights(graph: &Graph<'_>) -> Heights {
    let (left, right) = ports(graph);
    let mut heights = Heights { nodes: vec![0.0; graph.nodes.len()], left, right };
    for round in 0..ROUNDS {
        for step in 0..graph.layers.len() {
            let layer = if round % 2 == 0 { step } else { graph.layers.len() - 1 - step };
            straighten(graph, layer, &mut heights);
        }
    }
    for height in &mut heights.nodes {
        *height = height.round();
    }
    unbend(graph, &mut heights);
    heights
}

/// Takes out the bends that are not needed.
///
/// Least squares spreads a climb over the whole length of a line, a little in every gap. Where there is room, one part
/// of the line moves level with the next, and the climb is left to its ends.
fn unbend(graph: &Graph<'_>, heights: &mut Heights) {
    for chain in &graph.chains {
        // The nodes between the line's ends, from left to right.
        let inner: Vec<_> = chain.segments[1..].iter().map(|&id| graph.segments[id].left).collect();
        for at in 1..inner.len() {
            let (before, after) = (heights.nodes[inner[at - 1]], heights.nodes[inner[at]]);
            if before == after {
                continue;
            }
            let start = inner[..at]
                .iter()
                .rposition(|&node| heights.nodes[node] != before)
                .map_or(0, |bend| bend + 1);
            let end = inner[at..]
                .iter()
                .position(|&node| heights.nodes[node] != after)
                .map_or(inner.len(), |bend| at + bend);
            for (part, height) in [(&inner[start..at], after), (&inner[at..end], before)] {
                if part.iter().all(|&node| has_room(graph, heights, node, height)) {
                    for &node in part {
                        heights.nodes[node] = height;
                    }
                    break;
                }
            }
        }
    }
}

/// Whether a node can move to a height without coming too near to those above and below it.
fn has_room(graph: &Graph<'_>, heights: &Heights, node: usize, height: f64) -> bool {
    let layer = &graph.layers[graph.nodes[node].layer];
    layer.windows(2).all(|pair| {
        let (upper, lower) = (pair[0], pair[1]);
        let least = distance(graph, upper, lower);
        if upper == node {
            heights.nodes[lower] - height >= least
        } else if lower == node {
            height - heights.nodes[upper] >= least
        } else {
            true
        }
    })
}

/// Spreads the lines that meet one side of a state evenly, in the order of where they come from.
fn ports(graph: &Graph<'_>) -> (Vec<f64>, Vec<f64>) {
    let places = places(graph);
    let mut left = vec![0.0; graph.segments.len()];
    let mut right = vec![0.0; graph.segments.len()];
    for node in 0..graph.nodes.len() {
        let side = 2.0 * graph.nodes[node].below;
        let mut leaving: Vec<_> =
            (0..graph.segments.len()).filter(|&id| graph.segments[id].left == node).collect();
        leaving.sort_by_key(|&id| places[graph.segments[id].right]);
        for (id, offset) in leaving.iter().zip(spread(leaving.len(), side)) {
            left[*id] = offset;
        }
        let mut meeting: Vec<_> =
            (0..graph.segments.len()).filter(|&id| graph.segments[id].right == node).collect();
        meeting.sort_by_key(|&id| places[graph.segments[id].left]);
        for (id, offset) in meeting.iter().zip(spread(meeting.len(), side)) {
            right[*id] = offset;
        }
    }
    (left, right)
}

/// The places of `count` lines on a side of the given length, measured from its middle.
fn spread(count: usize, side: f64) -> impl Iterator<Item = f64> {
    let gap = (side / (count + 1) as f64).clamp(size::PORT, size::PORT_MAX).round();
    let middle = count.saturating_sub(1) as f64 / 2.0;
    (0..count).map(move |position| (position as f64 - middle) * gap)
}

/// Moves the nodes of one layer to where their lines would be straight, as far as they leave each other room.
///
/// This is the least-squares solution under the least distances (isotonic regression by pooling): nodes that would
/// overlap form a block, and a block stands at the weighted average of what its nodes want.
fn straighten(graph: &Graph<'_>, layer: usize, heights: &mut Heights) {
    struct Block {
        sum: f64,
        weight: f64,
        count: usize,
    }
    let mut offsets = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut offset = 0.0;
    let mut previous = None;
    for &node in &graph.layers[layer] {
        offset += previous.map_or(0.0, |previous| distance(graph, previous, node));
        previous = Some(node);
        offsets.push(offset);
        let (wanted, weight) = wanted(graph, node, heights);
        let mut block = Block { sum: (wanted - offset) * weight, weight, count: 1 };
        while let Some(last) = blocks.pop_if(|last| last.sum / last.weight > block.sum / block.weight) {
            block = Block {
                sum: last.sum + block.sum,
                weight: last.weight + block.weight,
                count: last.count + block.count,
            };
        }
        blocks.push(block);
    }
    let bases = blocks.iter().flat_map(|block| std::iter::repeat_n(block.sum / block.weight, block.count));
    for ((&node, base), offset) in graph.layers[layer].iter().zip(bases).zip(offsets) {
        heights.nodes[node] = base + offset;
    }
}

/// The least distance of the centre lines of two nodes that stand one above the other.
fn distance(graph: &Graph<'_>, upper: usize, lower: usize) -> f64 {
    let (upper, lower) = (&graph.nodes[upper], &graph.nodes[lower]);
    let boxes = matches!((upper.kind, lower.kind), (Kind::State(_), Kind::State(_)));
    upper.below + lower.above + if boxes { size::BOX_GAP } else { size::LINE_GAP }
}

/// The height at which a node's lines are straightest, and how much that matters.
fn wanted(graph: &Graph<'_>, node: usize, heights: &Heights) -> (f64, f64) {
    let mut sum = 0.0;
    let mut weight = 0.0;
    for (id, segment) in graph.segments.iter().enumerate() {
        let (other, target) = if segment.left == node {
            (segment.right, heights.at_right(graph, id) - heights.left[id])
        } else if segment.right == node {
            (segment.left, heights.at_left(graph, id) - heights.right[id])
        } else {
            continue;
        };
        let stiffness = stiffness(graph.nodes[node].kind, graph.nodes[other].kind);
        sum += stiffness * target;
        weight += stiffness;
    }
    // A state that no line meets is held where it is by the least force that is one.
    if weight == 0.0 { (heights.nodes[node], f64::EPSILON) } else { (sum / weight, weight) }
}

/// A line that passes several layers should be straight there; near its ends it may bend.
fn stiffness(a: Kind, b: Kind) -> f64 {
    match (a, b) {
        (Kind::State(_), _) | (_, Kind::State(_)) => 1.0,
        (Kind::Start | Kind::Label(_) | Kind::Pass, Kind::Start | Kind::Label(_) | Kind::Pass) => 16.0,
    }
}
