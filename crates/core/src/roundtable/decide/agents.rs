//! What agents say: each run is announced before it exists, and what it says counts once.

use super::super::Roundtable;
use super::super::answer::Position;
use super::super::command::Start;
use super::super::proposal::{Ask, Synthesis};
use super::super::round::{Activation, ActivationOutcome, Missing, Purpose};
use super::super::strategy::StanceRule;
use super::{Draft, Event, Refusal, focus};
use crate::machines::RoundStep;
use crate::{FieldError, RunId};

/// Losses of the facilitator in one step with which the roundtable ends.
///
/// Each loss is a run with repairs of its own: an agent that came to nothing in three of them does not in ten.
pub const FACILITATOR_LOSSES_MAX: usize = 3;

/// Announces a run.
pub(super) fn start(
    draft: &mut Draft,
    purpose: &Purpose,
    run_id: RunId,
    start: &Start,
) -> Result<(), Refusal> {
    let round = draft.round_at(purpose.step())?;
    if let Purpose::Answer(role) = purpose
        && round.awaited().all(|awaited| awaited != role)
    {
        return Err(Refusal::NotAwaited(role.clone()));
    }
    if let Some(at_work) = round.at_work(purpose) {
        return Err(Refusal::AtWork { purpose: purpose.clone(), run_id: at_work.run_id });
    }
    if activation(&draft.table, run_id).is_some() {
        return Err(Refusal::RunUsed(run_id));
    }
    let continues = match start {
        Start::Fresh => None,
        Start::Resume(run_id) => Some(*run_id),
        Start::Fallback { lost, reason } => {
            let (lost, reason) = (*lost, reason.clone());
            draft.emit(Event::ResumeFellBack { role: purpose.role(), lost, reason });
            None
        }
    };
    draft.emit(Event::ActivationStarted { purpose: purpose.clone(), run_id, continues });
    Ok(())
}

pub(super) fn focus(draft: &mut Draft, run_id: RunId, ask: &Ask) -> Result<(), Refusal> {
    let Some(purpose) = at_work(draft, run_id)? else { return Ok(()) };
    expect(&purpose, RoundStep::Question, run_id)?;
    not_blank("/question", &ask.question)?;
    let asked = focus::settle(&draft.table, ask);
    draft.emit(Event::FocusRecorded { run_id, asked });
    Ok(())
}

pub(super) fn answer(draft: &mut Draft, run_id: RunId, said: &Position) -> Result<(), Refusal> {
    let Some(purpose) = at_work(draft, run_id)? else { return Ok(()) };
    let Purpose::Answer(role) = purpose else { return Err(Refusal::NotAtWork(run_id)) };
    not_blank("/position", &said.position)?;
    let number = draft.round_at(RoundStep::Responses)?.number;
    match draft.table.strategy.phase(number).stance {
        StanceRule::Required if said.stance.is_none() => {
            let message = "is missing: it should be support, stand_aside or block";
            return Err(Refusal::Invalid(vec![FieldError::new("/stance", message)]));
        }
        StanceRule::Required | StanceRule::Free => {}
    }
    draft.emit(Event::AnswerRecorded { role, run_id, said: said.clone() });
    collect(draft)
}

pub(super) fn synthesis(draft: &mut Draft, run_id: RunId, synthesis: &Synthesis) -> Result<(), Refusal> {
    let Some(purpose) = at_work(draft, run_id)? else { return Ok(()) };
    expect(&purpose, RoundStep::Synthesis, run_id)?;
    not_blank("/summary", &synthesis.summary)?;
    draft.emit(Event::SynthesisRecorded { run_id, synthesis: synthesis.clone() });
    Ok(())
}

/// A participant who is lost is missing; without the facilitator there is no roundtable.
pub(super) fn lost(draft: &mut Draft, run_id: RunId, reason: &str) -> Result<(), Refusal> {
    // What it said may have been heard before it got lost.
    let Some(purpose) = at_work(draft, run_id)? else { return Ok(()) };
    let reason = reason.to_owned();
    match purpose {
        Purpose::Answer(role) => {
            draft.emit(Event::ParticipantMissing { run_id, missing: Missing { role, reason } });
            collect(draft)
        }
        Purpose::Ask | Purpose::Synthesis => {
            draft.emit(Event::FacilitatorLost { run_id, reason: reason.clone() });
            let losses = draft.table.current.as_ref().map_or(0, |round| round.losses(&purpose));
            if losses < FACILITATOR_LOSSES_MAX {
                return Ok(());
            }
            draft.fail(&format!("the facilitator was lost {losses} times in one step, at last: {reason}"))
        }
    }
}

/// Once everybody answered or is missing, it is the facilitator's turn.
fn collect(draft: &mut Draft) -> Result<(), Refusal> {
    let round = draft.round_at(RoundStep::Responses)?;
    if round.awaited().next().is_some() {
        return Ok(());
    }
    if round.answers.is_empty() {
        return draft.fail("all participants are missing");
    }
    draft.emit(Event::ResponsesCollected);
    Ok(())
}

/// What the run is at work on; nothing where it was heard before, so that a report may be repeated.
fn at_work(draft: &Draft, run_id: RunId) -> Result<Option<Purpose>, Refusal> {
    match activation(&draft.table, run_id).map(|one| (&one.purpose, &one.outcome)) {
        Some((_, Some(ActivationOutcome::Recorded))) => Ok(None),
        Some((purpose, None)) => draft.round_at(purpose.step()).map(|_| Some(purpose.clone())),
        Some((_, Some(ActivationOutcome::Lost(_)))) | None => {
            draft.active()?;
            Err(Refusal::NotAtWork(run_id))
        }
    }
}

/// What became of a run, in whichever round.
fn activation(table: &Roundtable, run_id: RunId) -> Option<&Activation> {
    let rounds = table.rounds.iter().chain(&table.current);
    rounds.flat_map(|round| &round.activations).find(|activation| activation.run_id == run_id)
}

fn expect(purpose: &Purpose, step: RoundStep, run_id: RunId) -> Result<(), Refusal> {
    if purpose.step() == step { Ok(()) } else { Err(Refusal::NotAtWork(run_id)) }
}

fn not_blank(path: &str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::Invalid(vec![FieldError::new(path, "is blank, it should be some text")]));
    }
    Ok(())
}
