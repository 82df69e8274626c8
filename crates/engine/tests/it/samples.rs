//! What the real agents print, read by their profiles.
//!
//! The files in `tests/samples` are turns of the versions that the profiles name, against a model that says "Let me
//! look.", calls a tool and asks "Which colour?". What is long and means nothing to us was cut, and a line that is no event
//! was put where such lines do occur.

use adjourn_core::{ErrorCode, Observation, RawRef, Usage};
use adjourn_engine::{Finished, Preset, Seen, Turn};

use crate::agent::Stage;
use crate::turns::{Going, completed, engine, facts, turn};

/// An agent that prints this and ends so.
fn script(stdout: &str, stderr: &str, status: u8) -> String {
    format!("cat >/dev/null\ncat <<'END'\n{stdout}END\ncat >&2 <<'END'\n{stderr}END\nexit {status}\n")
}

/// An observation in a few words.
fn brief(observation: &Observation) -> String {
    match observation {
        Observation::Handle(handle) => format!("handle {handle}"),
        Observation::Process(_) => "process".to_owned(),
        Observation::Sandbox(walls) => format!("sandbox {walls}"),
        Observation::Step(step) => format!("step {step}"),
        Observation::Message { text, .. } => format!("message {text}"),
        Observation::Reasoning { text, .. } => format!("reasoning {text}"),
        Observation::ToolCall { name, .. } => format!("tool {name}"),
        Observation::CommandExecution { command, .. } => format!("command {command}"),
        Observation::Usage(Usage { input_tokens, output_tokens, cost_usd }) => {
            format!("usage {input_tokens} {output_tokens} {cost_usd:?}")
        }
    }
}

fn raw(observation: &Observation) -> Option<RawRef> {
    match observation {
        Observation::Message { raw, .. }
        | Observation::Reasoning { raw, .. }
        | Observation::ToolCall { raw, .. }
        | Observation::CommandExecution { raw, .. } => *raw,
        Observation::Handle(_)
        | Observation::Process(_)
        | Observation::Sandbox(_)
        | Observation::Usage(_)
        | Observation::Step(_) => None,
    }
}

async fn check(preset: Preset, sample: &str, expected: &[&str]) {
    let stage = Stage::new();
    let going = Going::start(engine(&stage, preset, "sh", &script(sample, "", 0)), turn(&stage, "paint"));
    let (seen, finished) = going.until_it_ends().await;
    assert_eq!(finished, completed("Which colour?"));
    let facts = facts(&seen);
    assert_eq!(facts.iter().map(brief).collect::<Vec<_>>(), expected);
    for fact in &facts {
        // Each refers to whole lines.
        if let Some(raw) = raw(fact) {
            let (from, to) = (raw.from as usize, raw.to as usize);
            assert!(from == 0 || sample.as_bytes()[from - 1] == b'\n', "{fact:?}");
            assert_eq!(sample.as_bytes()[to], b'\n', "{fact:?}");
        }
    }
}

#[tokio::test]
async fn claude() {
    let sample = include_str!("../samples/claude.jsonl");
    let expected = [
        "handle 96ae352b-ed55-49ac-b764-de50a4073a5a",
        "reasoning thinking",
        "message Let me look.",
        "command echo hi",
        "message Which colour?",
        "usage 140 14 Some(0.00105)",
    ];
    check(Preset::Claude, sample, &expected).await;
}

#[tokio::test]
async fn codex() {
    let sample = include_str!("../samples/codex.jsonl");
    let expected = [
        "handle 01a1dee7-7f50-78e3-81d5-c6a895e7c086",
        "reasoning thinking",
        "message Let me look.",
        "command /bin/bash -lc 'echo hi'",
        "message Which colour?",
        "usage 140 14 None",
    ];
    check(Preset::Codex, sample, &expected).await;
}

#[tokio::test]
async fn gemini() {
    let sample = include_str!("../samples/gemini.jsonl");
    let expected = [
        "handle 1da97aba-6097-4ed0-b44d-a9209135a714",
        "message Let me look.",
        "tool list_directory",
        "message Which colour?",
        "usage 140 14 None",
    ];
    check(Preset::Gemini, sample, &expected).await;
}

#[tokio::test]
async fn opencode() {
    let sample = include_str!("../samples/opencode.jsonl");
    let expected = [
        "handle ses_e211845a0ffeBHbMe1lAgJjim8",
        "message Let me look.",
        "command echo hi",
        "usage 70 7 Some(0.0)",
        "message Which colour?",
        "usage 70 7 Some(0.0)",
    ];
    check(Preset::Opencode, sample, &expected).await;
}

#[tokio::test]
async fn pieces_are_shown_as_they_come() {
    let stage = Stage::new();
    let script = script(include_str!("../samples/gemini.jsonl"), "", 0);
    let going = Going::start(engine(&stage, Preset::Gemini, "sh", &script), turn(&stage, ""));
    let (seen, _) = going.until_it_ends().await;
    let pieces = seen.iter().filter_map(|seen| match seen {
        Seen::Delta(text) => Some(text.as_str()),
        Seen::Fact(_) => None,
    });
    assert_eq!(pieces.collect::<Vec<_>>(), ["Let me look.", "Which ", "colour?"]);
}

#[tokio::test]
async fn usage_of_a_whole_thread_is_reported_as_what_came_on_top() {
    let stage = Stage::new();
    let mut counted = Vec::new();
    for (handle, total) in [(None, 100), (Some("th-1"), 130), (Some("th-1"), 190), (Some("th-2"), 5)] {
        let events = format!(
            "{{\"type\":\"thread.started\",\"thread_id\":\"{}\"}}\n\
             {{\"type\":\"turn.completed\",\"usage\":{{\"input_tokens\":{total},\"output_tokens\":1}}}}\n",
            handle.unwrap_or("th-1"),
        );
        let engine = engine(&stage, Preset::Codex, "sh", &script(&events, "", 0));
        let turn = Turn { handle: handle.map(ToOwned::to_owned), ..turn(&stage, "") };
        let (seen, _) = Going::start(engine, turn).until_it_ends().await;
        counted.extend(facts(&seen).iter().map(brief).filter(|fact| fact.starts_with("usage")));
    }
    assert_eq!(counted, ["usage 100 1 None", "usage 30 0 None", "usage 60 0 None", "usage 5 1 None"]);
}

/// How the real agents fail: what they print, what they complain about, and with which status they end.
const FAILURES: &[(Preset, &str, &str, u8, ErrorCode)] = &[
    (
        Preset::Claude,
        r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"Failed to authenticate. API Error: 401"}]}}
{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"Failed to authenticate. API Error: 401"}
"#,
        "",
        1,
        ErrorCode::EngineAuthRequired,
    ),
    (
        Preset::Claude,
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":\"Not logged in · Please run /login\"}\n",
        "",
        1,
        ErrorCode::EngineAuthRequired,
    ),
    (
        Preset::Claude,
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":529,\"result\":\"API Error\"}\n",
        "",
        1,
        ErrorCode::ModelUnavailable,
    ),
    (
        Preset::Claude,
        "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"num_turns\":0}\n",
        "No conversation found with session ID: 1-2-3\n",
        1,
        ErrorCode::SessionResumeFailed,
    ),
    (
        Preset::Codex,
        r#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized)"}
{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: bad key"}}
"#,
        "",
        1,
        ErrorCode::EngineAuthRequired,
    ),
    (
        Preset::Codex,
        "",
        "Error: thread/resume: thread/resume failed: no rollout found for thread id 1-2-3\n",
        1,
        ErrorCode::SessionResumeFailed,
    ),
    (
        Preset::Codex,
        "{\"type\":\"turn.failed\",\"error\":{\"message\":\"exceeded retry limit, last status: 429\"}}\n",
        "",
        1,
        ErrorCode::ModelUnavailable,
    ),
    (
        Preset::Gemini,
        "",
        "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.\n",
        41,
        ErrorCode::EngineAuthRequired,
    ),
    (
        Preset::Gemini,
        "{\"type\":\"result\",\"status\":\"error\",\"error\":{\"type\":\"unknown\",\"message\":\"[API Error]\"}}\n",
        "",
        244,
        ErrorCode::ModelUnavailable,
    ),
    (
        Preset::Gemini,
        "",
        "Error resuming session: Invalid session identifier \"1-2-3\".\n",
        42,
        ErrorCode::SessionResumeFailed,
    ),
    (
        Preset::Opencode,
        "{\"type\":\"error\",\"sessionID\":\"s\",\"error\":{\"name\":\"APIError\",\"data\":{\"message\":\"no\",\"statusCode\":401}}}\n",
        "",
        1,
        ErrorCode::EngineAuthRequired,
    ),
    (
        Preset::Opencode,
        "{\"type\":\"error\",\"sessionID\":\"s\",\"error\":{\"name\":\"UnknownError\",\"data\":{\"message\":\"what?\"}}}\n",
        "",
        1,
        ErrorCode::EngineExitNonzero,
    ),
    (
        Preset::Opencode,
        "",
        "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found\n",
        1,
        ErrorCode::SessionResumeFailed,
    ),
];

#[tokio::test]
async fn a_failure_of_an_agent_has_the_code_of_its_cause_and_is_no_message() {
    for (preset, stdout, stderr, status, expected) in FAILURES {
        let stage = Stage::new();
        let engine = engine(&stage, *preset, "sh", &script(stdout, stderr, *status));
        let (seen, finished) = Going::start(engine, turn(&stage, "")).until_it_ends().await;
        let Finished::Failed(error) = finished else { panic!("{stdout}{stderr}: {finished:?}") };
        assert_eq!(error.code, *expected, "{error}");
        assert!(!error.message.contains('\u{1b}'), "{error}");
        assert!(!facts(&seen).iter().any(|fact| matches!(fact, Observation::Message { .. })), "{seen:?}");
    }
}
