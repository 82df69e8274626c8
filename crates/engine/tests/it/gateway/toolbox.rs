//! A toolbox that tells what a test wants told, and knows what it was asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use adjourn_core::{Consequence, ContractStatus, ErrorCode, ExecutionId, Observation, RunError};
use adjourn_engine::model::ToolOffer;
use adjourn_engine::{Call, History, Stale, Told, Toolbox};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// What a tool does.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there are a handful")]
pub(crate) enum Does {
    /// Tells this at once.
    Tells(Told),
    /// Waits to be let go, and is done.
    Waits,
}

/// A toolbox with tools by name.
#[derive(Debug)]
pub(crate) struct Scripted {
    tools: BTreeMap<String, Does>,
    is_down: bool,
    begun: Mutex<Vec<Call>>,
    ended: Mutex<Vec<Call>>,
    let_go: Semaphore,
}

impl Scripted {
    pub(crate) fn new<const N: usize>(tools: [(&str, Does); N]) -> Arc<Self> {
        Arc::new(Self::of(tools, false))
    }

    /// One whose tool server cannot be used.
    pub(crate) fn down() -> Arc<Self> {
        Arc::new(Self::of([], true))
    }

    fn of<const N: usize>(tools: [(&str, Does); N], is_down: bool) -> Self {
        Self {
            tools: tools.map(|(name, does)| (name.to_owned(), does)).into(),
            is_down,
            begun: Mutex::default(),
            ended: Mutex::default(),
            let_go: Semaphore::new(0),
        }
    }

    /// The names and arguments of the calls that began.
    pub(crate) fn begun(&self) -> Vec<(String, Value)> {
        plain(&self.begun.lock().unwrap())
    }

    /// The names and arguments of the calls that came to their end.
    pub(crate) fn ended(&self) -> Vec<(String, Value)> {
        plain(&self.ended.lock().unwrap())
    }

    /// Lets so many calls go on.
    pub(crate) fn let_go(&self, count: usize) {
        self.let_go.add_permits(count);
    }
}

fn plain(calls: &[Call]) -> Vec<(String, Value)> {
    calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect()
}

/// A call that was done, with this result.
pub(crate) fn done(result: Value) -> Does {
    Does::Tells(Told::Over(consequence(ContractStatus::Completed, Some(result))))
}

pub(crate) fn consequence(status: ContractStatus, result: Option<Value>) -> Consequence {
    let execution_id = ExecutionId::from_bits(1);
    Consequence {
        execution_id,
        status,
        result,
        error_message: None,
        outcome_unknown: false,
        assumed: false,
        arguments: None,
    }
}

impl Toolbox for Scripted {
    fn offers(&self) -> BoxFuture<'_, Result<Vec<ToolOffer>, RunError>> {
        Box::pin(async {
            if self.is_down {
                let message = "the tool server `mail` cannot be started: it is not installed".to_owned();
                return Err(RunError { code: ErrorCode::ToolServerUnavailable, message });
            }
            let offer = |name: &String| ToolOffer {
                name: name.clone(),
                description: format!("does {name}"),
                input_schema: json!({"type": "object", "properties": {"message": {"type": "string"}}}),
            };
            Ok(self.tools.keys().map(offer).collect())
        })
    }

    /// Dropped in the middle of it, a call is not done.
    fn call(&self, call: Call) -> BoxFuture<'_, Told> {
        Box::pin(async {
            self.begun.lock().unwrap().push(call.clone());
            let told = match self.tools.get(&call.name) {
                Some(Does::Tells(told)) => told.clone(),
                Some(Does::Waits) => {
                    self.let_go.acquire().await.unwrap().forget();
                    Told::Over(consequence(ContractStatus::Completed, Some(json!("done"))))
                }
                None => Told::Refused(format!("there is no tool `{}`", call.name)),
            };
            self.ended.lock().unwrap().push(call);
            told
        })
    }

    fn refused(&self, _: Call, _: String) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn checkpoint(&self, _: Vec<Observation>) -> BoxFuture<'_, Result<(), Stale>> {
        Box::pin(async { Ok(()) })
    }

    fn history(&self) -> BoxFuture<'_, Result<History, RunError>> {
        Box::pin(async { Ok(History::default()) })
    }
}
