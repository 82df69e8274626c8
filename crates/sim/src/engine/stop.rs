//! The ends of turns and processes that are not their own idea.

use adjourn_core::{Command, ErrorCode, Process, RunError, RunId, TurnEnd};
use adjourn_kernel::{Answer, Denied, StopCause};

use super::State;
use crate::report::Step;
use crate::simulation::{From, Inside, Simulation, Ticket};

impl Simulation {
    /// The kernel wants a turn stopped. That takes a moment.
    pub(crate) fn stop_wanted(&mut self, run_id: RunId, turn: u32, cause: StopCause) -> Step {
        self.counts.add(match cause {
            StopCause::Ending => "stops of runs that have to end",
            StopCause::TimedOut => "stops of turns that took too long",
        });
        self.watch.stop_is_due(run_id, turn, cause, &self.engines, (&self.mirror, self.time_ms))?;
        let delay = self.draw_delay(2000);
        self.inside(delay, Inside::StopTurn(run_id, turn, cause));
        Ok(())
    }

    pub(crate) fn stop_turn(&mut self, run_id: RunId, turn: u32, cause: StopCause) -> Step {
        let (code, message) = match cause {
            StopCause::Ending => (ErrorCode::EngineExitNonzero, "it was stopped"),
            StopCause::TimedOut => (ErrorCode::EngineTimeout, "it took too long"),
        };
        let error = RunError { code, message: message.to_owned() };
        let is_newer = self.engines.turns.get(&run_id).is_some_and(|live| live.turn > turn);
        if is_newer {
            return Ok(());
        }
        let Some(live) = self.engines.turns.get_mut(&run_id) else {
            if let Some(process) = self.engines.processes.remove(&run_id) {
                let command = Command::ReportProcessEnded { process, loadable: true };
                self.ask(Ticket { run_id, command, from: From::Process });
            }
            return Ok(());
        };
        if live.state == State::Vanished {
            return Ok(());
        }
        // The end of the process is told after the end of its turn.
        live.lost_process = live.lost_process.or(self.engines.processes.remove(&run_id));
        if !live.has_ended {
            live.has_ended = true;
            let command = Command::EndTurn { turn, observations: Vec::new(), end: TurnEnd::Failed(error) };
            self.ask(Ticket { run_id, command, from: From::Turn(turn) });
        }
        Ok(())
    }

    pub(crate) fn process_dies(&mut self, run_id: RunId, process: Process) -> Step {
        if self.engines.processes.get(&run_id) != Some(&process) || self.engines.turns.contains_key(&run_id) {
            return Ok(());
        }
        self.counts.add("fault: a process that stays dies");
        self.engines.processes.remove(&run_id);
        let loadable = !self.random.once_in(4);
        let command = Command::ReportProcessEnded { process, loadable };
        self.ask(Ticket { run_id, command, from: From::Process });
        Ok(())
    }

    pub(crate) fn process_answered(&mut self, ticket: &Ticket, answer: &Answer) {
        if let Err(Denied::Failed(_)) = answer {
            let delay = 300 + self.draw_delay(1000);
            self.inside(delay, Inside::Again(Box::new(ticket.clone())));
        }
    }
}
