//! The kernel in production: a thread that drives it, and a handler that carries out its effects.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use adjourn_core::roundtable::{self, Purpose, Roundtable};
use adjourn_core::{Command, Item, RoundtableId, RunId, Survey, Timestamp, Wanted};
use adjourn_kernel::{
    Answer, Clock, Denied, Effect, Inputs, Kernel, NotCreated, Preparation, Pulse, Room, SlotUse, Slots,
    Steps, Stuck, Threads, WeakInputs,
};
use adjourn_store::{Error, Outcome, Store};
use tokio::sync::{Semaphore, oneshot};

use crate::stats::Stats;

/// Requests that may be under way; whoever sends one more waits.
const UNDER_WAY_MAX: usize = 8192;

/// The longest time between two looks at the clock while something is due: a clock that is set, or a machine that slept,
/// is noticed this late.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_secs(1);

/// Carries out what the kernel wants done.
pub trait EffectHandler: Send + 'static {
    /// Begins an effect and returns at once; what it begins goes on elsewhere, and reports to the [`Runtime`].
    fn handle(&self, effect: Effect);
}

type Ticket = oneshot::Sender<Answer>;
type RoundtableTicket = oneshot::Sender<Answer<Roundtable>>;

enum Input {
    Ask(Box<(RunId, Command, Ticket)>),
    AskRoundtable(Box<(RoundtableId, roundtable::Command, RoundtableTicket)>),
    Surveyed(RunId, Survey),
    ActivationPrepared(RoundtableId, Purpose, Preparation),
    ActivationCreated(RunId, Result<(), NotCreated>),
    MissEngine(String),
    Room(Room),
    Drain(oneshot::Sender<()>),
    Slots(oneshot::Sender<SlotUse>),
}

/// What a runtime is started with.
#[derive(Debug, Clone)]
pub struct RuntimeOptions {
    /// How many turns may go on at the same time.
    pub slots: Slots,
    /// What notices are written of.
    pub wanted: Wanted,
    /// Whether the disk has room at the start.
    pub room: Room,
}

impl RuntimeOptions {
    /// With so many slots, on a disk with room, and nobody to be told.
    pub fn new(slots: Slots) -> Self {
        Self { slots, wanted: Wanted::default(), room: Room::Enough }
    }
}

/// A handle to the runtime: cheap to clone. The runtime ends when the last one is gone.
#[derive(Clone)]
pub struct Runtime {
    inputs: Inputs<Input>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    under_way: Arc<Semaphore>,
    /// Set once no turn begins any more.
    draining: Arc<AtomicBool>,
    stats: Arc<Stats>,
    pulse: Arc<OnceLock<Arc<Pulse>>>,
}

impl Runtime {
    /// Starts the runtime over what `store` holds. `handler` is given a handle to the runtime it works for.
    pub fn start<H: EffectHandler>(
        store: Arc<dyn Store>,
        options: RuntimeOptions,
        clock: Arc<dyn Clock>,
        handler: impl FnOnce(WeakRuntime) -> H,
    ) -> Result<(Self, Threads), Error> {
        let RuntimeOptions { slots, wanted, room } = options;
        let mut kernel = Kernel::new(store.clone(), slots, clock.look())?;
        kernel.want(wanted);
        kernel.set_room(room);
        let under_way = Arc::new(Semaphore::new(UNDER_WAY_MAX));
        let draining = Arc::new(AtomicBool::new(false));
        let stats = Arc::new(Stats::default());
        let pulse: Arc<OnceLock<Arc<Pulse>>> = Arc::default();
        let weak = {
            let (store, clock) = (Arc::downgrade(&store), clock.clone());
            let (under_way, draining, stats) = (under_way.clone(), draining.clone(), stats.clone());
            let pulse = pulse.clone();
            move |inputs| WeakRuntime { inputs, store, clock, under_way, draining, stats, pulse }
        };
        let (inputs, threads) = Threads::start(store.clone(), {
            let (clock, stats) = (clock.clone(), stats.clone());
            |inputs| Shell { kernel, clock, handler: handler(weak(inputs)), drains: Vec::new(), stats }
        })?;
        // Nobody else sets it.
        let _ = pulse.set(threads.pulse());
        Ok((Self { inputs, store, clock, under_way, draining, stats, pulse }, threads))
    }

    /// A runtime over what `store` holds that does nothing, and denies whatever it is asked.
    pub fn at_rest(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self {
            inputs: Inputs::closed(),
            store,
            clock,
            under_way: Arc::new(Semaphore::new(UNDER_WAY_MAX)),
            draining: Arc::default(),
            stats: Arc::default(),
            pulse: Arc::default(),
        }
    }

    /// A handle that does not keep the runtime going.
    pub fn downgrade(&self) -> WeakRuntime {
        let Self { inputs, store, clock, under_way, draining, stats, pulse } = self.clone();
        let store = Arc::downgrade(&store);
        WeakRuntime { inputs: inputs.downgrade(), store, clock, under_way, draining, stats, pulse }
    }

    /// Begins no turn any more. When this returns, all those that had begun are known to the handler.
    pub async fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        let (done, drained) = oneshot::channel();
        if self.inputs.send(Input::Drain(done)) {
            // A runtime that ended meanwhile begins nothing either.
            let _ = drained.await;
        }
    }

    /// Has a command decided and made durable, or says why not.
    pub async fn ask(&self, run_id: RunId, command: Command) -> Answer {
        let _under_way = self.under_way.acquire().await.map_err(|_| Denied::stopped())?;
        let (ticket, answer) = oneshot::channel();
        if !self.inputs.send(Input::Ask(Box::new((run_id, command, ticket)))) {
            return Err(Denied::stopped());
        }
        answer.await.map_err(|_| Denied::stopped())?
    }

    /// Has a command to a roundtable decided and made durable, or says why not.
    pub async fn ask_roundtable(&self, id: RoundtableId, command: roundtable::Command) -> Answer<Roundtable> {
        let _under_way = self.under_way.acquire().await.map_err(|_| Denied::stopped())?;
        let (ticket, answer) = oneshot::channel();
        if !self.inputs.send(Input::AskRoundtable(Box::new((id, command, ticket)))) {
            return Err(Denied::stopped());
        }
        answer.await.map_err(|_| Denied::stopped())?
    }

    /// The thread that is stuck in one step, if one is: commands are not answered then.
    pub fn stuck(&self) -> Option<Stuck> {
        self.pulse.get()?.stuck()
    }

    /// Whether no turn begins any more.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Says whether the disk has room.
    pub(crate) fn set_room(&self, room: Room) {
        self.inputs.send(Input::Room(room));
    }

    /// Says that an engine is missing: its runs are not started before it is found.
    pub(crate) fn miss_engine(&self, engine: String) {
        self.inputs.send(Input::MissEngine(engine));
    }

    /// Says what a restart left of a run's surroundings.
    pub fn surveyed(&self, run_id: RunId, survey: Survey) {
        self.inputs.send(Input::Surveyed(run_id, survey));
    }

    /// Says what was found out about an agent that a roundtable needs.
    pub(crate) fn activation_prepared(&self, id: RoundtableId, purpose: Purpose, found: Preparation) {
        self.inputs.send(Input::ActivationPrepared(id, purpose, found));
    }

    /// Says what came of the creation of a run that a roundtable announced.
    pub(crate) fn activation_created(&self, run_id: RunId, created: Result<(), NotCreated>) {
        self.inputs.send(Input::ActivationCreated(run_id, created));
    }

    /// How the slots are used now.
    pub async fn slots(&self) -> Result<SlotUse, Denied> {
        let (answer, slots) = oneshot::channel();
        if !self.inputs.send(Input::Slots(answer)) {
            return Err(Denied::stopped());
        }
        slots.await.map_err(|_| Denied::stopped())
    }

    /// How long things took.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The store, for reading.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// A handle that does not keep the runtime going: what its own handler has.
#[derive(Clone)]
pub struct WeakRuntime {
    inputs: WeakInputs<Input>,
    /// Whoever holds the store owns its data directory, so this does not.
    store: Weak<dyn Store>,
    clock: Arc<dyn Clock>,
    under_way: Arc<Semaphore>,
    draining: Arc<AtomicBool>,
    stats: Arc<Stats>,
    pulse: Arc<OnceLock<Arc<Pulse>>>,
}

impl WeakRuntime {
    /// The runtime, unless it has ended.
    pub fn upgrade(&self) -> Option<Runtime> {
        let inputs = self.inputs.upgrade()?;
        let store = self.store.upgrade()?;
        let Self { clock, under_way, draining, stats, pulse, .. } = self.clone();
        Some(Runtime { inputs, store, clock, under_way, draining, stats, pulse })
    }

    /// The store, for reading, unless the runtime has ended.
    pub(crate) fn store(&self) -> Option<Arc<dyn Store>> {
        self.store.upgrade()
    }

    /// Where it is noted how long things took.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
}

/// The kernel, with a clock and a handler of its effects.
struct Shell<H> {
    kernel: Kernel<Ticket, RoundtableTicket>,
    clock: Arc<dyn Clock>,
    handler: H,
    /// Who waits until nothing is about to begin.
    drains: Vec<oneshot::Sender<()>>,
    stats: Arc<Stats>,
}

impl<H: EffectHandler> Steps for Shell<H> {
    type Input = Input;

    fn take(&mut self, input: Input) {
        self.kernel.look(self.clock.look());
        match input {
            Input::Ask(asked) => {
                let (run_id, command, ticket) = *asked;
                self.kernel.ask(run_id, command, ticket);
            }
            Input::AskRoundtable(asked) => {
                let (id, command, ticket) = *asked;
                self.kernel.ask_roundtable(id, command, ticket);
            }
            Input::Room(room) => self.kernel.set_room(room),
            Input::Surveyed(run_id, survey) => self.kernel.surveyed(run_id, survey),
            Input::ActivationPrepared(id, purpose, found) => {
                self.kernel.activation_prepared(id, purpose, found);
            }
            Input::ActivationCreated(run_id, created) => self.kernel.activation_created(run_id, created),
            Input::MissEngine(engine) => self.kernel.miss_engine(&engine),
            Input::Drain(done) => {
                self.kernel.drain();
                self.drains.push(done);
            }
            Input::Slots(answer) => {
                // Whoever asked may have stopped waiting.
                let _ = answer.send(self.kernel.slots().usage());
            }
        }
    }

    fn tick(&mut self) {
        let now = self.clock.look();
        self.kernel.look(now);
        if self.kernel.next_tick(&now) == Some(Duration::ZERO) {
            self.kernel.tick(now);
        }
    }

    fn submit(&mut self) -> Option<Arc<[Item]>> {
        self.kernel.submit()
    }

    fn settle(&mut self, outcome: Result<Vec<Outcome>, Error>) {
        self.kernel.look(self.clock.look());
        self.kernel.settle(outcome);
    }

    fn tell(&mut self) {
        // Whoever asked may have stopped waiting; the command counts all the same.
        for (ticket, answer) in self.kernel.take_answers() {
            let _ = ticket.send(answer);
        }
        for (ticket, answer) in self.kernel.take_roundtable_answers() {
            let _ = ticket.send(answer);
        }
        for effect in self.kernel.take_effects() {
            if let Effect::StartTurn(run) = &effect {
                self.stats.turn_starts(run, self.clock.now());
            }
            self.handler.handle(effect);
        }
        if !self.is_busy() {
            for done in self.drains.drain(..) {
                let _ = done.send(());
            }
        }
    }

    fn wait(&self) -> Option<Duration> {
        let wait = self.kernel.next_tick(&self.clock.look())?;
        Some(wait.min(LOOK_AT_LEAST_EVERY))
    }

    fn is_busy(&self) -> bool {
        self.kernel.is_committing() || self.kernel.open_len() > 0
    }
}
