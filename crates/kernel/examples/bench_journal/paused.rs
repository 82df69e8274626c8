//! Runs that pause once, as commands and as the items that these come to.

use adjourn_core::{
    By, Command, Create, Evidence, ExecutionId, ExecutionMode, InteractionId, Item, Known, Observation,
    Reply, Run, RunId, RunSpec, Stream, TurnEnd, item,
};
use adjourn_store::conformance::items::{at, run_id};
use serde_json::json;

/// The commands of one run: started, asked, answered, done.
pub(crate) fn commands() -> [Command; 6] {
    let spec = RunSpec {
        skill: Some("release-notes".to_owned()),
        input: json!({ "repository": "https://example.org/lens/lens", "since": "v2.3.0" }),
        ..RunSpec::new("claude", ExecutionMode::Interactive)
    };
    let question = r#"{"__SKILL_DONE__": false, "message": "Which version is this going to be?",
        "ui_hints": {"kind": "choose_one", "options": ["2.3.1", "2.4.0", "3.0.0"]}}"#;
    let result = r#"{"__SKILL_DONE__": true, "version": "2.4.0", "file": "RELEASE-2.4.0.md", "entries": 17}"#;
    [
        Command::Create(Create { spec, key: None }),
        Command::StartTurn,
        end(1, Some("0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"), question),
        Command::Reply(Reply {
            interaction_id: InteractionId(1),
            response: json!("2.4.0"),
            action: None,
            by: By::USER,
            key: None,
            edited_id: ExecutionId::from_bits(0),
            edited_key: None,
        }),
        Command::StartTurn,
        end(2, None, result),
    ]
}

fn end(turn: u32, handle: Option<&str>, text: &str) -> Command {
    let handle = handle.map(|handle| Observation::Handle(handle.to_owned()));
    let message = Observation::Message { text: text.to_owned(), raw: None };
    Command::EndTurn {
        turn,
        observations: handle.into_iter().chain([message]).collect(),
        end: TurnEnd::Completed(Box::new(Evidence::read(text, None))),
    }
}

/// What is committed for the `n`th run: with its creation its first turn starts, and with the answer its second.
pub(crate) fn items(n: u64) -> [Item; 4] {
    let id = run_id(n);
    let [create, start, ask, reply, go_on, done] = commands();
    let steps = [vec![create, start], vec![ask], vec![reply, go_on], vec![done]];
    let mut run: Option<Run> = None;
    let mut time = n;
    steps.map(|commands| {
        time += 1;
        commit(id, &mut run, &commands, time)
    })
}

fn commit(id: RunId, run: &mut Option<Run>, commands: &[Command], time: u64) -> Item {
    let before = run.clone();
    let known = Known::at(at(time));
    let mut events = Vec::new();
    let mut claims = Vec::new();
    for command in commands {
        let decided = match &*run {
            Some(run) => run.decide(command, &known),
            None => Run::create(id, command, &known),
        };
        let decided = decided.expect("the script fits the rules");
        events.extend(decided.events);
        *run = Some(decided.state);
        claims.extend(Run::claims(command, id));
    }
    item(before.as_ref(), claims, &events, run.as_ref().expect("it was created"))
}
