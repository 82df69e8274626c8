//! What one turn of a run may call.

use std::sync::Arc;

use adjourn_core::{
    ActionType, Command, Consequence, Contract, ContractAction, ContractSpec, ContractStatus, ErrorCode,
    ExecutionId, ExecutionMode, IdempotencyKey, KeyScope, Observation, Question, Refusal, RequestContract,
    ResumesBy, Run, RunError, TooLongToShow, ToolCall, ToolDigests,
};
use adjourn_engine::model::ToolOffer;
use adjourn_engine::secrets::{MASK, Masker};
use adjourn_engine::{ASK_THE_USER, ASK_USER, Call, History, Stale, Told, Toolbox, asks_the_user};
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::approval::{self, About, Irreversible, Standing};
use super::offers::{self, Offered, Wanted};
use super::refused::NotMade;
use super::{Contracts, ask_user, history};
use crate::driver::JournalWriter;
use crate::workspace::Workspaces;
use adjourn_kernel::{Answer, Denied};

/// What the calls of a run need that is not in the journal.
#[derive(Debug, Clone)]
pub struct Toolset {
    /// The tool servers.
    pub contracts: Arc<Contracts>,
    /// What the run's skill declares.
    pub declared: Vec<String>,
    /// What must not be written down.
    pub masker: Masker,
    /// Where arguments are kept that must not be written down.
    pub workspaces: Workspaces,
}

/// What one turn of a run may call. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TurnTools(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) contracts: Arc<Contracts>,
    wanted: Vec<Wanted>,
    pub(super) masker: Masker,
    pub(super) workspaces: Workspaces,
    /// The run as it was when the turn began.
    pub(super) run: Arc<Run>,
    pub(super) journal_writer: JournalWriter,
    /// Calls that are being made. They go on to their end, whoever waits for them.
    calls: TaskTracker,
    pub(super) stop: CancellationToken,
    /// The tools as they were when they were first listed for the run.
    first_listed: OnceCell<ToolDigests>,
}

impl TurnTools {
    /// The tools of the turn that `run` is in. Calls that are being made when `stop` is cancelled are given up.
    pub(crate) fn new(
        toolset: Toolset,
        run: Arc<Run>,
        journal_writer: JournalWriter,
        stop: CancellationToken,
    ) -> Self {
        let Toolset { contracts, declared, masker, workspaces } = toolset;
        let wanted = declared.iter().map(|declared| Wanted::read(declared)).collect();
        let calls = TaskTracker::new();
        let first_listed = OnceCell::new();
        Self(Arc::new(Inner {
            contracts,
            wanted,
            masker,
            workspaces,
            run,
            journal_writer,
            calls,
            stop,
            first_listed,
        }))
    }

    /// Waits until no call is being made any more.
    pub(crate) async fn at_rest(&self) {
        self.0.calls.close();
        self.0.calls.wait().await;
        self.0.calls.reopen();
    }

    /// Makes the calls that a person has cleared since the turn before: no agent is needed for that.
    pub(crate) async fn make_cleared(&self) {
        for contract in self.0.run.contracts().filter(|contract| contract.is_cleared()) {
            let (inner, id) = (self.0.clone(), contract.spec.execution_id);
            self.0.calls.spawn(async move { inner.execute_recorded(id).await });
        }
        self.at_rest().await;
    }
}

impl Toolbox for TurnTools {
    fn offers(&self) -> BoxFuture<'_, Result<Vec<ToolOffer>, RunError>> {
        Box::pin(async {
            let offered = self.0.offered().await?;
            offers::listed(&offered, self.0.asking_tool().map(ask_user::offer))
        })
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Told> {
        let inner = self.0.clone();
        let made = self.0.calls.spawn(async move { inner.answered(call).await });
        // A call that panicked is as good as one that nobody answered: recovery finds what it left.
        Box::pin(async { made.await.unwrap_or(Told::Stale(Stale)) })
    }

    fn refused(&self, call: Call, reason: String) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.0.note_refused(&call, &reason, None).await })
    }

    fn checkpoint(&self, facts: Vec<Observation>) -> BoxFuture<'_, Result<(), Stale>> {
        Box::pin(async {
            let observations = facts.into_iter().map(|fact| crate::driver::masked(&self.0.masker, fact));
            let command = Command::Observe { turn: self.0.run.turn(), observations: observations.collect() };
            self.0.tell(command).await.map(|_| ()).map_err(|_| Stale)
        })
    }

    fn history(&self) -> BoxFuture<'_, Result<History, RunError>> {
        Box::pin(async {
            let read =
                self.0.journal_writer.store().map(|store| history::read(store.as_ref(), self.0.run.id()));
            match read {
                Some(Ok(history)) => Ok(history),
                Some(Err(error)) => Err(error.into()),
                None => Err(internal(Stale.to_string())),
            }
        })
    }
}

impl Inner {
    /// The tools that may be called, as they are now. The first time they are listed for the run, they are written down.
    pub(super) async fn offered(&self) -> Result<Vec<Offered>, RunError> {
        let all = offers::all(&self.contracts, &self.wanted, &self.stop).await;
        let offered = all.map_err(|error| offers::failure(&error))?;
        if !self.wanted.is_empty() {
            self.first_listed(&offered).await.map_err(|stale| internal(stale.to_string()))?;
        }
        Ok(offered)
    }

    /// The name under which the agent is offered the tool that asks the user; none where nobody is there to answer.
    fn asking_tool(&self) -> Option<&'static str> {
        match (self.run.spec().execution_mode, self.run.spec().resumes_by) {
            (ExecutionMode::Auto, _) => None,
            (ExecutionMode::Interactive, ResumesBy::Journal) => Some(ASK_USER),
            (ExecutionMode::Interactive, ResumesBy::Handle) => Some(ASK_THE_USER),
        }
    }

    async fn first_listed(&self, offered: &[Offered]) -> Result<&ToolDigests, Stale> {
        let list = || async {
            if let Some(listed) = self.run.listed_tools() {
                return Ok(listed.clone());
            }
            let (turn, tools) = (self.run.turn(), offers::digests(offered));
            let listed = self.tell(Command::ListTools { turn, tools }).await.map_err(|_| Stale)?;
            Ok(listed.state.listed_tools().cloned().unwrap_or_default())
        };
        self.first_listed.get_or_try_init(list).await
    }

    /// How a tool stands to what it was when the tools of the run were first listed.
    fn standing(&self, offered: &Offered) -> Standing {
        let listed = self.first_listed.get().and_then(|listed| listed.get(&offered.service));
        match listed.and_then(|tools| tools.get(&offered.tool.name)) {
            None => Standing::New,
            Some(digest) if *digest == offered.tool.digest => Standing::Known,
            Some(_) => Standing::Changed,
        }
    }

    pub(super) async fn tell(&self, command: Command) -> Answer {
        self.journal_writer.tell(self.run.id(), command).await
    }

    pub(super) async fn call(&self, call: Call) -> Result<Told, NotMade> {
        let before = call.call_ref.as_deref().and_then(|call_ref| self.asked_for_before(call_ref));
        if let Some(contract) = before {
            return Ok(self.go_on(contract).await);
        }
        let Call { name, arguments, call_ref } = call;
        if asks_the_user(&name) {
            return self.ask_user(&arguments, call_ref).await;
        }
        let offered = self.offered().await.map_err(|error| NotMade::because(error.message))?;
        let Some(found) = offered.iter().find(|offered| offered.name() == name) else {
            return Err(NotMade::because(offers::unknown(&name, &offered, self.asking_tool())));
        };
        let Offered { service, tool } = found;
        if arguments.to_string().contains(MASK) {
            // After a restart an agent may know its own secrets only by their mask.
            return Err(NotMade::because(format!(
                "the arguments have {MASK} in them: write the value itself"
            )));
        }
        tool.check(&arguments).map_err(NotMade::because)?;
        let policy = self.contracts.servers.policy(service).map_err(NotMade::because)?;
        let treatment = policy.treatment(&tool.name, tool.hints);
        let call = ToolCall { service: service.clone(), method: tool.name.clone(), arguments };
        let shown = ToolCall { arguments: self.masker.known_in_json(&call.arguments), ..call.clone() };
        let standing = self.standing(found);
        let approval = if treatment.needs_approval || standing != Standing::Known {
            let asked = self.approval(&call, &shown, Irreversible::of(treatment.irreversible), standing);
            Some(asked.map_err(|error| NotMade::because(format!("the call is not made: {error}")))?)
        } else {
            None
        };
        let declared = self.contracts.declared.get(service);
        let spec = ContractSpec {
            irreversible: treatment.irreversible,
            idempotency_key: IdempotencyKey::of(service, &tool.name, &call.arguments),
            scope: self.run.scope(declared.map_or(KeyScope::Run, |declared| declared.scope)),
            timeout_seconds: declared.map(|declared| declared.timeout_sec),
            definition: Some(tool.digest.clone()),
            ..spec(ContractAction::ToolCall(shown.clone()), call_ref)
        };
        let id = spec.execution_id;
        if shown != call
            && let Err(error) = self.workspaces.keep_call(self.run.id(), id, &call.arguments)
        {
            return Err(NotMade::because(format!("the arguments cannot be kept: {error}")));
        }
        let Some(run) = self.request(spec, approval).await? else { return Ok(Told::Stale(Stale)) };
        Ok(match run.contract(id).map(|contract| contract.status) {
            Some(ContractStatus::Pending) => self.execute(&run, id).await,
            _ => told(&run, id),
        })
    }

    /// The question whether a call may be made, of which the journal has `shown`.
    pub(super) fn approval(
        &self,
        call: &ToolCall,
        shown: &ToolCall,
        irreversible: Irreversible,
        standing: Standing,
    ) -> Result<Question, TooLongToShow> {
        let secrets = if call == shown {
            Vec::new()
        } else {
            self.masker.names_in(&call.arguments.to_string()).into_iter().collect()
        };
        approval::question(shown, &About { irreversible, standing, secrets })
    }

    async fn ask_user(&self, arguments: &Value, call_ref: Option<String>) -> Result<Told, NotMade> {
        let asked = self.masker.json(arguments);
        let question = ask_user::question(&asked).map_err(NotMade::because)?;
        let timeout_seconds = ask_user::timeout(&asked).map_err(NotMade::because)?;
        let spec = ContractSpec {
            idempotency_key: IdempotencyKey::of(ASK_USER, ASK_USER, arguments),
            scope: self.run.scope(KeyScope::Run),
            timeout_seconds,
            ..spec(ContractAction::EcsRequest(question), call_ref)
        };
        let id = spec.execution_id;
        let run = self.request(spec, None).await?;
        Ok(run.map_or(Told::Stale(Stale), |run| told(&run, id)))
    }

    /// Has a contract recorded; none where the turn is over.
    async fn request(
        &self,
        spec: ContractSpec,
        approval: Option<Question>,
    ) -> Result<Option<Arc<Run>>, NotMade> {
        let request = RequestContract { turn: self.run.turn(), spec, approval };
        match self.tell(Command::RequestContract(request)).await {
            Ok(accepted) => Ok(Some(accepted.state)),
            Err(Denied::Refused(Refusal::Held(holder))) => Err(self.held(&holder)),
            Err(_) => Ok(None),
        }
    }

    fn asked_for_before(&self, call_ref: &str) -> Option<&Contract> {
        self.run.contracts().find(|contract| {
            contract.spec.call_ref.as_deref() == Some(call_ref) && contract.spec.edited_from.is_none()
        })
    }

    /// A call that was asked for before a restart, or before the user answered.
    async fn go_on(&self, contract: &Contract) -> Told {
        let id = contract.spec.execution_id;
        match contract.status {
            ContractStatus::Pending if contract.spec.action.kind() == ActionType::ToolCall => {
                self.execute_recorded(id).await
            }
            ContractStatus::Pending
            | ContractStatus::Running
            | ContractStatus::Waiting
            | ContractStatus::Completed
            | ContractStatus::Failed
            | ContractStatus::Rejected
            | ContractStatus::Cancelled => told(&self.run, id),
        }
    }
}

/// A contract of which nothing else is said.
fn spec(action: ContractAction, call_ref: Option<String>) -> ContractSpec {
    ContractSpec {
        execution_id: ExecutionId::from_bits(uuid::Uuid::now_v7().as_u128()),
        action,
        irreversible: false,
        idempotency_key: IdempotencyKey::of("", "", &Value::Null),
        scope: String::new(),
        timeout_seconds: None,
        edited_from: None,
        call_ref,
        definition: None,
    }
}

/// What an agent is told about a call of `run`.
pub(super) fn told(run: &Run, id: ExecutionId) -> Told {
    match run.consequence(id) {
        None => Told::Stale(Stale),
        Some(consequence) if consequence.status.is_terminal() => Told::Over(consequence),
        Some(Consequence { status: ContractStatus::Pending, execution_id, .. }) => {
            Told::NoAttemptLeft(execution_id)
        }
        Some(consequence) => Told::WithUser(consequence.execution_id),
    }
}

fn internal(message: String) -> RunError {
    RunError { code: ErrorCode::Internal, message }
}
