//! A chart as layers of nodes, one after the other along the way that the drawing runs.
//!
//! Here and in the modules beside it the drawing runs from left to right; one that runs down is turned at the very end.
//!
//! Even layers hold states, odd ones hold labels. A line that passes a layer gets a node there too, so that room is kept
//! for it: lines bend only between layers, and what stands in a layer is never crossed.

use super::size::{self, Extent, Flow};
use crate::chart::Chart;
use crate::links::{Link, links};

/// What stands at one place of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The dot where things begin.
    Start,
    /// A state, by its position in the chart.
    State(usize),
    /// The labels of a link, by its position in [`Graph::links`].
    Label(usize),
    /// Where a line passes.
    Pass,
}

/// One thing that stands in a layer, and the room it takes.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) layer: usize,
    /// The room it takes along the lines.
    pub(super) along: f64,
    /// How far it reaches above its centre line.
    pub(super) above: f64,
    /// How far it reaches below its centre line.
    pub(super) below: f64,
}

/// A line between two nodes of neighbouring layers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    /// The node in the left layer.
    pub(super) left: usize,
    /// The node in the layer next to it.
    pub(super) right: usize,
}

/// One drawn line: from the dot to an initial state, or along a link.
#[derive(Debug)]
pub(super) struct Chain {
    /// The link it draws, by its position in [`Graph::links`]; nothing for the dot's.
    pub(super) link: Option<usize>,
    /// Its segments, from left to right.
    pub(super) segments: Vec<usize>,
    /// The line leads from right to left.
    pub(super) backwards: bool,
}

/// The nodes, in layers, and the lines between them.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pub(super) flow: Flow,
    pub(super) links: Vec<Link<'a>>,
    pub(super) nodes: Vec<Node>,
    pub(super) segments: Vec<Segment>,
    pub(super) chains: Vec<Chain>,
    /// The nodes of each layer, from top to bottom.
    pub(super) layers: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(chart: &'a Chart, flow: Flow) -> Self {
        let links = links(chart);
        let ranks = ranks(chart, &links);
        let layer_count = 2 * ranks.iter().max().map_or(0, |last| last + 1) + 1;
        let mut graph = Self {
            flow,
            links,
            nodes: Vec::new(),
            segments: Vec::new(),
            chains: Vec::new(),
            layers: vec![Vec::new(); layer_count],
        };

        // The dot has layer 0 for itself: an initial state may well have lines coming in from its left.
        let states: Vec<_> = (0..chart.states.len())
            .map(|state| graph.push_state(chart, state, 2 * (ranks[state] + 1)))
            .collect();
        for state in (0..chart.states.len()).filter(|&state| chart.states[state].initial) {
            let dot = graph.push(Node {
                kind: Kind::Start,
                layer: 0,
                along: size::DOT,
                above: size::DOT / 2.0,
                below: size::DOT / 2.0,
            });
            graph.push_chain(None, dot, states[state]);
        }
        for link in 0..graph.links.len() {
            let (from, to) = (states[graph.links[link].from], states[graph.links[link].to]);
            if from != to {
                graph.push_chain(Some(link), from, to);
            }
        }
        graph
    }

    fn push(&mut self, node: Node) -> usize {
        let id = self.nodes.len();
        self.layers[node.layer].push(id);
        self.nodes.push(node);
        id
    }

    /// A state's box, high enough for the lines that meet it, with its loop on top.
    fn push_state(&mut self, chart: &Chart, state: usize, layer: usize) -> usize {
        // Were all lines on one side, they would still fit.
        let meets = |link: &&Link<'_>| link.from != link.to && (link.from == state || link.to == state);
        let lines = self.links.iter().filter(meets).count();
        let own = self.flow.state(chart, lines);
        let around = self.links.iter().find(|link| link.from == state && link.to == state);
        let (along, above) = around.map_or((0.0, 0.0), |link| {
            let label = self.flow.label(link);
            (label.along, size::LOOP + label.across)
        });
        let half = own.across / 2.0;
        self.push(Node {
            kind: Kind::State(state),
            layer,
            along: own.along.max(along),
            above: half + above,
            below: half,
        })
    }

    fn push_chain(&mut self, link: Option<usize>, from: usize, to: usize) {
        let backwards = self.nodes[from].layer > self.nodes[to].layer;
        let (left, right) = if backwards { (to, from) } else { (from, to) };
        // Labels stand next to the state that the line leaves: there a reader looks for what can happen.
        let label_layer = if backwards { self.nodes[from].layer - 1 } else { self.nodes[from].layer + 1 };
        let mut segments = Vec::new();
        let mut last = left;
        for layer in self.nodes[left].layer + 1..self.nodes[right].layer {
            let node = match link {
                Some(link) if layer == label_layer => {
                    let Extent { along, across } = self.flow.label(&self.links[link]);
                    Node { kind: Kind::Label(link), layer, along, above: across / 2.0, below: across / 2.0 }
                }
                Some(_) | None => Node { kind: Kind::Pass, layer, along: 0.0, above: 0.0, below: 0.0 },
            };
            let node = self.push(node);
            segments.push(self.segments.len());
            self.segments.push(Segment { left: last, right: node });
            last = node;
        }
        segments.push(self.segments.len());
        self.segments.push(Segment { left: last, right });
        self.chains.push(Chain { link, segments, backwards });
    }
}

/// How far from the beginning each state stands: the longest way there, not counting the links that lead back.
///
/// States that nothing leaves all stand at the end, however short the way to them: a reader looks for the ends together.
fn ranks(chart: &Chart, links: &[Link<'_>]) -> Vec<usize> {
    let mut walk =
        Walk { links, seen: vec![Seen::No; chart.states.len()], forward: Vec::new(), finished: Vec::new() };
    let initial = (0..chart.states.len()).filter(|&state| chart.states[state].initial);
    for state in initial.chain(0..chart.states.len()) {
        walk.visit(state);
    }

    let mut ranks = vec![0; chart.states.len()];
    // A state is finished after all that follow it, so this is an order in which no link leads back.
    for &state in walk.finished.iter().rev() {
        for link in walk.forward.iter().map(|&link| &links[link]).filter(|link| link.from == state) {
            ranks[link.to] = ranks[link.to].max(ranks[state] + 1);
        }
    }
    let last = ranks.iter().copied().max().unwrap_or(0);
    for (state, rank) in ranks.iter_mut().enumerate() {
        let has_a_way_out = links.iter().any(|link| link.from == state && link.to != state);
        let has_a_way_in = links.iter().any(|link| link.to == state && link.from != state);
        if has_a_way_in && !has_a_way_out {
            *rank = last;
        }
    }
    ranks
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    No,
    /// On the way from the beginning to where the walk is.
    Above,
    Done,
}

/// A depth-first walk: a link to a state that the walk came through leads back, all others lead forward.
struct Walk<'a> {
    links: &'a [Link<'a>],
    seen: Vec<Seen>,
    forward: Vec<usize>,
    finished: Vec<usize>,
}

impl Walk<'_> {
    fn visit(&mut self, state: usize) {
        if self.seen[state] != Seen::No {
            return;
        }
        self.seen[state] = Seen::Above;
        for (position, link) in self.links.iter().enumerate().filter(|(_, link)| link.from == state) {
            if self.seen[link.to] != Seen::Above {
                self.forward.push(position);
                self.visit(link.to);
            }
        }
        self.seen[state] = Seen::Done;
        self.finished.push(state);
    }
}
