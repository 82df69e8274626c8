//! Every machine, checked exhaustively against its own table.

use std::collections::BTreeSet;

use adjourn_core::machine::{Machine, State, StateTraits, Trigger, Why};
use adjourn_core::{Actor, Refused, for_each_machine};

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

/// A machine with its types erased, so that one loop checks them all.
struct Table {
    name: &'static str,
    states: Vec<(&'static str, StateTraits)>,
    triggers: Vec<&'static str>,
    edges: Vec<Edge>,
}

/// One pair of states that a row of the table joins.
struct Edge {
    from: &'static str,
    trigger: &'static str,
    to: &'static str,
    actors: &'static [Actor],
}

fn tables() -> Vec<Table> {
    macro_rules! tables {
        ($($M:ty),+ $(,)?) => { vec![ $( table::<$M>() ),+ ] };
    }
    for_each_machine!(tables)
}

fn table<M: Machine>() -> Table {
    let edges = M::EDGES.iter().flat_map(|row| {
        row.from.iter().map(|from| Edge {
            from: from.name(),
            trigger: row.trigger.name(),
            to: row.to.name(),
            actors: row.actors,
        })
    });
    Table {
        name: M::NAME,
        states: M::State::ALL.iter().map(|state| (state.name(), state.traits())).collect(),
        triggers: M::Trigger::ALL.iter().map(|trigger| trigger.name()).collect(),
        edges: edges.collect(),
    }
}

#[test]
fn each_machine_begins_in_exactly_one_state() {
    for table in tables() {
        let initial = table.states.iter().filter(|(_, traits)| traits.initial).count();
        assert_eq!(initial, 1, "{} has {initial} initial states", table.name);
    }
}

#[test]
fn every_state_can_be_reached() {
    for table in tables() {
        let mut reached: BTreeSet<_> =
            table.states.iter().filter(|(_, traits)| traits.initial).map(|(name, _)| *name).collect();
        // One more step in each round: there cannot be more steps to a state than there are states.
        for _ in &table.states {
            let next = table.edges.iter().filter(|edge| reached.contains(edge.from)).map(|edge| edge.to);
            reached.extend(next.collect::<Vec<_>>());
        }
        let all: BTreeSet<_> = table.states.iter().map(|(name, _)| *name).collect();
        assert_eq!(reached, all, "{}", table.name);
    }
}

#[test]
fn nothing_leads_out_of_a_terminal_state_and_something_out_of_every_other() {
    for table in tables() {
        for (state, traits) in &table.states {
            let out = table.edges.iter().filter(|edge| edge.from == *state && edge.to != *state).count();
            assert_eq!(out == 0, traits.terminal, "{}: {state} has {out} ways out", table.name);
            let around = table.edges.iter().any(|edge| edge.from == *state && edge.to == *state);
            assert!(!(around && traits.terminal), "{}: {state} is terminal and has a loop", table.name);
        }
    }
}

#[test]
fn a_trigger_leads_to_one_place_only() {
    for table in tables() {
        assert_unique(table.name, table.edges.iter().map(|edge| (edge.from, edge.trigger)));
    }
}

#[test]
fn every_edge_can_be_fired_by_somebody_and_every_trigger_is_used() {
    for table in tables() {
        assert!(table.edges.iter().all(|edge| !edge.actors.is_empty()), "{}", table.name);
        for trigger in &table.triggers {
            let used = table.edges.iter().any(|edge| edge.trigger == *trigger);
            assert!(used, "{}: no edge has the trigger {trigger}", table.name);
        }
        for edge in &table.edges {
            assert_unique(table.name, edge.actors.iter());
        }
    }
}

#[test]
fn names_are_unique() {
    assert_unique("machines", tables().iter().map(|table| table.name));
    for table in tables() {
        assert_unique(table.name, table.states.iter().map(|(name, _)| *name));
        assert_unique(table.name, table.triggers.iter());
    }
}

fn assert_unique<T: Ord + std::fmt::Debug>(context: &str, items: impl Iterator<Item = T>) {
    let mut seen = BTreeSet::new();
    for item in items {
        let text = format!("{item:?}");
        assert!(seen.insert(item), "{context}: {text} is there twice");
    }
}
