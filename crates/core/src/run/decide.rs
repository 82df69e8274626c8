//! What follows from a command. One file for each kind of command.

mod attempts;
mod cancel;
mod cancel_contract;
mod clock;
mod contract;
mod create;
mod end;
mod expire;
mod recover;
mod refused_call;
mod reply;
mod turn;
mod warn;

use super::Run;
use super::command::{Command, Known, Reply, create_key, successor_key};
use super::event::{ContractDetail, Event};
use super::refusal::Refusal;
use crate::interaction::{Action, Subject};
use crate::machine::Machine;
use crate::stream::Decided;
use crate::{
    Actor, ClaimKey, ContractMachine, ContractTrigger, ExecutionId, IdempotencyKey, InteractionId, Question,
    RunError, RunId, RunMachine, RunTrigger, Timestamp, ToolCall,
};

impl Run {
    /// Decides the creation of the run `id`.
    pub fn create(id: RunId, command: &Command, known: &Known) -> Result<Decided<Self>, Refusal> {
        match command {
            Command::Create(create) => create::create(id, create, known),
            Command::StartTurn
            | Command::Observe { .. }
            | Command::EndTurn { .. }
            | Command::Reply(_)
            | Command::Expire(_)
            | Command::MoveDeadlines
            | Command::Cancel(_)
            | Command::Warn(_)
            | Command::ReportProcessEnded { .. }
            | Command::Recover(_)
            | Command::RequestContract(_)
            | Command::RefuseCall { .. }
            | Command::ListTools { .. }
            | Command::AskAgain(_)
            | Command::DispatchContract(_)
            | Command::ReportContract { .. }
            | Command::SettleContract { .. }
            | Command::CancelContract { .. } => Err(Refusal::UnknownRun(id)),
        }
    }

    /// Decides a command. The run itself does not change.
    pub fn decide(&self, command: &Command, known: &Known) -> Result<Decided<Self>, Refusal> {
        let mut draft = Draft::new(self, known);
        match command {
            Command::Create(_) => return Err(Refusal::RunExists(self.id)),
            Command::StartTurn => turn::start(&mut draft)?,
            Command::Observe { turn, observations } => turn::observe(&mut draft, *turn, observations)?,
            Command::EndTurn { turn, observations, end } => {
                turn::observe(&mut draft, *turn, observations)?;
                turn::end(&mut draft, *turn, end)?;
            }
            Command::Reply(reply) => reply::reply(&mut draft, reply)?,
            Command::Expire(id) => expire::expire(&mut draft, *id)?,
            Command::MoveDeadlines => clock::move_deadlines(&mut draft),
            Command::Cancel(by) => cancel::cancel(&mut draft, by)?,
            Command::Warn(warning) => warn::warn(&mut draft, warning),
            Command::ReportProcessEnded { process, loadable } => {
                cancel::process_ended(&mut draft, *process, *loadable)?;
            }
            Command::Recover(survey) => recover::recover(&mut draft, *survey)?,
            Command::RequestContract(request) => contract::request(&mut draft, request)?,
            Command::RefuseCall { turn, call } => refused_call::refuse(&mut draft, *turn, call)?,
            Command::ListTools { turn, tools } => contract::list_tools(&mut draft, *turn, tools)?,
            Command::AskAgain(again) => contract::ask_again(&mut draft, again)?,
            Command::DispatchContract(id) => contract::dispatch(&mut draft, *id)?,
            Command::ReportContract { id, report } => contract::report(&mut draft, *id, report)?,
            Command::SettleContract { id, happened, note, by } => {
                contract::settle(&mut draft, *id, *happened, note.as_ref(), by)?;
            }
            Command::CancelContract { id, by } => cancel_contract::cancel(&mut draft, *id, by)?,
        }
        draft.decided()
    }

    /// The keys that a command wants to hold, so that whoever decides it can find out who holds them.
    pub fn wants(run: Option<&Self>, command: &Command) -> Vec<ClaimKey> {
        match command {
            Command::Create(create) => {
                let key = create.key.iter().map(|key| create_key(&key.key));
                let successor = create.spec.continues.iter().map(|continued| successor_key(continued.run_id));
                key.chain(successor).collect()
            }
            Command::RequestContract(request) if request.spec.irreversible => vec![request.spec.claim_key()],
            Command::Reply(reply) if reply.action == Some(Action::Edit) => run
                .and_then(|run| edited(run, reply, &reply.response))
                .filter(|spec| spec.irreversible)
                .map(|spec| spec.claim_key())
                .into_iter()
                .collect(),
            Command::RequestContract(_)
            | Command::Reply(_)
            | Command::StartTurn
            | Command::Observe { .. }
            | Command::EndTurn { .. }
            | Command::Expire(_)
            | Command::MoveDeadlines
            | Command::Cancel(_)
            | Command::Warn(_)
            | Command::ReportProcessEnded { .. }
            | Command::Recover(_)
            | Command::RefuseCall { .. }
            | Command::ListTools { .. }
            | Command::AskAgain(_)
            | Command::DispatchContract(_)
            | Command::ReportContract { .. }
            | Command::SettleContract { .. }
            | Command::CancelContract { .. } => Vec::new(),
        }
    }
}

/// The contract that an approval's call becomes when a person gives it other arguments.
fn edited(run: &Run, reply: &Reply, arguments: &serde_json::Value) -> Option<crate::ContractSpec> {
    let Subject::Approval(original) = run.interaction(reply.interaction_id)?.subject else { return None };
    let contract = run.contract(original)?;
    let spec = &contract.spec;
    let crate::ContractAction::ToolCall(call) = &spec.action else { return None };
    let call = ToolCall { arguments: arguments.clone(), ..call.clone() };
    let key = || IdempotencyKey::of(&call.service, &call.method, &call.arguments);
    Some(crate::ContractSpec {
        execution_id: reply.edited_id,
        idempotency_key: reply.edited_key.unwrap_or_else(key),
        action: crate::ContractAction::ToolCall(call),
        edited_from: Some(original),
        // What the person saw: the tool may have changed since the call was first asked for.
        definition: contract.definition.clone(),
        ..spec.clone()
    })
}

/// A decision in the making: the state so far, and the events that made it so.
pub(super) struct Draft<'a> {
    pub(super) run: Run,
    events: Vec<Event>,
    known: &'a Known,
}

impl<'a> Draft<'a> {
    pub(super) fn new(run: &Run, known: &'a Known) -> Self {
        Self { run: run.clone(), events: Vec::new(), known }
    }

    /// The decision, made. Whatever the entrances let through, nothing is journaled that could not be read back.
    pub(super) fn decided(self) -> Result<Decided<Run>, Refusal> {
        for event in &self.events {
            event.check_documents()?;
        }
        Ok(Decided { events: self.events, state: self.run })
    }

    fn now(&self) -> Timestamp {
        self.known.now
    }

    /// Adds an event to the decision and to the state.
    pub(super) fn emit(&mut self, event: Event) {
        self.run
            .apply(self.known.now, &event)
            .expect("an event that follows from a state applies to that state");
        self.events.push(event);
    }

    /// Moves the run, or refuses.
    fn step(&mut self, trigger: RunTrigger, actor: Actor) -> Result<(), Refusal> {
        self.step_with(trigger, actor, None)
    }

    pub(super) fn step_with(
        &mut self,
        trigger: RunTrigger,
        actor: Actor,
        error: Option<RunError>,
    ) -> Result<(), Refusal> {
        let from = self.run.status;
        let to = RunMachine::step(from, trigger, actor)?;
        self.emit(Event::StatusChanged { from, to, trigger, error });
        Ok(())
    }

    /// Moves a contract, or refuses.
    pub(super) fn step_contract(
        &mut self,
        id: ExecutionId,
        trigger: ContractTrigger,
        actor: Actor,
        detail: Option<ContractDetail>,
    ) -> Result<(), Refusal> {
        let from = self.run.contract(id).ok_or(Refusal::UnknownContract(id))?.status;
        let to = ContractMachine::step(from, trigger, actor)?;
        self.emit(Event::ContractChanged { id, from, to, trigger, actor, detail });
        Ok(())
    }

    /// Asks a person.
    fn open(&mut self, subject: Subject, question: Question) -> InteractionId {
        let id =
            InteractionId(u32::try_from(self.run.interactions.len()).unwrap_or(u32::MAX).saturating_add(1));
        let deadline_at = expire::deadline(&self.run, subject, self.now());
        let boot = deadline_at.and(self.known.boot);
        self.emit(Event::InteractionOpened { id, subject, question, deadline_at, boot });
        id
    }
}
