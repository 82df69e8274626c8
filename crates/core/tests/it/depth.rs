//! Documents at the limit of their depth: what is accepted can be read back, from the journal and from the stream.

use adjourn_core::fcmp::Header;
use adjourn_core::{
    Actor, By, Choice, Command, ContractAction, ContractDetail, ContractSpec, ContractStatus,
    ContractTrigger, Create, Entry, Event, ExecutionId, ExecutionMode, Frame, IdempotencyKey, InteractionId,
    JSON_DEPTH_MAX, JsonSize, Known, Observation, Place, Question, Record, Refusal, Run, RunId, RunSpec,
    Subject, Timestamp, ToolCall,
};
use serde_json::{Value, json};

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!({ "k": inner }))
}

/// One event of each kind that carries a document of others, with documents of this depth. What engines keep for
/// themselves may be deeper by what it is wrapped in.
fn events(levels: usize) -> Vec<Event> {
    let deep = || nested(levels);
    let question = Question {
        options: vec![Choice { value: deep(), label: "deep".to_owned() }],
        schema: Some(deep()),
        default: Some(deep()),
        ..Question::open_text("What?")
    };
    let execution_id = ExecutionId::from_bits(1);
    let call = ToolCall { service: "s".to_owned(), method: "m".to_owned(), arguments: deep() };
    let spec = |action| ContractSpec {
        definition: None,
        execution_id,
        action,
        irreversible: true,
        idempotency_key: IdempotencyKey::of("s", "m", &json!({})),
        scope: "global".to_owned(),
        timeout_seconds: None,
        edited_from: None,
        call_ref: None,
    };
    let changed = |detail| Event::ContractChanged {
        id: execution_id,
        from: ContractStatus::Running,
        to: ContractStatus::Completed,
        trigger: ContractTrigger::Succeed,
        actor: Actor::ToolNode,
        detail: Some(detail),
    };
    vec![
        Event::Created(Box::new(RunSpec {
            input: deep(),
            parameter: deep(),
            ..RunSpec::new("exec", ExecutionMode::Auto)
        })),
        Event::Observed(Observation::ToolCall { name: "t".to_owned(), detail: deep(), raw: None }),
        Event::Observed(Observation::CommandExecution { command: "c".to_owned(), detail: deep(), raw: None }),
        Event::Observed(Observation::Step(nested(levels + 24))),
        Event::InteractionOpened {
            id: InteractionId(1),
            subject: Subject::Turn,
            question: question.clone(),
            deadline_at: None,
            boot: None,
        },
        Event::InteractionAnswered {
            id: InteractionId(1),
            response: deep(),
            action: None,
            by: By::SYSTEM,
            key: None,
        },
        Event::InteractionExpired { id: InteractionId(1), response: deep() },
        Event::ContractCreated(Box::new(spec(ContractAction::ToolCall(call)))),
        Event::ContractCreated(Box::new(spec(ContractAction::EcsRequest(question)))),
        changed(ContractDetail::Result(deep())),
        changed(ContractDetail::Paused(nested(levels + 24))),
        Event::ResultRecorded(deep()),
    ]
}

#[test]
fn documents_at_the_limit_are_read_back_from_the_journal_and_from_the_stream() {
    for event in events(JSON_DEPTH_MAX) {
        let record = Record { place: Place::default(), events: vec![event] };
        let entry = Entry {
            stream: RunId::from_bits(1).into(),
            position: 1,
            seq: 1,
            at: Timestamp::default(),
            events: 1,
            last_frame: 1,
            payload: serde_json::to_vec(&record).unwrap(),
        };
        assert_eq!(Record::of(&entry).unwrap(), record);
        for frame in record.frames(Header { run_id: RunId::from_bits(1), engine: "exec" }, &entry) {
            let text = serde_json::to_string(&json!({ "events": [frame] })).unwrap();
            let read: Value = serde_json::from_str(&text).unwrap();
            let back: Frame = serde_json::from_value(read["events"][0].clone()).unwrap();
            assert_eq!(back, frame);
            assert!(JsonSize::of(&frame.data).depth < 100);
        }
    }
}

#[test]
fn a_command_with_a_document_beyond_the_limit_is_refused_and_nothing_is_decided() {
    let create = |levels| {
        let spec = RunSpec { input: nested(levels), ..RunSpec::new("exec", ExecutionMode::Auto) };
        let known = Known::at(Timestamp::from_millis(5));
        Run::create(RunId::from_bits(1), &Command::Create(Create { spec, key: None }), &known)
    };
    let run = create(JSON_DEPTH_MAX).unwrap().state;
    let refused = create(JSON_DEPTH_MAX + 1).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a JSON document in it cannot be kept: it is nested 65 levels deep, at most 64 are allowed"
    );
    let known = Known::at(Timestamp::from_millis(6));
    let run = run.decide(&Command::StartTurn, &known).unwrap().state;
    let detail = nested(JSON_DEPTH_MAX + 1);
    let observations = vec![Observation::ToolCall { name: "t".to_owned(), detail, raw: None }];
    let observed = run.decide(&Command::Observe { turn: 1, observations }, &known);
    assert!(matches!(observed, Err(Refusal::TooBig(_))), "{observed:?}");
}
