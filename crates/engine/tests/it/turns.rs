//! Turns of any engine, run to their end or stopped.

use std::sync::Arc;

use adjourn_core::{Observation, Profile, RunId, TurnReason};
use adjourn_engine::secrets::Masker;
use adjourn_engine::{
    Engine, ExecConfig, ExecEngine, Finished, Gateway, LostOutput, NoTools, Preset, Seen, Turn,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent::{PATIENCE, Stage, supervisor};

/// As small as it gets: engines have to bear a slow reader.
const CHANNEL: usize = 1;

/// A turn that goes on.
pub(crate) struct Going {
    seen: mpsc::Receiver<Seen>,
    pub(crate) stop: CancellationToken,
    finished: JoinHandle<Finished>,
}

impl Going {
    pub(crate) fn start(engine: Arc<dyn Engine>, turn: Turn) -> Self {
        let (show, seen) = mpsc::channel(CHANNEL);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let finished = tokio::spawn(async move { engine.run(turn, show, stopped).await });
        Self { seen, stop, finished }
    }

    /// The next thing that the engine shows.
    pub(crate) async fn next(&mut self) -> Option<Seen> {
        tokio::time::timeout(PATIENCE, self.seen.recv()).await.expect("nothing was shown")
    }

    /// All that is still shown, and the end.
    pub(crate) async fn until_it_ends(mut self) -> (Vec<Seen>, Finished) {
        let mut all = Vec::new();
        while let Some(seen) = self.next().await {
            all.push(seen);
        }
        (all, self.finish().await)
    }

    /// The same turn, of which all that is shown is thrown away.
    pub(crate) fn while_nobody_looks(mut self) -> Self {
        let (_, seen) = mpsc::channel(CHANNEL);
        let mut shown = std::mem::replace(&mut self.seen, seen);
        tokio::spawn(async move { while shown.recv().await.is_some() {} });
        self
    }

    /// The end, without looking at anything any more.
    pub(crate) async fn finish(self) -> Finished {
        tokio::time::timeout(PATIENCE, self.finished).await.expect("it did not end").unwrap()
    }
}

/// The first turn of a run in this stage.
pub(crate) fn turn(stage: &Stage, prompt: &str) -> Turn {
    Turn {
        run_id: RunId::from_bits(7),
        attempt: 1,
        prompt: prompt.to_owned(),
        handle: None,
        shell: None,
        workspace: stage.path().to_owned(),
        reads: Vec::new(),
        logs: stage.path().join("logs"),
        masker: Masker::EMPTY,
        profile: Profile::Resumable,
        process: None,
        decisions: Vec::new(),
        reason: TurnReason::First,
        opening: String::new(),
        tools: Arc::new(NoTools),
        lost_output: LostOutput::default(),
    }
}

/// An engine with a script for an agent.
pub(crate) fn engine(stage: &Stage, preset: Preset, interpreter: &str, script: &str) -> Arc<dyn Engine> {
    Arc::new(ExecEngine::new(config(stage, preset, interpreter, script), supervisor(), Gateway::new()))
}

pub(crate) fn config(stage: &Stage, preset: Preset, interpreter: &str, script: &str) -> ExecConfig {
    let mut config = ExecConfig::new(preset);
    config.command = vec![stage.script(interpreter, script).display().to_string()];
    config.env.extend([stage.mark()]);
    config
}

/// Runs one turn of the `command` preset.
pub(crate) async fn run(
    stage: &Stage,
    interpreter: &str,
    script: &str,
    prompt: &str,
) -> (Vec<Seen>, Finished) {
    Going::start(engine(stage, Preset::Command, interpreter, script), turn(stage, prompt))
        .until_it_ends()
        .await
}

/// The facts without the process, whose number is new every time, and its walls.
pub(crate) fn facts(seen: &[Seen]) -> Vec<Observation> {
    let facts = seen.iter().filter_map(|seen| match seen {
        Seen::Fact(Observation::Process(_) | Observation::Sandbox(_)) | Seen::Delta(_) => None,
        Seen::Fact(fact) => Some(fact.clone()),
    });
    facts.collect()
}

pub(crate) fn completed(text: &str) -> Finished {
    Finished::Completed { text: text.to_owned() }
}

pub(crate) fn handle(handle: &str) -> Observation {
    Observation::Handle(handle.to_owned())
}
