//! Turns of agents that behave, each in a process of its own.

use adjourn_core::{ErrorCode, Observation, OutputStream, Profile, Usage};
use adjourn_engine::{AcpConfig, AcpEngine, Engine, Gateway, Probe, Seen, Turn, log_file};
use adjourn_testkit::acp::{Act, Behaviour, Script, TakesUp};
use serde_json::Value;
use std::sync::Arc;

use super::{completed, config, engine, facts, failure, handle, next_turn, play, say, script};
use crate::agent::{Stage, supervisor};
use crate::turns::{Going, turn};

#[tokio::test]
async fn what_an_agent_does_is_told_in_its_order() {
    let stage = Stage::new();
    let acts = vec![
        Act::Think("a shed".to_owned()),
        Act::Plan(vec!["paint it".to_owned()]),
        say("I begin."),
        Act::Tool("look around".to_owned(), "search".to_owned()),
        Act::Tool("make".to_owned(), "execute".to_owned()),
        Act::Usage(70, 7),
        say("All done."),
    ];
    let (seen, finished) = play(&stage, acts).await;
    assert_eq!(finished, completed("All done."));
    let told: Vec<_> = facts(&seen)
        .into_iter()
        .filter_map(|fact| match fact {
            Observation::Message { text, .. } => Some(format!("says {text}")),
            Observation::Reasoning { text, .. } => Some(format!("thinks {text}")),
            Observation::ToolCall { name, detail, .. } => {
                Some(format!("uses {name}: {}", detail["rawOutput"]))
            }
            Observation::CommandExecution { command, .. } => Some(format!("runs {command}")),
            Observation::Usage(usage) => {
                Some(format!("used {} and {}", usage.input_tokens, usage.output_tokens))
            }
            Observation::Handle(_)
            | Observation::Process(_)
            | Observation::Sandbox(_)
            | Observation::Step(_) => None,
        })
        .collect();
    assert_eq!(
        told,
        [
            "thinks a shed",
            "thinks Plan:\n- [ ] paint it",
            "says I begin.",
            "uses look around: \"done\"",
            "runs make",
            "says All done.",
            "used 70 and 7",
        ]
    );
    let written: String = seen.iter().filter_map(delta).collect();
    assert_eq!(written, "I begin.All done.");
    assert_eq!(stage.processes(), [0; 0]);
}

fn delta(seen: &Seen) -> Option<&str> {
    match seen {
        Seen::Delta(text) => Some(text),
        Seen::Fact(_) => None,
    }
}

#[tokio::test]
async fn a_message_says_where_it_stands_in_the_log() {
    let stage = Stage::new();
    let (seen, _) =
        play(&stage, vec![Act::Raw("warning: old".to_owned()), say("Grüße aus dem Schuppen")]).await;
    let raw = facts(&seen).into_iter().find_map(|fact| match fact {
        Observation::Message { raw, .. } => *raw,
        _ => None,
    });
    let raw = raw.unwrap();
    let log = std::fs::read(log_file(&stage.path().join("logs"), 1, OutputStream::Stdout)).unwrap();
    let part = String::from_utf8(log[raw.from as usize..raw.to as usize].to_vec()).unwrap();
    let texts: String = part
        .lines()
        .map(|line| {
            let message: Value = serde_json::from_str(line).unwrap();
            message["params"]["update"]["content"]["text"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!((raw.attempt, texts.as_str()), (1, "Grüße aus dem Schuppen"));
    assert!(String::from_utf8(log).unwrap().contains("warning: old"), "what is no message is kept as well");
}

async fn is_taken_up(takes_up: TakesUp) {
    let stage = Stage::new();
    let script = Script { takes_up, ..script(&stage, vec![vec![say("one")], vec![say("two")]]) };
    let engine = engine(&stage, &script);
    let (first, finished) = Going::start(engine.clone(), turn(&stage, "first")).until_it_ends().await;
    assert_eq!((finished, stage.processes()), (completed("one"), vec![]));
    let next = next_turn(&stage, &first, "second");
    assert!(engine.can_resume(&next));
    let (second, finished) = Going::start(engine, next).until_it_ends().await;
    assert_eq!(finished, completed("two"), "it is the second prompt of the same conversation");
    assert_eq!(handle(&second), handle(&first));
    let messages = facts(&second).into_iter().filter(|fact| matches!(fact, Observation::Message { .. }));
    assert_eq!(messages.count(), 1, "what was said before is not told again");
}

#[tokio::test]
async fn a_new_process_takes_up_the_conversation_by_resuming() {
    is_taken_up(TakesUp::Resume).await;
}

#[tokio::test]
async fn a_new_process_takes_up_the_conversation_by_loading_and_tells_nothing_twice() {
    is_taken_up(TakesUp::Load).await;
}

#[tokio::test]
async fn an_agent_that_cannot_take_up_a_conversation_leaves_no_handle() {
    let stage = Stage::new();
    let script = Script { takes_up: TakesUp::Never, ..script(&stage, vec![vec![say("one")]]) };
    let (seen, finished) = Going::start(engine(&stage, &script), turn(&stage, "first")).until_it_ends().await;
    assert_eq!((finished, handle(&seen)), (completed("one"), None));
}

#[tokio::test]
async fn a_conversation_that_the_agent_forgot_cannot_be_resumed() {
    let stage = Stage::new();
    let script = Script { takes_up: TakesUp::Forgets, ..script(&stage, vec![vec![say("one")]]) };
    let engine = engine(&stage, &script);
    let (first, _) = Going::start(engine.clone(), turn(&stage, "first")).until_it_ends().await;
    let next = next_turn(&stage, &first, "second");
    let (code, message) = failure(Going::start(engine, next).until_it_ends().await.1);
    assert_eq!(code, ErrorCode::SessionResumeFailed);
    assert!(message.contains("session/load") && message.contains("invalid session identifier"), "{message}");
}

#[tokio::test]
async fn mode_and_model_are_set_where_they_are_offered() {
    let stage = Stage::new();
    let modes = ["read-only", "auto"].map(str::to_owned).to_vec();
    let models = ["small", "large"].map(str::to_owned).to_vec();
    let script = Script { modes, models, ..script(&stage, vec![vec![say("one")]]) };
    let config = AcpConfig { model: Some("large".to_owned()), ..config(&stage, &script) };
    let engine = Arc::new(AcpEngine::new(config, supervisor(), Gateway::new()));
    let finished = Going::start(engine, turn(&stage, "first")).until_it_ends().await.1;
    assert_eq!(finished, completed("one"));
    let told = std::fs::read_to_string(stage.path().join("sessions/told")).unwrap();
    assert_eq!(told, "mode auto\nmodel large\n");
}

#[tokio::test]
async fn a_probe_finds_out_which_profile_an_agent_has() {
    let stage = Stage::new();
    for (takes_up, expected) in [
        (TakesUp::Resume, Profile::Resumable),
        (TakesUp::Load, Profile::Resumable),
        (TakesUp::Forgets, Profile::StickyProcess),
        (TakesUp::Never, Profile::StickyProcess),
    ] {
        let script = Script { takes_up, ..script(&stage, Vec::new()) };
        match engine(&stage, &script).probe().await {
            Probe::Ready { version, profile } => {
                assert_eq!((version.as_str(), profile.profile), ("1.0.0", expected), "{}", profile.because);
            }
            Probe::Unusable { problem } => panic!("{problem}"),
        }
    }
    let script = Script { behaviour: Behaviour::LoggedOut, ..script(&stage, Vec::new()) };
    let probe = engine(&stage, &script).probe().await;
    assert!(matches!(&probe, Probe::Unusable { problem } if problem.contains("log in")), "{probe:?}");
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_not_found() {
    let stage = Stage::new();
    let engine = Arc::new(AcpEngine::new(
        AcpConfig::new(vec!["no-such-agent".to_owned()]),
        supervisor(),
        Gateway::new(),
    ));
    assert!(!engine.is_installed(None));
    let (code, message) = failure(Going::start(engine, turn(&stage, "")).until_it_ends().await.1);
    assert_eq!(code, ErrorCode::EngineNotFound);
    assert!(message.contains("no-such-agent"), "{message}");
}

#[tokio::test]
async fn usage_is_that_of_each_turn() {
    let stage = Stage::new();
    let one = vec![Act::Usage(70, 7), say("one")];
    let engine = engine(&stage, &script(&stage, vec![one]));
    let used = |seen: &[Seen]| {
        let mut all = facts(seen).into_iter().filter_map(|fact| match fact {
            Observation::Usage(usage) => Some(*usage),
            _ => None,
        });
        all.next()
    };
    let expected = Some(Usage { input_tokens: 70, output_tokens: 7, cost_usd: None });
    let (first, _) = Going::start(engine.clone(), turn(&stage, "first")).until_it_ends().await;
    let next = Turn { handle: handle(&first), ..turn(&stage, "second") };
    let (second, _) = Going::start(engine, next).until_it_ends().await;
    assert_eq!((used(&first), used(&second)), (expected, expected));
}
