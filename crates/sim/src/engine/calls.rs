//! Calls to the world outside, and the ledger of what they did to it.

use std::collections::BTreeMap;

use adjourn_core::{
    ClaimKey, Command, ContractAction, ContractReport, ContractSpec, ExecutionId, IdempotencyKey, KeyScope,
    Question, RequestContract, RunId, ToolCall,
};
use serde_json::{Value, json};

use crate::bug::Bug;
use crate::plan::{Call, Goes};
use crate::report::{Step, Violation, ensure};
use crate::simulation::{From, Inside, Simulation, Ticket};

/// A call that takes up to this long outlasts most turns that may only take so long.
const SLOW_MS: u64 = 90_000;

/// What was done to the world, whatever anybody believes.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Irreversible effects, by what must not be done twice.
    done: BTreeMap<ClaimKey, Vec<ExecutionId>>,
    /// How each call goes that was asked for.
    goes: BTreeMap<ExecutionId, Goes>,
}

impl Ledger {
    /// Whether a call had its effect. A person who is asked goes and looks.
    pub(crate) fn has_happened(&self, id: ExecutionId) -> bool {
        self.done.values().flatten().any(|done| *done == id)
    }

    /// Everything irreversible that was done.
    pub(crate) fn effects(&self) -> impl Iterator<Item = ExecutionId> {
        self.done.values().flatten().copied()
    }

    fn land(&mut self, spec: &ContractSpec) -> Result<(), Violation> {
        let done = self.done.entry(spec.claim_key()).or_default();
        done.push(spec.execution_id);
        ensure(done.len() == 1, "an irreversible effect happens once", || format!("{done:?}"))
    }
}

impl Simulation {
    pub(super) fn wanted_call(&mut self, run_id: RunId, turn: u32, call: Call) -> Command {
        let Call { number, irreversible, everywhere, approval, goes } = call;
        let arguments = json!({ "n": number });
        let scope = if everywhere { KeyScope::Global } else { KeyScope::Run };
        let execution_id = self.execution_id();
        self.engines.ledger.goes.insert(execution_id, goes);
        let spec = ContractSpec {
            execution_id,
            idempotency_key: IdempotencyKey::of("mail", "send", &arguments),
            action: ContractAction::ToolCall(ToolCall {
                service: "mail".to_owned(),
                method: "send".to_owned(),
                arguments,
            }),
            irreversible,
            scope: self.mirror.runs.get(&run_id).map_or_else(String::new, |run| run.scope(scope)),
            timeout_seconds: None,
            edited_from: None,
            call_ref: None,
            definition: None,
        };
        let approval = approval.then(|| Question::confirm("May it?"));
        Command::RequestContract(RequestContract { turn, spec, approval })
    }

    pub(super) fn wanted_form(&mut self, run_id: RunId, turn: u32) -> Command {
        let timeout_seconds = self.random.once_in(2).then_some(20);
        let default = self.random.once_in(2).then(|| json!("none"));
        let question = Question { default, ..Question::open_text("What is it called?") };
        let execution_id = self.execution_id();
        let spec = ContractSpec {
            execution_id,
            idempotency_key: IdempotencyKey::of("ecs", "form", &Value::Null),
            action: ContractAction::EcsRequest(question),
            irreversible: false,
            scope: self.mirror.runs.get(&run_id).map_or_else(String::new, |run| run.scope(KeyScope::Run)),
            timeout_seconds,
            edited_from: None,
            call_ref: None,
            definition: None,
        };
        Command::RequestContract(RequestContract { turn, spec, approval: None })
    }

    /// An id that no contract has.
    pub(crate) fn execution_id(&mut self) -> ExecutionId {
        ExecutionId::from_bits(u128::from(self.number()))
    }

    /// What the turn asked for is recorded, or is being made from here on.
    pub(super) fn call_acknowledged(&mut self, turn: u32, ticket: &Ticket) {
        let run_id = ticket.run_id;
        match &ticket.command {
            Command::RequestContract(request) => {
                let waits = matches!(request.spec.action, ContractAction::EcsRequest(_))
                    || request.approval.is_some();
                if waits {
                    self.next_act(run_id, turn);
                    return;
                }
                let command = Command::DispatchContract(request.spec.execution_id);
                let again = Ticket { run_id, command, from: From::Turn(turn) };
                self.inside(0, Inside::Again(Box::new(again)));
            }
            Command::DispatchContract(id) => {
                self.counts.add("calls");
                let takes_ms = match self.engines.ledger.goes.get(id) {
                    Some(Goes::Slowly) => SLOW_MS,
                    Some(_) | None => 200,
                };
                let delay = self.draw_delay(takes_ms);
                self.inside(delay, Inside::CallLands(run_id, turn, *id));
            }
            _ => {}
        }
    }

    /// Whether a person told the tool what it wanted to know.
    fn has_answered(&self, run_id: RunId, id: ExecutionId) -> bool {
        let contract = self.mirror.runs.get(&run_id).and_then(|run| run.contract(id));
        contract.and_then(|contract| contract.paused.as_ref()).is_some_and(|paused| paused.answer.is_some())
    }

    /// The call reaches the other side. From here on it has happened, whether or not anybody hears of it.
    pub(crate) fn call_lands(&mut self, run_id: RunId, turn: u32, id: ExecutionId) -> Step {
        let goes = self.engines.ledger.goes.get(&id).copied().unwrap_or(Goes::Well);
        let Some(spec) =
            self.mirror.runs.get(&run_id).and_then(|run| run.contract(id)).map(|one| one.spec.clone())
        else {
            return Err(Violation::new("a call is made after it is recorded", id.to_string()).into());
        };
        let asks = goes == Goes::Asks && !self.has_answered(run_id, id);
        let has_effect = match goes {
            Goes::Well | Goes::Unheard | Goes::Slowly | Goes::Hangs => true,
            Goes::Asks => !asks,
            Goes::Badly | Goes::Nowhere => false,
        };
        if spec.irreversible && has_effect {
            self.counts.add("irreversible effects");
            self.engines.ledger.land(&spec)?;
            if self.plan.bug == Some(Bug::RepeatsCalls) && self.random.once_in(3) {
                self.engines.ledger.land(&spec)?;
            }
        }
        self.boundary("crash between a call and its result")?;
        let report = match goes {
            Goes::Asks if asks => {
                self.counts.add("tools that ask");
                let question = Box::new(Question::open_text("Which one?"));
                ContractReport::NeedsInput { question, state: json!({ "step": 1 }) }
            }
            Goes::Hangs => {
                self.engines.begins_to_hang(run_id, turn);
                return Ok(());
            }
            Goes::Well | Goes::Asks | Goes::Slowly => ContractReport::Succeeded(json!({ "sent": true })),
            Goes::Badly => ContractReport::Failed("the other side said no".to_owned()),
            Goes::Unheard | Goes::Nowhere => ContractReport::Lost("no answer".to_owned()),
        };
        let command = Command::ReportContract { id, report };
        self.ask(Ticket { run_id, command, from: From::Turn(turn) });
        Ok(())
    }
}
