//! The sizes that a drawing is made of, in CSS pixels.

use crate::chart::Chart;
use crate::links::Link;

/// The font size of a state's name.
pub(crate) const STATE_FONT: f64 = 14.0;
/// The font size of a label.
pub(crate) const LABEL_FONT: f64 = 12.0;
/// From one line of a label to the next.
pub(crate) const LABEL_LINE: f64 = 16.0;
/// Between the text of a label and its edge.
pub(crate) const LABEL_PADDING: f64 = 6.0;
/// Around the whole drawing.
pub(super) const MARGIN: f64 = 20.0;
/// The diameter of the dot where things begin.
pub(super) const DOT: f64 = 12.0;
/// The height of a loop over its box.
pub(super) const LOOP: f64 = 22.0;
/// Half the width of a loop: both its ends have to meet a label of one line from the side.
pub(super) const LOOP_HALF: f64 = 7.0;
/// Between two lines that meet the same side of a box: more than an arrowhead is high.
pub(super) const PORT: f64 = 16.0;
/// The same where there is plenty of room: lines that belong to one box should be seen together.
pub(super) const PORT_MAX: f64 = 26.0;
/// Between two boxes that stand one above the other.
pub(super) const BOX_GAP: f64 = 32.0;
/// Between a line or a label and whatever stands above or below it.
pub(super) const LINE_GAP: f64 = 14.0;

/// How wide a character of a fixed-width font is, in parts of its size. DejaVu Sans Mono, Menlo and Liberation Mono have
/// 0.60, Consolas 0.55; we take a little more than the widest, so that text never leaves its box.
const CHARACTER: f64 = 0.61;
/// Between a state's name and the sides of its box.
const BOX_PADDING: f64 = 18.0;
/// The least height of a box.
const BOX_HEIGHT: f64 = 44.0;

/// Which way a drawing runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// From left to right.
    Across,
    /// From top to bottom.
    Down,
}

/// The room of a shape, seen along the way that the drawing runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extent {
    /// In the direction of the lines.
    pub(super) along: f64,
    /// At right angles to them.
    pub(super) across: f64,
}

impl Flow {
    fn extent(self, width: f64, height: f64) -> Extent {
        match self {
            Self::Across => Extent { along: width, across: height },
            Self::Down => Extent { along: height, across: width },
        }
    }

    /// A state's box, with room for `lines` lines on one side. All boxes of a chart have the same least width, which is
    /// calmer than each its own.
    pub(super) fn state(self, chart: &Chart, lines: usize) -> Extent {
        let longest = chart.states.iter().map(|state| state.name.chars().count()).max().unwrap_or(0);
        let width = even(longest as f64 * STATE_FONT * CHARACTER + 2.0 * BOX_PADDING);
        let least = self.extent(width, BOX_HEIGHT);
        Extent { across: least.across.max((lines + 1) as f64 * PORT), ..least }
    }

    /// The labels of a link, one line of text for each edge.
    pub(super) fn label(self, link: &Link<'_>) -> Extent {
        let longest = link.edges.iter().map(|edge| edge.trigger.chars().count()).max().unwrap_or(0);
        let width = even(longest as f64 * LABEL_FONT * CHARACTER + 2.0 * LABEL_PADDING);
        self.extent(width, link.edges.len() as f64 * LABEL_LINE + LABEL_PADDING)
    }
}

/// The next even number of pixels, so that the middle of a shape lies on one and lines stay crisp.
fn even(length: f64) -> f64 {
    2.0 * (length / 2.0).ceil()
}

/// The room between two columns in which lines climb by at most `steepest`: enough for an arrowhead, and more where a
/// line would else become so steep that it is hard to follow.
pub(super) fn column_gap(steepest: f64) -> f64 {
    even((24.0 + 0.2 * steepest).min(72.0))
}
