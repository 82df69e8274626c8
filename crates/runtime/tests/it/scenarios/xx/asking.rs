//! XX-22 to XX-24: however an agent asks, the same rules hold.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use adjourn_core::{ContractStatus, ErrorCode, InteractionStatus, RunId, RunStatus};
use adjourn_runtime::ServiceError;
use serde_json::{Value, json};

use crate::stage::ways::{Does, Way, every_way, every_way_by_tool, every_way_of_staying};
use crate::stage::world::way as way_of;
use crate::stage::{Actor, Stage, answer, child};

const STICKY: &str = "profile = \"sticky_process\"";

fn options(strict: bool) -> Value {
    json!({ "options": { "interactive_require_user_reply": strict, "session_timeout_sec": 60 } })
}

/// Asks, with an answer that holds if nobody gives one, and is done.
fn plan() -> [Does; 2] {
    let question = json!({ "prompt": "Which?", "options": ["a", "b", "c"], "default": "b" });
    [Does::Asks(question), Does::Finishes("b")]
}

/// The run's only question was decided by Adjourn, and its contract, if it has one, was completed by that.
fn was_decided(run: &Actor<'_>, way: Way) {
    let state = run.ends();
    assert_eq!(state.status(), RunStatus::Succeeded);
    let question = &state.interactions()[0];
    assert_eq!(question.status, InteractionStatus::Expired);
    assert_eq!(question.resolution.as_ref().unwrap().response, json!("b"));
    assert!(run.changes().contains(&"waiting_user → queued: interaction.auto_decide.timeout".to_owned()));
    let contract = question.subject.execution_id().and_then(|id| state.contract(id));
    assert_eq!(contract.is_some(), way.is_by_tool());
    if let Some(contract) = contract {
        assert_eq!(contract.result, Some(json!("b")));
        assert_eq!(
            way_of(contract)[2..],
            ["WAITING → RUNNING: resume by auto_decide", "RUNNING → COMPLETED: succeed by auto_decide"]
        );
    }
}

const CHILD: &str = "scenarios::xx::asking::child_that_asks";
const DIRECTORY: &str = "ADJOURN_TEST_DIRECTORY";
const WAY: &str = "ADJOURN_TEST_WAY";
const STRICT: &str = "ADJOURN_TEST_STRICT";

/// Where the child finds what it is configured with.
const SETTINGS: &str = "settings.toml";

#[test]
#[ignore = "a process that another test starts"]
fn child_that_asks() {
    let Some(folder) = std::env::var_os(DIRECTORY) else { return };
    let (folder, way) = (Path::new(&folder), Way::named(&std::env::var(WAY).unwrap()));
    let settings = std::fs::read_to_string(folder.join(SETTINGS)).unwrap();
    let scene = way.scene_at(folder, &settings, &plan());
    let run = scene.waiting(options(std::env::var_os(STRICT).is_some()));
    // The harness has begun a line.
    println!("\n{}", run.id);
    loop {
        std::thread::park();
    }
}

/// A run that waits, of a process that was killed.
fn killed_while_it_waits(stage: &Stage, way: Way, strict: bool) -> RunId {
    std::fs::write(stage.path().join(SETTINGS), stage.settings()).unwrap();
    let mut command = child::command(CHILD);
    command.env(DIRECTORY, stage.path()).env(WAY, format!("{way:?}")).stdout(Stdio::piped());
    if strict {
        command.env(STRICT, "1");
    }
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let id = lines.map_while(Result::ok).find_map(|line| line.parse().ok());
    child.kill().unwrap();
    child.wait().unwrap();
    id.expect("the child says which run waits")
}

every_way! {
    #[test]
    fn xx_22_past_its_deadline_a_question_is_decided_if_strict_is_off(way: Way) {
        let scene = way.scene(&plan());
        let run = scene.waiting(options(false));
        scene.stage.advance(59);
        assert_eq!(run.status(), RunStatus::WaitingUser, "a second too early");
        scene.stage.advance(1);
        scene.plays(&run, 2);
        was_decided(&run, way);
    }

    #[test]
    fn xx_22_a_question_is_waited_for_if_strict_is_on(way: Way) {
        let scene = way.scene(&plan());
        let run = scene.waiting(options(true));
        scene.stage.advance(1_000_000);
        assert_eq!(run.status(), RunStatus::WaitingUser);
        run.reply("c").unwrap();
        scene.plays(&run, 2);
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
    }

    #[test]
    fn xx_22_the_deadline_of_a_question_survives_a_kill(way: Way) {
        let scene = way.closed_scene("", "", &plan());
        let run = killed_while_it_waits(&scene.stage, way, false);
        scene.stage.advance_closed(60);
        scene.stage.open();
        let run = scene.stage.actor(run);
        scene.plays(&run, 2);
        was_decided(&run, way);
    }

    #[test]
    fn xx_22_a_question_of_a_strict_run_survives_a_kill(way: Way) {
        let scene = way.closed_scene("", "", &plan());
        let run = killed_while_it_waits(&scene.stage, way, true);
        scene.stage.advance_closed(1_000_000);
        scene.stage.open();
        let run = scene.stage.actor(run);
        run.reply("c").unwrap();
        scene.plays(&run, 2);
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
    }

    #[test]
    fn xx_23_answers_count_towards_max_attempt_and_approvals_do_not(way: Way) {
        let ask = |prompt: &str| Does::Asks(json!({ "prompt": prompt }));
        let scene = way.scene(&[Does::Counts("a"), ask("One?"), Does::Counts("b"), ask("Two?")]);
        let run = scene.stage.start(json!({ "options": { "max_attempt": 2 } }));
        let mut attempts = Vec::new();
        for turn in 1..=3 {
            scene.plays(&run, turn);
            let question = run.until("the next question", |run| {
                let question = run.open_interactions().next()?;
                (run.status() == RunStatus::WaitingUser && run.turn() == turn).then(|| question.clone())
            });
            attempts.push(run.state().attempt_number());
            let answer = if turn == 2 { json!("1") } else { json!(true) };
            run.reply_to(question.interaction_id.0, answer).unwrap();
        }
        scene.plays(&run, 4);
        let state = run.ends();
        assert_eq!((attempts, state.attempt_number()), (vec![1, 1, 2], 2), "never more than there are");
        assert_eq!(run.code(), Some(ErrorCode::InteractiveMaxAttemptExceeded));
        assert_eq!(scene.stage.effects(), ["a", "b"], "what was approved is done");
        let asked = state.interactions().iter().filter(|one| one.subject.is_agents_own()).count();
        assert_eq!(asked, 1, "what nobody can answer any more is not asked");
        let last = run.contracts().last().unwrap().status;
        assert!(!way.is_by_tool() || last == ContractStatus::Cancelled, "{last}");
    }
}

every_way_by_tool! {
    #[test]
    fn a_question_that_is_answered_before_its_turn_ends_leaves_no_second_one(way: Way) {
        let scene = way.scene(&plan());
        let run = scene.stage.start(json!({}));
        // The answer is there as soon as the question is, while the agent still has something to say.
        let (service, id) = (scene.stage.service(), run.id);
        let mut changes = scene.stage.store().watch_stream(id.into());
        let replies = std::thread::spawn(move || {
            let tasks = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            tasks.block_on(async {
                while service.run(id).unwrap().open_interactions().next().is_none() {
                    changes.changed().await.unwrap();
                }
                service.reply(id, answer(None, json!("c"), None)).await.unwrap();
            });
        });
        scene.plays(&run, 1);
        replies.join().unwrap();
        scene.plays(&run, 2);
        let state = run.ends();
        assert_eq!((state.status(), state.interactions().len()), (RunStatus::Succeeded, 1));
    }
}

every_way_of_staying! {
    #[test]
    fn xx_22_a_strict_sticky_run_fails_at_the_deadline_of_its_question(way: Way) {
        let scene = way.scene_of_engine(STICKY, "", &plan());
        let run = scene.waiting(options(true));
        scene.stage.advance(60);
        let state = run.ends();
        assert_eq!(run.code(), Some(ErrorCode::InteractionWaitTimeout));
        assert_eq!(scene.stage.processes(), [0; 0]);
        let contracts: Vec<_> = state.contracts().map(|contract| contract.status).collect();
        let expected = if way.is_by_tool() { vec![ContractStatus::Cancelled] } else { Vec::new() };
        assert_eq!(contracts, expected);
    }

    #[test]
    fn xx_22_a_sticky_run_that_is_not_strict_is_decided_at_the_deadline(way: Way) {
        let scene = way.scene_of_engine(STICKY, "", &plan());
        let run = scene.waiting(options(false));
        scene.stage.advance(60);
        scene.plays(&run, 2);
        was_decided(&run, way);
    }
}

#[test]
fn xx_24_sticky_process_is_refused_where_no_process_can_stay() {
    for way in [Way::Printed, Way::ToolOfReasoning] {
        let scene = way.scene(&plan());
        let sticky = json!({ "options": { "interactive_profile": { "kind": "sticky_process" } } });
        let refused = scene.stage.request(sticky).map(|run| run.id).unwrap_err();
        let ServiceError::Invalid(errors) = &refused else { panic!("{refused}") };
        assert_eq!(errors[0].path, "/options/interactive_profile");
        assert!(errors[0].message.contains("engine of kind `acp`"), "{}", errors[0].message);
        assert_eq!(scene.stage.run_folders(), [""; 0], "nothing is created");
    }
    let configured = Stage::with_engine(STICKY);
    let refused = configured.request(json!({})).map(|run| run.id).unwrap_err();
    let ServiceError::Invalid(errors) = &refused else { panic!("{refused}") };
    assert_eq!(errors[0].path, "/engine");
    assert!(errors[0].message.contains("its configuration asks for it"), "{}", errors[0].message);
    let overridden = json!({ "options": { "interactive_profile": { "kind": "resumable" } } });
    configured.start(overridden).turn(1).finishes("done");
}
