//! A job as its client looks at it.

use adjourn_core::{ByKind, Frame, FrameType, Run, RunTrigger, Strict};
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::pending::pending;
use super::request::{CONVERSATION_LABEL, MODE_LABEL, SESSION};
use crate::extract::query::RunPath;
use crate::problem::Problem;
use crate::server::Server;
use crate::stream::run_reader::RunReader;

pub(super) async fn show(State(server): State<Server>, RunPath(id): RunPath) -> Result<Json<Value>, Problem> {
    let shown = server.blocking(move |service| {
        let run = service.run(id)?;
        let journal = service.journal();
        let frames = RunReader { journal, id, engine: run.spec().engine.clone() }.frames(0, usize::MAX)?.0;
        Ok(job(&run, &Recovery::of(&frames)))
    });
    shown.await.map(Json)
}

fn job(run: &Run, recovery: &Recovery) -> Value {
    let spec = run.spec();
    let label = |name: &str| spec.labels.get(name).cloned();
    let asked_mode = label(MODE_LABEL).unwrap_or_else(|| spec.execution_mode.to_string());
    let open = run.open_interactions().next();
    json!({
        "request_id": run.id(),
        "status": run.status(),
        "skill_id": spec.skill,
        "engine": spec.engine,
        "created_at": run.created_at().to_string(),
        "updated_at": run.updated_at().to_string(),
        "warnings": run.warnings(),
        "error": run.error(),
        "pending_interaction_id": open.map(|interaction| interaction.interaction_id),
        "pending_payload": open.map(|interaction| pending(run, interaction)),
        "interaction_count": run.interactions().len(),
        "auto_decision_count": auto_decisions(run),
        "current_attempt": run.attempt_number(),
        "requested_execution_mode": asked_mode,
        "effective_execution_mode": spec.execution_mode,
        "conversation_mode": label(CONVERSATION_LABEL).unwrap_or_else(|| SESSION.to_owned()),
        "interactive_auto_reply": spec.strict == Strict::Off,
        "interactive_reply_timeout_sec": spec.session_timeout_sec,
        "recovery_state": recovery.state,
        "recovered_at": recovery.at,
        "recovery_reason": recovery.reason,
    })
}

fn auto_decisions(run: &Run) -> usize {
    let resolved = run.interactions().iter().filter_map(|interaction| interaction.resolution.as_ref());
    resolved.filter(|resolution| resolution.by.kind == ByKind::AutoDecide).count()
}

/// What the last restart made of the job.
#[derive(Debug, PartialEq)]
struct Recovery {
    state: &'static str,
    at: Option<String>,
    reason: Option<String>,
}

impl Recovery {
    fn of(frames: &[Frame]) -> Self {
        let none = Self { state: "none", at: None, reason: None };
        let changes = frames.iter().rev().filter(|frame| frame.kind == FrameType::StateChanged);
        let recovered = changes.filter_map(|frame| Some((frame, state(trigger(frame)?)?))).next();
        recovered.map_or(none, |(frame, state)| Self {
            state,
            at: Some(frame.ts.to_string()),
            reason: trigger(frame).map(|trigger| trigger.to_string()),
        })
    }
}

fn trigger(frame: &Frame) -> Option<RunTrigger> {
    frame.data["trigger"].as_str()?.parse().ok()
}

/// What a trigger makes of a job, in that project's words: it knows of waiting jobs and of failed ones only.
fn state(trigger: RunTrigger) -> Option<&'static str> {
    match trigger {
        RunTrigger::RestartPreserveWaiting | RunTrigger::RestartNeedsInput => Some("recovered_waiting"),
        RunTrigger::RestartReconcileFailed => Some("failed_reconciled"),
        RunTrigger::TurnStarted
        | RunTrigger::TurnNeedsInput
        | RunTrigger::TurnSucceeded
        | RunTrigger::TurnFailed
        | RunTrigger::ReplyAccepted
        | RunTrigger::AutoDecided
        | RunTrigger::WaitTimedOut
        | RunTrigger::ProcessLost
        | RunTrigger::RunCanceled
        | RunTrigger::RestartRequeued => None,
    }
}
