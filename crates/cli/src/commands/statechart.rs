//! `adjourn statechart`: the machines, straight from their tables.

use std::fmt::Write as _;

use adjourn_chart::{Chart, Format, json_list, render};
use clap::Args;
use clap::builder::styling::Style;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;

use crate::data::Global;
use crate::exit::Exit;
use crate::output::print;

/// Show the machines: which states there are, and what leads from one to another
#[derive(Debug, Args)]
pub(super) struct Statechart {
    /// The machine to show; all of them if none is named
    #[arg(value_name = "MACHINE", value_parser = machines())]
    machine: Option<Chart>,

    /// How to show it [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
}

fn machines() -> impl TypedValueParser<Value = Chart> {
    let names = Chart::all().into_iter().map(|chart| PossibleValue::new(chart.name).help(chart.summary));
    PossibleValuesParser::new(names).try_map(|name| Chart::named(&name).ok_or("no such machine"))
}

fn formats() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.iter().map(|format| PossibleValue::new(format.name()).help(format.doc()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Format>())
}

impl Statechart {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let format = self.format(global)?;
        let output = match (self.machine, format) {
            (Some(chart), Format::Text) => emphasised(&render(&chart, format)),
            (Some(chart), Format::Mermaid | Format::Svg | Format::Json) => render(&chart, format),
            (None, Format::Text) => emphasised(&each(format).join("\n")),
            (None, Format::Mermaid) => each(format).join("\n"),
            (None, Format::Json) => json_list(&Chart::all()),
            (None, Format::Svg) => return Err(svg_needs_a_machine()),
        };
        print(&output)?;
        Ok(Exit::Done)
    }

    fn format(&self, global: &Global) -> anyhow::Result<Format> {
        match (self.format, global.json) {
            (None, false) => Ok(Format::Text),
            (None | Some(Format::Json), true) => Ok(Format::Json),
            (Some(format), false) => Ok(format),
            (Some(format), true) => Err(usage(
                ErrorKind::ArgumentConflict,
                format!("--json asks for JSON and --format for {format}: give one of the two"),
            )),
        }
    }
}

fn each(format: Format) -> Vec<String> {
    Chart::all().iter().map(|chart| render(chart, format)).collect()
}

fn svg_needs_a_machine() -> anyhow::Error {
    let names: Vec<_> = Chart::all().iter().map(|chart| chart.name).collect();
    usage(
        ErrorKind::MissingRequiredArgument,
        format!(
            "an SVG shows one machine: name it, as in `adjourn statechart {} --format svg`\n\n  machines: {}",
            names[0],
            names.join(", ")
        ),
    )
}

fn usage(kind: ErrorKind, message: String) -> anyhow::Error {
    let command = clap::Command::new("statechart").bin_name("adjourn statechart");
    Statechart::augment_args(command).error(kind, message).into()
}

/// The headings of a text in bold: the lines that start at the margin.
fn emphasised(text: &str) -> String {
    const BOLD: Style = Style::new().bold();
    let mut out = String::new();
    for line in text.lines() {
        let _ = if line.is_empty() || line.starts_with(' ') {
            writeln!(out, "{line}")
        } else {
            writeln!(out, "{BOLD}{line}{BOLD:#}")
        };
    }
    out
}
