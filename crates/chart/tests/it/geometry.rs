//! Whether a drawing can be read: nothing overlaps, no line runs through a box or a label, all of it is inside.

use adjourn_chart::{Chart, ChartEdge, ChartState, Layout, Point, Rect, layout};
use proptest::prelude::{ProptestConfig, Strategy, any, proptest};

#[test]
fn every_machine_is_readable() {
    for chart in Chart::all() {
        assert_readable(&chart);
    }
}

proptest! {
    // Each is laid out twice, which takes some milliseconds without optimisation.
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Machines of the future too: any states, joined in any way.
    #[test]
    fn any_machine_is_readable(chart in any_chart()) {
        assert_readable(&chart);
    }
}

const STATES: [&str; 8] =
    ["a", "running", "waiting_for_somebody", "d", "succeeded", "failed", "g", "canceled"];
const TRIGGERS: [&str; 5] = ["go", "turn.started", "interaction.auto_decide.timeout", "x", "run.canceled"];

fn any_chart() -> impl Strategy<Value = Chart> {
    let states = proptest::collection::vec(any::<[bool; 3]>(), 1..=STATES.len());
    let edges = proptest::collection::vec((any::<usize>(), any::<usize>(), 0..TRIGGERS.len()), 0..24);
    (states, edges).prop_map(|(states, edges)| {
        let count = states.len();
        let state = |(name, flags): (_, [bool; 3])| {
            let [initial, terminal, stable] = flags;
            ChartState { name, doc: "", initial, terminal, stable }
        };
        let edge = |(from, to, trigger): (usize, usize, usize)| ChartEdge {
            from: STATES[from % count],
            trigger: TRIGGERS[trigger],
            to: STATES[to % count],
            actors: vec!["system"],
            note: "",
        };
        Chart {
            name: "any",
            summary: "",
            states: STATES.into_iter().zip(states).map(state).collect(),
            triggers: Vec::new(),
            edges: edges.into_iter().map(edge).collect(),
        }
    })
}

fn assert_readable(chart: &Chart) {
    let layout = layout(chart);
    assert_complete(chart, &layout);

    let shapes = shapes(chart, &layout);
    let page = Rect { x: 0.0, y: 0.0, width: layout.width, height: layout.height };
    for (position, (name, rect)) in shapes.iter().enumerate() {
        assert!(is_inside(&page, rect), "{}: {name} is cut off", chart.name);
        for (other_name, other) in &shapes[position + 1..] {
            assert!(!overlap(rect, other), "{}: {name} overlaps {other_name}", chart.name);
        }
    }
    for route in &layout.routes {
        for point in
            route.curves.iter().flat_map(|curve| (0..=50).map(|step| curve.at(f64::from(step) / 50.0)))
        {
            let line =
                format!("the line from {} to {}", chart.states[route.from].name, chart.states[route.to].name);
            assert!(is_within(&page, point, 0.0), "{}: {line} leaves the page", chart.name);
            for (name, rect) in shapes.iter().filter(|(_, rect)| *rect != route.label) {
                assert!(!is_within(rect, point, 0.5), "{}: {line} runs through {name}", chart.name);
            }
        }
    }
}

/// Every state has its box and every edge its line.
fn assert_complete(chart: &Chart, layout: &Layout) {
    let mut states: Vec<_> = layout.boxes.iter().map(|placed| placed.state).collect();
    states.sort_unstable();
    assert_eq!(states, (0..chart.states.len()).collect::<Vec<_>>());
    let mut edges: Vec<_> = layout.routes.iter().flat_map(|route| route.edges.iter().copied()).collect();
    edges.sort_unstable();
    assert_eq!(edges, (0..chart.edges.len()).collect::<Vec<_>>());
    assert_eq!(layout.starts.len(), chart.states.iter().filter(|state| state.initial).count());
}

/// All that takes room, with a name for the message.
fn shapes(chart: &Chart, layout: &Layout) -> Vec<(String, Rect)> {
    let state = |state: usize| chart.states[state].name;
    let boxes =
        layout.boxes.iter().map(|placed| (format!("the box of {}", state(placed.state)), placed.rect));
    let dots = layout.starts.iter().map(|(dot, _)| ("a dot".to_owned(), *dot));
    let labels = layout
        .routes
        .iter()
        .map(|route| (format!("the label from {} to {}", state(route.from), state(route.to)), route.label));
    boxes.chain(dots).chain(labels).collect()
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

fn is_inside(outer: &Rect, inner: &Rect) -> bool {
    let last = Point { x: inner.x + inner.width, y: inner.y + inner.height };
    is_within(outer, Point { x: inner.x, y: inner.y }, 0.0) && is_within(outer, last, 0.0)
}

/// At least `depth` inside the edge.
fn is_within(rect: &Rect, point: Point, depth: f64) -> bool {
    let from_left = point.x - rect.x;
    let from_top = point.y - rect.y;
    from_left.min(rect.width - from_left).min(from_top).min(rect.height - from_top) >= depth
}
