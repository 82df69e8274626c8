//! RT: the life of a run.

mod lost;

use std::fs;
use std::thread::JoinHandle;

use adjourn_core::{
    By, Command, ContractAction, ContractSpec, ErrorCode, ExecutionId, IdempotencyKey, KeyScope,
    RequestContract, RunStatus, ToolCall, WarningCode,
};
use adjourn_testkit::acp::{Act, TakesUp};
use serde_json::{Value, json};

use crate::stage::ways::{Does, Way, every_way};
use crate::stage::world::way as way_of;
use crate::stage::{Actor, Stage, until};

/// What the stream of a run shows that asks once and is answered by a person.
const PAUSED_ONCE: [&str; 9] = [
    "queued → running: turn.started",
    "assistant.message.final",
    "user.input.required",
    "running → waiting_user: turn.needs_input",
    "interaction.reply.accepted",
    "waiting_user → queued: interaction.reply.accepted",
    "queued → running: turn.started",
    "assistant.message.final",
    "running → succeeded: turn.succeeded",
];

fn strict_off() -> Value {
    json!({ "options": { "interactive_require_user_reply": false, "session_timeout_sec": 60 } })
}

/// Every status that somebody sees who never looks away, until the run has ended.
fn watch(stage: &Stage, run: &Actor<'_>) -> JoinHandle<Vec<RunStatus>> {
    let (store, id) = (stage.store(), run.id);
    std::thread::spawn(move || {
        let mut seen = Vec::new();
        while seen.last().is_none_or(|status: &RunStatus| !status.is_terminal()) {
            seen.push(store.run(id).unwrap().unwrap().status);
            seen.dedup();
        }
        seen
    })
}

#[test]
fn rt_01_a_normal_interactive_run_shows_its_path_and_nothing_else() {
    use RunStatus::{Queued, Running, Succeeded, WaitingUser};
    let stage = Stage::new();
    let run = stage.start(json!({}));
    let watching = watch(&stage, &run);
    run.asks_first("Which database?");
    assert_eq!(run.status(), WaitingUser);
    run.reply("SQLite").unwrap();
    run.turn(2).finishes("SQLite it is");
    let state = run.ends();
    assert_eq!(run.stream(), PAUSED_ONCE);
    assert_eq!(state.result(), Some(&json!({ "answer": "SQLite it is" })));

    // What lasts for a moment only may be missed.
    let seen = watching.join().unwrap();
    let mut path = [Queued, Running, WaitingUser, Queued, Running, Succeeded].into_iter();
    assert!(seen.iter().all(|status| path.any(|next| next == *status)), "{seen:?}");
}

#[test]
fn rt_03_an_accepted_reply_queues_the_run_and_reaches_its_agent() {
    // With no slot left for it, the run is seen where the reply has put it.
    let stage = Stage::with_slots(1);
    let run = stage.start(json!({}));
    run.asks_first("Which database?");
    let other = stage.start(json!({}));
    other.turn(1);

    assert_eq!(run.reply("SQLite").unwrap().status(), RunStatus::Queued);
    assert_eq!(run.changes().last().unwrap(), "waiting_user → queued: interaction.reply.accepted");
    other.turn(1).finishes("done");
    let prompt = run.turn(2).prompt;
    assert!(prompt.contains("> Which database?") && prompt.contains("> SQLite"), "{prompt}");
}

every_way! {
    #[test]
    fn rt_04_past_the_deadline_of_a_run_that_is_not_strict_adjourn_decides_and_queues_it(way: Way) {
        let scene = way.scene_with("[slots]\ntotal = 1", &[which(), Does::Finishes("SQLite")]);
        let run = scene.waiting(strict_off());
        // With no slot left for it, the run is seen where the decision has put it.
        let other = scene.holds_a_slot();
        scene.stage.advance(59);
        assert_eq!(run.status(), RunStatus::WaitingUser, "a second too early");
        scene.stage.advance(1);
        run.becomes(RunStatus::Queued);
        assert_eq!(run.changes().last().unwrap(), "waiting_user → queued: interaction.auto_decide.timeout");
        other.cancel().unwrap();
        scene.plays(&run, 2);
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
    }

    #[test]
    fn rt_05_a_restart_preserves_a_run_that_waits(way: Way) {
        let scene = way.scene(&[which(), Does::Finishes("SQLite")]);
        let run = scene.waiting(json!({}));
        let question = run.waits();
        scene.stage.restart();
        // At once: a run that is not looked at yet is recovered first.
        run.reply("SQLite").unwrap();
        scene.plays(&run, 2);
        run.ends();
        assert_eq!(
            run.changes(),
            [
                "queued → running: turn.started",
                "running → waiting_user: turn.needs_input",
                "waiting_user → waiting_user: restart.preserve_waiting",
                "waiting_user → queued: interaction.reply.accepted",
                "queued → running: turn.started",
                "running → succeeded: turn.succeeded",
            ]
        );
        assert_eq!(run.state().interactions()[0].question, question.question);
    }

    #[test]
    fn rt_05_a_run_that_nobody_asks_for_is_preserved_too_and_its_timer_goes_on(way: Way) {
        let scene = way.scene(&[which(), Does::Finishes("SQLite")]);
        let run = scene.waiting(strict_off());
        scene.stage.close();
        scene.stage.advance_closed(60);
        scene.stage.open();
        scene.plays(&run, 2);
        run.ends();
        assert_eq!(
            run.changes()[2..4],
            [
                "waiting_user → waiting_user: restart.preserve_waiting",
                "waiting_user → queued: interaction.auto_decide.timeout"
            ]
        );
    }

    #[test]
    fn rt_07_an_auto_run_is_answered_at_once_however_its_agent_asks(way: Way) {
        let default = json!({ "prompt": "Which database?", "default": "SQLite" });
        for (question, answer) in [(default, json!("SQLite")), (json!({ "prompt": "Why?" }), Value::Null)] {
            let scene = way.scene(&[Does::Asks(question.clone()), Does::Finishes("SQLite")]);
            let run = scene.stage.start(json!({ "execution_mode": "auto" }));
            scene.plays(&run, 1);
            scene.plays(&run, 2);
            let state = run.ends();
            assert_eq!(state.status(), RunStatus::Succeeded, "{question}");
            let interaction = &state.interactions()[0];
            let resolution = interaction.resolution.as_ref().unwrap();
            assert_eq!(resolution.by, By::AUTO_DECIDE);
            let automatic = interaction.question.default_answer();
            assert_eq!(resolution.response, if answer.is_null() { automatic } else { answer });
            if let Some(id) = interaction.subject.execution_id() {
                assert_eq!(
                    way_of(state.contract(id).unwrap()),
                    [
                        "PENDING → RUNNING: start by ecs_node",
                        "RUNNING → WAITING: suspend by ecs_node",
                        "WAITING → RUNNING: resume by auto_decide",
                        "RUNNING → COMPLETED: succeed by auto_decide",
                    ]
                );
            }
        }
    }
}

fn which() -> Does {
    Does::Asks(json!({ "prompt": "Which database?" }))
}

/// Restarts, and checks that the run that waited has failed for good.
fn fails_by_a_restart(stage: &Stage, run: &Actor<'_>, code: ErrorCode) {
    stage.open();
    run.ends();
    assert_eq!(run.changes().last().unwrap(), "waiting_user → failed: restart.reconcile_failed");
    assert_eq!(run.code(), Some(code), "{:?}", run.state().error());
    assert_eq!(run.state().open_interactions().count(), 0);
}

/// Changes the database while nobody works on it.
fn damage(stage: &Stage, sql: &str) {
    stage.close();
    rusqlite::Connection::open(stage.data().join("adjourn.db")).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn rt_06_a_waiting_run_whose_workspace_was_deleted_fails_by_a_restart() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.asks_first("Which database?");
    fs::remove_dir_all(run.work()).unwrap();
    stage.close();
    fails_by_a_restart(&stage, &run, ErrorCode::SessionResumeFailed);
}

#[test]
fn rt_06_a_waiting_run_whose_agent_left_no_handle_fails_by_a_restart() {
    // Only a process that stays can wait without one, and it is gone.
    let stage = Stage::acp(TakesUp::Never, "", "profile = \"sticky_process\"");
    let run = stage.start(json!({}));
    run.turn(1).acts(&[Act::Say(json!({ "__SKILL_DONE__": false, "message": "Which?" }).to_string())]);
    run.waits();
    stage.close();
    fails_by_a_restart(&stage, &run, ErrorCode::SessionResumeFailed);
}

#[test]
fn rt_06_a_waiting_run_whose_question_cannot_be_read_fails_by_a_restart() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.asks_first("Which database?");
    let stream = format!("x'00{:032x}'", run.id.bits());
    damage(
        &stage,
        &format!(
            "UPDATE entries SET payload = x'7b' WHERE stream = {stream} \
             AND seq = (SELECT max(seq) FROM entries WHERE stream = {stream})"
        ),
    );
    stage.open();
    run.ends();
    assert_eq!(run.code(), Some(ErrorCode::JournalUnreadable));
    assert_eq!(run.state().open_interactions().count(), 0);
}

#[test]
fn rt_06_a_run_whose_engine_is_missing_is_kept_takes_its_answer_and_goes_on_when_it_is_there() {
    type Loss = (&'static str, fn(&Stage), fn(&Stage));
    let hide: fn(&Stage) = |stage| {
        fs::rename(stage.path().join("agent"), stage.path().join("hidden")).unwrap();
    };
    let show: fn(&Stage) = |stage| {
        fs::rename(stage.path().join("hidden"), stage.path().join("agent")).unwrap();
    };
    let losses: [Loss; 2] = [
        ("not installed", hide, show),
        (
            "not configured",
            |stage| stage.configure("skills = [\"skills\"]"),
            |stage| {
                stage.configure(&Stage::at(stage.path()).settings());
                stage.restart();
            },
        ),
    ];
    for (name, lose, find) in losses {
        let stage = Stage::with_slots(1);
        let run = stage.start(json!({}));
        run.asks_first("Which database?");
        lose(&stage);
        stage.restart();
        run.until(name, |run| (!run.warnings().is_empty()).then_some(()));
        stage.restart();
        assert_eq!(run.reply("SQLite").unwrap().status(), RunStatus::Queued, "{name}");
        let shown = stage.service().view(&run.state());
        assert_eq!((shown.status, shown.blocked_by), (RunStatus::Queued, Some(ErrorCode::EngineNotFound)));
        // However long it takes, and however often everything is restarted.
        stage.restart();
        stage.advance(3600);
        stage.restart();
        assert_eq!((run.status(), run.had_turn(2)), (RunStatus::Queued, false), "{name}");
        let codes: Vec<_> = run.state().warnings().iter().map(|warning| warning.code).collect();
        assert_eq!(codes, [WarningCode::EngineNotFound], "{name}: once for all restarts");
        find(&stage);
        // Nothing restarts: it is looked for again, every two seconds.
        until(name, || {
            stage.advance(2);
            run.had_turn(2).then_some(())
        });
        run.turn(2).finishes("SQLite");
        assert_eq!(run.ends().status(), RunStatus::Succeeded, "{name}");
        assert_eq!(stage.service().view(&run.state()).blocked_by, None);
    }
}

#[test]
fn rt_06_a_turn_that_was_cut_off_goes_on_when_its_engine_is_there_again() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.asks_first("Which database?");
    run.reply("SQLite").unwrap();
    run.turn(2);
    stage.close();
    fs::rename(stage.path().join("agent"), stage.path().join("hidden")).unwrap();
    stage.open();
    run.becomes(RunStatus::Queued);
    assert_eq!(run.changes().last().unwrap(), "running → queued: restart.requeued");
    fs::rename(stage.path().join("hidden"), stage.path().join("agent")).unwrap();
    stage.advance(2);
    run.turn(3).finishes("SQLite");
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
}

#[test]
fn a_run_whose_engine_is_missing_holds_no_slot_and_can_be_canceled() {
    let stage = Stage::with_slots(1);
    let other = "[engines.other]\nkind = \"exec\"\npreset = \"command\"\n";
    let there = stage.path().join("other");
    fs::copy(stage.path().join("agent"), &there).unwrap();
    let run = stage.start(json!({}));
    run.asks_first("Which database?");
    stage.configure(&format!("{}\n{other}command = [\"{}\"]\n", stage.settings(), there.display()));
    fs::remove_file(stage.path().join("agent")).unwrap();
    stage.restart();
    run.reply("SQLite").unwrap();
    let working = stage.start(json!({ "engine": "other" }));
    working.turn(1).finishes("done");
    assert_eq!(working.ends().status(), RunStatus::Succeeded, "the only slot was free");
    run.cancel().unwrap();
    assert_eq!(run.ends().status(), RunStatus::Canceled);
    // Whoever asks for a new run on it is told so.
    let refused = stage.start(json!({}));
    refused.ends();
    assert_eq!(refused.code(), Some(ErrorCode::EngineNotFound));
}

#[test]
fn an_engine_that_goes_missing_between_question_and_answer_blocks_the_run() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.asks_first("Which database?");
    fs::rename(stage.path().join("agent"), stage.path().join("hidden")).unwrap();
    assert_eq!(run.reply("SQLite").unwrap().status(), RunStatus::Queued);
    fs::rename(stage.path().join("hidden"), stage.path().join("agent")).unwrap();
    until("the next look for the engine", || {
        stage.advance(2);
        run.had_turn(2).then_some(())
    });
    run.turn(2).finishes("SQLite");
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
}

#[test]
fn rt_07_an_auto_run_ends_in_one_of_three_ways_and_never_waits_for_a_person() {
    let stage = Stage::new();
    let auto = || stage.start(json!({ "execution_mode": "auto" }));

    let succeeds = auto();
    succeeds.turn(1).asks("Which database?");
    succeeds.turn(2).finishes("SQLite");
    let state = succeeds.ends();
    assert_eq!(state.status(), RunStatus::Succeeded);
    let mut expected = PAUSED_ONCE.to_vec();
    expected[4] = "interaction.auto_decide.timeout";
    expected[5] = "waiting_user → queued: interaction.auto_decide.timeout";
    assert_eq!(succeeds.stream(), expected);
    assert_eq!(state.interactions()[0].resolution.as_ref().unwrap().by, By::AUTO_DECIDE);

    let fails = auto();
    fails.turn(1).does("exit 3");
    assert_eq!(fails.ends().status(), RunStatus::Failed);
    assert_eq!(fails.changes(), ["queued → running: turn.started", "running → failed: turn.failed"]);

    let canceled = auto();
    canceled.turn(1);
    canceled.cancel().unwrap();
    assert_eq!(canceled.ends().status(), RunStatus::Canceled);
    assert_eq!(canceled.changes(), ["queued → running: turn.started", "running → canceled: run.canceled"]);
}

#[test]
fn rt_08_the_stream_shows_the_reply_and_then_what_it_changed() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.asks_first("Which database?");
    run.reply("SQLite").unwrap();
    run.turn(2).finishes("SQLite");
    run.ends();
    assert_eq!(run.stream(), PAUSED_ONCE);
    let reply = &run.frames()[4];
    let expected = json!({ "interaction_id": 1, "response": "SQLite", "resolved_by": { "kind": "user" } });
    assert_eq!((&reply.data, reply.meta.attempt), (&expected, 1));
    let question = &run.frames()[2].data;
    assert_eq!((&question["prompt"], &question["kind"]), (&json!("Which database?"), &json!("open_text")));
}

#[test]
fn rt_09_the_stream_shows_the_auto_decision_and_then_what_it_changed() {
    let stage = Stage::new();
    let run = stage.start(strict_off());
    run.turn(1).says(
        &json!({ "ask_user": { "prompt": "Which?", "options": ["a", "b"], "default": "b" } }).to_string(),
    );
    run.waits();
    stage.advance(60);
    run.turn(2).finishes("b");
    run.ends();
    let mut expected = PAUSED_ONCE.to_vec();
    expected[4] = "interaction.auto_decide.timeout";
    expected[5] = "waiting_user → queued: interaction.auto_decide.timeout";
    assert_eq!(run.stream(), expected);
    let decided = json!({ "interaction_id": 1, "response": "b", "resolved_by": { "kind": "auto_decide" } });
    assert_eq!(run.frames()[4].data, decided);
}

#[test]
fn rt_10_a_cancel_is_in_the_stream_once_whatever_the_run_was_doing() {
    let stage = Stage::with_slots(1);
    let (waiting, running, queued) = (stage.start(json!({})), stage.start(json!({})), stage.start(json!({})));
    waiting.asks_first("Which database?");
    running.turn(1);
    for run in [queued, waiting, running] {
        run.cancel().unwrap();
        run.ends();
        run.cancel().unwrap();
    }
    let started = "queued → running: turn.started";
    assert_eq!(queued.changes(), ["queued → canceled: run.canceled"]);
    assert_eq!(running.changes(), [started, "running → canceled: run.canceled"]);
    assert_eq!(
        waiting.changes(),
        [started, "running → waiting_user: turn.needs_input", "waiting_user → canceled: run.canceled"]
    );
}

#[test]
fn rt_10_a_restart_is_in_the_stream_once_whatever_the_run_was_doing() {
    let stage = Stage::new();
    let [waiting, running, lost, in_doubt] = [(); 4].map(|()| stage.start(json!({})));
    waiting.asks_first("Which database?");
    running.turn(1);
    lost.turn(1);
    in_doubt.asks_first("Send it?");
    in_doubt.reply("yes").unwrap();
    in_doubt.turn(2);
    dispatch_irreversible_call(&stage, &in_doubt);
    stage.close();
    fs::remove_dir_all(stage.data().join(format!("runs/{}/work", lost.id))).unwrap();
    stage.open();

    let started = "queued → running: turn.started";
    let asked = "running → waiting_user: turn.needs_input";
    let preserved = "waiting_user → waiting_user: restart.preserve_waiting";
    running.turn(2).finishes("done");
    running.ends();
    let expected =
        [started, "running → queued: restart.requeued", started, "running → succeeded: turn.succeeded"];
    assert_eq!(running.changes(), expected);
    lost.ends();
    assert_eq!(lost.changes(), [started, "running → failed: restart.reconcile_failed"]);
    in_doubt.waits();
    assert_eq!(in_doubt.changes()[4..], ["running → waiting_user: restart.needs_input"]);
    waiting.until("the restart", |_| (waiting.changes().len() == 3).then_some(()));
    assert_eq!(waiting.changes(), [started, asked, preserved]);
    stage.restart();
    waiting.until("the next restart", |_| (waiting.changes().len() == 4).then_some(()));
    assert_eq!(waiting.changes(), [started, asked, preserved, preserved]);
}

/// As an engine would that calls a tool: written down, and made right after.
fn dispatch_irreversible_call(stage: &Stage, run: &Actor<'_>) {
    let call = ToolCall { service: "mail".to_owned(), method: "send".to_owned(), arguments: json!({}) };
    let execution_id = ExecutionId::from_bits(7);
    let spec = ContractSpec {
        execution_id,
        irreversible: true,
        idempotency_key: IdempotencyKey::of(&call.service, &call.method, &call.arguments),
        action: ContractAction::ToolCall(call),
        scope: run.state().scope(KeyScope::Run),
        timeout_seconds: None,
        edited_from: None,
        call_ref: None,
        definition: None,
    };
    let request = RequestContract { turn: run.state().turn(), spec, approval: None };
    let service = stage.service();
    let ask = |command| stage.wait(service.runtime().ask(run.id, command)).unwrap();
    ask(Command::RequestContract(request));
    ask(Command::DispatchContract(execution_id));
}

#[test]
fn rt_10_a_queued_run_survives_a_restart_without_a_word_or_fails_with_one() {
    let stage = Stage::with_slots(1);
    let first = stage.start(json!({}));
    first.turn(1);
    let [queued, lost] = [(); 2].map(|()| stage.start(json!({})));
    stage.close();
    fs::remove_dir_all(stage.data().join(format!("runs/{}/work", lost.id))).unwrap();
    stage.open();
    first.cancel().unwrap();
    queued.turn(1).finishes("done");
    queued.ends();
    lost.ends();
    assert_eq!(queued.changes(), ["queued → running: turn.started", "running → succeeded: turn.succeeded"]);
    assert_eq!(lost.changes(), ["queued → failed: restart.reconcile_failed"]);
}
