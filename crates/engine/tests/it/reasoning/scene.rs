//! A run of the reasoning engine: a model, a toolbox, and turns one after the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use adjourn_core::{ErrorCode, Observation, RunId, TurnReason};
use adjourn_engine::model::{Api, ModelOptions, Prices};
use adjourn_engine::{Engine, Finished, ReasoningEngine, Recorder, Seen, Turn};
use adjourn_testkit::model::{Call, ModelServer, Outcome, Reply};
use serde_json::{Value, json};

use super::toolbox::ScriptedToolbox;
use crate::agent::Stage;
use crate::model::{options, options_at, serve};
use crate::turns::{Going, turn};

/// The first words of every run here.
pub(crate) const OPENING: &str = "Do it.";

pub(crate) struct Scene {
    stage: Stage,
    pub(crate) model: ModelServer,
    pub(crate) tools: ScriptedToolbox,
    pub(crate) options: ModelOptions,
    run_id: RunId,
    attempt: u32,
    /// The file that turns are recorded into.
    tape: Option<PathBuf>,
}

impl Scene {
    pub(crate) fn new(api: Api, replies: impl IntoIterator<Item = Reply>) -> Self {
        let model = serve(replies);
        let options = options(api, &model);
        Self::with(model, options)
    }

    /// With a model that is not scripted but answers something of its own.
    pub(crate) fn at(api: Api, url: &str) -> Self {
        Self::with(serve([]), options_at(api, url))
    }

    fn with(model: ModelServer, mut options: ModelOptions) -> Self {
        options.prices = Some(Prices { input_usd_per_million: 1.0, output_usd_per_million: 1.0 });
        let run_id = RunId::from_bits(7);
        Self {
            stage: Stage::new(),
            model,
            tools: ScriptedToolbox::new(run_id),
            options,
            run_id,
            attempt: 1,
            tape: None,
        }
    }

    /// Another run, which continues this one.
    pub(crate) fn continued(mut self) -> Self {
        self.run_id = RunId::from_bits(8);
        self.tools = self.tools.of_successor(self.run_id);
        self.attempt = 1;
        self
    }

    /// Has the turns from now on recorded.
    pub(crate) fn recorded_into(&mut self, tape: &Path) {
        self.tape = Some(tape.to_owned());
    }

    /// Begins a turn, with an engine that knows nothing of those before.
    pub(crate) fn begin(&mut self, reason: TurnReason, prompt: &str) -> Going {
        if reason == TurnReason::Answer {
            self.attempt += 1;
        }
        let mut engine: Arc<dyn Engine> = Arc::new(ReasoningEngine::new(self.options.clone()).unwrap());
        if let Some(tape) = &self.tape {
            engine = Arc::new(Recorder::new(engine, tape).unwrap());
        }
        let turn = Turn {
            run_id: self.run_id,
            attempt: self.attempt,
            reason,
            opening: OPENING.to_owned(),
            tools: Arc::new(self.tools.clone()),
            ..turn(&self.stage, prompt)
        };
        Going::start(engine, turn)
    }

    /// A whole turn: what was shown, and how it ended.
    pub(crate) async fn play(&mut self, reason: TurnReason, prompt: &str) -> (Vec<Seen>, Finished) {
        self.begin(reason, prompt).until_it_ends().await
    }

    /// The first turn.
    pub(crate) async fn first(&mut self) -> Finished {
        self.play(TurnReason::First, OPENING).await.1
    }

    /// The error that the first turn ends with.
    pub(crate) async fn fails(&mut self) -> (ErrorCode, String) {
        let Finished::Failed(error) = self.first().await else { panic!("it should fail") };
        (error.code, error.message)
    }

    /// What the model was told last, in the words of its wire format.
    pub(crate) fn last_messages(&self) -> Vec<Value> {
        let body = self.model.requests().pop().unwrap().body;
        body["messages"].as_array().unwrap().clone()
    }

    /// The results in a request, in order: which call, and the fields.
    pub(crate) fn results_in(messages: &[Value]) -> Vec<(String, Value)> {
        let blocks = messages.iter().flat_map(|message| match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            _ => vec![message.clone()],
        });
        let of_call = |block: Value| {
            let id = block["tool_call_id"].as_str().or_else(|| block["tool_use_id"].as_str())?.to_owned();
            Some((id, serde_json::from_str(block["content"].as_str()?).unwrap()))
        };
        blocks.filter_map(of_call).collect()
    }

    /// Which replies the model gave, in order.
    pub(crate) fn replies(&self) -> Vec<usize> {
        let reply = |outcome| match outcome {
            Outcome::Reply(index) => index,
            other => panic!("{other:?}"),
        };
        self.model.outcomes().into_iter().map(reply).collect()
    }

    /// What was written down for people to see.
    pub(crate) fn shown(&self) -> Vec<Observation> {
        let facts = self.tools.journal().facts.clone();
        facts.into_iter().filter(|fact| !matches!(fact, Observation::Step(_))).collect()
    }
}

/// A reply with calls.
pub(crate) fn calling<const N: usize>(text: &str, calls: [(&str, Value); N]) -> Reply {
    let calls = calls.map(|(name, arguments)| Call { name: name.to_owned(), arguments });
    Reply { calls: calls.to_vec(), ..if text.is_empty() { Reply::default() } else { Reply::text(text) } }
}

/// `{"n": 1}`, say.
pub(crate) fn n(number: usize) -> Value {
    json!({"n": number})
}
