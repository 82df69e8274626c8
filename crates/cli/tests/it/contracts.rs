//! `trace`, `settle`, and approvals in the terminal.
//!
//! The calls are recorded as an engine records them: this process owns the data directory for a while, with a real agent at
//! its turn, and leaves what a person then looks at.

use std::sync::Arc;
use std::time::Duration;

use adjourn_core::{
    Choice, Command, ContractAction, ContractReport, ContractSpec, ExecutionId, IdempotencyKey, KeyScope,
    Observation, PermissionRequest, Question, RefusedCall, RequestContract, RunId, RunStatus, Survey,
    ToolCall, TurnEnd,
};
use adjourn_engine::supervisor::{SUBCOMMAND, Supervisor};
use adjourn_kernel::SystemClock;
use adjourn_runtime::Service;
use adjourn_runtime::config::Config;
use adjourn_runtime::request::RunRequest;
use serde_json::{Value, json};

use crate::serving::Serving;
use crate::terminal::{ENTER, Terminal};
use crate::world::{World, assert_settled, until};

/// How long a test waits for a status that is bound to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// An engine at its first turn of a run.
struct Engine<'a> {
    world: &'a World,
    service: Service,
    run: RunId,
}

impl Engine<'_> {
    /// Lets `work` happen in the first turn of a run, and leaves the run with the status it gets when its agent is done.
    fn works(world: &World, status: RunStatus, work: impl AsyncFnOnce(&Engine<'_>)) -> String {
        let tasks = tokio::runtime::Runtime::new().unwrap();
        let (run, threads) = tasks.block_on(async {
            let data = world.path().join(".adjourn");
            let config = Config::load(Some(&world.path().join("adjourn.toml")), &data).unwrap();
            let binary = assert_cmd::cargo::cargo_bin!("adjourn").to_owned();
            let supervisor = Supervisor::new(vec![binary.into(), SUBCOMMAND.into()]);
            let (service, threads) =
                Service::open_with(&data, config, supervisor, Arc::new(SystemClock)).unwrap();
            let request = json!({ "skill": "deploy", "engine": "works", "execution_mode": "interactive" });
            let request = RunRequest::read(&request).unwrap();
            let run = service.create(request, None, None).await.unwrap().run.id();
            let engine = Engine { world, service, run };
            engine.becomes(RunStatus::Running).await;
            work(&engine).await;
            engine.becomes(status).await;
            (run, threads)
        });
        tasks.shutdown_timeout(PATIENCE);
        threads.join();
        run.to_string()
    }

    async fn becomes(&self, status: RunStatus) {
        let mut news = self.service.store().watch();
        let waits = async {
            while self.service.run(self.run).unwrap().status() != status {
                news.changed().await.unwrap();
            }
        };
        tokio::time::timeout(PATIENCE, waits).await.unwrap();
    }

    async fn does(&self, command: Command) {
        self.service.runtime().ask(self.run, command).await.unwrap();
    }

    /// Lets the agent end its turn.
    fn ends(&self) {
        self.world.let_go(&self.run.to_string());
    }

    async fn requests(&self, bits: u128, to: &str, approval: Option<Question>) -> ExecutionId {
        let run = self.service.run(self.run).unwrap();
        let (execution_id, arguments) = (ExecutionId::from_bits(bits), json!({ "to": to, "body": "Hello" }));
        let call = ToolCall { service: "mail".to_owned(), method: "send".to_owned(), arguments };
        let spec = ContractSpec {
            execution_id,
            irreversible: true,
            idempotency_key: IdempotencyKey::of(&call.service, &call.method, &call.arguments),
            action: ContractAction::ToolCall(call),
            scope: run.scope(KeyScope::Run),
            timeout_seconds: None,
            edited_from: None,
            call_ref: None,
            definition: None,
        };
        let turn = run.turn();
        self.does(Command::RequestContract(RequestContract { turn, spec, approval })).await;
        execution_id
    }

    async fn sends(&self, bits: u128, to: &str) -> ExecutionId {
        let id = self.requests(bits, to, None).await;
        self.does(Command::DispatchContract(id)).await;
        id
    }

    async fn asks_to_send(&self, bits: u128, to: &str) {
        self.requests(bits, to, Some(Question::confirm("May this mail be sent?"))).await;
    }

    async fn reports(&self, id: ExecutionId, report: ContractReport) {
        self.does(Command::ReportContract { id, report }).await;
    }
}

/// A run with a call of every kind: done, refused, lost, and two that wait for a person.
fn eventful(world: &World) -> String {
    Engine::works(world, RunStatus::WaitingUser, async |engine| {
        let done = engine.sends(1, "ann").await;
        engine.reports(done, ContractReport::Succeeded(json!({ "id": 7 }))).await;
        let failed = engine.sends(2, "nobody").await;
        engine.reports(failed, ContractReport::Failed("there is no such address".to_owned())).await;
        let lost = engine.sends(3, "bob").await;
        engine.reports(lost, ContractReport::Lost("the mail server did not answer".to_owned())).await;
        engine.asks_to_send(4, "carl").await;
        engine.asks_to_send(5, "dora").await;
        engine.ends();
    })
}

/// A run that ended after a call whose result was lost, and the contract.
fn lost(world: &World) -> (String, String) {
    let call = ExecutionId::from_bits(1);
    let run = Engine::works(world, RunStatus::Succeeded, async |engine| {
        engine.sends(1, "ann").await;
        engine.reports(call, ContractReport::Lost("the mail server did not answer".to_owned())).await;
        engine.ends();
    });
    (run, call.to_string())
}

fn shown(world: &World, arguments: &[&str]) -> String {
    let said = world.says(arguments);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{said:?}");
    said.stdout
}

#[test]
fn a_trace_has_a_block_for_each_contract_with_what_a_person_can_do_about_it() {
    let world = World::new();
    let run = eventful(&world);
    assert_settled!(world, shown(&world, &["trace", &run]));
}

#[test]
fn the_trace_as_json_has_every_step_with_its_actor() {
    let world = World::new();
    let run = eventful(&world);
    let step = |step: &Value| format!("{} {}", step["metadata"]["actor"], step["action"]).replace('"', "");
    let steps: Vec<_> = world.items(&["trace", &run]).iter().map(step).collect();
    let id = |bits| ExecutionId::from_bits(bits);
    let created = |bits| format!("reasoning_node {}: -> PENDING (create)", id(bits));
    let expected = [
        created(1),
        format!("tool_node {}: PENDING -> RUNNING (start)", id(1)),
        format!("tool_node {}: RUNNING -> COMPLETED (succeed)", id(1)),
        created(2),
        format!("tool_node {}: PENDING -> RUNNING (start)", id(2)),
        format!("tool_node {}: RUNNING -> FAILED (fail)", id(2)),
        created(3),
        format!("tool_node {}: PENDING -> RUNNING (start)", id(3)),
        format!("tool_node {}: RUNNING -> FAILED (fail)", id(3)),
        created(4),
        format!("tool_node {}: PENDING -> RUNNING (start)", id(4)),
        format!("tool_node {}: RUNNING -> WAITING (suspend)", id(4)),
        created(5),
        format!("tool_node {}: PENDING -> RUNNING (start)", id(5)),
        format!("tool_node {}: RUNNING -> WAITING (suspend)", id(5)),
    ];
    assert_eq!(steps, expected);
}

#[test]
fn a_run_without_contracts_says_so() {
    let world = World::new();
    let run = world.finished_run();
    let said = world.says(&["trace", &run]);
    let expected = format!("{run} has no contracts: nothing was called or asked through adjourn\n");
    assert_eq!((said.code, said.stdout.as_str(), said.stderr), (Some(0), "", expected));
    assert_eq!(world.items(&["trace", &run]), [] as [Value; 0]);
}

#[test]
fn calls_that_were_refused_are_in_the_trace_with_their_reasons() {
    let world = World::new();
    let run = Engine::works(&world, RunStatus::Succeeded, async |engine| {
        let refuses = async |tool: &str, reason: &str, same_as| {
            let (tool, reason) = (tool.to_owned(), reason.to_owned());
            let call = RefusedCall { tool, arguments: r#"{"to":"ann"}"#.to_owned(), reason, same_as };
            engine.does(Command::RefuseCall { turn: 1, call }).await;
        };
        refuses("mail__sned", "there is no tool `mail__sned`", None).await;
        let same = Some(ExecutionId::from_bits(1));
        refuses("mail__send", "the same call was made before, and is COMPLETED", same).await;
        engine.ends();
    });
    assert_settled!(world, shown(&world, &["trace", &run]));
    let steps = world.items(&["trace", &run]);
    assert_eq!(steps.len(), 2);
    let metadata = json!({
        "execution_id": null, "from": null, "to": null, "trigger": "refuse", "actor": "tool_node",
        "refused": {
            "tool": "mail__sned", "arguments": r#"{"to":"ann"}"#, "reason": "there is no tool `mail__sned`",
        },
    });
    assert_eq!(steps[0]["metadata"], metadata);
}

#[test]
fn show_and_the_inbox_say_what_a_call_would_do_and_how_it_is_answered() {
    let world = World::new();
    let run = eventful(&world);
    assert_settled!(world, shown(&world, &["show", &run]) + &shown(&world, &["inbox"]));
}

#[test]
fn a_call_is_settled_after_the_end_of_its_run_and_the_same_again_changes_nothing() {
    let world = World::new();
    let (run, call) = lost(&world);
    assert!(shown(&world, &["show", &run]).contains("1, 1 of unknown outcome  adjourn trace run_"));
    let said = world.says(&["settle", &call, "happened", "--note", "it is in the sent folder"]);
    let expected = "mail.send({\"to\":\"ann\",\"body\":\"Hello\"})  FAILED, settled as happened: it is in the sent folder\n";
    assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (Some(0), "", expected));
    assert_settled!(world, shown(&world, &["trace", &run]));

    let again = world.json(&["settle", &call, "happened"]);
    assert_eq!((&again["settled"], &again["outcome"]), (&json!("happened"), &json!("known")));
    assert_eq!(again["result"], "it is in the sent folder");
    let other = world.says(&["settle", &call, "did_not_happen"]);
    let why = "it was settled before, as happened, and that stays";
    let expected = format!("error: there is nothing to settle about {call}: {why}\n");
    assert_eq!((other.code, other.stderr), (Some(5), expected));
}

#[test]
fn whoever_owns_the_data_directory_settles_and_so_does_a_server() {
    let (there, here) = (World::new(), World::new());
    let (run, call) = lost(&there);
    let server = Serving::start(&there, "127.0.0.1:0", &[]);
    let by_socket = there.json(&["settle", &call, "did_not_happen", "--note", "it bounced"]);
    assert_eq!(by_socket["settled"], "did_not_happen");
    let by_server = here.json(&["--server", &server.url(), "settle", &call, "did_not_happen"]);
    assert_eq!(by_server, by_socket);
    let trace = here.items(&["--server", &server.url(), "trace", &run]);
    assert_eq!(trace, there.items(&["trace", &run]));
    assert_eq!(trace[3]["metadata"]["settlement"]["note"], "it bounced");
}

#[test]
fn only_what_is_there_is_settled_and_only_in_two_ways() {
    let world = World::new();
    let (_, call) = lost(&world);
    let none = ExecutionId::from_bits(77).to_string();
    let said = world.says(&["settle", &none, "happened"]);
    assert_eq!((said.code, said.stderr), (Some(5), format!("error: there is no contract {none}\n")));
    let said = world.says(&["settle", &call, "maybe"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("`maybe` is not one of happened, did_not_happen"), "{}", said.stderr);
}

#[test]
fn an_action_says_what_becomes_of_a_call() {
    let world = World::new();
    let run = eventful(&world);
    let refused = world.says(&["reply", &run, "--interaction", "1", "--action", "edit", "hello"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    world.says(&["reply", &run, "--interaction", "1", "--action", "reject", "not to him"]);
    let contracts = |n: usize| world.json(&["show", &run])["interactions"][n].clone();
    assert_eq!(contracts(0)["response"], "not to him");
    let step = world.items(&["trace", &run]).into_iter().find(|step| step["metadata"]["trigger"] == "reject");
    assert_eq!(step.unwrap()["metadata"]["execution_id"], json!(ExecutionId::from_bits(4)));
}

/// A call whose arguments are longer than a screen, with characters in them that cannot be seen.
#[test]
fn a_long_call_is_never_shown_cut_and_hides_nothing() {
    let world = World::new();
    let to = format!("{}\u{202e}\u{200b}раypal the end of it", "0123456789".repeat(900));
    let whole = format!("{}\\u{{202e}}\\u{{200b}}раypal the end of it", "0123456789".repeat(900));
    let run = Engine::works(&world, RunStatus::WaitingUser, async |engine| {
        let question =
            Question::confirm("May this mail be sent?\nNote: this tool is new.\n\n(arguments)".to_owned());
        engine.asks_to_send(1, "ann").await;
        engine.requests(2, &to, Some(question)).await;
        engine.ends();
    });
    for command in [&["inbox"][..], &["show", &run]] {
        let said = shown(&world, command);
        assert!(said.contains(&whole), "{command:?}: {said}");
        assert!(said.contains("Note: this tool is new."), "{command:?}: {said}");
    }
    // The answer to the one leaves its person with the other.
    let arguments = ["reply", &run, "--interaction", "1", "--action", "reject"];
    let mut terminal = Terminal::of_80_columns(&world, &arguments);
    terminal.until_seen(&whole);
    terminal.until_seen("Note: this tool is new.");
    terminal.until_seen("May this mail be sent?");
    terminal.types("\u{3}");
}

#[test]
fn a_person_at_a_terminal_sees_the_whole_call_before_it_is_allowed_and_may_reject_it() {
    let world = World::new();
    let run = Engine::works(&world, RunStatus::WaitingUser, async |engine| {
        engine.asks_to_send(1, "ann").await;
        engine.asks_to_send(2, "bob").await;
        engine.ends();
    });
    // The answer to the one leaves its person with the other.
    let mut terminal = Terminal::start(&world, &["reply", &run, "--interaction", "1", "--action", "reject"]);
    // Typed before there is a question, and so no answer to it.
    terminal.types(ENTER);
    terminal.until_seen("\"to\": \"bob\"");
    terminal.until_seen("approve, edit, reject?");
    terminal.types(ENTER);
    terminal.until_seen("type one of these: approve, edit, reject");
    terminal.types("reject\r");
    terminal.until_seen("Why not?");
    terminal.types("he left\r");
    let asked = until("it is answered", || {
        let asked = world.json(&["show", &run])["interactions"][1].clone();
        (asked["status"] == "answered").then_some(asked)
    });
    assert_eq!(asked["response"], "he left");
}

#[test]
fn a_permission_is_given_by_its_number() {
    let world = World::new();
    let run = Engine::works(&world, RunStatus::WaitingUser, async |engine| {
        let options = || {
            vec![
                Choice::new("allow_once", "Yes"),
                Choice::new("no-1", "Never"),
                Choice::new("no-2", "Not now"),
            ]
        };
        let asks = |file: &str| PermissionRequest {
            digest: IdempotencyKey::of("agent", "remove", &json!({ "file": file })),
            question: Question::choose_one(format!("May it remove {file}?\nremove {file}"), options()),
        };
        let observations = vec![Observation::Handle("conversation".to_owned())];
        let end = TurnEnd::NeedsPermission(vec![asks("a.txt"), asks("b.txt")]);
        engine.does(Command::EndTurn { turn: 1, observations, end }).await;
    });
    // The answer to the one leaves its person with the other.
    let mut terminal = Terminal::start(&world, &["reply", &run, "--interaction", "1", "no-1"]);
    terminal.until_seen("May it remove b.txt?");
    terminal.until_seen(": no-1 (Never)");
    terminal.until_seen("1, 2, 3?");
    terminal.types(ENTER);
    terminal.until_seen("type one of these: 1, 2, 3");
    terminal.types("3\r");
    let asked = until("it is answered", || {
        let asked = world.json(&["show", &run])["interactions"][1].clone();
        (asked["status"] == "answered").then_some(asked)
    });
    assert_eq!((&asked["source"], &asked["response"]), (&json!("permission"), &json!("no-2")));
}

#[test]
fn after_a_crash_in_doubt_a_person_is_told_all_answers_and_may_add_a_note() {
    let world = World::new();
    let run = Engine::works(&world, RunStatus::WaitingUser, async |engine| {
        let observations = vec![Observation::Handle("conversation".to_owned())];
        engine.does(Command::Observe { turn: 1, observations }).await;
        engine.sends(1, "ann").await;
        engine.does(Command::Recover(Survey::INTACT)).await;
    });
    let inbox = shown(&world, &["inbox"]);
    for answer in
        ["happened", "did_not_happen", "cancel_run", "--data '{\"value\":\"happened\",\"note\":\"…\"}'"]
    {
        assert!(inbox.contains(&format!("adjourn reply {run} {answer}\n")), "{inbox}");
    }
    let answer = r#"{"value": "cancel_run", "note": "nobody knows"}"#;
    let said = world.says(&["reply", &run, "--data", answer]);
    assert_eq!(said.code, Some(4), "{said:?}");
    let trace = shown(&world, &["trace", &run]);
    assert!(trace.contains("outcome unknown"), "{trace}");
}
