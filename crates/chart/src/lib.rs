//! The machines as data, and their drawings: text, Mermaid, SVG, JSON, and the pages under `docs/`.
//!
//! A [`Chart`] is a machine of the core with its types erased. Every drawing is a pure function of a chart and knows no
//! particular machine: a new state or edge in a table of the core shows up in all of them, laid out with the rest. This
//! crate does **not** decide anything: the tables, and the function that follows them, are in `adjourn-core`.
//!
//! ```
//! use adjourn_chart::{Chart, Format, render};
//!
//! let topic = Chart::named("topic").expect("there is a topic machine");
//! assert!(render(&topic, Format::Mermaid).starts_with("stateDiagram-v2\n"));
//! ```

mod chart;
mod format;
mod layout;
mod links;
mod markdown;
mod mermaid;
mod svg;
mod text;

pub use chart::{Chart, ChartEdge, ChartState, ChartTrigger};
pub use format::{Format, json_list, render};
pub use layout::{Curve, Layout, Placed, Point, Rect, Route, layout};
pub use markdown::{document, documents};
