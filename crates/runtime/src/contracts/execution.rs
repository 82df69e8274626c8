//! Makes a call that is recorded, and has its result written down.

use adjourn_core::{
    AskAgain, Command, ContractAction, ContractReport, ExecutionId, ExecutionMode, IdempotencyKey, Paused,
    Question, Run, ToolCall, ToolDigest, reply,
};
use adjourn_engine::tools::{Called, PreparedCall, Unfinished};
use adjourn_engine::{Stale, Told};
use adjourn_kernel::load;
use serde_json::Value;

use super::approval::{Irreversible, Standing};
use super::offers::Offered;
use super::turn::{Inner, told};

/// A call that was recorded, and what comes next of it.
struct Prepared<'a> {
    call: ToolCall,
    /// The digest of the tool's definition that the call was asked for with.
    definition: Option<ToolDigest>,
    next: Next<'a>,
}

/// What comes next of a call.
enum Next<'a> {
    /// The tool server is given it.
    Call(PreparedCall<'a>),
    /// A person is asked something that the tool wants to know.
    Ask(Question, Unfinished),
}

impl Inner {
    /// Makes a call that was recorded before this turn, unless its tool changed since: then a person is asked, whatever they
    /// said before.
    pub(super) async fn execute_recorded(&self, id: ExecutionId) -> Told {
        let Some(again) = self.asks_again(id).await else { return self.execute(&self.run, id).await };
        match self.tell(Command::AskAgain(again)).await {
            Ok(asked) => told(&asked.state, asked_for(&asked.state, id)),
            Err(_) => Told::Stale(Stale),
        }
    }

    /// The question about a call whose tool changed since it was recorded or allowed; none where the call can be made, or where
    /// making it will say what is wrong.
    async fn asks_again(&self, id: ExecutionId) -> Option<AskAgain> {
        let contract = self.run.contract(id).filter(|contract| contract.paused.is_none())?;
        // None in a journal from before definitions were recorded: what was allowed then is made.
        let allowed = contract.definition.as_ref()?;
        let ContractAction::ToolCall(shown) = &contract.spec.action else { return None };
        let offered = self.offered().await.ok()?;
        let is_meant = |one: &&Offered| one.service == shown.service && one.tool.name == shown.method;
        let tool = &offered.iter().find(is_meant)?.tool;
        if tool.digest == *allowed {
            return None;
        }
        let call = self.whole(id, shown, contract.spec.idempotency_key).ok()?;
        let irreversible = Irreversible::of(contract.spec.irreversible);
        let question = self.approval(&call, shown, irreversible, Standing::ChangedSinceAsked).ok()?;
        Some(AskAgain { turn: self.run.turn(), id, definition: tool.digest.clone(), question })
    }

    /// Makes a call of `run`: announced in the journal before, and ended there after. Nothing here makes one twice; what a
    /// crash in between leaves is for the restart to settle.
    ///
    /// What can fail before the tool server has the call is done before the announcement. So a crash while a server starts
    /// leaves a call that was not made, and is known not to have been.
    pub(super) async fn execute(&self, run: &Run, id: ExecutionId) -> Told {
        let report = match self.prepared(run, id).await {
            Ok(prepared) => {
                if self.tell(Command::DispatchContract(id)).await.is_err() {
                    return self.ended_meanwhile(id);
                }
                self.reported(prepared).await
            }
            Err(problem) => ContractReport::Failed(problem),
        };
        match self.tell(Command::ReportContract { id, report }).await {
            Ok(reported) => told(&reported.state, asked_for(&reported.state, id)),
            Err(_) => self.ended_meanwhile(id),
        }
    }

    /// What the agent is told about a call that could not go on: that a person canceled it, or that the turn is over.
    fn ended_meanwhile(&self, id: ExecutionId) -> Told {
        let now = self
            .journal_writer
            .store()
            .and_then(|store| load::<Run>(store.as_ref(), self.run.id()).ok().flatten());
        match now.filter(|run| run.contract(id).is_some_and(|contract| contract.status.is_terminal())) {
            Some(run) => told(&run, asked_for(&run, id)),
            None => Told::Stale(Stale),
        }
    }

    /// A recorded call, with everything done that comes before it is made.
    async fn prepared(&self, run: &Run, id: ExecutionId) -> Result<Prepared<'_>, String> {
        let contract = run.contract(id).ok_or_else(|| format!("there is no contract {id}"))?;
        let ContractAction::ToolCall(shown) = &contract.spec.action else {
            return Err("a question is no call".to_owned());
        };
        let call = self.whole(id, shown, contract.spec.idempotency_key)?;
        let unfinished = contract.paused.as_ref().map(answered).transpose()?;
        let definition = contract.definition.clone();
        // Several questions at once are asked one after the other, and the call is made when all are answered.
        let next = match unfinished.as_ref().and_then(Unfinished::question).zip(unfinished.clone()) {
            Some((question, asking)) => Next::Ask(question, asking),
            None => {
                let servers = &self.contracts.servers;
                let prepared = servers.prepare(&call, definition.as_ref(), unfinished, &self.stop).await;
                Next::Call(prepared.map_err(|error| self.masked(&error.to_string()))?)
            }
        };
        Ok(Prepared { call, definition, next })
    }

    /// The call with its arguments as they were asked for: the journal has them masked.
    fn whole(&self, id: ExecutionId, shown: &ToolCall, key: IdempotencyKey) -> Result<ToolCall, String> {
        let is_meant =
            |call: &ToolCall| IdempotencyKey::of(&call.service, &call.method, &call.arguments) == key;
        if is_meant(shown) {
            return Ok(shown.clone());
        }
        let kept = self.workspaces.kept_call(self.run.id(), id).map_err(|error| error.to_string())?;
        let call = ToolCall { arguments: kept, ..shown.clone() };
        if is_meant(&call) {
            Ok(call)
        } else {
            Err("the arguments that were kept are not those that were asked for".to_owned())
        }
    }

    /// Calls until the tool is done, or a person has to say something.
    async fn reported(&self, Prepared { call, definition, mut next }: Prepared<'_>) -> ContractReport {
        loop {
            let (question, asking) = match next {
                Next::Ask(question, asking) => (question, asking),
                Next::Call(prepared) => match prepared.make(&self.stop).await {
                    Ok(Called::Completed(result)) => {
                        return ContractReport::Succeeded(self.masker.json(&result));
                    }
                    Ok(Called::Failed(problem)) => return ContractReport::Failed(self.masked(&problem)),
                    Ok(Called::Lost(lost)) => return ContractReport::Lost(self.masked(&lost.to_string())),
                    // It was not made, and that is known.
                    Err(error) => return ContractReport::Failed(self.masked(&error.to_string())),
                    Ok(Called::NeedsInput(asking)) => match asking.question() {
                        Some(question) => (question, asking),
                        None => return ContractReport::Failed("the tool asks nothing".to_owned()),
                    },
                },
            };
            let answered = match self.run.spec().execution_mode {
                ExecutionMode::Interactive => return asked(question, &asking),
                ExecutionMode::Auto => answered_alone(&question, asking),
            };
            next = match answered.question() {
                Some(question) => Next::Ask(question, answered),
                None => {
                    let servers = &self.contracts.servers;
                    match servers.prepare(&call, definition.as_ref(), Some(answered), &self.stop).await {
                        Ok(prepared) => Next::Call(prepared),
                        Err(error) => return ContractReport::Failed(self.masked(&error.to_string())),
                    }
                }
            };
        }
    }

    pub(super) fn masked(&self, text: &str) -> String {
        self.masker.text(text).into_owned()
    }
}

/// The contract that the agent asked for, of which a person may have made this one.
fn asked_for(run: &Run, id: ExecutionId) -> ExecutionId {
    run.contract(id).and_then(|contract| contract.spec.edited_from).unwrap_or(id)
}

fn asked(question: Question, asking: &Unfinished) -> ContractReport {
    match serde_json::to_value(asking) {
        Ok(state) => ContractReport::NeedsInput { question: Box::new(question), state },
        Err(error) => ContractReport::Failed(format!("the tool's question cannot be kept: {error}")),
    }
}

/// In auto mode nobody fills in a form: it gets its default, if that is an answer, or none at all.
fn answered_alone(question: &Question, asking: Unfinished) -> Unfinished {
    let default = question.default.as_ref().and_then(|default| reply::check(question, default).ok());
    match default {
        Some(answer) => asking.answered(answer),
        None => asking.declined(),
    }
}

/// A call whose tool asked something, with what the person answered.
fn answered(paused: &Paused) -> Result<Unfinished, String> {
    let Paused { state, answer } = paused;
    let unfinished = serde_json::from_value::<Unfinished>(state.clone())
        .map_err(|error| format!("what the tool wanted to know cannot be read any more: {error}"))?;
    Ok(match answer {
        Some(answer) => unfinished.answered(Value::clone(answer)),
        None => unfinished,
    })
}
