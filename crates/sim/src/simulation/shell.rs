//! Driving the kernel: what its thread does in production.

use std::time::Duration;

use adjourn_core::Survey;
use adjourn_kernel::{Answer, Effect, Now, Steady};

use super::{From, Inside, Simulation, Ticket, Todo, finish};
use crate::bug::Bug;
use crate::report::{Step, Violation, ensure};

/// Ticks in a row, at one moment, after which the kernel is taken never to rest: a page of deadlines or of a sweep is
/// one tick, and no seed has twenty of them.
const TICKS_MAX: u32 = 200;

impl Simulation {
    /// Drives the kernel until it rests.
    pub(super) fn pump(&mut self) -> Step {
        for _ in 0..TICKS_MAX {
            self.submit()?;
            self.tell()?;
            let now = self.now();
            let Some(kernel) = &mut self.kernel else { return Ok(()) };
            self.watch.saw_time(now.wall);
            kernel.look(now);
            match kernel.next_tick(&now) {
                Some(Duration::ZERO) if self.plan.bug != Some(Bug::LosesTimers) => {
                    let is_early = self.plan.bug == Some(Bug::FiresEarly);
                    kernel.tick(if is_early { early(now) } else { now });
                }
                Some(_) | None => return self.rest(),
            }
        }
        Err(Violation::new("the kernel comes to rest", format!("it was ticked {TICKS_MAX} times in a row"))
            .into())
    }

    fn tell(&mut self) -> Step {
        let Some(kernel) = &mut self.kernel else { return Ok(()) };
        let (answers, effects) = (kernel.take_answers(), kernel.take_effects());
        for (number, answer) in answers {
            let ticket = self.outstanding.remove(&number);
            let ticket = ticket.ok_or_else(|| {
                Violation::new("a request is answered once", format!("request {number} is answered again"))
            })?;
            self.answered(&ticket, answer)?;
            self.boundary("crash after an answer")?;
        }
        let Some(kernel) = &mut self.kernel else { return Ok(()) };
        for (number, answer) in kernel.take_roundtable_answers() {
            self.roundtable_answered(number, answer)?;
            self.boundary("crash after an answer")?;
        }
        for effect in effects {
            self.carry_out(effect)?;
            self.boundary("crash after an effect")?;
        }
        Ok(())
    }

    fn answered(&mut self, ticket: &Ticket, answer: Answer) -> Step {
        self.log(|| {
            let told = match &answer {
                Ok(accepted) => format!("ok, {} with {:?}", accepted.state.status(), accepted.events),
                Err(denied) => denied.to_string(),
            };
            format!("  {:?} of {} by {:?}: {told}", ticket.command, ticket.run_id, ticket.from)
        });
        if let Ok(accepted) = &answer {
            self.watch.is_durable(
                self.disk.durable().as_ref(),
                accepted.state.as_ref(),
                "an answer is told when it is durable",
            )?;
        }
        match &ticket.from {
            From::Creator(index) => self.created(*index, ticket, answer)?,
            From::Person(reaction) => self.reacted(reaction.as_ref().clone(), ticket, answer)?,
            From::Turn(turn) => self.turn_answered(*turn, ticket, answer)?,
            From::Process => self.process_answered(ticket, &answer),
            From::Roundtable => self.activation_answered(ticket.run_id, &answer)?,
            From::Bug => {}
        }
        Ok(())
    }

    pub(super) fn carry_out(&mut self, effect: Effect) -> Step {
        self.log(|| match &effect {
            Effect::StartTurn(run) => format!("  start turn {} of {}", run.turn(), run.id()),
            Effect::StopTurn { run_id, turn, cause } => format!("  stop turn {turn} of {run_id}: {cause:?}"),
            Effect::Survey(run) => format!("  survey {} ({})", run.id(), run.status()),
            Effect::ForgetCall(run_id, id) => format!("  forget {id} of {run_id}"),
            Effect::PrepareActivation { roundtable, purpose } => {
                format!("  prepare {purpose:?} of {}", roundtable.id())
            }
            Effect::CreateActivation { roundtable, run_id } => {
                format!("  create {run_id} of {}", roundtable.id())
            }
            Effect::ForgetRoundtable(roundtable) => format!("  forget {roundtable}"),
        });
        match effect {
            Effect::StartTurn(run) => {
                self.watch.is_durable(
                    self.disk.durable().as_ref(),
                    run.as_ref(),
                    "a turn is started when its start is durable",
                )?;
                match self.plan.bug {
                    Some(Bug::NeverStarts) if self.random.once_in(3) => return Ok(()),
                    Some(Bug::StartsTwice) if self.random.once_in(3) => self.start_turn(&run)?,
                    _ => {}
                }
                self.start_turn(&run)
            }
            Effect::StopTurn { run_id, turn, cause } => self.stop_wanted(run_id, turn, cause),
            Effect::Survey(run) => {
                self.counts.add("surveys");
                self.watch.survey_began(&run, &self.mirror);
                let survey = self.draw_survey();
                let delay = self.draw_delay(200);
                self.inside(delay, Inside::Surveyed(run.id(), survey));
                Ok(())
            }
            Effect::ForgetCall(..) => Ok(()),
            Effect::PrepareActivation { roundtable, purpose } => self.prepare_wanted(&roundtable, purpose),
            Effect::CreateActivation { roundtable, run_id } => self.creation_wanted(&roundtable, run_id),
            Effect::ForgetRoundtable(id) => self.forget_wanted(id),
        }
    }

    fn draw_survey(&mut self) -> Survey {
        if self.is_calm || self.plan.faults.survey == 0 || !self.random.once_in(self.plan.faults.survey) {
            return Survey::INTACT;
        }
        self.counts.add("fault: a restart finds something missing");
        let lost = self.random.below(3);
        Survey { engine: lost != 0, workspace: lost != 1, handle: lost != 2 }
    }

    /// What holds whenever the kernel rests, and when it wants to be woken.
    fn rest(&mut self) -> Step {
        self.check_rest()?;
        let Some(kernel) = &self.kernel else { return Ok(()) };
        let wait = kernel.next_tick(&self.now());
        if let Some(wait) = wait.filter(|_| self.plan.bug != Some(Bug::LosesTimers)) {
            let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX / 2);
            let at_ms = self.time_ms + wait_ms.max(1);
            if self.wakes_at_ms.is_none_or(|other| at_ms < other) {
                self.wakes_at_ms = Some(at_ms);
                self.later(at_ms - self.time_ms, Todo::Wake);
            }
        }
        Ok(())
    }

    fn check_rest(&mut self) -> Result<(), Violation> {
        let Some(kernel) = &self.kernel else { return Ok(()) };
        let time_ms = self.time_ms;
        self.watch.always(kernel, &self.engines)?;
        if !kernel.is_committing() && kernel.open_len() == 0 {
            self.watch.at_rest(kernel, &self.mirror, &self.engines, time_ms)?;
        }
        ensure(self.steps < finish::STEPS_MAX, "a simulation comes to its end", || {
            format!("{} steps were not enough", finish::STEPS_MAX)
        })
    }
}

/// A moment twenty seconds later.
fn early(now: Now) -> Now {
    let steady = Steady::from_millis(now.steady.millis() + 20_000);
    Now { wall: now.wall.plus_seconds(20), steady, ..now }
}
