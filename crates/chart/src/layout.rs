//! Where everything in a drawing of a machine stands.
//!
//! A layered drawing, from left to right or from top to bottom, whichever fits a page better. States stand in columns by
//! their distance from the beginning, labels in columns of their own between them (`graph`); they are ordered so that few
//! lines cross (`order`), and placed so that lines are straight (`place`). Lines run level inside a column and bend only
//! between two of them, so no line can meet a box or a label that is not its own.

mod graph;
mod order;
mod place;
mod shape;
pub(super) mod size;

pub use shape::{Curve, Layout, Placed, Point, Rect, Route};

use crate::chart::{Chart, ChartEdge};
use crate::links::Link;
use graph::{Chain, Graph, Kind};
use place::Heights;
use size::{Extent, Flow};

/// Lays a machine out, the way that needs less shrinking to fit a page.
pub fn layout(chart: &Chart) -> Layout {
    let (across, down) = (layout_along(chart, Flow::Across), layout_along(chart, Flow::Down));
    if across.scale() >= down.scale() { across } else { down }
}

fn layout_along(chart: &Chart, flow: Flow) -> Layout {
    let mut graph = Graph::new(chart, flow);
    order::order(&mut graph);
    let heights = place::heights(&graph);
    let columns = Columns::new(&graph, &heights);
    let layout = Drawing { chart, graph: &graph, heights: &heights, columns: &columns }.layout();
    match flow {
        Flow::Across => layout,
        Flow::Down => layout.turned(),
    }
}

/// From where to where each layer reaches, from left to right.
struct Columns(Vec<(f64, f64)>);

impl Columns {
    fn new(graph: &Graph<'_>, heights: &Heights) -> Self {
        let mut columns = Vec::new();
        let mut x = size::MARGIN;
        for (layer, nodes) in graph.layers.iter().enumerate() {
            let width = nodes.iter().map(|&node| graph.nodes[node].along).fold(0.0, f64::max);
            columns.push((x, x + width));
            let steepest = (0..graph.segments.len())
                .filter(|&id| graph.nodes[graph.segments[id].left].layer == layer)
                .map(|id| (heights.at_left(graph, id) - heights.at_right(graph, id)).abs())
                .fold(0.0, f64::max);
            x += width + size::column_gap(steepest);
        }
        Self(columns)
    }
}

/// All that is known before the shapes are made.
struct Drawing<'a> {
    chart: &'a Chart,
    graph: &'a Graph<'a>,
    heights: &'a Heights,
    columns: &'a Columns,
}

impl Drawing<'_> {
    fn layout(&self) -> Layout {
        let reach = |node: usize, by: f64| self.heights.nodes[node] + by;
        let nodes = || self.graph.nodes.iter().enumerate();
        let top = nodes().map(|(id, node)| reach(id, -node.above)).fold(f64::INFINITY, f64::min);
        let bottom = nodes().map(|(id, node)| reach(id, node.below)).fold(f64::NEG_INFINITY, f64::max);
        let right = self.columns.0.last().map_or(0.0, |&(_, right)| right);
        Layout {
            width: right + size::MARGIN,
            height: bottom - top + 2.0 * size::MARGIN,
            boxes: self.boxes(),
            starts: self.starts(),
            routes: self.routes(),
        }
        .moved_down(size::MARGIN - top)
    }

    fn boxes(&self) -> Vec<Placed> {
        let boxes = self.graph.nodes.iter().enumerate().filter_map(|(id, node)| match node.kind {
            Kind::State(state) => Some(Placed { state, rect: self.rect(id) }),
            Kind::Start | Kind::Label(_) | Kind::Pass => None,
        });
        boxes.collect()
    }

    /// The room of a node's own shape, which for a state is the box without its loop.
    fn rect(&self, id: usize) -> Rect {
        let node = &self.graph.nodes[id];
        let (left, right) = self.columns.0[node.layer];
        let width = match node.kind {
            Kind::State(_) => self.graph.flow.state(self.chart, 0).along,
            Kind::Start | Kind::Label(_) | Kind::Pass => node.along,
        };
        let half = node.below;
        Rect {
            x: f64::midpoint(left, right) - width / 2.0,
            y: self.heights.nodes[id] - half,
            width,
            height: 2.0 * half,
        }
    }

    fn starts(&self) -> Vec<(Rect, Vec<Curve>)> {
        let chains = self.graph.chains.iter().filter(|chain| chain.link.is_none());
        chains
            .map(|chain| (self.rect(self.graph.segments[chain.segments[0]].left), self.curves(chain)))
            .collect()
    }

    fn routes(&self) -> Vec<Route> {
        let mut routes = Vec::new();
        for (position, link) in self.graph.links.iter().enumerate() {
            let chain = self.graph.chains.iter().find(|chain| chain.link == Some(position));
            let (label, curves) = match chain {
                Some(chain) => (self.label(position), self.curves(chain)),
                None => self.loop_on(link),
            };
            let edges = link.edges.iter().filter_map(|&edge| self.position(edge));
            routes.push(Route { from: link.from, to: link.to, edges: edges.collect(), label, curves });
        }
        routes
    }

    fn position(&self, edge: &ChartEdge) -> Option<usize> {
        self.chart.edges.iter().position(|known| std::ptr::eq(known, edge))
    }

    fn label(&self, link: usize) -> Rect {
        let node = self.graph.nodes.iter().position(|node| node.kind == Kind::Label(link));
        self.rect(node.expect("a link between two states has a node for its labels"))
    }

    /// The line of a chain: level through each column, bent between two.
    fn curves(&self, chain: &Chain) -> Vec<Curve> {
        let mut points = Vec::new();
        for &id in &chain.segments {
            let segment = self.graph.segments[id];
            let (left, right) = (self.rect(segment.left), self.rect(segment.right));
            let (y_left, y_right) =
                (self.heights.at_left(self.graph, id), self.heights.at_right(self.graph, id));
            points.push(Point { x: left.x + left.width, y: y_left });
            points.push(Point { x: self.columns.0[self.graph.nodes[segment.left].layer].1, y: y_left });
            points.push(Point { x: self.columns.0[self.graph.nodes[segment.right].layer].0, y: y_right });
            points.push(Point { x: right.x, y: y_right });
        }
        if chain.backwards {
            points.reverse();
        }
        points.dedup();
        let mut corners: Vec<Point> = Vec::new();
        for point in points {
            if let [.., before, last] = corners.as_mut_slice()
                && before.y == last.y
                && last.y == point.y
            {
                *last = point;
            } else {
                corners.push(point);
            }
        }
        corners.windows(2).map(|pair| Curve::level(pair[0], pair[1])).collect()
    }

    /// A loop on top of a state's box, with its labels above it.
    fn loop_on(&self, link: &Link<'_>) -> (Rect, Vec<Curve>) {
        let Extent { along: width, across: height } = self.graph.flow.label(link);
        let node = self.graph.nodes.iter().position(|node| node.kind == Kind::State(link.from));
        let rect = self.rect(node.expect("every state has a node"));
        let centre = rect.x + rect.width / 2.0;
        let label = Rect { x: centre - width / 2.0, y: rect.y - size::LOOP - height, width, height };
        let (left, right) = (centre - size::LOOP_HALF, centre + size::LOOP_HALF);
        let top = label.y + height;
        let up = Curve::straight(Point { x: left, y: rect.y }, Point { x: left, y: top });
        let down = Curve::straight(Point { x: right, y: top }, Point { x: right, y: rect.y });
        (label, vec![up, down])
    }
}
