//! A turn: its start, what it shows, and what its end means.

use super::super::Run;
use super::super::command::TurnEnd;
use super::super::event::{EndCause, Event, Observation, TurnReason};
use super::super::spec::ResumesBy;
use super::{Draft, Refusal, attempts, end};
use crate::completion::{Rules, Verdict, verdict};
use crate::interaction::{By, ByKind, Subject};
use crate::{
    Actor, ErrorCode, Interaction, InteractionId, PermissionRequest, Question, RunError, RunStatus,
    RunTrigger, Warning,
};

/// A slot is free: the engine gets its next turn, and with it every answer that no turn was given yet.
pub(super) fn start(draft: &mut Draft) -> Result<(), Refusal> {
    if draft.run.ending.is_some() {
        return Err(Refusal::Ending);
    }
    let reason = reason(&draft.run);
    // A turn that was cut off may not have seen the answers it was given, so it is given them again.
    let repeated = if reason == TurnReason::GoOn { draft.run.turn_answers.clone() } else { Vec::new() };
    let has_own = attempts::own_answers(&draft.run).next().is_some();
    // Only a turn that was cut off can have such answers in the last attempt. They wait for its end, which ends the run.
    let leaves_own = has_own && attempts::are_used_up(&draft.run);
    let unused = draft.run.unused_answers().filter(|answer| !(leaves_own && answer.subject.is_agents_own()));
    let unused = unused.map(|interaction| interaction.interaction_id);
    let answers: Vec<InteractionId> = repeated.into_iter().chain(unused).collect();
    let opens_attempt = reason == TurnReason::First || (has_own && !leaves_own);
    let attempt = draft.run.attempt_number + u32::from(opens_attempt);
    draft.emit(Event::TurnStarted { attempt, reason, answers });
    draft.step(RunTrigger::TurnStarted, Actor::Scheduler)
}

fn reason(run: &Run) -> TurnReason {
    if run.turn == 0 {
        return TurnReason::First;
    }
    if run.interrupted {
        return TurnReason::GoOn;
    }
    if run.stays() && run.unused_answers().all(is_permission) {
        return TurnReason::Permission;
    }
    let has_own = attempts::own_answers(run).next().is_some();
    if has_own { TurnReason::Answer } else { TurnReason::Settled }
}

fn is_permission(interaction: &Interaction) -> bool {
    matches!(interaction.subject, Subject::Permission(_))
}

/// Reports from a turn that is over are dropped: the run has moved on without them.
pub(super) fn fence(run: &Run, turn: u32) -> Result<(), Refusal> {
    if run.status == RunStatus::Running && run.turn == turn {
        Ok(())
    } else {
        Err(Refusal::Stale { given: turn, current: run.turn })
    }
}

/// Writes down what the engine shows.
pub(super) fn observe(draft: &mut Draft, turn: u32, observations: &[Observation]) -> Result<(), Refusal> {
    fence(&draft.run, turn)?;
    for observation in observations {
        let is_news = match observation {
            // Agents repeat their handle on every line; one fact is enough.
            Observation::Handle(handle) => draft.run.handle() != Some(handle),
            Observation::Process(process) => draft.run.process != Some(*process),
            Observation::Sandbox(walls) => draft.run.sandbox() != Some(walls),
            Observation::Message { .. }
            | Observation::Reasoning { .. }
            | Observation::ToolCall { .. }
            | Observation::CommandExecution { .. }
            | Observation::Usage(_)
            | Observation::Step(_) => true,
        };
        if is_news {
            draft.emit(Event::Observed(observation.clone()));
        }
    }
    Ok(())
}

/// The turn is over. A run that was canceled meanwhile is canceled, whatever its turn came to.
pub(super) fn end(draft: &mut Draft, turn: u32, how: &TurnEnd) -> Result<(), Refusal> {
    fence(&draft.run, turn)?;
    if draft.run.ending.is_some() {
        if !draft.run.stays() {
            return end::complete(draft);
        }
        // A process that stays outlives its turn, and the run ends with the process.
        if !draft.run.turn_over {
            draft.emit(Event::TurnOver);
        }
        return Ok(());
    }
    let evidence = match (how, attempts::exceeded(&draft.run)) {
        (TurnEnd::Failed(error), _) => return end::request(draft, EndCause::TurnFailed(error.clone())),
        (_, Some(error)) => return end::request(draft, EndCause::TurnFailed(error)),
        (TurnEnd::Completed(evidence), None) => evidence,
        (TurnEnd::Suspended, None) => return suspend(draft, Vec::new()),
        (TurnEnd::NeedsPermission(requests), None) => return ask_permission(draft, requests),
    };
    match verdict(&rules(&draft.run), evidence) {
        Verdict::Succeeded { output, warnings } => {
            warn(draft, warnings);
            draft.emit(Event::ResultRecorded(output));
            end::request(draft, EndCause::TurnSucceeded)
        }
        Verdict::NeedsInput { question, warnings } => {
            warn(draft, warnings);
            suspend(draft, question.map(|question| (Subject::Turn, question)).into_iter().collect())
        }
        Verdict::AutoDecide { question, warnings } => {
            warn(draft, warnings);
            auto_decide(draft, question)
        }
        Verdict::Repair { problem } => {
            let repair = draft.run.repairs + 1;
            let supersedes = draft.run.message_frame;
            draft.emit(Event::RepairStarted { repair, problem, supersedes });
            Ok(())
        }
        Verdict::Failed { code, message } => {
            end::request(draft, EndCause::TurnFailed(RunError { code, message }))
        }
    }
}

fn rules(run: &Run) -> Rules {
    Rules {
        mode: run.spec.execution_mode,
        attempt_counted: run.attempts_counted,
        max_attempt: run.spec.max_attempt,
        repairs: run.repairs,
        repair_limit: run.spec.repair_limit,
        waits_for: run.open_interactions().count() + run.unused_answers().count() + approved_calls(run),
        auto_decisions: run.auto_decisions,
    }
}

/// Calls that a person allowed and that were not made yet. Until they are, the run is not done.
fn approved_calls(run: &Run) -> usize {
    run.contracts().filter(|contract| contract.is_cleared()).count()
}

fn warn(draft: &mut Draft, warnings: Vec<Warning>) {
    for warning in warnings {
        draft.emit(Event::Warned(warning));
    }
}

/// The turn is over and the run waits, unless an answer came while the turn was still going on.
fn suspend(draft: &mut Draft, questions: Vec<(Subject, Question)>) -> Result<(), Refusal> {
    if !can_go_on_later(&draft.run) {
        let error = RunError {
            code: ErrorCode::SessionResumeFailed,
            message: "the turn needs input, but the agent left no handle to resume its conversation by"
                .to_owned(),
        };
        return end::request(draft, EndCause::TurnFailed(error));
    }
    for (subject, question) in questions {
        draft.open(subject, question);
    }
    let answered = draft.run.unused_answers().next().map(answered_by);
    if answered.is_none() && draft.run.open_interactions().next().is_none() {
        let error = RunError {
            code: ErrorCode::Internal,
            message: "the engine suspended its turn with nothing to wait for".to_owned(),
        };
        return end::request(draft, EndCause::TurnFailed(error));
    }
    draft.step(RunTrigger::TurnNeedsInput, Actor::Engine)?;
    match answered {
        Some(ByKind::User) => draft.step(RunTrigger::ReplyAccepted, Actor::User),
        Some(ByKind::AutoDecide | ByKind::System) => draft.step(RunTrigger::AutoDecided, Actor::AutoDecide),
        None => Ok(()),
    }
}

/// Asks for permissions. An agent that starts over asks again for what it already asked for: that is one question.
fn ask_permission(draft: &mut Draft, requests: &[PermissionRequest]) -> Result<(), Refusal> {
    let mut questions: Vec<(Subject, Question)> = Vec::new();
    for PermissionRequest { digest, question } in requests {
        let subject = Subject::Permission(*digest);
        let is_open = draft.run.open_interactions().any(|interaction| interaction.subject == subject);
        if !is_open && questions.iter().all(|(other, _)| *other != subject) {
            questions.push((subject, question.clone()));
        }
    }
    suspend(draft, questions)
}

fn answered_by(interaction: &Interaction) -> ByKind {
    interaction.resolution.as_ref().map_or(ByKind::System, |resolution| resolution.by.kind)
}

/// In auto mode nobody is waited for: the question is asked and decided in the same commit.
fn auto_decide(draft: &mut Draft, question: Question) -> Result<(), Refusal> {
    let response = question.default_answer();
    suspend(draft, vec![(Subject::Turn, question)])?;
    let waits_for = draft.run.open_interactions().next().map(|interaction| interaction.interaction_id);
    let Some(id) = waits_for else { return Ok(()) };
    draft.emit(Event::InteractionAnswered { id, response, action: None, by: By::AUTO_DECIDE, key: None });
    if draft.run.status != RunStatus::WaitingUser {
        // An answer that came in mid-turn has brought the run back to the queue, and takes this one along.
        return Ok(());
    }
    draft.step(RunTrigger::AutoDecided, Actor::AutoDecide)
}

/// Whether there is a way back into the conversation once this turn's process is gone.
fn can_go_on_later(run: &Run) -> bool {
    run.spec.resumes_by == ResumesBy::Journal || run.handle.is_some() || run.stays()
}
