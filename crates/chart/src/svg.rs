//! A machine as a drawing that stands by itself: no script, no font, no other file.
//!
//! States and lines carry `data-state`, `data-from` and `data-to`, so that a page that holds the drawing can mark where a
//! thing is. All rules are scoped to `.statechart`, so that several drawings can share a page.

use std::fmt::Write as _;

use crate::chart::Chart;
use crate::layout::size::{LABEL_FONT, LABEL_LINE, LABEL_PADDING, STATE_FONT};
use crate::layout::{Curve, Layout, Placed, Point, Rect, Route, layout};
use crate::text::marks;

/// How far the inner border of a terminal state lies inside the outer one.
const INNER_BORDER: f64 = 3.5;

/// The machine as SVG. Follows the reader's light or dark scheme.
pub(super) fn render(chart: &Chart) -> String {
    let layout = layout(chart);
    let mut out = String::new();
    push_head(&mut out, chart, &layout);
    let arrow = format!("url(#{}-arrow)", chart.name);
    for (dot, curves) in &layout.starts {
        push_start(&mut out, dot, curves, &arrow);
    }
    for route in &layout.routes {
        push_route(&mut out, chart, route, &arrow);
    }
    for placed in &layout.boxes {
        push_box(&mut out, chart, placed);
    }
    out.push_str("</svg>\n");
    out
}

fn push_head(out: &mut String, chart: &Chart, layout: &Layout) {
    let Layout { width, height, .. } = layout;
    let name = escape(chart.name);
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="statechart" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {width} {height}" width="{width}" height="{height}">"#
    );
    let _ = writeln!(out, r#"<title id="{name}-title">The states of the {name} machine</title>"#);
    let _ = writeln!(
        out,
        r#"<desc id="{name}-desc">{} {}</desc>"#,
        escape(chart.summary),
        escape(&in_words(chart))
    );
    let _ = writeln!(out, "<style>\n{}</style>", style());
    let _ = writeln!(
        out,
        r#"<defs><marker id="{name}-arrow" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="arrow" d="M0 1L10 5L0 9z"/></marker></defs>"#
    );
    let _ = writeln!(out, r#"<rect class="page" width="{width}" height="{height}" rx="8"/>"#);
}

/// The drawing for those who hear it: every edge as a sentence.
fn in_words(chart: &Chart) -> String {
    let edges =
        chart.edges.iter().map(|edge| format!("From {} to {} by {}.", edge.from, edge.to, edge.trigger));
    edges.collect::<Vec<_>>().join(" ")
}

fn style() -> String {
    format!(
        "\
.statechart {{ --page: #fff; --ink: #1f2328; --line: #6e7781; --box: #f6f8fa; --stable: #ddf4ff; --label: #fff; --rim: #d0d7de; }}
@media (prefers-color-scheme: dark) {{
  .statechart {{ --page: #0d1117; --ink: #e6edf3; --line: #8b949e; --box: #1c2128; --stable: #12365a; --label: #0d1117; --rim: #3d444d; }}
}}
.statechart .page {{ fill: var(--page); }}
.statechart text {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace; fill: var(--ink); }}
.statechart .state text {{ font-size: {STATE_FONT}px; font-weight: 600; text-anchor: middle; dominant-baseline: central; }}
.statechart .state rect {{ fill: var(--box); stroke: var(--ink); stroke-width: 1.4; }}
.statechart .state.stable rect {{ fill: var(--stable); }}
.statechart .state rect.inner {{ fill: none; stroke-width: 1; }}
.statechart .dot {{ fill: var(--ink); }}
.statechart .line {{ fill: none; stroke: var(--line); stroke-width: 1.4; }}
.statechart .arrow {{ fill: var(--line); }}
.statechart .label rect {{ fill: var(--label); stroke: var(--rim); }}
.statechart .label text {{ font-size: {LABEL_FONT}px; text-anchor: middle; dominant-baseline: central; }}
.statechart .edge:hover .line {{ stroke: var(--ink); stroke-width: 2.4; }}
.statechart .edge:hover .label rect {{ stroke: var(--ink); }}
"
    )
}

fn push_start(out: &mut String, dot: &Rect, curves: &[Curve], arrow: &str) {
    let Point { x, y } = centre(dot);
    let _ = writeln!(out, r#"<path class="line" d="{}" marker-end="{arrow}"/>"#, path(curves));
    let _ = writeln!(out, r#"<circle class="dot" cx="{x}" cy="{y}" r="{}"/>"#, dot.width / 2.0);
}

fn push_route(out: &mut String, chart: &Chart, route: &Route, arrow: &str) {
    let (from, to) = (chart.states[route.from].name, chart.states[route.to].name);
    let _ = writeln!(out, r#"<g class="edge" data-from="{}" data-to="{}">"#, escape(from), escape(to));
    let _ = writeln!(out, r#"<path class="line" d="{}" marker-end="{arrow}"/>"#, path(&route.curves));
    let Rect { x, y, width, height } = route.label;
    let _ =
        writeln!(out, r#"<g class="label"><rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>"#);
    let middle = x + width / 2.0;
    let mut line = y + LABEL_PADDING / 2.0 + LABEL_LINE / 2.0;
    for edge in route.edges.iter().map(|&edge| &chart.edges[edge]) {
        let note = if edge.note.is_empty() { String::new() } else { format!(" ({})", edge.note) };
        let tip = format!("{from} → {to} by {}{note}", edge.actors.join(", "));
        let (trigger, tip) = (escape(edge.trigger), escape(&tip));
        let _ = writeln!(out, r#"<text x="{middle}" y="{line}"><title>{tip}</title>{trigger}</text>"#);
        line += LABEL_LINE;
    }
    out.push_str("</g></g>\n");
}

fn push_box(out: &mut String, chart: &Chart, placed: &Placed) {
    let state = &chart.states[placed.state];
    let name = escape(state.name);
    let Rect { x, y, width, height } = placed.rect;
    let class = format!("state {}", marks(state).replace(',', ""));
    let _ = writeln!(
        out,
        r#"<g class="{}" data-state="{name}"><title>{}</title>"#,
        class.trim_end(),
        escape(state.doc)
    );
    let _ = writeln!(out, r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10"/>"#);
    if state.terminal {
        let (x, y) = (x + INNER_BORDER, y + INNER_BORDER);
        let (width, height) = (width - 2.0 * INNER_BORDER, height - 2.0 * INNER_BORDER);
        let _ = writeln!(
            out,
            r#"<rect class="inner" x="{x}" y="{y}" width="{width}" height="{height}" rx="7"/>"#
        );
    }
    let Point { x, y } = centre(&placed.rect);
    let _ = writeln!(out, r#"<text x="{x}" y="{y}">{name}</text></g>"#);
}

fn centre(rect: &Rect) -> Point {
    Point { x: rect.x + rect.width / 2.0, y: rect.y + rect.height / 2.0 }
}

/// Curves as path data, in pieces where one does not begin where the last ended.
fn path(curves: &[Curve]) -> String {
    let mut path = String::new();
    let mut at = None;
    for Curve { start, bends: [a, b], end } in curves {
        if at != Some(*start) {
            let _ = write!(path, "M{} {}", start.x, start.y);
        }
        let straight = start.x == end.x || start.y == end.y;
        if straight {
            let _ = write!(path, "L{} {}", end.x, end.y);
        } else {
            let _ = write!(path, "C{} {} {} {} {} {}", a.x, a.y, b.x, b.y, end.x, end.y);
        }
        at = Some(*end);
    }
    path
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
