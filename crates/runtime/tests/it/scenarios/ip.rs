//! IP: what becomes of the agent's process while a run waits, with an agent that speaks ACP.

mod permissions;

use adjourn_core::{
    ByKind, ContractStatus, ErrorCode, Interaction, InteractionStatus, Profile, Resolution, RunStatus,
    Timestamp,
};
use adjourn_testkit::acp::{Act, TakesUp};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::stage::ways::{Does, Scene, Way, every_way, every_way_of_staying};
use crate::stage::{Actor, Stage, done, until};

const RESUMABLE: &str = "profile = \"resumable\"";
const STICKY: &str = "profile = \"sticky_process\"";

/// With one slot, so that it shows who holds it.
fn stage(of_engine: &str) -> Stage {
    Stage::acp(TakesUp::Resume, "[slots]\ntotal = 1", of_engine)
}

fn ask(question: &str) -> Act {
    Act::Say(json!({ "__SKILL_DONE__": false, "message": question }).to_string())
}

fn finish(answer: &str) -> Act {
    Act::Say(done(answer))
}

/// The first turn asks, and the run waits.
fn asks_first(run: Actor<'_>) -> adjourn_core::Interaction {
    run.turn(1).acts(&[ask("Which database?")]);
    run.waits()
}

fn options(strict: bool) -> Value {
    json!({ "options": { "interactive_require_user_reply": strict, "session_timeout_sec": 60 } })
}

/// The number of the agent's own process, which is not its supervisor's.
fn agents(stage: &Stage) -> Vec<i32> {
    let mut all = stage.processes();
    all.retain(|pid| {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let program = command.split(|byte| *byte == 0).next().unwrap_or_default();
        program.ends_with(b"runtime_acp_agent")
    });
    all
}

fn kill_agents(stage: &Stage) {
    for pid in agents(stage) {
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }
}

fn which() -> Does {
    Does::Asks(json!({ "prompt": "Which database?" }))
}

const ONE_SLOT: &str = "[slots]\ntotal = 1";

every_way! {
    #[test]
    fn ip_01_a_turn_that_asks_leaves_a_question_on_disk(way: Way) {
        let scene = way.scene(&[which()]);
        let run = scene.waiting(json!({}));
        assert_eq!(run.waits().question.prompt, "Which database?");
        let open = scene.stage.store().open_interactions(None, 9).unwrap();
        assert_eq!((open.len(), open[0].stream), (1, run.id.into()));
    }

    #[test]
    fn ip_02_a_reply_resumes_along_the_path_of_the_resumable_profile(way: Way) {
        let scene = way.scene(&[which(), Does::Finishes("SQLite")]);
        let run = scene.waiting(json!({}));
        assert_eq!(run.state().profile(), Profile::Resumable);
        goes_on_with_the_reply(&scene, &run);
    }

    #[test]
    fn ip_03_a_resumable_run_that_waits_frees_its_slot_and_its_process(way: Way) {
        let scene = way.scene_with(ONE_SLOT, &[which()]);
        let first = scene.waiting(json!({}));
        assert_eq!((first.state().holds_slot(), scene.stage.processes()), (false, vec![]));
        let second = scene.holds_a_slot();
        assert_eq!((first.status(), second.status()), (RunStatus::WaitingUser, RunStatus::Running));
    }

    #[test]
    fn ip_04_a_resumable_run_asks_for_a_slot_before_it_runs(way: Way) {
        let scene = way.scene_with(ONE_SLOT, &[which(), Does::Finishes("SQLite")]);
        let first = scene.waiting(json!({}));
        let second = scene.holds_a_slot();
        first.reply("SQLite").unwrap();
        scene.stage.nudge();
        assert_eq!((first.status(), first.state().turn()), (RunStatus::Queued, 1));
        second.cancel().unwrap();
        scene.plays(&first, 2);
        assert_eq!(first.ends().status(), RunStatus::Succeeded);
    }

    #[test]
    fn ip_07_every_question_is_kept_with_its_answer_both_times_and_who_gave_it(way: Way) {
        let again = Does::Asks(json!({ "prompt": "And which version?", "default": "3" }));
        let scene = way.scene(&[which(), again, Does::Finishes("SQLite 3")]);
        let run = scene.waiting(options(false));
        let asked_at = run.waits().created_at;
        scene.stage.advance(40);
        run.reply("SQLite").unwrap();
        scene.plays(&run, 2);
        run.until("the second question", |run| {
            (run.interactions().len() == 2 && run.status() == RunStatus::WaitingUser).then_some(())
        });
        scene.stage.advance(60);
        scene.plays(&run, 3);
        let kept: Vec<_> = run.ends().interactions().iter().map(kept).collect();
        let seconds = |seconds| asked_at.plus_seconds(seconds);
        let expected = [
            (1, "Which database?", json!("SQLite"), ByKind::User, asked_at, seconds(40)),
            (2, "And which version?", json!("3"), ByKind::AutoDecide, seconds(40), seconds(100)),
        ];
        assert_eq!(kept, expected.map(|(id, asked, answer, by, from, to)| (id, asked.to_owned(), answer, by, from, to)));
    }

    #[test]
    fn ip_08_a_strict_resumable_run_waits_for_a_reply_or_a_cancel(way: Way) {
        let scene = way.scene(&[which(), Does::Finishes("SQLite")]);
        let (first, second) = (scene.waiting(options(true)), scene.waiting(options(true)));
        scene.stage.advance(365 * 24 * 60 * 60);
        scene.stage.nudge();
        assert_eq!((first.status(), second.status()), (RunStatus::WaitingUser, RunStatus::WaitingUser));
        first.reply("SQLite").unwrap();
        scene.plays(&first, 2);
        assert_eq!(first.ends().status(), RunStatus::Succeeded);
        second.cancel().unwrap();
        assert_eq!(second.status(), RunStatus::Canceled);
    }

    #[test]
    fn ip_10_a_resumable_run_that_is_not_strict_is_decided_and_goes_on(way: Way) {
        let scene = way.scene(&[which(), Does::Finishes("SQLite")]);
        let run = scene.waiting(options(false));
        scene.stage.advance(60);
        let heard = scene.heard(&run, 2);
        assert!(heard.contains("Nobody was there to answer") || heard.contains("assumed"), "{heard}");
        scene.plays(&run, 2);
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
    }
}

/// What is kept of a question that was resolved.
fn kept(one: &Interaction) -> (u32, String, Value, ByKind, Timestamp, Timestamp) {
    let Resolution { response, by, at, .. } = one.resolution.clone().unwrap();
    (one.interaction_id.0, one.question.prompt.clone(), response, by.kind, one.created_at, at)
}

/// The run that waits is answered and ends, and passes through the same states whatever its profile.
fn goes_on_with_the_reply(scene: &Scene, run: &Actor<'_>) {
    run.reply("SQLite").unwrap();
    let heard = scene.heard(run, 2);
    assert!(heard.contains("SQLite"), "{heard}");
    scene.plays(run, 2);
    assert_eq!(run.ends().result(), Some(&json!({ "answer": "SQLite" })));
    assert_eq!(
        run.changes(),
        [
            "queued → running: turn.started",
            "running → waiting_user: turn.needs_input",
            "waiting_user → queued: interaction.reply.accepted",
            "queued → running: turn.started",
            "running → succeeded: turn.succeeded",
        ]
    );
    assert_eq!(scene.stage.processes(), [0; 0], "nothing outlives the run");
}

every_way_of_staying! {
    #[test]
    fn ip_02_a_reply_resumes_along_the_path_of_the_sticky_profile(way: Way) {
        let scene = way.scene_of_engine(STICKY, "", &[which(), Does::Finishes("SQLite")]);
        let run = scene.waiting(json!({}));
        assert_eq!(run.state().profile(), Profile::StickyProcess);
        goes_on_with_the_reply(&scene, &run);
    }

    #[test]
    fn ip_05_a_sticky_run_keeps_its_slot_and_the_same_process_serves_the_next_turn(way: Way) {
        let scene = way.scene_of_engine(STICKY, ONE_SLOT, &[which(), Does::Finishes("SQLite")]);
        let stage = &scene.stage;
        let run = scene.waiting(json!({}));
        let process = run.state().process().expect("the journal knows the process");
        let agent = agents(stage);
        assert_eq!((run.state().holds_slot(), agent.len()), (true, 1));
        let other = stage.start(json!({}));
        stage.nudge();
        assert_eq!(other.status(), RunStatus::Queued, "the slot is held");

        run.reply("SQLite").unwrap();
        run.turn(2);
        assert_eq!((run.state().process(), agents(stage)), (Some(process), agent));
        scene.plays(&run, 2);
        run.ends();
        other.turn(1);
    }

    #[test]
    fn ip_06_past_its_deadline_a_strict_sticky_run_fails_and_its_processes_are_gone(way: Way) {
        let scene = way.scene_of_engine(STICKY, "", &[which()]);
        let run = scene.stage.start(options(true));
        run.turn(1);
        scene.plays(&run, 1);
        let question = run.waits();
        assert_eq!(run.state().wait_deadline_at(), question.deadline_at);
        scene.stage.advance(60);
        run.ends();
        assert_eq!(run.code(), Some(ErrorCode::InteractionWaitTimeout));
        assert_eq!(scene.stage.processes(), [0; 0]);
        assert_eq!(run.changes().last().unwrap(), "waiting_user → failed: interaction.wait.timeout");
        assert_eq!(run.state().interactions()[0].status, InteractionStatus::Expired);
        let contracts = run.contracts().into_iter().map(|contract| contract.status);
        assert!(contracts.eq(way.is_by_tool().then_some(ContractStatus::Cancelled)));
    }

    #[test]
    fn ip_06_the_deadline_is_twenty_minutes_where_nobody_says_otherwise(way: Way) {
        let scene = way.scene_of_engine(STICKY, "", &[which()]);
        let question = scene.waiting(json!({})).waits();
        assert_eq!(question.deadline_at, Some(question.created_at.plus_seconds(1200)));
    }

    #[test]
    fn ip_09_a_strict_sticky_run_is_ended_at_its_deadline(way: Way) {
        let scene = way.scene_of_engine(STICKY, ONE_SLOT, &[which()]);
        let run = scene.waiting(options(true));
        scene.stage.advance(59);
        scene.stage.nudge();
        assert_eq!(run.status(), RunStatus::WaitingUser);
        scene.stage.advance(1);
        run.ends();
        assert_eq!(run.code(), Some(ErrorCode::InteractionWaitTimeout));
        let next = scene.stage.start(json!({}));
        next.turn(1);
    }

    #[test]
    fn ip_11_a_sticky_run_that_is_not_strict_is_told_the_decision_in_its_live_process(way: Way) {
        let scene = way.scene_of_engine(STICKY, "", &[which(), Does::Finishes("SQLite")]);
        let run = scene.waiting(options(false));
        let agent = agents(&scene.stage);
        scene.stage.advance(60);
        let heard = scene.heard(&run, 2);
        assert!(heard.contains("Nobody was there to answer"), "{heard}");
        assert_eq!((agents(&scene.stage), agent.len()), (agent, 1));
        scene.plays(&run, 2);
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
    }
}

#[test]
fn ip_06_the_children_of_a_process_that_is_ended_are_gone_too() {
    let stage = stage(STICKY);
    let run = stage.start(options(true));
    run.turn(1).acts(&[Act::Fork, ask("Which database?")]);
    run.waits();
    until("a child in a session of its own", || run.work().join("forked").exists().then_some(()));
    stage.advance(60);
    run.ends();
    assert_eq!(stage.processes(), [0; 0]);
}

#[test]
fn a_sticky_process_that_dies_is_loaded_again_and_its_slot_is_free() {
    let stage = stage(STICKY);
    let run = stage.start(json!({}));
    asks_first(run);
    kill_agents(&stage);
    let state = run.until("the loss", |run| run.process().is_none().then(|| run.clone()));
    assert_eq!((state.status(), state.profile()), (RunStatus::WaitingUser, Profile::Resumable));
    assert_eq!((state.holds_slot(), state.wait_deadline_at()), (false, None));
    run.reply("SQLite").unwrap();
    run.turn(2).acts(&[finish("SQLite")]);
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
}

#[test]
fn a_sticky_process_that_dies_and_cannot_be_loaded_is_lost() {
    let stage = Stage::acp(TakesUp::Never, "", STICKY);
    let run = stage.start(json!({}));
    asks_first(run);
    kill_agents(&stage);
    run.ends();
    assert_eq!(run.code(), Some(ErrorCode::InteractionProcessLost));
    assert_eq!(run.changes().last().unwrap(), "waiting_user → failed: process.lost");
}

#[test]
fn a_resumable_run_on_an_agent_that_cannot_take_up_anything_never_waits() {
    let stage = Stage::acp(TakesUp::Never, "", RESUMABLE);
    let run = stage.start(json!({}));
    run.turn(1).acts(&[ask("Which database?")]);
    run.ends();
    assert_eq!(run.code(), Some(ErrorCode::SessionResumeFailed));
}

#[test]
fn a_canceled_sticky_run_leaves_no_process_whether_it_waits_or_works() {
    for waits in [true, false] {
        let stage = stage(STICKY);
        let run = stage.start(json!({}));
        run.turn(1);
        if waits {
            asks_first(run);
        }
        run.cancel().unwrap();
        assert_eq!(run.ends().status(), RunStatus::Canceled);
        assert_eq!(stage.processes(), [0; 0]);
        stage.start(json!({})).turn(1);
    }
}

#[test]
fn after_a_restart_a_sticky_run_goes_on_without_its_process() {
    let stage = stage(STICKY);
    let run = stage.start(json!({}));
    asks_first(run);
    stage.restart();
    let state = run.until("recovery", |run| run.process().is_none().then(|| run.clone()));
    assert_eq!((state.status(), state.profile()), (RunStatus::WaitingUser, Profile::Resumable));
    until("the end of the orphan", || stage.processes().is_empty().then_some(()));
    run.reply("SQLite").unwrap();
    run.turn(2).acts(&[finish("SQLite")]);
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
}

#[test]
fn a_result_that_has_to_be_repaired_is_asked_for_in_the_same_process() {
    let stage = stage(STICKY);
    let run = stage.start(json!({}));
    run.turn(1).acts(&[Act::Say(r#"{"__SKILL_DONE__": true}"#.to_owned())]);
    let repair = run.turn(2);
    assert!(repair.prompt.contains("cannot be used"), "{}", repair.prompt);
    assert_eq!(agents(&stage).len(), 1);
    repair.acts(&[finish("SQLite")]);
    let state = run.ends();
    assert_eq!((state.status(), state.attempt_number()), (RunStatus::Succeeded, 1));
}
