//! XX: calls that are approved, edited, interrupted, lost and settled.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use adjourn_core::{
    Action, By, Command, ContractStatus, ErrorCode, InteractionId, Outcome, QuestionKind, RunId, RunStatus,
    Source,
};
use adjourn_runtime::ServiceError;
use adjourn_testkit::model::{ModelServer, Reply, Script};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::stage::world::{call_of, calls, says_done, told, way};
use crate::stage::{Actor, Stage, answer, child, until};

const IRREVERSIBLE: &str = "irreversible = [\"count\", \"hang\", \"die\"]";

const CHILD: &str = "scenarios::xx::calls::child_that_calls";
const DIRECTORY: &str = "ADJOURN_TEST_DIRECTORY";
const MODEL: &str = "ADJOURN_TEST_MODEL";
const TOOLS: &str = "ADJOURN_TEST_TOOLS";

#[test]
fn xx_05_of_two_forms_in_a_chain_each_gets_its_own_answer() {
    let ask = |prompt: &str| Reply::call("ask_user", json!({ "prompt": prompt }));
    let model = ModelServer::start(Script::new([ask("First?"), ask("Second?"), says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    for (number, (prompt, reply)) in [("First?", "one"), ("Second?", "two")].into_iter().enumerate() {
        let question = run.until("the next question", |run| {
            let open = run.open_interactions().next().cloned();
            open.filter(|open| run.status() == RunStatus::WaitingUser && open.question.prompt == prompt)
        });
        assert_eq!(question.interaction_id, InteractionId(u32::try_from(number).unwrap() + 1));
        stage.restart();
        run.reply_to(question.interaction_id.0, reply).unwrap();
    }
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let results: Vec<_> = run.contracts().into_iter().map(|contract| contract.result.unwrap()).collect();
    assert_eq!(results, [json!("one"), json!("two")]);
    let told: Vec<_> = told(&model, 2).into_iter().map(|told| told["result"].clone()).collect();
    assert_eq!(told, results);
}

/// A process that runs the service until it is killed, in the middle of a call.
struct Doomed(Child);

impl Doomed {
    fn start(stage: &Stage, model: &ModelServer, tools: &str) -> Self {
        let child = child::command(CHILD)
            .env(DIRECTORY, stage.path())
            .envs([(MODEL, model.url().as_str()), (TOOLS, tools)])
            .stdout(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
#[ignore = "a process that another test starts"]
fn child_that_calls() {
    let given = |name| std::env::var(name).ok();
    let (Some(folder), Some(model), Some(tools)) = (given(DIRECTORY), given(MODEL), given(TOOLS)) else {
        return;
    };
    let stage = Stage::at(Path::new(&folder));
    stage.give_tools(&model, &tools);
    stage.open();
    let run = stage.start(json!({}));
    fs::write(stage.path().join("run.part"), run.id.to_string()).unwrap();
    fs::rename(stage.path().join("run.part"), stage.path().join("run")).unwrap();
    run.ends();
}

/// A stage whose service was killed right after a tool had its effect and before it answered.
fn killed_in_a_call(model: &ModelServer, tools: &str) -> (Stage, RunId) {
    let stage = Stage::closed("");
    stage.give_tools(&model.url(), tools);
    let mut doomed = Doomed::start(&stage, model, tools);
    until("the effect", || (stage.effects() == ["hang"]).then_some(()));
    doomed.kill();
    let run_id = fs::read_to_string(stage.path().join("run")).unwrap().parse().unwrap();
    stage.open();
    (stage, run_id)
}

#[test]
fn xx_07_an_irreversible_call_in_flight_is_never_made_again_and_a_person_is_asked() {
    for (said, status, told_status) in [
        ("happened", ContractStatus::Completed, "COMPLETED"),
        ("did_not_happen", ContractStatus::Failed, "FAILED"),
    ] {
        let model =
            ModelServer::start(Script::new([Reply::call("hang", json!({})), says_done("done")])).unwrap();
        let (stage, run_id) = killed_in_a_call(&model, IRREVERSIBLE);
        let run = stage.actor(run_id);
        let question = run.waits();
        assert_eq!(question.subject.source(), Source::Recovery);
        assert_eq!(question.question.kind, QuestionKind::ChooseOne);
        assert!(question.question.prompt.contains("world"), "{}", question.question.prompt);
        assert_eq!(question.deadline_at, None, "it is never decided without a person");
        stage.restart();
        assert_eq!(run.waits().interaction_id, question.interaction_id, "nor by another restart");
        assert_eq!(stage.effects(), ["hang"]);

        run.reply(said).unwrap();
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
        assert_eq!((run.contract().status, stage.effects()), (status, vec!["hang".to_owned()]));
        assert_eq!(told(&model, 1)[0]["status"], told_status);
    }
}

#[test]
fn xx_08_a_reversible_call_in_flight_is_failed_and_the_agent_decides() {
    let model = ModelServer::start(Script::new([Reply::call("hang", json!({})), says_done("done")])).unwrap();
    let (stage, run_id) = killed_in_a_call(&model, "irreversible = []");
    let run = stage.actor(run_id);
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let contract = run.contract();
    assert_eq!((contract.status, &contract.outcome), (ContractStatus::Failed, &Outcome::Known));
    assert_eq!(way(&contract)[1..], ["RUNNING → FAILED: fail by recovery"]);
    let told = &told(&model, 1)[0];
    assert_eq!(
        (&told["status"], &told["error_message"]),
        (&json!("FAILED"), &json!("interrupted by a restart"))
    );
    assert_eq!(stage.effects(), ["hang"], "nobody repeats it for the agent");
}

#[test]
fn xx_12_a_tool_server_that_is_down_or_talks_nonsense_fails_the_run_with_a_reason() {
    for (command, why) in [("/nowhere/mcp-server", "/nowhere/mcp-server"), ("echo", "world")] {
        let model = ModelServer::start(Script::new([says_done("done")])).unwrap();
        let stage = Stage::closed("");
        stage.give_tools(&model.url(), "");
        let settings = crate::stage::world::settings(stage.path(), &model.url(), "");
        let (engine, _) = settings.split_once("[tools.").unwrap();
        stage.configure(&format!("{engine}[tools.world]\ncommand = [\"{command}\"]\n"));
        stage.open();
        let run = stage.start(json!({}));
        let ended = run.ends();
        assert_eq!((ended.status(), run.code()), (RunStatus::Failed, Some(ErrorCode::ToolServerUnavailable)));
        let error = ended.error().unwrap().to_string();
        assert!(error.contains(why), "{error}");
        assert!(model.requests().is_empty(), "no word is spent on it");
    }
}

#[test]
fn xx_12_a_model_that_refuses_or_talks_nonsense_fails_the_run_with_a_reason() {
    use adjourn_testkit::model::Fault;
    for (fault, code) in [
        (Fault::Status(401), ErrorCode::EngineAuthRequired),
        (Fault::Status(400), ErrorCode::EngineProtocolError),
        (Fault::Garbage, ErrorCode::ModelUnavailable),
    ] {
        // What it says would do, if it came through.
        let said = vec!["{\"__SKILL_DONE__\": true,".to_owned(), " \"answer\": \"x\"}".to_owned()];
        let reply = Reply { text: said, ..Reply::fault(fault) };
        let model = ModelServer::start(Script::new([reply])).unwrap();
        let stage = Stage::reasoning(&model, "");
        let run = stage.start(json!({}));
        let ended = run.ends();
        assert_eq!((ended.status(), run.code()), (RunStatus::Failed, Some(code)), "{fault:?}");
        assert_eq!(ended.result(), None, "{fault:?}");
    }
}

#[test]
fn xx_12_a_model_that_says_nothing_any_more_fails_the_run_with_a_reason() {
    use adjourn_testkit::model::Fault;
    let model = ModelServer::start(Script::new([says_done("done").after(Fault::Stall, 1)])).unwrap();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({ "options": { "hard_timeout_sec": 60 } }));
    let asked = model
        .wait_for(|asked| asked.outcome == adjourn_testkit::model::Outcome::Reply(0), crate::stage::PATIENCE);
    assert!(asked.is_some(), "the model was never asked");
    stage.advance(59);
    assert!(!run.status().is_terminal(), "a second too early");
    stage.advance(1);
    let ended = run.ends();
    assert_eq!((ended.status(), run.code()), (RunStatus::Failed, Some(ErrorCode::EngineTimeout)));
    assert_eq!(ended.result(), None, "half a reply is none");
}

#[test]
fn xx_12_a_model_that_is_down_fails_the_run_with_a_reason() {
    let gone = ModelServer::start(Script::new([says_done("done")])).unwrap().url();
    let stage = Stage::closed("");
    stage.give_tools(&gone, "");
    stage.open();
    let run = stage.start(json!({}));
    let ended = run.ends();
    assert_eq!((ended.status(), run.code()), (RunStatus::Failed, Some(ErrorCode::ModelUnavailable)));
    let error = ended.error().unwrap().to_string();
    assert!(error.contains("asked 5 times"), "{error}");
}

/// Three calls at once that all need approval.
fn three_wait(stage: &Stage) -> (Actor<'_>, Vec<InteractionId>) {
    let run = stage.start(json!({}));
    run.waits();
    let open: Vec<_> = run.state().open_interactions().map(|open| open.interaction_id).collect();
    assert_eq!(open.len(), 3);
    (run, open)
}

#[test]
fn xx_16_of_three_calls_that_wait_each_gets_its_own_answer_in_any_order() {
    let text = |text: &str| ("count", json!({ "text": text }));
    let script = Script::new([calls(&[text("a"), text("b"), text("c")]), says_done("done")]);
    let model = ModelServer::start(script).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]\napprove = [\"count\"]");
    let (run, open) = three_wait(&stage);
    let service = stage.service();
    let replies = open.iter().rev().map(|id| service.reply(run.id, answer(Some(*id), json!(true), None)));
    let accepted = stage.wait(join_all(replies));
    drop(service);
    assert!(accepted.iter().all(Result::is_ok), "none is refused for its timing");
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let mut effects = stage.effects();
    effects.sort();
    assert_eq!(effects, ["a", "b", "c"]);
    for contract in run.contracts() {
        assert_eq!(contract.status, ContractStatus::Completed, "{:?}", call_of(&contract));
        let resumed = way(&contract).iter().filter(|step| step.contains("resume")).count();
        assert_eq!(resumed, 1);
    }
    let statuses: Vec<_> = told(&model, 1).into_iter().map(|told| told["status"].clone()).collect();
    assert_eq!(statuses, ["COMPLETED"; 3]);
}

#[test]
fn xx_16_one_yes_and_one_no_and_one_that_is_not_answered_yet() {
    let text = |text: &str| ("count", json!({ "text": text }));
    let script = Script::new([calls(&[text("a"), text("b"), text("c")]), says_done("done")]);
    let model = ModelServer::start(script).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]\napprove = [\"count\"]");
    let (run, open) = three_wait(&stage);
    run.decide(open[1], Action::Approve, Value::Null).unwrap();
    until("the one that was allowed", || (stage.effects().len() == 1).then_some(()));
    run.decide(open[2], Action::Reject, json!("not that one")).unwrap();
    run.until("it waits for the last", |run| {
        let only = run.status() == RunStatus::WaitingUser && run.open_interactions().count() == 1;
        only.then_some(())
    });
    assert_eq!(model.requests().len(), 1, "the model is not asked before all of its calls are settled");
    run.decide(open[0], Action::Approve, Value::Null).unwrap();
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let told: Vec<_> = told(&model, 1).into_iter().map(|told| told["status"].clone()).collect();
    let mut sorted = told.clone();
    sorted.sort_by_key(ToString::to_string);
    assert_eq!(sorted, ["COMPLETED", "COMPLETED", "REJECTED"]);
    assert_eq!(stage.effects().len(), 2);
}

#[test]
fn xx_17_what_runs_is_exactly_what_was_approved() {
    // The model changes its mind about the addressee after the first was approved.
    let send = |text: &str| Reply::call("count", json!({ "text": text }));
    let model = ModelServer::start(Script::new([send("ann"), send("bob"), says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]\napprove = [\"count\"]");
    let run = stage.start(json!({}));
    for text in ["ann", "bob"] {
        let question = run.until("a question for each", |run| {
            let open = run.open_interactions().next().cloned();
            open.filter(|open| run.status() == RunStatus::WaitingUser && open.question.prompt.contains(text))
        });
        assert!(!stage.effects().contains(&text.to_owned()), "nothing runs before it is allowed");
        run.decide(question.interaction_id, Action::Approve, Value::Null).unwrap();
    }
    run.ends();
    assert_eq!(stage.effects(), ["ann", "bob"]);
}

#[test]
fn xx_17_an_edited_call_runs_with_the_arguments_of_the_person() {
    let script = Script::new([Reply::call("count", json!({ "text": "ann" })), says_done("done")]);
    let model = ModelServer::start(script).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]\napprove = [\"count\"]");
    let run = stage.start(json!({}));
    let question = run.waits();
    run.decide(question.interaction_id, Action::Edit, json!({ "text": "bob" })).unwrap();
    run.ends();
    assert_eq!(stage.effects(), ["bob"]);
    let contracts = run.contracts();
    assert_eq!(contracts[0].status, ContractStatus::Rejected);
    assert_eq!(contracts[1].spec.edited_from, Some(contracts[0].spec.execution_id));
    assert_eq!(contracts[1].status, ContractStatus::Completed);
    let told = &told(&model, 1)[0];
    assert_eq!((&told["status"], &told["arguments"]), (&json!("COMPLETED"), &json!({ "text": "bob" })));
}

#[test]
fn xx_17_a_call_that_nobody_allows_in_time_is_not_made() {
    let script = Script::new([Reply::call("count", json!({ "text": "ann" })), says_done("done")]);
    let model = ModelServer::start(script).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]\napprove = [\"count\"]");
    let options = json!({ "interactive_require_user_reply": false, "session_timeout_sec": 60 });
    let run = stage.start(json!({ "options": options }));
    run.waits();
    stage.advance(61);
    run.ends();
    assert_eq!((run.contract().status, stage.effects()), (ContractStatus::Cancelled, Vec::new()));
}

#[test]
fn xx_20_a_lost_call_holds_its_key_for_later_runs_until_a_person_settles_it() {
    for cut in [Cut::Cancel, Cut::Timeout] {
        let script = Script::new([Reply::call("hang", json!({})), says_done("done")]).for_many();
        let model = ModelServer::start(script).unwrap();
        let timeout = match cut {
            Cut::Cancel => "",
            Cut::Timeout => "timeout_sec = 1",
        };
        let stage = Stage::reasoning(&model, &format!("{IRREVERSIBLE}\nscope = \"skill\"\n{timeout}"));
        let first = stage.start(json!({}));
        until("the effect", || (stage.effects() == ["hang"]).then_some(()));
        match cut {
            Cut::Cancel => {
                first.cancel().unwrap();
                assert_eq!(first.ends().status(), RunStatus::Canceled);
            }
            Cut::Timeout => {
                assert_eq!(first.ends().status(), RunStatus::Succeeded);
            }
        }
        let lost = first.contract();
        assert_eq!(lost.outcome, Outcome::Unknown, "{cut:?}: {lost:#?}");

        // Another run of the skill does not do it again, also after a restart.
        stage.restart();
        let second = stage.start(json!({}));
        assert_eq!(second.ends().status(), RunStatus::Succeeded);
        assert_eq!((second.contracts().len(), stage.effects().len()), (0, 1), "{cut:?}");
        let told = told(&model, 1);
        assert_eq!(told[0]["outcome_unknown"], true, "{told:?}");

        let id = lost.spec.execution_id;
        let settle = Command::SettleContract { id, happened: false, note: None, by: By::USER };
        let service = stage.service();
        stage.wait(service.runtime().ask(first.id, settle)).unwrap();
        drop(service);
        let third = stage.start(json!({}));
        until("the effect, once more", || (stage.effects().len() == 2).then_some(()));
        if third.status() == RunStatus::Running {
            third.cancel().unwrap();
        }
        third.ends();
    }
}

/// How a call in flight is cut off.
#[derive(Debug, Clone, Copy)]
enum Cut {
    Cancel,
    Timeout,
}

#[test]
fn xx_15_a_secret_in_the_arguments_of_a_call_reaches_the_tool_and_nothing_else() {
    const SECRET: &str = "c0reOfTheInput/s3cret";
    let script = Script::new([Reply::call("count", json!({ "text": SECRET })), says_done("done")]);
    let model = ModelServer::start(script).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]\napprove = [\"count\"]");
    let run = stage.start(json!({ "input": { "api_key": SECRET } }));
    let question = run.waits();
    assert!(question.question.prompt.contains("⟦masked⟧"), "{}", question.question.prompt);
    stage.restart();
    let masked =
        run.decide(question.interaction_id, Action::Edit, call_of(&run.contract()).arguments.clone());
    assert!(matches!(masked, Err(ServiceError::Invalid(_))), "a mask is no argument");
    run.decide(question.interaction_id, Action::Approve, Value::Null).unwrap();
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!(stage.effects(), [SECRET], "what runs is what was asked for, not its mask");
    assert_eq!(call_of(&run.contract()).arguments, json!({ "text": "⟦masked⟧" }));
    let shown = format!("{:?} {:?}", run.frames(), run.state());
    assert!(!shown.contains("c0re"), "{shown}");
    stage.close();
    for file in ["adjourn.db", "adjourn.db-wal"] {
        let bytes = fs::read(stage.data().join(file)).unwrap_or_default();
        assert!(!bytes.windows(4).any(|window| window == b"c0re"), "{file}");
    }
}

/// The private arguments that a run has on disk.
fn kept(stage: &Stage, run: &Actor<'_>) -> usize {
    fs::read_dir(stage.data().join(format!("runs/{}/calls", run.id))).map_or(0, Iterator::count)
}

/// A run that waits for approval of a call with a secret in its arguments.
fn with_a_secret<'a>(stage: &'a Stage) -> (Actor<'a>, InteractionId) {
    let run = stage.start(json!({ "input": { "api_key": "c0reOfTheInput/s3cret" } }));
    let question = run.waits();
    assert!(question.question.prompt.contains("known secret"), "{}", question.question.prompt);
    assert_eq!(kept(stage, &run), 1, "until it is made");
    (run, question.interaction_id)
}

#[test]
fn private_arguments_are_gone_when_their_call_is_over_however_it_ended() {
    let secret = || Reply::call("count", json!({ "text": "c0reOfTheInput/s3cret" }));
    let script = Script::new([secret(), says_done("done")]).for_many();
    let model = ModelServer::start(script).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]\napprove = [\"count\"]");
    for action in [Some(Action::Approve), Some(Action::Reject), None] {
        let (run, question) = with_a_secret(&stage);
        match action {
            Some(action) => run.decide(question, action, Value::Null).unwrap(),
            None => run.cancel().unwrap(),
        };
        run.ends();
        until("the arguments are gone", || (kept(&stage, &run) == 0).then_some(()));
    }
    // A crash between the end of the call and the removal.
    let (run, question) = with_a_secret(&stage);
    let folder = stage.data().join(format!("runs/{}/calls", run.id));
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&file).unwrap();
    run.decide(question, Action::Reject, Value::Null).unwrap();
    run.ends();
    until("the arguments are gone", || (kept(&stage, &run) == 0).then_some(()));
    let (waiting, _) = with_a_secret(&stage);
    stage.close();
    fs::write(&file, bytes).unwrap();
    stage.open();
    until("the start finds them", || (kept(&stage, &run) == 0).then_some(()));
    assert_eq!(kept(&stage, &waiting), 1, "and leaves those of a call that may still be made");
}

#[test]
fn private_arguments_of_a_lost_call_stay_until_a_person_settles_it() {
    let arguments = json!({ "note": "c0reOfTheInput/s3cret" });
    let model = ModelServer::start(Script::new([Reply::call("hang", arguments), says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, &format!("{IRREVERSIBLE}\napprove = [\"hang\"]"));
    let (run, question) = with_a_secret(&stage);
    run.decide(question, Action::Approve, Value::Null).unwrap();
    until("the effect", || (stage.effects() == ["hang"]).then_some(()));
    run.cancel().unwrap();
    run.ends();
    assert_eq!(run.contract().outcome, Outcome::Unknown);
    stage.restart();
    assert_eq!(kept(&stage, &run), 1);
    let id = run.contract().spec.execution_id;
    let settle = Command::SettleContract { id, happened: true, note: None, by: By::USER };
    let service = stage.service();
    stage.wait(service.runtime().ask(run.id, settle)).unwrap();
    drop(service);
    until("the arguments are gone", || (kept(&stage, &run) == 0).then_some(()));
}
