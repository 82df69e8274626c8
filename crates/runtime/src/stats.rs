//! How long things took, for whoever watches the service.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use adjourn_core::{Run, Timestamp, TurnReason};
use adjourn_kernel::Tally;

/// Times from a reply to the turn that it leads to, in milliseconds, which is what the journal keeps: from a slot that
/// was free to a queue of hours.
const REPLY_TO_RUNNING_MS: &[u64] =
    &[1, 2, 5, 10, 25, 50, 100, 250, 1_000, 10_000, 60_000, 600_000, 3_600_000];

/// Lengths of turns, in milliseconds: from a recording that is played at once to an agent that works for hours.
const TURN_MS: &[u64] = &[1, 10, 100, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000];

/// How long things took.
#[derive(Debug)]
pub struct Stats {
    reply_to_running_ms: Tally,
    /// By engine; there are as many as are configured.
    turn_ms: Mutex<BTreeMap<String, Arc<Tally>>>,
}

impl Default for Stats {
    fn default() -> Self {
        Self { reply_to_running_ms: Tally::new(REPLY_TO_RUNNING_MS), turn_ms: Mutex::default() }
    }
}

impl Stats {
    /// From the reply that a run was given to its next turn, in milliseconds.
    pub fn reply_to_running_ms(&self) -> &Tally {
        &self.reply_to_running_ms
    }

    /// How long turns took, in milliseconds, by engine.
    pub fn turn_ms(&self) -> BTreeMap<String, Arc<Tally>> {
        self.turn_ms.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A turn begins. The journal knows when its last answer came, so this is right after a restart too.
    pub(crate) fn turn_starts(&self, run: &Run, now: Timestamp) {
        match run.turn_reason() {
            Some(TurnReason::Answer | TurnReason::Settled | TurnReason::Permission) => {}
            // What a turn that goes on after a restart was once given was counted when it began.
            None | Some(TurnReason::First | TurnReason::GoOn) => return,
        }
        let answered = run.turn_answers().filter_map(|answer| Some(answer.resolution.as_ref()?.at)).max();
        if let Some(answered) = answered {
            self.reply_to_running_ms.add(now.millis().abs_diff(answered.millis().min(now.millis())));
        }
    }

    /// A turn of `engine` ended.
    pub(crate) fn turn_ended(&self, engine: &str, took: Duration) {
        let mut turns = self.turn_ms.lock().unwrap_or_else(PoisonError::into_inner);
        let tally = match turns.get(engine) {
            Some(tally) => tally,
            None => turns.entry(engine.to_owned()).or_insert_with(|| Arc::new(Tally::new(TURN_MS))),
        };
        tally.add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    }
}
