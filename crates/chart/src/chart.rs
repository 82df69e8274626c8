//! A machine as data, with its types erased: the input of every drawing, document and API answer.

use adjourn_core::for_each_machine;
use adjourn_core::machine::{Machine, State, Trigger};
use serde::Serialize;

/// One machine, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Chart {
    /// The machine's name.
    pub name: &'static str,
    /// What it describes, in one sentence.
    pub summary: &'static str,
    /// Its states, in the order of the table.
    pub states: Vec<ChartState>,
    /// Its triggers, in the order of the table.
    pub triggers: Vec<ChartTrigger>,
    /// Its table, one edge per pair of states.
    pub edges: Vec<ChartEdge>,
}

/// A state of a [`Chart`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChartState {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// Things begin here.
    pub initial: bool,
    /// Nothing leads out.
    pub terminal: bool,
    /// Things may stay here for any length of time.
    pub stable: bool,
}

/// A trigger of a [`Chart`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChartTrigger {
    /// Its name.
    pub name: &'static str,
    /// When it fires.
    pub doc: &'static str,
}

/// An edge of a [`Chart`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChartEdge {
    /// Where it starts.
    pub from: &'static str,
    /// What fires it.
    pub trigger: &'static str,
    /// Where it leads.
    pub to: &'static str,
    /// Who may fire it.
    pub actors: Vec<&'static str>,
    /// A remark, or nothing.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
}

impl Chart {
    /// The chart of one machine.
    pub fn of<M: Machine>() -> Self {
        let edges = M::EDGES.iter().flat_map(|edge| {
            edge.from.iter().map(|from| ChartEdge {
                from: from.name(),
                trigger: edge.trigger.name(),
                to: edge.to.name(),
                actors: edge.actors.iter().map(|actor| actor.name()).collect(),
                note: edge.note,
            })
        });
        Self {
            name: M::NAME,
            summary: M::SUMMARY,
            states: M::State::ALL.iter().copied().map(ChartState::of).collect(),
            triggers: M::Trigger::ALL
                .iter()
                .map(|trigger| ChartTrigger { name: trigger.name(), doc: trigger.doc() })
                .collect(),
            edges: edges.collect(),
        }
    }

    /// The charts of all machines.
    pub fn all() -> Vec<Self> {
        macro_rules! charts {
            ($($M:ty),+ $(,)?) => { vec![ $( Self::of::<$M>() ),+ ] };
        }
        for_each_machine!(charts)
    }

    /// The chart of the machine called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|chart| chart.name == name)
    }
}

impl ChartState {
    fn of<S: State>(state: S) -> Self {
        let traits = state.traits();
        Self {
            name: state.name(),
            doc: state.doc(),
            initial: traits.initial,
            terminal: traits.terminal,
            stable: traits.stable,
        }
    }
}
