//! What steps add up to, where no turn of a real engine shows it.

use serde_json::{Value, json};

use super::{Next, State, Whose};
use crate::model::{Message, Said, ToolUse};
use crate::reasoning::outcome::Outcome;
use crate::reasoning::step::Step;

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
