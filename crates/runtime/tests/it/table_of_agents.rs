//! A roundtable of real agents: five participants on two of them, six rounds, and a person who is asked once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::{Interaction, Roundtable};
use adjourn_core::{By, RoundtableId};
use adjourn_engine::secrets::Secret;
use adjourn_kernel::SystemClock;
use adjourn_runtime::Service;
use adjourn_runtime::config::{Config, EngineConfig, How};
use adjourn_runtime::roundtable::{RoundtableReply, RoundtableRequest};
use adjourn_testkit::agents;
use adjourn_testkit::model::{Conversations, ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::supervisor;
use crate::stage::table::artifact;

/// How long a step may take: a real agent starts in seconds where nobody else works.
const STEP_PATIENCE: Duration = Duration::from_secs(120);

const ROUNDS: usize = 6;

/// Who is played by which agent.
const SEATS: [(&str, &str); 6] = [
    ("facilitator", "codex"),
    ("product", "codex"),
    ("architect", "claude"),
    ("qa", "codex"),
    ("ux", "codex"),
    ("domain", "claude"),
];

/// What somebody says, round by round; the facilitator twice in each.
fn said(role: &str) -> Vec<Value> {
    let rounds = 1..=ROUNDS;
    if role != "facilitator" {
        // In the third round somebody is unsure about a critical topic.
        let confidence = |round| if (role, round) == ("qa", 3) { 0.2 } else { 0.8 };
        return rounds
            .map(|round| json!({ "position": format!("{role} holds {round}"), "confidence": confidence(round) }))
            .collect();
    }
    let criteria: [(&str, &[&str]); ROUNDS] = [
        ("users", &["personas", "needs"]),
        ("users", &["success"]),
        ("functions", &["main_path", "entry_exit"]),
        ("functions", &["failures"]),
        ("rules", &["rules", "exceptions"]),
        ("scope", &["exclusions", "order"]),
    ];
    rounds
        .zip(criteria)
        .flat_map(|(round, (topic, covers))| {
            let ask = json!({
                "question": format!("What about {topic}, in round {round}?"), "focus": { "kind": "topic", "id": topic },
            });
            let close = json!({
                "summary": format!("The table got on with {topic} in round {round}."),
                "proposals": [artifact(topic, &format!("Result {round}"), covers)],
                "recommendation": "Ask the people who will use it.",
            });
            [ask, close]
        })
        .collect()
}

fn reply(said: &Value) -> Reply {
    let mut said = said.clone();
    said["__SKILL_DONE__"] = json!(true);
    Reply::text(said.to_string())
}

/// The agent, talking to the model at `url`.
fn engine(agent: &str, home: &Path, url: &str) -> Option<EngineConfig> {
    let program = agents::binary_for_test(agent)?;
    let mut engine = EngineConfig::built_in(agent).unwrap();
    if let How::Exec { command, .. } = &mut engine.how {
        *command = vec![program.display().to_string()];
    }
    fs::create_dir(home).unwrap();
    let environment = agents::point(agent, home, url).unwrap();
    engine.env.extend(environment.into_iter().map(|(name, value)| (name, Secret::new(value))));
    Some(engine)
}

/// Waits until the roundtable is as wanted.
async fn until<T>(service: &Service, id: RoundtableId, look: impl Fn(&Roundtable) -> Option<T>) -> T {
    let mut changes = service.store().watch_stream(id.into());
    loop {
        changes.mark_unchanged();
        let table = service.roundtable(id).unwrap();
        if let Some(found) = look(&table) {
            return found;
        }
        let changed = tokio::time::timeout(STEP_PATIENCE, changes.changed()).await;
        assert!(changed.is_ok(), "nothing happens any more in {:#?}", table.current());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_kinds_of_agents_hold_six_rounds_at_one_table_and_a_person_decides_in_between() {
    let folder = tempfile::tempdir().unwrap();
    let (mut servers, mut engines) = (Vec::new(), BTreeMap::new());
    for (role, agent) in SEATS {
        let conversations = if role == "facilitator" { Conversations::One } else { Conversations::Each };
        let script = Script { replies: said(role).iter().map(reply).collect(), conversations };
        let server = ModelServer::start(script).unwrap();
        let Some(engine) = engine(agent, &folder.path().join(role), &server.url()) else { return };
        engines.insert(format!("as-{role}"), engine);
        servers.push(server);
    }
    let config = Config { engines, ..Config::default() };
    let (service, threads) =
        Service::open_with(&folder.path().join("data"), config, supervisor(), Arc::new(SystemClock)).unwrap();
    let seat = |(role, _): &(&str, &str)| json!({ "role": role, "engine": format!("as-{role}") });
    let request = RoundtableRequest::read(&json!({
        "subject": "a shop for bicycles", "engine": "as-facilitator",
        "participants": SEATS[1..].iter().map(seat).collect::<Vec<_>>(),
        "limits": { "min_rounds": 1, "max_rounds": ROUNDS },
    }))
    .unwrap();
    let id = service.open_roundtable(request, None).await.unwrap().table.id();

    let asked: Interaction = until(&service, id, |table| table.pending().cloned()).await;
    assert_eq!((asked.round, asked.matter.source().to_string().as_str()), (3, "escalation"));
    for shown in ["qa holds 3", "architect holds 3", "confidence 0.2", "Ask the people who will use it."] {
        assert!(asked.question.prompt.contains(shown), "{shown} is not in {}", asked.question.prompt);
    }
    let response = json!({ "decision": "own_decision", "text": "Begin with the commuters." });
    let reply = RoundtableReply { interaction_id: None, response, by: By::USER, key: None };
    service.reply_to_roundtable(id, reply).await.unwrap();

    let is_closed = |table: &Roundtable| (table.status() == RoundtableStatus::Closed).then(|| table.clone());
    let closed = until(&service, id, is_closed).await;
    assert_eq!(closed.closing().unwrap().reason.name(), "max_rounds");
    assert_eq!(closed.recorded_rounds() as usize, ROUNDS);
    for round in closed.rounds() {
        assert_eq!((round.answers.len(), round.missing.len(), round.refused.len()), (5, 0, 0), "{round:#?}");
        assert!(
            round
                .activations
                .iter()
                .all(|it| it.continues.is_none() || it.purpose.role().as_str() == "facilitator")
        );
    }
    let frames = service.roundtable_frames(id, 0, usize::MAX).unwrap();
    assert!(frames.iter().all(|frame| frame.kind.name() != "agent.resume_fallback"), "nobody was forgotten");
    let document = service.export_roundtable_markdown(id).unwrap();
    for shown in ["a shop for bicycles", "REQ-006", "Result 4", "Begin with the commuters."] {
        assert!(document.contains(shown), "{shown} is not in {document}");
    }
    drop(service);
    threads.join();
}
