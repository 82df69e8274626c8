//! The stream and the journal of whole runs, as clients and disks see them.
//!
//! A changed snapshot is a changed promise: clients read the frames, and journals that were written once are read for
//! ever. Additions are fine, everything else is not.

#![allow(clippy::unwrap_used, reason = "what cannot go on has failed its test")]

use std::collections::BTreeSet;

use adjourn_core::{
    Action, AskAgain, Boot, Command, ContractReport, Event, ExecutionMode, Frame, FrameType, InteractionView,
    Observation, OutputStream, Profile, Question, RawRef, Record, RefusedCall, RunSpec, RunView, Strict,
    ToolDigest, ToolDigests, Usage,
};
use insta::{assert_json_snapshot, assert_snapshot};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::case::{ASKS, Case, DONE, WRONG};

/// What a run that pauses once may cost on disk, all of its journal together.
const PAUSE_RUN_BYTES_MAX: usize = 1500;

fn says(text: &str) -> Vec<Observation> {
    vec![Observation::Message { text: text.to_owned(), raw: None }]
}

fn pause_run() -> Case {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| {
        *spec = RunSpec { skill: Some("choose".to_owned()), ..RunSpec::new("claude", spec.execution_mode) };
    });
    run.starts_with_handle().shows(says("Which one?")).ends(ASKS).waits(60);
    run.answers(1, "the blue one").starts().shows(says("It is done.")).ends(DONE);
    run
}

fn approval_with_edit() -> Case {
    let mut run = Case::interactive();
    run.starts_with_handle();
    run.asks_to_send("ann");
    let reply = run.reply(1, json!({"to": "bob"}), Some(Action::Edit));
    let edited = reply.edited_id;
    run.suspends().does(Command::Reply(reply)).starts().dispatches(edited);
    run.reports(edited, ContractReport::Succeeded(json!({"sent": true}))).ends(DONE);
    run
}

fn auto_decision() -> Case {
    let mut run = Case::auto();
    run.starts_with_handle().ends(r#"{"ask_user": 5}"#).starts().ends(DONE);
    run
}

fn expired_question() -> Case {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.strict = Strict::Off);
    run.starts_with_handle();
    run.asks_form(Question::open_text("What?"), None);
    run.suspends().waits(100).expires(1).starts().ends(DONE);
    run
}

fn repair() -> Case {
    let mut run = Case::auto();
    run.starts().shows(says(WRONG)).ends_checked(WRONG).shows(says(DONE)).ends_checked(DONE);
    run
}

fn restart_in_doubt() -> Case {
    let mut run = Case::with(ExecutionMode::Auto, |spec| spec.profile = Profile::StickyProcess);
    run.starts_with_process();
    run.sends("ann");
    run.restarts().restarts().answers(1, json!({"value": "happened", "note": "it is in her inbox"}));
    run.starts().ends(DONE);
    run
}

fn cancel() -> Case {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.profile = Profile::StickyProcess);
    run.starts_with_process();
    run.asks_to_send("ann");
    run.suspends().cancels().process_ends();
    run
}

fn failed_run() -> Case {
    let mut run = Case::interactive();
    let raw = Some(RawRef { attempt: 1, stream: OutputStream::Stdout, from: 0, to: 12 });
    run.starts().shows(vec![
        Observation::Reasoning { text: "Hm.".to_owned(), raw },
        Observation::ToolCall { name: "read".to_owned(), detail: json!({"path": "a"}), raw },
        Observation::CommandExecution { command: "ls".to_owned(), detail: json!({"exit": 0}), raw },
        Observation::Sandbox("namespaces".to_owned()),
        Observation::Usage(Usage { input_tokens: 10, output_tokens: 2, cost_usd: Some(0.25) }),
        Observation::Step(json!({"said": "hi"})),
    ]);
    let id = run.sends("ann");
    run.reports(id, ContractReport::Lost("the connection broke".to_owned())).breaks();
    let (note, by) = (Some("it bounced".to_owned()), adjourn_core::By::USER);
    run.does(Command::SettleContract { id, happened: false, note, by });
    run
}

fn refused_call() -> Case {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let done = run.sends("ann");
    run.reports(done, ContractReport::Succeeded(json!("sent")));
    let call = |tool: &str, reason: &str, same_as| RefusedCall {
        tool: tool.to_owned(),
        arguments: r#"{"to":"ann"}"#.to_owned(),
        reason: reason.to_owned(),
        same_as,
    };
    for call in [
        call("mail__sned", "there is no tool `mail__sned`", None),
        call("mail__send", "the same call was made before", Some(done)),
    ] {
        run.does(Command::RefuseCall { turn: run.run().turn(), call });
    }
    run.ends(DONE);
    run
}

fn changed_tool() -> Case {
    let mut run = Case::interactive();
    let definition = |text: &str| ToolDigest::of(&json!({ "description": text }));
    run.starts_with_handle();
    let tools =
        ToolDigests::from([("mail".to_owned(), [("send".to_owned(), definition("Sends it."))].into())]);
    run.does(Command::ListTools { turn: run.run().turn(), tools });
    let id = run.asks_to_send("ann");
    run.suspends().acts(1, Action::Approve, json!(null)).starts();
    run.does(Command::AskAgain(AskAgain {
        turn: run.run().turn(),
        id,
        definition: definition("Sends it to everybody."),
        question: Question::confirm("Send it, with the tool as it is now?"),
    }));
    run.suspends().acts(2, Action::Approve, json!(null)).starts().dispatches(id);
    run.reports(id, ContractReport::Succeeded(json!({"sent": true}))).ends(DONE);
    run
}

/// Every run of this file, with its name.
/// The clock is set back by an hour while a question is open.
fn moved_deadline() -> Case {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.strict = Strict::Off);
    let booted_at = run.world.now.plus_millis(-5000);
    run.world.boot = Some(Boot { id: 7, at: booted_at });
    run.starts_with_handle().ends(ASKS).waits(60);
    run.world.now = run.world.now.plus_millis(-3_600_000);
    run.world.boot = Some(Boot { id: 7, at: booted_at.plus_millis(-3_600_000) });
    run.does(Command::MoveDeadlines).answers(1, "the blue one").starts().ends(DONE);
    run
}

/// A run that is canceled while its process works, which stays until it is ended.
fn cancel_at_work() -> Case {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.profile = Profile::StickyProcess);
    run.starts_with_process().cancels().ends(ASKS).process_ends();
    run
}

fn all() -> [(&'static str, Case); 12] {
    [
        ("pause_run", pause_run()),
        ("approval_with_edit", approval_with_edit()),
        ("auto_decision", auto_decision()),
        ("expired_question", expired_question()),
        ("repair", repair()),
        ("restart_in_doubt", restart_in_doubt()),
        ("cancel", cancel()),
        ("cancel_at_work", cancel_at_work()),
        ("failed_run", failed_run()),
        ("changed_tool", changed_tool()),
        ("refused_call", refused_call()),
        ("moved_deadline", moved_deadline()),
    ]
}

fn payloads(run: &Case) -> Vec<String> {
    let entries = &run.world.journal.entries[&run.id];
    entries.iter().map(|entry| String::from_utf8(entry.payload.clone()).unwrap()).collect()
}

#[test]
fn the_streams_are_what_clients_were_promised() {
    for (name, run) in all() {
        assert_json_snapshot!(format!("stream_{name}"), run.frames());
    }
}

#[test]
fn the_journals_are_what_was_written_before() {
    for (name, run) in all() {
        assert_snapshot!(format!("journal_{name}"), payloads(&run).join("\n"));
    }
}

#[test]
fn what_a_client_is_shown_can_be_read_back() {
    for (name, run) in all() {
        let view = RunView::of(run.run());
        assert_eq!(read_back(&view), view, "{name}");
        for interaction in run.run().interactions() {
            let view = InteractionView::of(run.run(), interaction);
            assert_eq!(read_back(&view), view, "{name}");
        }
        for frame in run.frames() {
            assert_eq!(read_back(&frame), frame, "{name}");
        }
    }
    let mut later = json!(pause_run().frames()[0]);
    later["protocol_version"] = json!("fcmp/2.0");
    let error = serde_json::from_value::<Frame>(later).unwrap_err();
    assert_eq!(error.to_string(), "the stream is `fcmp/2.0`, and only `fcmp/1.0` is known");
}

fn read_back<T: Serialize + DeserializeOwned>(shown: &T) -> T {
    serde_json::from_str(&serde_json::to_string(shown).unwrap()).unwrap()
}

#[test]
fn a_run_that_pauses_once_is_small_on_disk() {
    let bytes: usize = payloads(&pause_run()).iter().map(String::len).sum();
    println!("a run that pauses once takes {bytes} bytes of journal");
    assert!(bytes < PAUSE_RUN_BYTES_MAX, "{bytes} bytes");
}

#[test]
fn every_type_of_frame_is_in_one_of_the_streams() {
    let seen: BTreeSet<_> = all().iter().flat_map(|(_, run)| run.frames()).map(|frame| frame.kind).collect();
    assert_eq!(seen, FrameType::ALL.iter().copied().collect());
}

#[test]
fn every_kind_of_event_is_in_one_of_the_journals() {
    let runs = all();
    let entries = runs.iter().flat_map(|(_, run)| &run.world.journal.entries[&run.id]);
    let events = entries.flat_map(|entry| Record::of(entry).unwrap().events);
    let seen: BTreeSet<_> = events.map(|event| kind(&event)).collect();
    assert_eq!(seen, (0..KINDS).collect());
}

/// How many kinds there are: one more than the greatest number below.
const KINDS: usize = 30;

/// Numbers the kinds of events. A new one gets the next number here, and a run above that shows it.
fn kind(event: &Event) -> usize {
    match event {
        Event::Created(_) => 0,
        Event::StatusChanged { error: None, .. } => 1,
        Event::StatusChanged { error: Some(_), .. } => 2,
        Event::TurnStarted { .. } => 3,
        Event::Observed(Observation::Handle(_)) => 4,
        Event::Observed(Observation::Process(_)) => 5,
        Event::Observed(Observation::Message { .. }) => 6,
        Event::Observed(Observation::Reasoning { .. }) => 7,
        Event::Observed(Observation::ToolCall { .. }) => 8,
        Event::Observed(Observation::CommandExecution { .. }) => 9,
        Event::Observed(Observation::Usage(_)) => 10,
        Event::RepairStarted { .. } => 11,
        Event::Warned(_) => 12,
        Event::InteractionOpened { .. } => 13,
        Event::InteractionAnswered { .. } => 14,
        Event::InteractionExpired { .. } => 15,
        Event::InteractionWithdrawn { .. } => 16,
        Event::ContractCreated(_) => 17,
        Event::ContractChanged { .. } => 18,
        Event::ContractSettled { .. } => 19,
        Event::ProcessLost => 20,
        Event::EndRequested(_) => 21,
        Event::ResultRecorded(_) => 22,
        Event::Observed(Observation::Step(_)) => 23,
        Event::ToolsListed(_) => 24,
        Event::ToolChanged { .. } => 25,
        Event::Observed(Observation::Sandbox(_)) => 26,
        Event::DeadlineMoved { .. } => 27,
        Event::CallRefused(_) => 28,
        Event::TurnOver => 29,
        // Only a journal that cannot be read has one; `set_aside` tests it.
        Event::SetAside(_) => KINDS,
    }
}
