//! Answers: the first one to an open question is accepted, whatever the run is doing just then.

use serde_json::Value;

use super::super::Run;
use super::super::command::Reply;
use super::super::event::{ContractDetail, Event};
use super::{Draft, Refusal, edited};
use crate::interaction::{Action, Interaction, Subject};
use crate::{
    Actor, ContractTrigger, ExecutionId, FieldError, InteractionId, QuestionKind, RunStatus, RunTrigger,
    recovery, reply,
};

/// Accepts an answer, or says why not.
pub(super) fn reply(draft: &mut Draft, reply: &Reply) -> Result<(), Refusal> {
    if is_repeated(&draft.run, reply)? {
        return Ok(());
    }
    let id = reply.interaction_id;
    let interaction = open_one(&draft.run, id)?;
    let subject = interaction.subject;
    let (response, action) = check(interaction, reply)?;
    // What an edit asks for is looked up while its question is still there as it was shown.
    let edit = match action {
        Some(Action::Edit) => edited(&draft.run, reply, &response),
        Some(Action::Approve | Action::Reject) | None => None,
    };
    draft.emit(Event::InteractionAnswered {
        id,
        response: response.clone(),
        action,
        by: reply.by.clone(),
        key: reply.key.clone(),
    });
    match (subject, action) {
        (Subject::Turn | Subject::Permission(_), _)
        | (Subject::Approval(_), Some(Action::Approve) | None)
        | (Subject::Elicitation(_), Some(Action::Approve | Action::Edit) | None) => {}
        (Subject::Approval(call), Some(Action::Edit)) => {
            reject(draft, call, "a person changed the arguments")?;
            if let Some(spec) = edit {
                super::contract::record(draft, spec)?;
            }
        }
        (
            Subject::Approval(call) | Subject::Form(call) | Subject::Elicitation(call),
            Some(Action::Reject),
        ) => {
            let reason = response.as_str().unwrap_or("a person said no");
            reject(draft, call, reason)?;
        }
        (Subject::Form(call), _) => {
            draft.step_contract(call, ContractTrigger::Resume, Actor::User, None)?;
            let result = ContractDetail::Result(response);
            draft.step_contract(call, ContractTrigger::Succeed, Actor::EcsNode, Some(result))?;
        }
        (Subject::Recovery(call), _) => return settle_doubt(draft, reply, call, &response),
    }
    go_on(draft)
}

/// The answer goes to the next turn: now, or when the one that is going on is over.
fn go_on(draft: &mut Draft) -> Result<(), Refusal> {
    if draft.run.status == RunStatus::WaitingUser && draft.run.ending.is_none() {
        draft.step(RunTrigger::ReplyAccepted, Actor::User)?;
    }
    Ok(())
}

/// The same reply with the same key again is answered like the first, and changes nothing.
fn is_repeated(run: &Run, reply: &Reply) -> Result<bool, Refusal> {
    let Some(key) = &reply.key else { return Ok(false) };
    let before = run
        .interactions
        .iter()
        .filter_map(|interaction| interaction.resolution.as_ref()?.key.as_ref())
        .find(|before| before.key == key.key);
    match before {
        None => Ok(false),
        Some(before) if before.digest == key.digest => Ok(true),
        Some(_) => Err(Refusal::KeyReused { key: key.key.clone() }),
    }
}

/// The question that is named, if it waits for an answer.
pub(super) fn open_one(run: &Run, id: InteractionId) -> Result<&Interaction, Refusal> {
    let open = || run.open_interactions().map(|interaction| interaction.interaction_id).collect();
    match run.interaction(id) {
        None => Err(Refusal::UnknownInteraction { id, open: open() }),
        Some(interaction) if interaction.is_open() => Ok(interaction),
        Some(interaction) => Err(Refusal::NotOpen { id, status: interaction.status, open: open() }),
    }
}

/// The answer as it is kept, and what it does to a call that needs approval.
fn check(interaction: &Interaction, reply: &Reply) -> Result<(Value, Option<Action>), Refusal> {
    let question = &interaction.question;
    let plain = || reply::check(question, &reply.response).map_err(Refusal::Invalid);
    match (interaction.subject, reply.action) {
        (Subject::Turn | Subject::Recovery(_) | Subject::Permission(_), Some(given)) => {
            Err(Refusal::NotAnApproval { given })
        }
        // A tool that only wants a yes looks like a call that needs one.
        (Subject::Elicitation(_), Some(Action::Approve)) if question.kind == QuestionKind::Confirm => {
            Ok((Value::Bool(true), None))
        }
        (Subject::Form(_) | Subject::Elicitation(_), Some(given @ (Action::Approve | Action::Edit))) => {
            Err(Refusal::NotAnApproval { given })
        }
        (Subject::Approval(_) | Subject::Form(_) | Subject::Elicitation(_), Some(Action::Reject)) => {
            Ok((reply.response.clone(), Some(Action::Reject)))
        }
        (Subject::Approval(_), Some(Action::Approve)) => Ok((Value::Bool(true), Some(Action::Approve))),
        (Subject::Approval(_), Some(Action::Edit)) if reply.response.is_object() => {
            Ok((reply.response.clone(), Some(Action::Edit)))
        }
        (Subject::Approval(_), Some(Action::Edit)) => Err(Refusal::Invalid(vec![FieldError {
            path: String::new(),
            message: "an edit is the object of all arguments the call is to be made with".to_owned(),
        }])),
        (Subject::Approval(_), None) => {
            let yes = plain()? == Value::Bool(true);
            Ok((Value::Bool(yes), Some(if yes { Action::Approve } else { Action::Reject })))
        }
        (Subject::Recovery(_), None) => {
            recovery::check(question, &reply.response).map(|answer| (answer, None)).map_err(Refusal::Invalid)
        }
        (Subject::Turn | Subject::Form(_) | Subject::Elicitation(_) | Subject::Permission(_), None) => {
            Ok((plain()?, None))
        }
    }
}

/// A person's no goes through RUNNING, as every end of a waiting contract does that a person decided.
fn reject(draft: &mut Draft, call: ExecutionId, reason: &str) -> Result<(), Refusal> {
    draft.step_contract(call, ContractTrigger::Resume, Actor::User, None)?;
    let detail = ContractDetail::Error(reason.to_owned());
    draft.step_contract(call, ContractTrigger::Reject, Actor::User, Some(detail))
}

/// A person says what became of a call that was in flight when Adjourn went down.
fn settle_doubt(draft: &mut Draft, reply: &Reply, call: ExecutionId, answer: &Value) -> Result<(), Refusal> {
    let (value, note) = recovery::read(answer);
    match value {
        recovery::Answer::Happened => {
            draft.step_contract(call, ContractTrigger::Resume, Actor::User, None)?;
            let result = ContractDetail::Result(note.map_or(Value::Null, Value::String));
            draft.step_contract(call, ContractTrigger::Succeed, Actor::User, Some(result))?;
            go_on(draft)
        }
        recovery::Answer::DidNotHappen => {
            draft.step_contract(call, ContractTrigger::Resume, Actor::User, None)?;
            let error = note.unwrap_or_else(|| "a person said that it did not happen".to_owned());
            draft.step_contract(
                call,
                ContractTrigger::Fail,
                Actor::User,
                Some(ContractDetail::Error(error)),
            )?;
            go_on(draft)
        }
        recovery::Answer::CancelRun => super::cancel::cancel(draft, &reply.by),
    }
}
