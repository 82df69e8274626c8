//! An agent that is killed right after it named its conversation may have nothing under that name: it is told its task again,
//! until it has shown that it knows it.

use adjourn_testkit::acp::{Act, TakesUp};
use serde_json::json;

use crate::stage::world::{WORLD, calls_by_curl};
use crate::stage::{Actor, Stage, until};

/// What the skill says.
const TASK: &str = "Ask, and say what they answered.";

const REPETITION: &str = "This is a repetition, not a second task";

/// Names the conversation, and does nothing more until it is killed.
const NAMES_IT: &str = "echo '{\"adjourn\": {\"handle\": \"conversation-7\"}}'\nexec sleep 600\n";

fn has_handle(run: &Actor<'_>) {
    run.until("a handle", |run| run.handle().map(drop));
}

#[test]
fn an_agent_that_was_killed_right_after_its_handle_is_told_its_task_again() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    for number in 1..=2 {
        let turn = run.turn(number);
        assert!(turn.prompt.contains(TASK), "turn {number}: {}", turn.prompt);
        assert_eq!(turn.prompt.contains(REPETITION), number > 1, "turn {number}: {}", turn.prompt);
        turn.does(NAMES_IT);
        has_handle(&run);
        stage.restart();
    }
    let turn = run.turn(3);
    assert!(turn.prompt.contains(TASK), "still nothing was seen of it: {}", turn.prompt);
    turn.asks("Which database?");
    run.waits();
    run.reply("SQLite").unwrap();
    // It has ended a turn: what it is cut off in now is not the task.
    run.turn(4);
    stage.restart();
    let prompt = run.turn(5).prompt;
    assert!(!prompt.contains(TASK) && prompt.contains("> SQLite"), "{prompt}");
}

#[test]
fn an_agent_that_called_a_tool_is_not_told_its_task_again() {
    let stage = Stage::closed_with_tools(&[WORLD], "irreversible = []");
    stage.open();
    let run = stage.start(json!({}));
    run.turn(1).does(&format!("{}{NAMES_IT}", calls_by_curl("world__count", &json!({ "text": "a" }))));
    until("the call", || run.work().join("answer").exists().then_some(()));
    has_handle(&run);
    stage.restart();
    let prompt = run.turn(2).prompt;
    assert!(!prompt.contains(TASK) && prompt.contains("world.count"), "{prompt}");
}

#[test]
fn over_acp_the_task_is_told_again_until_the_agent_says_something() {
    let stage = Stage::acp(TakesUp::Resume, "", "");
    let run = stage.start(json!({}));
    run.turn(1).acts(&[Act::Hang]);
    has_handle(&run);
    stage.restart();
    let turn = run.turn(2);
    assert!(turn.prompt.contains(TASK) && turn.prompt.contains(REPETITION), "{}", turn.prompt);
    turn.acts(&[Act::Say("I look around.".into()), Act::Tool("ls".into(), "read".into()), Act::Hang]);
    run.until("what it says", |run| run.knows_task().then_some(()));
    stage.restart();
    let prompt = run.turn(3).prompt;
    assert!(!prompt.contains(TASK) && prompt.contains("You were interrupted"), "{prompt}");
}
