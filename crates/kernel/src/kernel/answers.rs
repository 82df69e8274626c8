//! Answers of the decider: what they mean for the kernel's own commands, and the effects that they announce.

use adjourn_core::{Command, Contract, Event, RunId, Survey};
use adjourn_store::Error;

use super::scheduler::Arrival;
use super::{Effect, Kernel, StopCause, Ticket};
use crate::decider::News;
use crate::denied::{Accepted, Answer, Denied};

impl<T, U> Kernel<T, U> {
    /// Takes the answers of the decider, and with them the effects that they announce.
    pub(super) fn collect(&mut self) {
        let answers: Vec<_> = self.decider.take_answers().collect();
        for (ticket, answer) in answers {
            if let Ok(accepted) = &answer {
                self.announce(accepted);
            }
            match ticket {
                Ticket::Asked(ticket) => self.answers.push((ticket, answer)),
                Ticket::Expire(run_id, id) => {
                    self.deadlines.decided(run_id, id, &answer);
                    self.note_failure(&answer);
                }
                Ticket::MoveDeadlines => {
                    if self.note_failure(&answer) {
                        self.clock_steps.start_over();
                    }
                }
                Ticket::Start(run_id) => {
                    if self.note_failure(&answer) {
                        self.unread.insert(run_id);
                    }
                }
                Ticket::Recover(run_id, survey) => {
                    if self.note_failure(&answer) {
                        self.recovery.put_off(run_id, Some(survey));
                    }
                }
                Ticket::SetAside(run_id) => {
                    if self.note_failure(&answer) {
                        self.unread.insert(run_id);
                    } else if answer.is_err() {
                        // It ended before, or nothing at all is known of it: no slot and no deadline waits for it.
                        self.scheduler.forget(run_id);
                        self.recovery.is_right(run_id);
                    }
                }
                Ticket::CancelAbandoned(roundtable) => {
                    if self.note_failure(&answer) {
                        self.look_again_at(roundtable);
                    }
                }
            }
        }
        self.collect_roundtables();
    }

    /// Whether a run's journal is there and cannot be read. A journal that does not answer is another matter.
    pub(super) fn is_unreadable(&mut self, run_id: RunId) -> bool {
        matches!(self.decider.state(run_id), Err(Error::Damaged { .. }))
    }

    /// Ends a run whose journal cannot be read, so that only this run is harmed.
    pub(super) fn set_aside(&mut self, run_id: RunId) {
        let nothing = Survey { engine: false, workspace: false, handle: false };
        self.offer(run_id, Command::Recover(nothing), Ticket::SetAside(run_id));
        for news in self.decider.take_news() {
            match news {
                News::Changed(run) => self.note(&run, Arrival::New),
                // What was decided about it before never became durable, and its journal says nothing.
                News::Forgotten(run_id) => self.scheduler.forget(run_id),
            }
        }
    }

    /// The kernel's own command failed in the journal: everything is as before, and tried again later. A journal that is
    /// there and cannot be read does not get better by being asked again.
    pub(super) fn note_failure(&mut self, answer: &Answer) -> bool {
        let has_failed = match answer {
            Err(Denied::Failed(error)) => !matches!(**error, Error::Damaged { .. }),
            Ok(_) | Err(_) => false,
        };
        if has_failed {
            self.retry_later();
        }
        has_failed
    }

    fn announce(&mut self, accepted: &Accepted) {
        if !accepted.events.is_empty() {
            self.deadlines.committed(&accepted.state);
            // Until everything that was decided about it is durable, it may come back to where it stood.
            if self.decider.is_durable(accepted.state.id()) {
                self.scheduler.committed(&accepted.state);
            }
            self.run_of_roundtable_changed(&accepted.state);
        }
        for event in &accepted.events {
            match event {
                Event::TurnStarted { .. } => {
                    self.deadlines.turn_begins(&accepted.state, self.now.steady);
                    self.effects.push(Effect::StartTurn(accepted.state.clone()));
                    self.queue_has_room();
                }
                Event::EndRequested(_) => self.effects.push(Effect::StopTurn {
                    run_id: accepted.state.id(),
                    turn: accepted.state.turn(),
                    cause: StopCause::Ending,
                }),
                Event::ContractChanged { id, .. } | Event::ContractSettled { id, .. } => {
                    if accepted.state.contract(*id).is_some_and(Contract::is_over) {
                        self.effects.push(Effect::ForgetCall(accepted.state.id(), *id));
                    }
                }
                // It may have been decided before the clock was set and be durable only now.
                Event::InteractionOpened { boot: Some(boot), .. } => {
                    self.clock_steps.opened(accepted.state.id(), *boot);
                }
                Event::InteractionOpened { boot: None, .. }
                | Event::Created(_)
                | Event::StatusChanged { .. }
                | Event::TurnOver
                | Event::Observed(_)
                | Event::RepairStarted { .. }
                | Event::Warned(_)
                | Event::DeadlineMoved { .. }
                | Event::InteractionAnswered { .. }
                | Event::InteractionExpired { .. }
                | Event::InteractionWithdrawn { .. }
                | Event::ContractCreated(_)
                | Event::CallRefused(_)
                | Event::ToolsListed(_)
                | Event::ToolChanged { .. }
                | Event::ProcessLost
                | Event::SetAside(_)
                | Event::ResultRecorded(_) => {}
            }
        }
    }
}
