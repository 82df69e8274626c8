//! The steps of recovery: what a restart left behind is put right, one run at a time.

use adjourn_core::{Command, RunId, Survey};
use adjourn_store::Error;

use super::{Effect, Kernel, Ticket};

impl<T, U> Kernel<T, U> {
    /// Holds a request back until its run was put right.
    pub(super) fn recover_first(&mut self, run_id: RunId, command: Command, ticket: T) {
        let begun = self.recovery.begin_survey(run_id);
        self.recovery.hold(run_id, command, ticket);
        if begun {
            self.survey_begun(run_id);
        }
    }

    /// Asks for a look at the surroundings of a run that a restart left behind.
    pub(super) fn survey(&mut self, run_id: RunId) {
        if self.recovery.begin_survey(run_id) {
            self.survey_begun(run_id);
        }
    }

    fn survey_begun(&mut self, run_id: RunId) {
        match self.decider.state(run_id) {
            Ok(Some(run)) if !run.status().is_terminal() => self.effects.push(Effect::Survey(run)),
            // Nothing of it runs.
            Ok(_) => {
                self.scheduler.forget(run_id);
                for (command, ticket) in self.recovery.surveyed(run_id) {
                    self.ask(run_id, command, ticket);
                }
            }
            Err(Error::Damaged { .. }) => {
                self.set_aside(run_id);
                for (command, ticket) in self.recovery.surveyed(run_id) {
                    self.ask(run_id, command, ticket);
                }
            }
            Err(_) => {
                self.recovery.put_off(run_id, None);
                self.retry_later();
            }
        }
    }

    /// Puts a run right, and then does what was asked of it meanwhile.
    pub(super) fn recover(&mut self, run_id: RunId, survey: Survey) {
        self.offer(run_id, Command::Recover(survey), Ticket::Recover(run_id, survey));
        self.collect();
        if self.recovery.is_put_off(run_id) {
            return;
        }
        let held = self.recovery.surveyed(run_id);
        for (command, ticket) in held {
            self.offer(run_id, command, Ticket::Asked(ticket));
        }
        self.absorb();
        // Recovery may have changed nothing, and the scheduler has to know the run all the same.
        self.look_up(run_id);
        if let Ok(Some(run)) = self.decider.state(run_id)
            && self.decider.is_durable(run_id)
        {
            self.run_of_roundtable_changed(&run);
        }
        if survey.engine {
            self.found_engine(run_id);
        } else {
            self.block(run_id);
        }
    }

    /// Goes on with what was left when the journal did not answer.
    pub(super) fn try_again(&mut self) {
        self.look_at_roundtables_again();
        for run_id in std::mem::take(&mut self.unread) {
            self.look_up(run_id);
        }
        for (run_id, survey) in self.recovery.take_put_off() {
            match survey {
                Some(survey) => self.recover(run_id, survey),
                None => self.survey_begun(run_id),
            }
        }
    }

    pub(super) fn sweep(&mut self) {
        if self.retry_at.is_some() {
            return;
        }
        match self.recovery.next_page(self.store.as_ref()) {
            Ok(page) => {
                for run_id in page {
                    self.survey(run_id);
                }
            }
            Err(_) => self.retry_later(),
        }
    }
}
