//! What steps add up to, where no turn of a real engine shows it.

use adjourn_core::{Consequence, ContractStatus, ExecutionId, RunId};
use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{Next, State, Whose};
use crate::model::{Message, Reply, Said, Stop, ToolUse};
use crate::reasoning::outcome::Outcome;
use crate::reasoning::step::{Step, call_ref};

fn heard(prompt: &str) -> Step {
    Step::Heard { attempt: 1, prompt: prompt.to_owned() }
}

fn said(text: &str, calls: &[&str]) -> Step {
    let call =
        |name: &&str| ToolUse { id: (*name).to_owned(), name: (*name).to_owned(), arguments: json!({}) };
    Step::Said(Said { text: text.to_owned(), calls: calls.iter().map(call).collect(), raw: Value::Null })
}

fn state(steps: impl IntoIterator<Item = Step>) -> State {
    let mut state = State::default();
    for step in steps {
        state.apply(step, Whose::Own);
    }
    state
}

/// The roles of the messages.
fn shape(state: &State) -> Vec<&'static str> {
    let role = |message: &Message| match message {
        Message::User(_) => "user",
        Message::Assistant(_) => "model",
        Message::Results(_) => "results",
    };
    state.messages().iter().map(role).collect()
}

#[test]
fn what_is_heard_while_calls_are_open_comes_after_their_results() {
    let mut state = state([heard("a"), said("", &["x"]), heard("b")]);
    assert!(matches!(state.next(), Next::Call(calls) if calls[0].0 == "1.0"));
    state.settle("1.0".to_owned(), Outcome::refused("no"));
    assert_eq!(state.next(), Next::Ask);
    assert_eq!(shape(&state), ["user", "model", "results", "user"]);
}

#[test]
fn a_reply_with_nothing_in_it_ends_the_turn_and_is_not_repeated_to_the_model() {
    let state = state([heard("a"), said(" ", &[])]);
    assert_eq!(state.next(), Next::End(" ".to_owned()));
    assert_eq!(shape(&state), ["user"]);
}

#[test]
fn only_the_same_calls_since_the_last_words_are_in_a_row() {
    let same = || said("", &["x", "y"]);
    for (steps, expected) in [
        (vec![heard("a")], 0),
        (vec![same(), same()], 2),
        (vec![same(), said("", &["x"]), same(), same()], 2),
        (vec![same(), heard("a"), same()], 1),
    ] {
        assert_eq!(state(steps.clone()).in_a_row().0, expected, "{steps:?}");
    }
}

/// Runs that continue each other: of each run, how many calls each of its replies makes.
fn chains() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0_usize..4, 0..4), 1..5)
}

/// The steps of one run, each reply with what became of its calls.
type Steps = Vec<(Step, Vec<(String, Outcome)>)>;

/// The conversation of a chain as it is written down, run by run. The first `unnamed` runs are from before replies had names.
fn journal(chain: &[Vec<usize>], unnamed: usize) -> Vec<Steps> {
    let mut journal = Vec::new();
    let mut before = State::default();
    for (run, replies) in chain.iter().enumerate() {
        before.own_replies = 0;
        let mut steps = Steps::new();
        for (reply, calls) in replies.iter().enumerate() {
            let names: Vec<_> = (0..*calls).map(|call| format!("{run}-{reply}-{call}")).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let Step::Said(unnamed_said) = said("", &names) else { unreachable!("it says something") };
            let step = if run < unnamed {
                Step::Said(unnamed_said)
            } else {
                let Said { text, calls, raw } = unnamed_said;
                let reply =
                    Reply { text, reasoning: String::new(), calls, stop: Stop::Calls, usage: None, raw };
                Step::replied(RunId::from_bits(run as u128), &reply, before.next_reply())
            };
            before.apply(step.clone(), Whose::Own);
            let reference = |index| match before.entries.last() {
                Some(super::Entry::Said { reply, .. }) => call_ref(reply, index),
                Some(super::Entry::Heard(_)) | None => unreachable!("a reply was added"),
            };
            let outcomes = names.iter().enumerate().map(|(index, name)| {
                let consequence = Consequence {
                    execution_id: ExecutionId::from_bits(1),
                    status: ContractStatus::Completed,
                    result: Some(json!(name)),
                    error_message: None,
                    outcome_unknown: false,
                    assumed: false,
                    arguments: None,
                };
                (reference(index), Outcome::over(&consequence))
            });
            steps.push((step, outcomes.collect()));
        }
        journal.push(steps);
    }
    journal
}

/// The state of the last run of a chain that was read from what is left of the journal.
fn read(journal: &[Steps]) -> State {
    let mut state = State::default();
    for (reference, outcome) in journal.iter().flatten().flat_map(|(_, outcomes)| outcomes) {
        state.settle(reference.clone(), outcome.clone());
    }
    for (run, steps) in journal.iter().enumerate() {
        let whose = if run + 1 == journal.len() { Whose::Own } else { Whose::Earlier };
        for (step, _) in steps {
            state.apply(step.clone(), whose);
        }
    }
    state
}

proptest! {
    #[test]
    fn no_call_is_answered_with_the_result_of_another_however_much_of_the_chain_is_gone(
        chain in chains(),
        unnamed in 0_usize..5,
        gone in 0_usize..5,
    ) {
        // What is left of an old conversation whose beginning is gone is never read: a chain with a gap is an error.
        let gone = if gone > 0 { gone.max(unnamed) } else { 0 }.min(chain.len() - 1);
        let unnamed = if gone > 0 { unnamed.min(gone) } else { unnamed };
        let journal = journal(&chain, unnamed);
        let mut state = read(&journal[gone..]);
        let mut messages = state.messages().into_iter();
        while let Some(message) = messages.next() {
            let Message::Assistant(said) = message else { continue };
            if said.calls.is_empty() {
                continue;
            }
            let Some(Message::Results(results)) = messages.next() else { panic!("calls have results") };
            let answered: Vec<_> = results.iter().map(|result| result.consequence["result"].clone()).collect();
            let asked: Vec<_> = said.calls.iter().map(|call| json!(call.name)).collect();
            prop_assert_eq!(answered, asked);
        }
        // A reply that comes now is nobody's before it: all of its calls are still to be made.
        let Step::Said(Said { text, calls, raw }) = said("", &["x", "y"]) else { unreachable!() };
        let reply = Reply { text, reasoning: String::new(), calls, stop: Stop::Calls, usage: None, raw };
        let own = RunId::from_bits(chain.len() as u128 - 1);
        let next = Step::replied(own, &reply, state.next_reply());
        state.apply(next, Whose::Own);
        let is_new = matches!(state.next(), Next::Call(calls) if calls.len() == 2);
        prop_assert!(is_new, "{:?}", state.next());
    }
}
