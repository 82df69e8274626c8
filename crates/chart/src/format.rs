//! The formats a machine can be shown in.

use adjourn_core::named;

use crate::chart::Chart;
use crate::{mermaid, svg, text};

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
