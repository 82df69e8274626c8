//! Every machine, checked exhaustively against its own table.

use std::collections::BTreeSet;

use adjourn_core::machine::{Machine, State, Trigger, Why};
use adjourn_core::{Actor, Chart, Refused, for_each_machine};

#[test]
fn every_state_trigger_and_actor_is_a_row_of_the_table_or_refused() {
    macro_rules! check {
        ($($M:ty),+ $(,)?) => { $( steps_follow_the_table::<$M>(); )+ };
    }
    for_each_machine!(check);
}

fn steps_follow_the_table<M: Machine>() {
    for &state in M::State::ALL {
        for &trigger in M::Trigger::ALL {
            for &actor in Actor::ALL {
                let context = format!("{}: {state}, {trigger}, by {actor}", M::NAME);
                assert_eq!(M::step(state, trigger, actor), expected::<M>(state, trigger, actor), "{context}");
            }
        }
    }
}

/// What the rows of the table say, read row by row rather than searched.
fn expected<M: Machine>(state: M::State, trigger: M::Trigger, actor: Actor) -> Result<M::State, Refused> {
    let mut why = if state.traits().terminal { Why::Terminal } else { Why::NoEdge { allowed: Vec::new() } };
    for row in M::EDGES.iter().filter(|row| row.from.contains(&state)) {
        if row.trigger == trigger {
            if row.actors.contains(&actor) {
                return Ok(row.to);
            }
            why = Why::Actor { actor, allowed: row.actors };
        } else if let Why::NoEdge { allowed } = &mut why {
            allowed.push(row.trigger.name());
        }
    }
    Err(Refused { machine: M::NAME, state: state.name(), trigger: trigger.name(), why })
}

#[test]
fn each_machine_begins_in_exactly_one_state() {
    for chart in Chart::all() {
        let initial = chart.states.iter().filter(|state| state.initial).count();
        assert_eq!(initial, 1, "{} has {initial} initial states", chart.name);
    }
}

#[test]
fn every_state_can_be_reached() {
    for chart in Chart::all() {
        let mut reached: BTreeSet<_> =
            chart.states.iter().filter(|state| state.initial).map(|state| state.name).collect();
        // One more step in each round: there cannot be more steps to a state than there are states.
        for _ in &chart.states {
            let next = chart.edges.iter().filter(|edge| reached.contains(edge.from)).map(|edge| edge.to);
            reached.extend(next.collect::<Vec<_>>());
        }
        let all: BTreeSet<_> = chart.states.iter().map(|state| state.name).collect();
        assert_eq!(reached, all, "{}", chart.name);
    }
}

#[test]
fn nothing_leads_out_of_a_terminal_state_and_something_out_of_every_other() {
    for chart in Chart::all() {
        for state in &chart.states {
            let out =
                chart.edges.iter().filter(|edge| edge.from == state.name && edge.to != state.name).count();
            assert_eq!(out == 0, state.terminal, "{}: {} has {out} ways out", chart.name, state.name);
            let around = chart.edges.iter().any(|edge| edge.from == state.name && edge.to == state.name);
            assert!(!(around && state.terminal), "{}: {} is terminal and has a loop", chart.name, state.name);
        }
    }
}

#[test]
fn a_trigger_leads_to_one_place_only() {
    for chart in Chart::all() {
        assert_unique(chart.name, chart.edges.iter().map(|edge| (edge.from, edge.trigger)));
    }
}

#[test]
fn every_edge_can_be_fired_by_somebody_and_every_trigger_is_used() {
    for chart in Chart::all() {
        assert!(chart.edges.iter().all(|edge| !edge.actors.is_empty()), "{}", chart.name);
        for trigger in &chart.triggers {
            let used = chart.edges.iter().any(|edge| edge.trigger == trigger.name);
            assert!(used, "{}: no edge has the trigger {}", chart.name, trigger.name);
        }
        for edge in &chart.edges {
            assert_unique(chart.name, edge.actors.iter());
        }
    }
}

#[test]
fn names_are_unique() {
    assert_unique("machines", Chart::all().iter().map(|chart| chart.name));
    for chart in Chart::all() {
        assert_unique(chart.name, chart.states.iter().map(|state| state.name));
        assert_unique(chart.name, chart.triggers.iter().map(|trigger| trigger.name));
    }
}

fn assert_unique<T: Ord + std::fmt::Debug>(context: &str, items: impl Iterator<Item = T>) {
    let mut seen = BTreeSet::new();
    for item in items {
        let text = format!("{item:?}");
        assert!(seen.insert(item), "{context}: {text} is there twice");
    }
}
