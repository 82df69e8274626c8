//! The handlers of a roundtable's effects: agents are prepared and their runs created, with delays and failures.

use adjourn_core::roundtable::{Activation, Command, Memory, Purpose, Roundtable, Start};
use adjourn_core::{
    Command as RunCommand, Continued, Create, ExecutionMode, ResumesBy, RoundtableId, RunId, RunSpec,
    successor_key,
};
use adjourn_kernel::{Answer, Denied, NotCreated, Preparation};

use super::{AskedBy, RoundtableAsk, speech};
use crate::bug::Bug;
use crate::client::{Deed, Reaction};
use crate::plan::Agents;
use crate::report::Step;
use crate::simulation::{From, Inside, Simulation, Ticket, Todo};

/// How long a turn of an agent may take: longer than most take, so that those that hang are stopped.
const TURN_MAX_SEC: u32 = 30;

impl Simulation {
    pub(crate) fn prepare_wanted(&mut self, roundtable: &Roundtable, purpose: Purpose) -> Step {
        let rule = "an agent is prepared for what is durable";
        self.watch.is_durable(self.durable().as_ref(), roundtable, rule)?;
        self.watch.prepare_wanted(roundtable, &purpose, &self.mirror)?;
        let delay = self.draw_delay(200);
        self.inside(delay, Inside::Prepared(roundtable.id(), purpose));
        Ok(())
    }

    /// Says whether an agent can be asked, and what it remembers.
    pub(crate) fn activation_prepared(&mut self, id: RoundtableId, purpose: Purpose) -> Step {
        self.boundary("crash before an agent is announced")?;
        let found = if self.draw_agent_fault() {
            self.counts.add("fault: an agent cannot be asked now");
            Preparation::NotNow
        } else {
            match self.start_of(id, &purpose) {
                Some(start) => Preparation::Ready { run_id: self.run_id(), start },
                None => Preparation::NotNow,
            }
        };
        self.log(|| format!("  prepared {purpose:?} of {id}: {found:?}"));
        self.watch.prepared(id);
        let now = self.now();
        if let Some(kernel) = &mut self.kernel {
            self.watch.saw_time(now.wall);
            kernel.look(now);
            kernel.activation_prepared(id, purpose, found);
        }
        Ok(())
    }

    /// What an agent remembers. None where the journal does not answer.
    fn start_of(&self, id: RoundtableId, purpose: &Purpose) -> Option<Start> {
        let roundtable = self.mirror.roundtables.states.get(&id)?;
        let role = purpose.role();
        let seat = roundtable.spec().seat(&role)?;
        let conversation = match seat.memory {
            Memory::Fresh => None,
            Memory::Resume => roundtable.conversation(&role),
        };
        let Some(conversation) = conversation else { return Some(Start::Fresh) };
        let lost = conversation.run_id;
        let fallback = |reason: &str| Some(Start::Fallback { lost, reason: reason.to_owned() });
        if self.durable().holder(&successor_key(lost)).ok()?.is_some() {
            return fallback("another run took it up in vain");
        }
        match self.mirror.runs.get(&lost).filter(|run| !self.mirror.removed.contains(&run.id())) {
            None => fallback("its run was removed"),
            Some(run) if run.spec().resumes_by == ResumesBy::Handle && run.handle().is_none() => {
                fallback("its agent left no handle")
            }
            Some(_) => Some(Start::Resume(lost)),
        }
    }

    pub(crate) fn creation_wanted(&mut self, roundtable: &Roundtable, run_id: RunId) -> Step {
        let rule = "a run of a roundtable is created when its announcement is durable";
        self.watch.is_durable(self.durable().as_ref(), roundtable, rule)?;
        self.watch.creation_wanted(roundtable, run_id, &self.mirror)?;
        let delay = self.draw_delay(200);
        self.inside(delay, Inside::CreateActivation(roundtable.id(), run_id));
        Ok(())
    }

    /// Creates the run of an agent, or says that it cannot be created.
    pub(crate) fn create_activation(&mut self, id: RoundtableId, run_id: RunId) -> Step {
        self.boundary("crash before a run of a roundtable is created")?;
        if self.draw_agent_fault() && self.random.once_in(3) {
            self.counts.add("fault: a run of a roundtable cannot be created");
            let lost = NotCreated::Lost("it has no workspace".to_owned());
            self.inside(0, Inside::ActivationCreated(run_id, Err(lost)));
            return Ok(());
        }
        let (spec, agents) = match self.spec_of(id, run_id) {
            Ok(found) => found,
            Err(reason) => {
                self.inside(0, Inside::ActivationCreated(run_id, Err(NotCreated::Lost(reason))));
                return Ok(());
            }
        };
        if self.plan.bug == Some(Bug::CreatesActivationTwice) && self.random.once_in(3) {
            let other = self.run_id();
            let create = RunCommand::Create(Create { spec: spec.clone(), key: None });
            self.ask(Ticket { run_id: other, command: create, from: From::Bug });
        }
        self.watch.creating(self.kernel.as_ref(), run_id, &spec);
        let command = RunCommand::Create(Create { spec, key: None });
        self.ask(Ticket { run_id, command, from: From::Roundtable });
        if agents == Agents::Anyhow && self.random.once_in(12) {
            let delay = crate::seeded::delay(&mut self.random);
            let deed = Deed::Cancel(adjourn_core::By::USER);
            self.later(delay, Todo::React(Reaction { run_id, deed }));
        }
        Ok(())
    }

    /// What the run of an agent is created with. Draws what its agent is going to do.
    fn spec_of(&mut self, id: RoundtableId, run_id: RunId) -> Result<(RunSpec, Agents), String> {
        let not_announced = || format!("{run_id} was not announced");
        let roundtable = self.mirror.roundtables.states.get(&id).ok_or_else(not_announced)?;
        let activation = roundtable.current().and_then(|round| round.activation(run_id));
        let Activation { purpose, continues, .. } = activation.cloned().ok_or_else(not_announced)?;
        let seat = roundtable.spec().seat(&purpose.role()).ok_or_else(not_announced)?;
        let continues = match continues {
            None => None,
            Some(before) => {
                let run = self.mirror.runs.get(&before).filter(|_| !self.mirror.removed.contains(&before));
                let run = run.ok_or_else(|| format!("{before} was removed"))?;
                let handle = run.handle().map(str::to_owned);
                Some(Continued { run_id: before, root: run.root(), handle })
            }
        };
        let resumes_by = if seat.engine == "reasoning" { ResumesBy::Journal } else { ResumesBy::Handle };
        let spec = RunSpec {
            roundtable: Some(id),
            continues,
            resumes_by,
            hard_timeout_sec: Some(TURN_MAX_SEC),
            ..RunSpec::new(seat.engine.clone(), ExecutionMode::Auto)
        };
        let index = self.roundtables.plans.get(&id).copied().unwrap_or_default();
        let agents = self.plan.roundtables[index].agents;
        let script = speech::script(&mut self.random, agents, roundtable, run_id, &purpose);
        self.roundtables.scripts.insert(run_id, script);
        Ok((spec, agents))
    }

    /// The kernel answered the creation of an agent's run.
    pub(crate) fn activation_answered(&mut self, run_id: RunId, answer: &Answer) -> Step {
        self.watch.create_answered(run_id, answer)?;
        let created = match answer {
            Ok(_) => Ok(()),
            Err(Denied::QueueFull { .. } | Denied::DiskReserve { .. }) => {
                self.counts.add("runs of roundtables without room");
                Err(NotCreated::NoRoom)
            }
            Err(Denied::Failed(_)) => Err(NotCreated::NotNow),
            Err(Denied::Refused(refusal)) => Err(NotCreated::Lost(refusal.to_string())),
        };
        let delay = self.draw_delay(50);
        self.inside(delay, Inside::ActivationCreated(run_id, created));
        Ok(())
    }

    /// Tells the kernel what came of a creation.
    pub(crate) fn activation_created(&mut self, run_id: RunId, created: Result<(), NotCreated>) -> Step {
        self.boundary("crash before a creation is reported")?;
        self.log(|| format!("  created {run_id}: {created:?}"));
        self.watch.created(run_id);
        if let Err(NotCreated::Lost(_)) = created {
            self.mirror.roundtables.given_up.insert(run_id);
        }
        self.lose_early(run_id);
        let now = self.now();
        if let Some(kernel) = &mut self.kernel {
            self.watch.saw_time(now.wall);
            kernel.look(now);
            kernel.activation_created(run_id, created);
        }
        Ok(())
    }

    pub(crate) fn forget_wanted(&mut self, id: RoundtableId) -> Step {
        self.watch.forget_wanted(id, &self.mirror)?;
        Ok(())
    }

    /// Whether an agent has trouble just now.
    fn draw_agent_fault(&mut self) -> bool {
        let often = self.plan.faults.agent;
        !self.is_calm && often > 0 && self.random.once_in(often)
    }

    /// [`Bug::RecordsRoundEarly`].
    fn lose_early(&mut self, run_id: RunId) {
        if self.plan.bug != Some(Bug::RecordsRoundEarly) || !self.random.once_in(3) {
            return;
        }
        let Some(id) = self.mirror.runs.get(&run_id).and_then(|run| run.spec().roundtable) else { return };
        let command = Command::ReportLost { run_id, reason: "it takes too long".to_owned() };
        self.ask_roundtable(RoundtableAsk { id, command, from: AskedBy::Bug });
    }

    /// [`Bug::HearsBeforeTheEnd`]: what an agent prints is told to its roundtable at once.
    pub(crate) fn hear_early(&mut self, run_id: RunId, text: &str) {
        if self.plan.bug != Some(Bug::HearsBeforeTheEnd) {
            return;
        }
        let Some(id) = self.mirror.runs.get(&run_id).and_then(|run| run.spec().roundtable) else { return };
        if let Ok(said) = serde_json::from_str(text) {
            let command = Command::RecordAnswer { run_id, said };
            self.ask_roundtable(RoundtableAsk { id, command, from: AskedBy::Bug });
        }
    }
}
