//! The driver: gives turns to engines, and tells the kernel what came of them.

mod journal_writer;
mod staying;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use adjourn_core::{
    Command, Contract, ErrorCode, Event, Evidence, Interaction, Observation, PermissionRequest, Profile, Run,
    RunError, RunId, Subject, Survey, TurnEnd, TurnReason, Validity, Warning, WarningCode, check_depth,
    visible_line,
};
use adjourn_engine::{Decision, Engine, Finished, LostOutput, NoTools, Seen, Toolbox, Turn};
use adjourn_kernel::{Answer, Effect, StopCause, load};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{Notify, broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use crate::contracts::{Toolset, TurnTools};
use crate::delta_hub::DeltaHub;
use crate::prompt;
use crate::runtime::{EffectHandler, WeakRuntime};
use crate::turn_inputs::{OutputContract, PrepareTurns, TurnInputs};
use adjourn_engine::secrets::{MASK, Masker};
pub(crate) use journal_writer::JournalWriter;
use staying::Staying;

/// What an engine may show before somebody has to look: an agent that floods waits for the journal.
const SEEN_MAX: usize = 256;

/// Facts that become one entry of the journal, when they come faster than they can be written.
const FACTS_AT_ONCE: usize = 64;

/// Deltas that a slow watcher of all runs may lag behind before it misses some. Nothing depends on them.
const DELTAS_MAX: usize = 1024;

/// A message that is longer is read on another thread: at some hundred megabytes a second this takes a millisecond.
const READ_HERE_BYTES_MAX: usize = 256 * 1024;

/// Text that an agent is writing just now.
#[derive(Debug, Clone)]
pub struct Delta {
    /// Whose agent.
    pub run_id: RunId,
    /// What it wrote.
    pub text: Arc<str>,
}

/// Gives turns to engines.
#[derive(Clone)]
pub struct Driver(Arc<Inner>);

struct Inner {
    runtime: WeakRuntime,
    journal_writer: JournalWriter,
    turns: Arc<dyn PrepareTurns>,
    tasks: Handle,
    /// The turns that are going on.
    live: Mutex<HashMap<RunId, Live>>,
    /// Told whenever one of them is over.
    over: Notify,
    staying: Staying,
    deltas: broadcast::Sender<Delta>,
    delta_hub: DeltaHub,
}

/// What an engine made of a turn.
struct Executed {
    end: TurnEnd,
    /// What it showed last.
    observations: Vec<Observation>,
    /// Who did; nobody where it was not known who should.
    engine: Option<Arc<dyn Engine>>,
}

/// A turn that is going on.
struct Live {
    turn: u32,
    stop: CancellationToken,
    cause: Option<StopCause>,
}

impl Driver {
    /// A driver for `runtime` that runs its tasks on `tasks`.
    pub fn new(runtime: WeakRuntime, turns: Arc<dyn PrepareTurns>, tasks: Handle) -> Self {
        let (deltas, _) = broadcast::channel(DELTAS_MAX);
        Self(Arc::new(Inner {
            journal_writer: JournalWriter::new(runtime.clone()),
            runtime,
            turns,
            tasks,
            live: Mutex::default(),
            over: Notify::new(),
            staying: Staying::default(),
            deltas,
            delta_hub: DeltaHub::default(),
        }))
    }

    /// What agents are writing, from now on.
    pub fn deltas(&self) -> broadcast::Receiver<Delta> {
        self.0.deltas.subscribe()
    }

    /// What the agent of one run is writing, from now on. Costs nothing while others write.
    pub fn deltas_of(&self, run_id: RunId) -> broadcast::Receiver<Delta> {
        self.0.delta_hub.watch(run_id)
    }

    /// How many turns are going on.
    pub fn live_turns(&self) -> usize {
        self.0.live().len()
    }

    /// Waits until no turn is going on. Others may begin at any time, unless the runtime was [told](crate::Runtime::drain)
    /// that none does.
    pub async fn at_rest(&self) {
        let mut over = std::pin::pin!(self.0.over.notified());
        loop {
            // Listened for before it is looked: a turn that ends in between is not missed.
            over.as_mut().enable();
            if self.live_turns() == 0 {
                return;
            }
            over.as_mut().await;
            over.set(self.0.over.notified());
        }
    }
}

impl EffectHandler for Driver {
    fn handle(&self, effect: Effect) {
        match effect {
            Effect::StartTurn(run) => self.start_turn(run),
            Effect::StopTurn { run_id, turn, cause } => self.stop_turn(run_id, turn, cause),
            Effect::Survey(run) => self.survey(run),
            // A driver gives turns to engines. It keeps nothing of their calls, and knows nothing of roundtables.
            Effect::ForgetCall(..)
            | Effect::PrepareActivation { .. }
            | Effect::CreateActivation { .. }
            | Effect::ForgetRoundtable(_) => {}
        }
    }
}

impl Driver {
    fn start_turn(&self, run: Arc<Run>) {
        let stop = CancellationToken::new();
        let live = Live { turn: run.turn(), stop: stop.clone(), cause: None };
        self.0.live().insert(run.id(), live);
        let inner = self.0.clone();
        self.0.tasks.spawn(async move { inner.drive(run, stop).await });
    }

    fn stop_turn(&self, run_id: RunId, turn: u32, cause: StopCause) {
        if let Some(live) = self.0.live().get_mut(&run_id) {
            if live.turn == turn {
                // The first cause counts: a turn that timed out and whose run is canceled meanwhile has timed out.
                live.cause.get_or_insert(cause);
                live.stop.cancel();
            }
            return;
        }
        match cause {
            StopCause::Ending => self.0.end_staying(run_id),
            // The turn was faster, and its process has time for the next one.
            StopCause::TimedOut => {}
        }
    }

    fn survey(&self, run: Arc<Run>) {
        let inner = self.0.clone();
        self.0.tasks.spawn(async move {
            let is_alone = match run.process() {
                Some(process) => adjourn_engine::supervisor::end_orphan(process).await,
                None => true,
            };
            let looked = inner.look(run.clone()).await;
            // A conversation that something else may still be working on is not taken up.
            let looked = looked.map(|survey| Survey { handle: survey.handle && is_alone, ..survey });
            if let (Some(survey), Some(runtime)) = (looked, inner.runtime.upgrade()) {
                runtime.surveyed(run.id(), survey);
            }
        });
    }
}

impl Inner {
    fn live(&self) -> MutexGuard<'_, HashMap<RunId, Live>> {
        // Whoever panicked while it held the lock left a map that is still a map.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what there is of a run's surroundings.
    async fn look(self: &Arc<Self>, run: Arc<Run>) -> Option<Survey> {
        let inner = self.clone();
        self.tasks.spawn_blocking(move || inner.turns.survey(&run)).await.ok()
    }

    /// What a turn needs. It is read from the disk, and schemas are compiled for it.
    async fn turn_inputs(self: &Arc<Self>, run: &Arc<Run>) -> Result<TurnInputs, RunError> {
        let (inner, run) = (self.clone(), run.clone());
        let read = self.tasks.spawn_blocking(move || inner.turns.turn_inputs(&run)).await;
        read.unwrap_or_else(|_| {
            let message = "reading what the turn needs stopped halfway".to_owned();
            Err(RunError { code: ErrorCode::Internal, message })
        })
    }

    /// Takes a turn to its end, with the repairs that it needs.
    async fn drive(self: &Arc<Self>, mut run: Arc<Run>, stop: CancellationToken) {
        let (run_id, turn, began) = (run.id(), run.turn(), Instant::now());
        let mut repair = None;
        let mut stays = None;
        loop {
            let Executed { end, observations, engine } = self.execute(&run, repair.as_deref(), &stop).await;
            let Ok(accepted) = self.tell(run_id, Command::EndTurn { turn, observations, end }).await else {
                break;
            };
            stays = engine.map(|engine| (engine, accepted.state.clone()));
            repair = accepted.events.iter().find_map(|event| match event {
                Event::RepairStarted { problem, .. } => Some(problem.clone()),
                _ => None,
            });
            if repair.is_none() {
                break;
            }
            run = accepted.state;
        }
        self.runtime.stats().turn_ended(&run.spec().engine, began.elapsed());
        if let Some((engine, run)) = &stays {
            self.keep(run, engine);
        }
        {
            let mut live = self.live();
            if live.get(&run_id).is_some_and(|live| live.turn == turn) {
                live.remove(&run_id);
                self.over.notify_waiters();
            }
        }
        // Whoever wanted the run ended while its turn was still there told the turn, which was over.
        if let Some((engine, run)) = stays
            && (stop.is_cancelled() || run.ending().is_some())
        {
            engine.end(run_id).await;
        }
    }

    /// Has the engine execute the turn.
    async fn execute(
        self: &Arc<Self>,
        run: &Arc<Run>,
        repair: Option<&str>,
        stop: &CancellationToken,
    ) -> Executed {
        let nobody = |end| Executed { end, observations: Vec::new(), engine: None };
        let turn_inputs = match self.turn_inputs(run).await {
            Ok(turn_inputs) => turn_inputs,
            Err(error) => return nobody(TurnEnd::Failed(error)),
        };
        let (run, turn_inputs) = match self.make_cleared_calls(run, turn_inputs, stop).await {
            Ok(went_on) => went_on,
            Err(end) => return nobody(end),
        };
        let run = &run;
        if turn_inputs.engine.plays_a_recording() {
            self.warn_of_recording(run).await;
        }
        let TurnInputs { engine, prompt, shell, workspace, reads, logs, masker, output, opening, toolset } =
            turn_inputs;
        let tools = toolset.map(|toolset| self.tools(toolset, run, stop));
        let prompt = match repair {
            Some(problem) => prompt::repair(problem, output.as_ref().map(|output| &output.document)),
            None => prompt,
        };
        let lost_output = LostOutput::default();
        let turn = Turn {
            run_id: run.id(),
            attempt: run.attempt_number(),
            prompt,
            handle: run.handle().map(str::to_owned),
            shell,
            workspace,
            reads,
            logs,
            masker: masker.clone(),
            profile: run.profile(),
            process: run.process().filter(|_| run.profile() == Profile::StickyProcess),
            decisions: run.turn_answers().filter_map(decision).collect(),
            reason: run.turn_reason().unwrap_or(TurnReason::First),
            opening,
            tools: tools
                .clone()
                .map_or_else(|| Arc::new(NoTools) as Arc<dyn Toolbox>, |tools| Arc::new(tools)),
            lost_output: lost_output.clone(),
        };
        let (show, seen) = mpsc::channel(SEEN_MAX);
        let (finished, last) =
            tokio::join!(engine.run(turn, show, stop.clone()), self.relay(run, &masker, seen));
        if let Some(warning) = lost_output.warning() {
            // Refused only when the run has ended meanwhile.
            let _ = self.tell(run.id(), Command::Warn(warning)).await;
        }
        // An agent may leave before its calls are over; the turn is over when they are.
        if let Some(tools) = &tools {
            tools.at_rest().await;
        }
        let end = match finished {
            Finished::Completed { text } => self.judge(masker.text(&text).into_owned(), output).await,
            Finished::Failed(RunError { code, message }) => failed(code, masker.text(&message).into_owned()),
            Finished::Stopped => self.stopped(run),
            Finished::Suspended => TurnEnd::Suspended,
            Finished::NeedsPermission(requests) => TurnEnd::NeedsPermission(
                requests.into_iter().map(|request| covered(&masker, request)).collect(),
            ),
        };
        Executed { end, observations: last, engine: Some(engine) }
    }

    /// Has it written down that no agent works on the run, once.
    async fn warn_of_recording(&self, run: &Run) {
        let code = WarningCode::RecordingPlayed;
        if run.warnings().iter().any(|warning| warning.code == code) {
            return;
        }
        let message = "the result is that of a recording: no agent worked on the request, and its input changed nothing";
        // Refused only when the run has ended meanwhile.
        let _ = self.tell(run.id(), Command::Warn(Warning { code, message: message.to_owned() })).await;
    }

    fn tools(&self, toolset: Toolset, run: &Arc<Run>, stop: &CancellationToken) -> TurnTools {
        TurnTools::new(toolset, run.clone(), self.journal_writer.clone(), stop.clone())
    }

    /// Makes the calls that a person has cleared since the turn before, and says what the turn needs after that. Ends the
    /// turn where there is nothing to tell the agent: all that was answered has led to further questions.
    async fn make_cleared_calls(
        self: &Arc<Self>,
        run: &Arc<Run>,
        turn_inputs: TurnInputs,
        stop: &CancellationToken,
    ) -> Result<(Arc<Run>, TurnInputs), TurnEnd> {
        let has_cleared = run.contracts().any(Contract::is_cleared);
        let Some(toolset) = turn_inputs.toolset.clone().filter(|_| has_cleared) else {
            return Ok((run.clone(), turn_inputs));
        };
        self.tools(toolset, run, stop).make_cleared().await;
        let store = self.journal_writer.store();
        let now = store.and_then(|store| load::<Run>(store.as_ref(), run.id()).ok().flatten());
        let Some(now) = now.map(Arc::new) else {
            return Err(failed(ErrorCode::Internal, "the run cannot be read".to_owned()));
        };
        if now.turn_reason() == Some(TurnReason::Settled) && now.settled_calls().next().is_none() {
            return Err(TurnEnd::Suspended);
        }
        let turn_inputs = self.turn_inputs(&now).await.map_err(TurnEnd::Failed)?;
        Ok((now, turn_inputs))
    }

    /// Writes down what an engine shows, as it shows it. What it shows right at its end comes back.
    async fn relay(&self, run: &Run, masker: &Masker, mut seen: mpsc::Receiver<Seen>) -> Vec<Observation> {
        let mut batch = Vec::new();
        // Over all deltas of a message: a secret may be cut anywhere.
        let mut writing = masker.stream();
        while seen.recv_many(&mut batch, FACTS_AT_ONCE).await > 0 {
            let mut observations = Vec::new();
            for seen in batch.drain(..) {
                match seen {
                    Seen::Fact(observation) => {
                        let mut written = std::mem::replace(&mut writing, masker.stream());
                        self.show(run.id(), written.finish());
                        observations.push(masked(masker, observation));
                    }
                    Seen::Delta(text) => self.show(run.id(), writing.push(text.as_bytes())),
                }
            }
            if seen.is_closed() && seen.is_empty() {
                return observations;
            }
            if !observations.is_empty() {
                // Refused only when the run has moved on without this turn; then nothing of it counts.
                let _ = self.tell(run.id(), Command::Observe { turn: run.turn(), observations }).await;
            }
        }
        Vec::new()
    }

    fn show(&self, run_id: RunId, written: Vec<u8>) {
        if !written.is_empty() {
            let text = String::from_utf8_lossy(&written).into();
            let delta = Delta { run_id, text };
            self.delta_hub.tell(&delta);
            // Nobody may be watching.
            let _ = self.deltas.send(delta);
        }
    }

    /// What the last message of a turn shows.
    async fn judge(&self, text: String, output: Option<Arc<OutputContract>>) -> TurnEnd {
        if text.len() <= READ_HERE_BYTES_MAX {
            return TurnEnd::Completed(Box::new(read(&text, output.as_deref())));
        }
        match self.tasks.spawn_blocking(move || read(&text, output.as_deref())).await {
            Ok(evidence) => TurnEnd::Completed(Box::new(evidence)),
            Err(panic) => failed(ErrorCode::Internal, format!("the output could not be read: {panic}")),
        }
    }

    fn stopped(&self, run: &Run) -> TurnEnd {
        let cause = self.live().get(&run.id()).and_then(|live| live.cause);
        match cause {
            Some(StopCause::TimedOut) => {
                let seconds = run.spec().hard_timeout_sec.unwrap_or_default();
                failed(ErrorCode::EngineTimeout, format!("the turn took longer than {seconds} seconds"))
            }
            // The run knows why it ends, and that counts.
            Some(StopCause::Ending) | None => failed(ErrorCode::Internal, "the turn was stopped".to_owned()),
        }
    }

    async fn tell(&self, run_id: RunId, command: Command) -> Answer {
        self.journal_writer.tell(run_id, command).await
    }
}

/// What a person decided about a permission.
fn decision(interaction: &Interaction) -> Option<Decision> {
    let Subject::Permission(digest) = interaction.subject else { return None };
    let option = interaction.resolution.as_ref()?.response.as_str().map(str::to_owned);
    Some(Decision { digest, option })
}

/// A request for a permission as it may be written down.
fn covered(masker: &Masker, mut request: PermissionRequest) -> PermissionRequest {
    let names: Vec<_> = masker.names_in(&request.question.prompt).into_iter().map(str::to_owned).collect();
    let mut prompt = masker.text(&request.question.prompt).into_owned();
    if !names.is_empty() {
        let names: Vec<_> = names.iter().map(|name| format!("`{}`", visible_line(name))).collect();
        let note = format!("\nNote: {MASK} stands for a known secret: {}.", names.join(", "));
        // Beside the question, where the other notes are.
        prompt.insert_str(prompt.find("\n\n").unwrap_or(prompt.len()), &note);
    }
    request.question.prompt = prompt;
    request
}

/// What a message shows, and whether the files that its result names are there.
fn read(text: &str, output: Option<&OutputContract>) -> Evidence {
    let mut evidence = Evidence::read(text, output.map(|output| &output.schema));
    if let (Some(contract), Some(result), Validity::Valid) = (output, &evidence.output, &evidence.validity) {
        let files: Vec<_> = contract.files.iter().map(String::as_str).collect();
        let problems = contract.workspace.check_files(result, &files);
        if !problems.is_empty() {
            evidence.validity = Validity::Invalid(problems);
        }
    }
    evidence
}

fn failed(code: ErrorCode, message: String) -> TurnEnd {
    TurnEnd::Failed(RunError { code, message })
}

/// An observation as it may be written down.
pub(crate) fn masked(masker: &Masker, observation: Observation) -> Observation {
    let text = |text: String| masker.text(&text).into_owned();
    match observation {
        Observation::Message { text: message, raw } => Observation::Message { text: text(message), raw },
        Observation::Reasoning { text: thought, raw } => Observation::Reasoning { text: text(thought), raw },
        Observation::ToolCall { name, detail, raw } => {
            Observation::ToolCall { name: text(name), detail: shallow(masker.json(&detail)), raw }
        }
        Observation::CommandExecution { command, detail, raw } => {
            let detail = shallow(masker.json(&detail));
            Observation::CommandExecution { command: text(command), detail, raw }
        }
        Observation::Step(step) => Observation::Step(masker.json(&step)),
        Observation::Handle(_)
        | Observation::Process(_)
        | Observation::Sandbox(_)
        | Observation::Usage(_) => observation,
    }
}

/// What an agent shows of its own work; as text where it is nested deeper than the journal takes.
fn shallow(detail: Value) -> Value {
    if check_depth(&detail).is_err() { Value::from(detail.to_string()) } else { detail }
}
