//! A toolbox with a journal in memory, which outlives the engines that use it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use adjourn_core::{Consequence, ContractStatus, ErrorCode, ExecutionId, Observation, RunError, RunId};
use adjourn_engine::model::ToolOffer;
use adjourn_engine::{ASK_USER, Call, History, Stale, Told, Toolbox};
use futures::future::{BoxFuture, pending};
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify};

/// The tools there are, by what they do:
///
/// - `echo` gives back what it is called with;
/// - `send` does so once, and is told of it the next time;
/// - `break` fails;
/// - `together` ends when as many calls of it as the [barrier](ScriptedToolbox::together) wants are there;
/// - `hang` never ends;
/// - `ask_user` waits for [`ScriptedToolbox::answer`].
const TOOLS: [&str; 6] = ["echo", "send", "break", "together", "hang", ASK_USER];

/// What is left when an engine is gone.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) steps: Vec<(RunId, Value)>,
    /// All that was written down, steps included.
    pub(crate) facts: Vec<Observation>,
    /// What became of calls; nothing yet for those that wait.
    pub(crate) contracts: BTreeMap<String, Option<Consequence>>,
    /// The effects on the world, by tool and arguments, in the order in which they happened.
    pub(crate) effects: Vec<(String, Value)>,
    /// What was asked of the toolbox, in order.
    pub(crate) asked: Vec<String>,
    /// Where the process dies: at this operation, counted from 0.
    pub(crate) dies_at: Option<usize>,
    /// How many there were.
    pub(crate) operations: usize,
    /// No tool can be offered any more.
    pub(crate) is_broken: bool,
    /// The run has moved on without this turn.
    pub(crate) is_stale: bool,
}

/// A toolbox of one run.
#[derive(Debug, Clone)]
pub(crate) struct ScriptedToolbox {
    run_id: RunId,
    journal: Arc<Mutex<Journal>>,
    /// Told when the process has died.
    pub(crate) died: Arc<Notify>,
    /// Told when a call hangs.
    pub(crate) hangs: Arc<Notify>,
    pub(crate) together: Arc<Barrier>,
}

impl ScriptedToolbox {
    pub(crate) fn new(run_id: RunId) -> Self {
        Self {
            run_id,
            journal: Arc::default(),
            died: Arc::default(),
            hangs: Arc::default(),
            together: Arc::new(Barrier::new(1)),
        }
    }

    /// The toolbox of a run that continues this one.
    pub(crate) fn of_successor(&self, run_id: RunId) -> Self {
        Self { run_id, ..self.clone() }
    }

    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap()
    }

    /// The reference of a call by the number of its reply in the run and its place in that: `1.0`.
    pub(crate) fn reference(&self, call: &str) -> String {
        format!("{}/{call}", self.run_id)
    }

    /// Answers what a call waits for, by its numbers.
    pub(crate) fn answer(&self, call: &str, result: Value) {
        let call_ref = self.reference(call);
        let answered = consequence(&call_ref, ContractStatus::Completed, Some(result));
        let before = self.journal().contracts.insert(call_ref.clone(), Some(answered));
        assert_eq!(before, Some(None), "{call_ref} does not wait");
    }

    /// Where a process may be killed: before and after each thing that lasts.
    async fn operation(&self) {
        let dies = {
            let mut journal = self.journal();
            let dies = journal.dies_at == Some(journal.operations);
            journal.operations += 1;
            dies
        };
        if dies {
            self.died.notify_one();
            pending::<()>().await;
        }
    }

    async fn make(&self, Call { name, arguments, call_ref }: Call) -> Told {
        let call_ref = call_ref.expect("the engine asks for calls by reference");
        let numbers = call_ref.rsplit('/').next().unwrap_or_default();
        self.journal().asked.push(format!("call {numbers}"));
        self.operation().await;
        if self.journal().is_stale {
            return Told::Stale(Stale);
        }
        match self.journal().contracts.get(&call_ref) {
            Some(Some(settled)) => return Told::Over(settled.clone()),
            Some(None) => return Told::WithUser(execution_id(&call_ref)),
            None => {}
        }
        if !TOOLS.contains(&name.as_str()) {
            return Told::Refused(format!("there is no tool `{name}`"));
        }
        if !arguments.is_object() {
            return Told::Refused(format!("`{name}` takes an object"));
        }
        let mut status = ContractStatus::Completed;
        match name.as_str() {
            ASK_USER => {
                self.journal().contracts.insert(call_ref.clone(), None);
                self.operation().await;
                return Told::WithUser(execution_id(&call_ref));
            }
            "send" => {
                let journal = self.journal();
                if let Some(earlier) = journal.contracts.values().flatten().find(|done| {
                    done.result.as_ref() == Some(&arguments)
                        && journal.effects.contains(&(name.clone(), arguments.clone()))
                }) {
                    return Told::Before(earlier.clone());
                }
            }
            "together" => {
                self.together.wait().await;
            }
            "hang" => {
                self.hangs.notify_one();
                pending::<()>().await;
            }
            "break" => status = ContractStatus::Failed,
            _ => {}
        }
        let told = consequence(&call_ref, status, Some(arguments.clone()));
        {
            let mut journal = self.journal();
            journal.effects.push((name, arguments));
            journal.contracts.insert(call_ref, Some(told.clone()));
        }
        self.operation().await;
        Told::Over(told)
    }
}

/// Of a call, so that the same one has the same id after a restart.
fn execution_id(call_ref: &str) -> ExecutionId {
    ExecutionId::from_bits(call_ref.bytes().fold(0, |bits, byte| bits << 8 | u128::from(byte)))
}

fn consequence(call_ref: &str, status: ContractStatus, result: Option<Value>) -> Consequence {
    let failed = (status == ContractStatus::Failed).then(|| "it broke".to_owned());
    Consequence {
        execution_id: execution_id(call_ref),
        status,
        result: if failed.is_none() { result } else { None },
        error_message: failed,
        outcome_unknown: false,
        assumed: false,
        arguments: None,
    }
}

impl Toolbox for ScriptedToolbox {
    fn offers(&self) -> BoxFuture<'_, Result<Vec<ToolOffer>, RunError>> {
        Box::pin(async move {
            if self.journal().is_broken {
                let message = "the tool server `mail` does not start".to_owned();
                return Err(RunError { code: ErrorCode::ToolServerUnavailable, message });
            }
            let offer = |name: &str| ToolOffer {
                name: name.to_owned(),
                description: format!("Does {name}."),
                input_schema: json!({"type": "object"}),
            };
            Ok(TOOLS.map(offer).to_vec())
        })
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Told> {
        Box::pin(self.make(call))
    }

    fn refused(&self, _: Call, _: String) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn checkpoint(&self, facts: Vec<Observation>) -> BoxFuture<'_, Result<(), Stale>> {
        Box::pin(async move {
            self.operation().await;
            {
                let mut journal = self.journal();
                if journal.is_stale {
                    return Err(Stale);
                }
                journal.asked.push("checkpoint".to_owned());
                let steps = facts.iter().filter_map(|fact| match fact {
                    Observation::Step(step) => Some((self.run_id, step.clone())),
                    _ => None,
                });
                journal.steps.extend(steps);
                journal.facts.extend(facts);
            }
            self.operation().await;
            Ok(())
        })
    }

    fn history(&self) -> BoxFuture<'_, Result<History, RunError>> {
        Box::pin(async move {
            let journal = self.journal();
            let settled = journal.contracts.iter();
            let settled = settled.filter_map(|(call_ref, told)| Some((call_ref.clone(), told.clone()?)));
            Ok(History { steps: journal.steps.clone(), settled: settled.collect() })
        })
    }
}
