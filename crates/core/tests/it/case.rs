//! One run and what happens to it, told in the words of the rules.

#![allow(clippy::unwrap_used, reason = "what cannot go on has failed its test")]

use adjourn_core::{
    Action, By, Command, Contract, ContractAction, ContractReport, ContractSpec, ContractStatus, Create,
    ErrorCode, Event, Evidence, ExecutionId, ExecutionMode, Frame, IdempotencyKey, InteractionId, KeyScope,
    Observation, Process, Question, Refusal, Reply, ReplyKey, RequestContract, Run, RunError, RunId, RunSpec,
    RunStatus, Schema, Survey, ToolCall, TurnEnd,
};
use serde_json::{Value, json};

use crate::walk::fresh_id;
use crate::world::{Sight, Unchanged, World, stream};

/// A turn's last message that completes the run.
pub(crate) const DONE: &str = r#"{"__SKILL_DONE__": true, "n": 1}"#;
/// One that claims to, and has nothing that its schema asks for.
pub(crate) const WRONG: &str = r#"{"__SKILL_DONE__": true}"#;
/// One that asks.
pub(crate) const ASKS: &str = r#"{"__SKILL_DONE__": false, "message": "Which one?"}"#;

/// A run, and the others that were there before it.
pub(crate) struct Case {
    pub(crate) world: World,
    pub(crate) id: RunId,
}

impl Case {
    /// A resumable interactive run, strict, of an agent that keeps its conversation under a handle.
    pub(crate) fn interactive() -> Self {
        Self::with(ExecutionMode::Interactive, |_| {})
    }

    /// The same in auto mode.
    pub(crate) fn auto() -> Self {
        Self::with(ExecutionMode::Auto, |_| {})
    }

    /// A run of another kind.
    pub(crate) fn with(mode: ExecutionMode, change: impl FnOnce(&mut RunSpec)) -> Self {
        let mut case = Self { world: World::new(), id: RunId::from_bits(1) };
        case.creates(1, mode, change).unwrap();
        case
    }

    /// Creates one more run; the case goes on with it.
    pub(crate) fn creates(
        &mut self,
        bits: u128,
        mode: ExecutionMode,
        change: impl FnOnce(&mut RunSpec),
    ) -> Result<(), Refusal> {
        let mut spec = RunSpec { session_timeout_sec: 100, ..RunSpec::new("engine", mode) };
        change(&mut spec);
        let before = std::mem::replace(&mut self.id, RunId::from_bits(bits));
        self.tries(Command::Create(Create { spec, key: None })).map(drop).inspect_err(|_| self.id = before)
    }

    pub(crate) fn run(&self) -> &Run {
        self.world.run(self.id)
    }

    pub(crate) fn status(&self) -> RunStatus {
        self.run().status()
    }

    /// The code that the run failed with.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        self.run().error().map(|error| error.code)
    }

    /// The numbers of the open questions.
    pub(crate) fn open(&self) -> Vec<u32> {
        self.run().open_interactions().map(|interaction| interaction.interaction_id.0).collect()
    }

    pub(crate) fn contract(&self, id: ExecutionId) -> &Contract {
        self.run().contract(id).expect("it was requested")
    }

    pub(crate) fn contract_status(&self, id: ExecutionId) -> ContractStatus {
        self.contract(id).status
    }

    pub(crate) fn frames(&self) -> Vec<Frame> {
        stream(&self.world, self.id)
    }

    /// Asks something of the run.
    pub(crate) fn tries(&mut self, command: Command) -> Result<Vec<Event>, Refusal> {
        match self.world.command(self.id, &command, Sight::Full) {
            Ok(accepted) => Ok(accepted.events),
            Err(Unchanged::Refused(refusal)) => Err(refusal),
            Err(Unchanged::Conflict) => panic!("the journal knows of a holder that the decision did not"),
        }
    }

    /// Asks something of the run, which it takes.
    pub(crate) fn does(&mut self, command: Command) -> &mut Self {
        self.tries(command).unwrap();
        self
    }

    pub(crate) fn starts(&mut self) -> &mut Self {
        self.does(Command::StartTurn)
    }

    pub(crate) fn shows(&mut self, observations: Vec<Observation>) -> &mut Self {
        let turn = self.run().turn();
        self.does(Command::Observe { turn, observations })
    }

    /// Starts a turn that shows a handle.
    pub(crate) fn starts_with_handle(&mut self) -> &mut Self {
        self.starts().shows(vec![Observation::Handle("handle".to_owned())])
    }

    /// Starts a turn that shows a handle and the process that executes it.
    pub(crate) fn starts_with_process(&mut self) -> &mut Self {
        self.starts_with_handle().shows(vec![Observation::Process(Process { pid: 7, started: 1 })])
    }

    pub(crate) fn ends_turn(&mut self, end: TurnEnd) -> &mut Self {
        let turn = self.run().turn();
        self.does(Command::EndTurn { turn, observations: Vec::new(), end })
    }

    /// The turn ends with this message; no schema says what the result has to be.
    pub(crate) fn ends(&mut self, text: &str) -> &mut Self {
        self.ends_turn(TurnEnd::Completed(Box::new(Evidence::read(text, None))))
    }

    /// The turn ends with this message, and the result has to have `n`.
    pub(crate) fn ends_checked(&mut self, text: &str) -> &mut Self {
        let schema = Schema::compile(&json!({"type": "object", "required": ["n"]})).unwrap();
        self.ends_turn(TurnEnd::Completed(Box::new(Evidence::read(text, Some(&schema)))))
    }

    pub(crate) fn suspends(&mut self) -> &mut Self {
        self.ends_turn(TurnEnd::Suspended)
    }

    pub(crate) fn breaks(&mut self) -> &mut Self {
        let error = RunError { code: ErrorCode::EngineExitNonzero, message: "exit status 1".to_owned() };
        self.ends_turn(TurnEnd::Failed(error))
    }

    pub(crate) fn cancels(&mut self) -> &mut Self {
        self.does(Command::Cancel(By::USER))
    }

    /// The process is gone; its conversation can be loaded again.
    pub(crate) fn process_ends(&mut self) -> &mut Self {
        let process = self.run().process().unwrap_or(Process { pid: 7, started: 1 });
        self.does(Command::ReportProcessEnded { process, loadable: true })
    }

    pub(crate) fn restarts(&mut self) -> &mut Self {
        self.does(Command::Recover(Survey::INTACT))
    }

    pub(crate) fn waits(&mut self, seconds: u32) -> &mut Self {
        self.world.wait(seconds);
        self
    }

    pub(crate) fn expires(&mut self, question: u32) -> &mut Self {
        self.does(Command::Expire(InteractionId(question)))
    }

    pub(crate) fn reply(&self, question: u32, response: Value, action: Option<Action>) -> Reply {
        Reply {
            interaction_id: InteractionId(question),
            response,
            action,
            by: By { name: Some("ann".to_owned()), ..By::USER },
            key: None,
            edited_id: fresh_id(self.run()),
            edited_key: None,
        }
    }

    pub(crate) fn answers(&mut self, question: u32, response: impl Into<Value>) -> &mut Self {
        let reply = self.reply(question, response.into(), None);
        self.does(Command::Reply(reply))
    }

    pub(crate) fn acts(&mut self, question: u32, action: Action, response: Value) -> &mut Self {
        let reply = self.reply(question, response, Some(action));
        self.does(Command::Reply(reply))
    }

    pub(crate) fn keyed(&self, question: u32, response: &str, key: &str) -> Command {
        let key = ReplyKey { key: key.to_owned(), digest: response.to_owned() };
        Command::Reply(Reply { key: Some(key), ..self.reply(question, json!(response), None) })
    }

    /// The irreversible call `mail.send` with this addressee.
    pub(crate) fn send(&self, to: &str) -> ContractSpec {
        let arguments = json!({ "to": to });
        ContractSpec {
            execution_id: fresh_id(self.run()),
            irreversible: true,
            idempotency_key: IdempotencyKey::of("mail", "send", &arguments),
            action: ContractAction::ToolCall(ToolCall {
                service: "mail".to_owned(),
                method: "send".to_owned(),
                arguments,
            }),
            scope: self.run().scope(KeyScope::Run),
            timeout_seconds: None,
            edited_from: None,
            call_ref: None,
            definition: None,
        }
    }

    pub(crate) fn try_request(
        &mut self,
        spec: ContractSpec,
        approval: Option<Question>,
    ) -> Result<ExecutionId, Refusal> {
        let (turn, id) = (self.run().turn(), spec.execution_id);
        self.tries(Command::RequestContract(RequestContract { turn, spec, approval })).map(|_| id)
    }

    /// Requests a call that needs nobody's approval.
    pub(crate) fn requests(&mut self, spec: ContractSpec) -> ExecutionId {
        self.try_request(spec, None).unwrap()
    }

    /// Requests an irreversible call and dispatches it.
    pub(crate) fn sends(&mut self, to: &str) -> ExecutionId {
        let id = self.requests(self.send(to));
        self.dispatches(id);
        id
    }

    /// Requests an irreversible call that a person has to approve.
    pub(crate) fn asks_to_send(&mut self, to: &str) -> ExecutionId {
        self.try_request(self.send(to), Some(Question::confirm("Send it?"))).unwrap()
    }

    /// Requests that a person fills in a form.
    pub(crate) fn asks_form(&mut self, question: Question, timeout_seconds: Option<u32>) -> ExecutionId {
        let action = ContractAction::EcsRequest(question);
        let spec = ContractSpec { action, irreversible: false, timeout_seconds, ..self.send("form") };
        self.requests(spec)
    }

    pub(crate) fn dispatches(&mut self, id: ExecutionId) -> &mut Self {
        self.does(Command::DispatchContract(id))
    }

    pub(crate) fn reports(&mut self, id: ExecutionId, report: ContractReport) -> &mut Self {
        self.does(Command::ReportContract { id, report })
    }
}
