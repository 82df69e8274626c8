//! Adding one event up.

use std::sync::Arc;

use super::event::{ContractDetail, EndCause, Event, Observation, TurnReason};
use super::{Profile, Run, RunSpec, Strict, Usage};
use crate::interaction::{Action, By, ByKind, Resolution, Subject};
use crate::machine::Machine;
use crate::stream::BadEvent;
use crate::{
    Actor, Contract, ContractMachine, ExecutionId, Interaction, InteractionId, InteractionMachine,
    InteractionStatus, InteractionTrigger, Outcome, Paused, RunId, RunMachine, RunStatus, RunTrigger,
    Timestamp, Transition, WarningCode,
};

impl Run {
    /// The state after the first event.
    pub fn created(id: RunId, at: Timestamp, event: &Event) -> Result<Self, BadEvent> {
        match event {
            Event::Created(spec) => Ok(Self::with_spec(id, at, spec)),
            other => Err(BadEvent {
                stream: id.into(),
                seq: 1,
                problem: format!("it has to be `created`, not {other:?}"),
            }),
        }
    }

    pub(super) fn with_spec(id: RunId, at: Timestamp, spec: &RunSpec) -> Self {
        Self {
            id,
            status: RunStatus::Queued,
            created_at: at,
            updated_at: at,
            seq: 1,
            frame: 0,
            local_frame: 0,
            message_frame: None,
            attempt_number: 0,
            attempts_counted: 0,
            turn: 0,
            repairs: 0,
            restarts: 0,
            interrupted: false,
            turn_reason: None,
            turn_answers: Vec::new(),
            auto_decisions: 0,
            handle: spec.continues.as_ref().and_then(|continued| continued.handle.clone()),
            knows_task: false,
            process: None,
            sandbox: None,
            profile: spec.profile,
            ending: None,
            turn_over: false,
            interactions: Vec::new(),
            contracts: std::collections::BTreeMap::new(),
            tools: None,
            refused_calls: 0,
            usage: Usage::default(),
            warnings: Vec::new(),
            engine_missed: false,
            result: None,
            error: None,
            spec: Arc::new(spec.clone()),
        }
    }

    /// Adds one event up. What does not follow is refused and the state is of no further use.
    pub fn apply(&mut self, at: Timestamp, event: &Event) -> Result<(), BadEvent> {
        self.seq += 1;
        self.updated_at = at;
        self.add(at, event).map_err(|problem| BadEvent { stream: self.id.into(), seq: self.seq, problem })?;
        let frames = crate::fcmp::frames(event);
        self.frame += frames;
        self.local_frame += frames;
        if matches!(event, Event::Observed(Observation::Message { .. })) {
            self.message_frame = Some(self.frame);
        }
        Ok(())
    }

    fn add(&mut self, at: Timestamp, event: &Event) -> Result<(), String> {
        match event {
            Event::Created(_) => return Err("a run is created once".to_owned()),
            Event::StatusChanged { from, to, trigger, error } => {
                self.move_status(*from, *to, *trigger)?;
                self.error.clone_from(error);
            }
            Event::TurnStarted { attempt, reason, answers } => {
                self.start_turn(*attempt, *reason);
                self.engine_missed = false;
                for id in answers {
                    self.interaction_mut(*id)?.taken_up = true;
                }
                self.turn_answers.clone_from(answers);
            }
            Event::Observed(observation) => self.observe(observation),
            Event::RepairStarted { repair, .. } => {
                self.repairs = *repair;
                self.knows_task = true;
                self.message_frame = None;
            }
            Event::Warned(warning) => {
                self.engine_missed |= warning.code == WarningCode::EngineNotFound;
                self.warnings.push(warning.clone());
            }
            Event::InteractionOpened { id, subject, question, deadline_at, boot } => {
                if id.0 as usize != self.interactions.len() + 1 {
                    return Err(format!("question {id} is not the next one"));
                }
                self.interactions.push(Interaction {
                    interaction_id: *id,
                    status: InteractionStatus::Open,
                    attempt_number: self.attempt_number,
                    subject: *subject,
                    question: question.clone(),
                    created_at: at,
                    deadline_at: *deadline_at,
                    deadline_boot: *boot,
                    resolution: None,
                    taken_up: false,
                });
            }
            Event::DeadlineMoved { id, deadline_at, boot, .. } => {
                let interaction = self.interaction_mut(*id)?;
                interaction.deadline_at = Some(*deadline_at);
                interaction.deadline_boot = Some(*boot);
            }
            Event::InteractionAnswered { id, response, action, by, key } => {
                let actor = match by.kind {
                    ByKind::User => Actor::User,
                    ByKind::AutoDecide | ByKind::System => Actor::AutoDecide,
                };
                let resolution = Resolution {
                    response: response.clone(),
                    action: *action,
                    at,
                    by: by.clone(),
                    key: key.clone(),
                };
                match self.resolve(*id, InteractionTrigger::Answer, actor, resolution)? {
                    Subject::Turn if actor == Actor::AutoDecide => self.auto_decisions += 1,
                    Subject::Form(_) if actor == Actor::AutoDecide => {
                        self.auto_decisions += 1;
                        // The call that asked is told, in the same turn.
                        self.interaction_mut(*id)?.taken_up = true;
                    }
                    Subject::Approval(call) if *action == Some(Action::Approve) => {
                        self.contract_mut(call)?.approved = true;
                    }
                    Subject::Elicitation(call) if *action != Some(Action::Reject) => {
                        if let Some(paused) = &mut self.contract_mut(call)?.paused {
                            paused.answer = Some(response.clone());
                        }
                    }
                    Subject::Turn
                    | Subject::Approval(_)
                    | Subject::Form(_)
                    | Subject::Elicitation(_)
                    | Subject::Recovery(_)
                    | Subject::Permission(_) => {}
                }
            }
            Event::InteractionExpired { id, response } => {
                let resolution = Resolution {
                    response: response.clone(),
                    action: None,
                    at,
                    by: By::AUTO_DECIDE,
                    key: None,
                };
                self.resolve(*id, InteractionTrigger::Expire, Actor::AutoDecide, resolution)?;
            }
            Event::InteractionWithdrawn { id, by } => {
                let by = by.clone().unwrap_or(By::SYSTEM);
                let actor = by.actor();
                let response = serde_json::Value::Null;
                let resolution = Resolution { response, action: None, at, by, key: None };
                self.resolve(*id, InteractionTrigger::Withdraw, actor, resolution)?;
            }
            Event::ContractCreated(spec) => {
                self.knows_task = true;
                let contract = Contract::new((**spec).clone(), self.attempt_number, at);
                if self.contracts.insert(spec.execution_id, contract).is_some() {
                    return Err(format!("there is a contract {} already", spec.execution_id));
                }
            }
            Event::ContractChanged { id, from, to, trigger, actor, detail } => {
                let transition = Transition { from: *from, to: *to, trigger: *trigger, actor: *actor, at };
                self.change_contract(*id, transition, detail.as_ref())?;
            }
            Event::ContractSettled { id, happened, note, .. } => {
                let contract = self.contract_mut(*id)?;
                contract.outcome = Outcome::Settled { happened: *happened };
                contract.updated_at = at;
                if *happened {
                    contract.result = note.clone().map(serde_json::Value::String);
                }
            }
            Event::CallRefused(_) => {
                self.knows_task = true;
                self.refused_calls += 1;
            }
            Event::ToolsListed(tools) => self.tools = Some(Arc::new(tools.clone())),
            Event::ToolChanged { id, definition } => {
                let contract = self.contract_mut(*id)?;
                contract.approved = false;
                contract.definition = Some(definition.clone());
                contract.updated_at = at;
            }
            Event::ProcessLost => {
                self.process = None;
                self.profile = Profile::Resumable;
                self.drop_deadlines();
            }
            Event::EndRequested(cause) => {
                self.turn_over = match cause {
                    EndCause::TurnSucceeded | EndCause::TurnFailed(_) => true,
                    EndCause::Canceled(_) | EndCause::WaitTimedOut => self.turn_over,
                };
                self.ending = Some(cause.clone());
            }
            Event::TurnOver => self.turn_over = true,
            Event::ResultRecorded(result) => self.result = Some(result.clone()),
            Event::SetAside(set_aside) => {
                self.rebase(at, set_aside);
                self.seq += 1;
            }
        }
        Ok(())
    }

    /// With the process nothing is held any more, so that in a strict run only a person's answer ends the wait. What a
    /// form itself says about its time still holds.
    fn drop_deadlines(&mut self) {
        if self.spec.strict == Strict::Off {
            return;
        }
        for interaction in self.interactions.iter_mut().filter(|interaction| interaction.is_open()) {
            let own = match interaction.subject {
                Subject::Form(id) => self.contracts.get(&id).and_then(|form| form.spec.timeout_seconds),
                Subject::Turn
                | Subject::Approval(_)
                | Subject::Elicitation(_)
                | Subject::Recovery(_)
                | Subject::Permission(_) => None,
            };
            let session = self.spec.session_timeout_sec;
            interaction.deadline_at = interaction.deadline_at.zip(own).map(|(deadline_at, own)| {
                // Until now the earlier of the two counted.
                deadline_at.plus_seconds(own.saturating_sub(session))
            });
        }
    }

    fn move_status(&mut self, from: RunStatus, to: RunStatus, trigger: RunTrigger) -> Result<(), String> {
        if from != self.status {
            return Err(format!("it moves from {from} and the run is {}", self.status));
        }
        let edge = RunMachine::edge(from, trigger).map_err(|refused| refused.to_string())?;
        if edge.to != to {
            return Err(format!("{trigger} leads to {}, not to {to}", edge.to));
        }
        self.status = to;
        match trigger {
            RunTrigger::RestartRequeued | RunTrigger::RestartNeedsInput => {
                self.restarts += 1;
                self.interrupted = true;
            }
            RunTrigger::TurnStarted
            | RunTrigger::TurnNeedsInput
            | RunTrigger::TurnSucceeded
            | RunTrigger::TurnFailed
            | RunTrigger::ReplyAccepted
            | RunTrigger::AutoDecided
            | RunTrigger::WaitTimedOut
            | RunTrigger::ProcessLost
            | RunTrigger::RunCanceled
            | RunTrigger::RestartPreserveWaiting
            | RunTrigger::RestartReconcileFailed => {}
        }
        // A resumable process ends with its turn, and every process with its run.
        if to.is_terminal() || (to != RunStatus::Running && self.profile == Profile::Resumable) {
            self.process = None;
        }
        if to.is_terminal() {
            self.ending = None;
        }
        Ok(())
    }

    fn start_turn(&mut self, attempt: u32, reason: TurnReason) {
        self.turn += 1;
        self.turn_over = false;
        self.turn_reason = Some(reason);
        self.interrupted = false;
        if attempt != self.attempt_number {
            self.attempt_number = attempt;
            self.local_frame = 0;
            self.message_frame = None;
            self.repairs = 0;
            self.restarts = 0;
            match reason {
                TurnReason::First | TurnReason::Answer | TurnReason::GoOn => self.attempts_counted += 1,
                // Journals of the first versions have attempts that settled calls, which never counted.
                TurnReason::Settled | TurnReason::Permission => {}
            }
        }
        match reason {
            TurnReason::GoOn => {}
            TurnReason::First => self.restarts = 0,
            // What a person said takes the run on: earlier restarts are not the fault of this turn, and the one before came
            // to its end.
            TurnReason::Answer | TurnReason::Settled | TurnReason::Permission => {
                self.restarts = 0;
                self.knows_task = true;
            }
        }
    }

    fn observe(&mut self, observation: &Observation) {
        match observation {
            Observation::Handle(handle) => self.handle = Some(handle.clone()),
            Observation::Process(process) => self.process = Some(*process),
            Observation::Sandbox(walls) => self.sandbox = Some(walls.clone()),
            Observation::Usage(usage) => {
                // The numbers are the agent's, and may be anything.
                self.usage.input_tokens = self.usage.input_tokens.saturating_add(usage.input_tokens);
                self.usage.output_tokens = self.usage.output_tokens.saturating_add(usage.output_tokens);
                if let Some(cost) = usage.cost_usd {
                    *self.usage.cost_usd.get_or_insert(0.0) += cost;
                }
            }
            Observation::Message { .. }
            | Observation::Reasoning { .. }
            | Observation::ToolCall { .. }
            | Observation::CommandExecution { .. } => self.knows_task = true,
            Observation::Step(_) => {}
        }
    }

    fn resolve(
        &mut self,
        id: InteractionId,
        trigger: InteractionTrigger,
        actor: Actor,
        resolution: Resolution,
    ) -> Result<Subject, String> {
        let interaction = self.interaction_mut(id)?;
        interaction.status = InteractionMachine::step(interaction.status, trigger, actor)
            .map_err(|refused| refused.to_string())?;
        interaction.resolution = Some(resolution);
        Ok(interaction.subject)
    }

    fn change_contract(
        &mut self,
        id: ExecutionId,
        transition: Transition,
        detail: Option<&ContractDetail>,
    ) -> Result<(), String> {
        let Transition { from, to, trigger, actor, at } = transition;
        let contract = self.contract_mut(id)?;
        if contract.status != from {
            return Err(format!("it moves {id} from {from}, which is {}", contract.status));
        }
        match ContractMachine::step(from, trigger, actor) {
            Ok(next) if next == to => {}
            Ok(next) => return Err(format!("{trigger} leads {id} to {next}, not to {to}")),
            Err(refused) => return Err(refused.to_string()),
        }
        contract.status = to;
        contract.updated_at = at;
        contract.transitions.push(transition);
        match detail {
            None => {}
            Some(ContractDetail::Dispatched) => contract.dispatched_at = Some(at),
            Some(ContractDetail::Paused(state)) => {
                // The tool answered that it did nothing, so there is nothing to be in doubt about.
                contract.dispatched_at = None;
                contract.paused = Some(Paused { state: state.clone(), answer: None });
            }
            Some(ContractDetail::Result(result)) => contract.result = Some(result.clone()),
            Some(ContractDetail::Error(message)) => contract.error_message = Some(message.clone()),
            Some(ContractDetail::Unknown(message)) => {
                contract.error_message = Some(message.clone());
                contract.outcome = Outcome::Unknown;
            }
        }
        Ok(())
    }

    fn interaction_mut(&mut self, id: InteractionId) -> Result<&mut Interaction, String> {
        let index = (id.0 as usize).checked_sub(1);
        index
            .and_then(|index| self.interactions.get_mut(index))
            .ok_or_else(|| format!("there is no question {id}"))
    }

    fn contract_mut(&mut self, id: ExecutionId) -> Result<&mut Contract, String> {
        self.contracts.get_mut(&id).ok_or_else(|| format!("there is no contract {id}"))
    }
}
