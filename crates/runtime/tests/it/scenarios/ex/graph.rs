//! EX: the state of the graph while calls are open, and its trace.

use adjourn_core::machine::Why;
use adjourn_core::{
    Action, Actor as Party, By, Command, ContractMachine, ContractReport, ContractStatus, ContractTrigger,
    ExecutionId, GraphView, Machine, Question, Record, RequestContract, Run, Trace,
};
use adjourn_kernel::Denied;
use adjourn_store::After;
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::world::{calls_by_curl, named, says_done};
use crate::stage::{Actor, Stage, until};

/// The graph of a run as every surface shows it now.
fn graph_now(stage: &Stage, run: &Actor<'_>) -> Value {
    let service = stage.service();
    let (state, trace) = service.traced(run.id).unwrap();
    json!(GraphView::of(&state, trace))
}

/// The graph of a run after each commit of its journal: all that was ever to be seen of it.
fn graphs(stage: &Stage, run: &Actor<'_>) -> Vec<Value> {
    let entries = stage.store().read(run.id.into(), After::START, usize::MAX).unwrap();
    let (mut state, mut seen) = (None, Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        for event in Record::of(entry).unwrap().events {
            state = Some(match state.take() {
                None => Run::created(run.id, entry.at, &event).unwrap(),
                Some(mut state) => {
                    Run::apply(&mut state, entry.at, &event).unwrap();
                    state
                }
            });
        }
        let mut trace = Trace::default();
        entries[..=index].iter().for_each(|entry| trace.add(entry).unwrap());
        seen.push(json!(GraphView::of(state.as_ref().unwrap(), trace.into_steps())));
    }
    seen
}

/// How a contract stands in each commit that has it: the list it is in, and its status.
fn places(graphs: &[Value], id: ExecutionId) -> Vec<(&'static str, String)> {
    let mut places = Vec::new();
    for graph in graphs {
        for list in ["pending_executions", "completed_executions"] {
            let contracts = graph[list].as_array().unwrap().iter();
            for contract in contracts.filter(|contract| contract["execution_id"] == named(id)) {
                places.push((list, contract["status"].as_str().unwrap().to_owned()));
            }
        }
    }
    places.dedup();
    places
}

#[test]
fn ex_01_a_call_is_among_the_pending_executions_from_its_creation_to_its_end() {
    let model =
        ModelServer::start(Script::new([Reply::call("count", json!({ "text": "a" })), says_done("done")]))
            .unwrap();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    run.ends();
    let id = run.contract().spec.execution_id;
    let graphs = graphs(&stage, &run);
    let expected = [
        ("pending_executions", "PENDING".to_owned()),
        ("pending_executions", "RUNNING".to_owned()),
        ("completed_executions", "COMPLETED".to_owned()),
    ];
    assert_eq!(places(&graphs, id), expected);
    let first = graphs.iter().find_map(|graph| graph["pending_executions"].get(0)).unwrap();
    assert_eq!((&first["action_type"], &first["status"]), (&json!("tool_call"), &json!("PENDING")));
    assert_eq!(graphs.last().unwrap(), &graph_now(&stage, &run), "the service shows the same");
}

#[test]
fn ex_01_a_call_of_an_agent_at_the_gateway_is_pending_while_it_is_made() {
    let stage = Stage::closed_with_tools(&["world"], "irreversible = []");
    stage.open();
    let run = stage.start(json!({}));
    run.turn(1).does(&calls_by_curl("world__hang", &json!({})));
    until("the call", || (stage.effects() == ["hang"]).then_some(()));
    let graph = graph_now(&stage, &run);
    let pending = graph["pending_executions"].as_array().unwrap();
    assert_eq!(pending.len(), 1, "{graph}");
    assert_eq!((&pending[0]["action_type"], &pending[0]["status"]), (&json!("tool_call"), &json!("RUNNING")));
    assert_eq!((&graph["status"], &graph["completed_executions"]), (&json!("running"), &json!([])));
    run.cancel().unwrap();
    run.ends();
    let graph = graph_now(&stage, &run);
    assert_eq!(
        (graph["pending_executions"].as_array().unwrap().len(), &graph["status"]),
        (0, &json!("cancelled"))
    );
}

#[test]
fn ex_02_a_question_is_among_the_pending_executions_until_it_is_answered() {
    let ask = Reply::call("ask_user", json!({ "prompt": "Why?" }));
    let model = ModelServer::start(Script::new([ask, says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    run.waits();
    let id = run.contract().spec.execution_id;
    let graph = graph_now(&stage, &run);
    let pending = graph["pending_executions"].as_array().unwrap();
    assert_eq!(pending.len(), 1, "{graph}");
    assert_eq!(
        (&pending[0]["execution_id"], &pending[0]["action_type"]),
        (&named(id), &json!("ecs_request"))
    );
    let first = &pending[0]["transitions"][0];
    assert_eq!((&first["from"], &first["trigger"]), (&json!("PENDING"), &json!("start")), "it began as that");
    run.reply("because").unwrap();
    run.ends();
    let graph = graph_now(&stage, &run);
    assert_eq!(graph["pending_executions"], json!([]));
    assert_eq!(graph["completed_executions"][0]["execution_id"], named(id));
}

#[test]
fn ex_09_each_transition_of_a_real_call_is_a_step_of_the_trace_in_its_own_commit() {
    let model =
        ModelServer::start(Script::new([Reply::call("count", json!({ "text": "a" })), says_done("done")]))
            .unwrap();
    let stage = Stage::reasoning(&model, "approve = [\"count\"]");
    let run = stage.start(json!({}));
    let question = run.waits();
    run.decide(question.interaction_id, Action::Approve, Value::Null).unwrap();
    run.ends();
    let contract = run.contract();
    let id = contract.spec.execution_id;
    let graph = graph_now(&stage, &run);
    let steps = graph["execution_trace"].as_array().unwrap();
    let in_short: Vec<_> =
        steps.iter().map(|step| format!("{}: {}", word(step, "node_id"), word(step, "action"))).collect();
    assert_eq!(
        in_short,
        [
            format!("reasoning_node: {id}: -> PENDING (create)"),
            format!("tool_node: {id}: PENDING -> RUNNING (start)"),
            format!("tool_node: {id}: RUNNING -> WAITING (suspend)"),
            format!("graph_runner: {id}: WAITING -> RUNNING (resume)"),
            format!("tool_node: {id}: RUNNING -> COMPLETED (succeed)"),
        ]
    );
    for (step, transition) in steps[1..].iter().zip(&contract.transitions) {
        let expected = json!({
            "execution_id": id, "from": transition.from, "to": transition.to, "trigger": transition.trigger,
            "actor": transition.actor,
        });
        assert_eq!(step["metadata"], expected);
        assert_eq!(step["timestamp"], json!(transition.at.to_string()));
    }
    // No commit has a transition without its step: the trace of every prefix is as long as the way of the contract.
    for graph in graphs(&stage, &run) {
        let lists = ["pending_executions", "completed_executions"]
            .map(|list| graph[list].as_array().unwrap().clone());
        let ways: usize =
            lists.iter().flatten().map(|it| 1 + it["transitions"].as_array().unwrap().len()).sum();
        assert_eq!(graph["execution_trace"].as_array().unwrap().len(), ways);
    }
}

fn word<'a>(step: &'a Value, key: &str) -> &'a str {
    step[key].as_str().unwrap_or_else(|| panic!("no `{key}` in {step}"))
}

/// A run on which a contract has ended with this status, and the contract.
fn ended_with(stage: &Stage, status: ContractStatus) -> (Actor<'_>, ExecutionId) {
    let run = stage.start(json!({}));
    match status {
        ContractStatus::Completed | ContractStatus::Failed => {}
        ContractStatus::Rejected => {
            let question = run.waits();
            run.decide(question.interaction_id, Action::Reject, json!("no")).unwrap();
        }
        ContractStatus::Cancelled => {
            run.waits();
            run.cancel().unwrap();
        }
        ContractStatus::Pending | ContractStatus::Running | ContractStatus::Waiting => {
            panic!("{status} is no end")
        }
    }
    run.ends();
    let contract = run.contract();
    assert_eq!(contract.status, status);
    (run, contract.spec.execution_id)
}

#[test]
fn ex_05_no_trigger_moves_a_contract_in_any_terminal_status() {
    for status in ContractStatus::ALL.iter().copied().filter(|status| status.is_terminal()) {
        for trigger in ContractTrigger::ALL {
            for actor in Party::ALL {
                let refused = ContractMachine::step(status, *trigger, *actor).unwrap_err();
                assert_eq!(refused.why, Why::Terminal, "{status} {trigger} {actor}");
            }
        }
        let (tool, of_tools) = match status {
            ContractStatus::Failed => ("fail", ""),
            ContractStatus::Rejected | ContractStatus::Cancelled => ("count", "approve = [\"count\"]"),
            _ => ("count", ""),
        };
        let arguments = if tool == "fail" { json!({}) } else { json!({ "text": "a" }) };
        let model =
            ModelServer::start(Script::new([Reply::call(tool, arguments), says_done("done")])).unwrap();
        let stage = Stage::reasoning(&model, of_tools);
        let (run, id) = ended_with(&stage, status);
        let (before, seq) = (run.contract(), run.state().seq());
        for (trigger, command) in commands(&run, id) {
            let service = stage.service();
            let answer = stage.wait(service.runtime().ask(run.id, command));
            assert!(matches!(answer, Err(Denied::Refused(_))), "{trigger} on {status}: {answer:?}");
        }
        assert!(run.reply_to(1, true).is_err(), "resume on {status}");
        // Of a run that is canceled, cancel again is the same request again.
        if status != ContractStatus::Cancelled {
            assert!(run.cancel().is_err(), "cancel on {status}");
        }
        let service = stage.service();
        let canceled = service.runtime().ask(run.id, Command::CancelContract { id, by: By::USER });
        assert_eq!(
            stage.wait(canceled).is_ok(),
            status == ContractStatus::Cancelled,
            "cancel by id on {status}"
        );
        assert_eq!((run.contract(), run.state().seq()), (before, seq), "nothing was written on {status}");
    }
}

/// Every command by which a trigger of a contract's machine is fired.
fn commands(run: &Actor<'_>, id: ExecutionId) -> Vec<(ContractTrigger, Command)> {
    let report = |report| Command::ReportContract { id, report };
    let spec = run.contract().spec;
    let again = RequestContract { turn: run.state().turn(), spec, approval: None };
    let asks = ContractReport::NeedsInput { question: Box::new(Question::confirm("?")), state: json!(1) };
    vec![
        (ContractTrigger::Start, Command::DispatchContract(id)),
        (ContractTrigger::Start, Command::RequestContract(again)),
        (ContractTrigger::Succeed, report(ContractReport::Succeeded(json!(2)))),
        (ContractTrigger::Fail, report(ContractReport::Failed("late".to_owned()))),
        (ContractTrigger::Fail, report(ContractReport::Lost("late".to_owned()))),
        (ContractTrigger::Reject, report(ContractReport::Rejected("late".to_owned()))),
        (ContractTrigger::Suspend, report(asks)),
        (ContractTrigger::Resume, Command::DispatchContract(id)),
        (ContractTrigger::Timeout, Command::Expire(adjourn_core::InteractionId(1))),
    ]
}
