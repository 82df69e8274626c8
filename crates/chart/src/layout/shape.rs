//! The shapes of a drawing, in CSS pixels.

/// A place in the drawing. Down is positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// The room that a box or a label takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// The left edge.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

/// A piece of a line: a cubic curve, or a straight one where the bends lie on the way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// Where it begins.
    pub start: Point,
    /// The two points that pull it.
    pub bends: [Point; 2],
    /// Where it ends.
    pub end: Point,
}

/// A state's box.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The state, by its position in the chart.
    pub state: usize,
    /// Its room.
    pub rect: Rect,
}

/// The line for all edges from one state to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The state it leaves, by its position in the chart.
    pub from: usize,
    /// The state it leads to; the same for a loop.
    pub to: usize,
    /// The edges it stands for, by their positions in the chart.
    pub edges: Vec<usize>,
    /// The room of its labels, one line of text for each edge.
    pub label: Rect,
    /// The line, from where it leaves to where it leads.
    pub curves: Vec<Curve>,
}

/// A drawing of a machine, before it has ink.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
    /// The boxes, one for each state.
    pub boxes: Vec<Placed>,
    /// The dots where things begin, each with the line to its state.
    pub starts: Vec<(Rect, Vec<Curve>)>,
    /// The lines.
    pub routes: Vec<Route>,
}

impl Curve {
    pub(super) fn straight(start: Point, end: Point) -> Self {
        Self { start, bends: [start, end], end }
    }

    /// Leaves and arrives level.
    pub(super) fn level(start: Point, end: Point) -> Self {
        let middle = f64::midpoint(start.x, end.x);
        Self { start, bends: [Point { x: middle, y: start.y }, Point { x: middle, y: end.y }], end }
    }

    /// The point at `t`, from 0 at the start to 1 at the end.
    pub fn at(&self, t: f64) -> Point {
        let [a, b] = self.bends;
        let s = 1.0 - t;
        let mix = |start: f64, a: f64, b: f64, end: f64| {
            s * s * s * start + 3.0 * s * s * t * a + 3.0 * s * t * t * b + t * t * t * end
        };
        Point { x: mix(self.start.x, a.x, b.x, self.end.x), y: mix(self.start.y, a.y, b.y, self.end.y) }
    }
}

/// The page that a drawing should fit without being shrunk: the text column of most sites, and a window's height.
const PAGE: (f64, f64) = (1000.0, 720.0);

impl Layout {
    /// How much it has to be shrunk to fit a page; 1 if it fits.
    pub(super) fn scale(&self) -> f64 {
        (PAGE.0 / self.width).min(PAGE.1 / self.height).min(1.0)
    }

    pub(super) fn moved_down(self, by: f64) -> Self {
        self.map(|point| Point { y: point.y + by, ..point })
    }

    /// Runs down where it ran to the right.
    pub(super) fn turned(self) -> Self {
        let (width, height) = (self.height, self.width);
        Self { width, height, ..self.map(|Point { x, y }| Point { x: y, y: x }) }
    }

    /// Moves every point.
    fn map(mut self, to: impl Fn(Point) -> Point) -> Self {
        let boxes = self.boxes.iter_mut().map(|placed| &mut placed.rect);
        let dots = self.starts.iter_mut().map(|(dot, _)| dot);
        let labels = self.routes.iter_mut().map(|route| &mut route.label);
        for rect in boxes.chain(dots).chain(labels) {
            let first = to(Point { x: rect.x, y: rect.y });
            let last = to(Point { x: rect.x + rect.width, y: rect.y + rect.height });
            *rect = Rect { x: first.x, y: first.y, width: last.x - first.x, height: last.y - first.y };
        }
        let lines = self.starts.iter_mut().map(|(_, curves)| curves);
        for curve in lines.chain(self.routes.iter_mut().map(|route| &mut route.curves)).flatten() {
            *curve = Curve { start: to(curve.start), bends: curve.bends.map(&to), end: to(curve.end) };
        }
        self
    }
}
