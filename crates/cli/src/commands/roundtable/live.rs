//! What is seen of a roundtable while it goes on: what was said and written down, and on a terminal who is thinking.

use adjourn_core::InteractionId;
use adjourn_core::machines::{RoundStep, RoundtableStatus, TopicStatus};
use adjourn_core::roundtable::{Frame, FrameType, RoundtableView};

use super::told::told;
use crate::live::Bar;
use crate::text::clean;

/// What is seen of a roundtable while it goes on. All of it goes to stderr.
pub(super) struct Live {
    bar: Bar,
    /// Who is asked in the current round.
    speakers: Vec<String>,
    /// The last round whose summary was told.
    summed_up: Option<u32>,
    /// The question that was answered on this very screen.
    answered_here: Option<InteractionId>,
}

impl Live {
    pub(super) fn new() -> Self {
        Self { bar: Bar::new(), speakers: Vec::new(), summed_up: None, answered_here: None }
    }

    /// Takes note of what came. `table` is the state with all of it.
    pub(super) fn see(&mut self, frames: &[Frame], table: &RoundtableView) {
        for frame in frames {
            if frame.kind == FrameType::RoundStarted {
                let speakers = frame.data["speakers"].as_array().into_iter().flatten();
                self.speakers = speakers.filter_map(|role| role.as_str().map(clean)).collect();
            }
            if frame.data["synthesis"].is_string() {
                self.summed_up = Some(frame.meta.attempt);
            }
            if let Some(line) = told(frame, table).filter(|_| !self.is_on_the_screen(frame)) {
                self.bar.say_wrapped(&line);
            }
        }
        self.draw(table);
    }

    /// Whether the summary of this round is on the screen.
    pub(super) fn has_summed_up(&self, round: u32) -> bool {
        self.summed_up == Some(round)
    }

    /// Prints a line above what is seen.
    pub(super) fn say(&self, line: &str) {
        self.bar.say_wrapped(line);
    }

    pub(super) fn hide(&self) {
        self.bar.hide();
    }

    pub(super) fn interrupted(&self) {
        self.bar.interrupted();
    }

    /// Takes note of a question whose answer is on the screen, because the person gave it here.
    pub(super) fn answered_here(&mut self, id: InteractionId) {
        self.answered_here = Some(id);
    }

    fn is_on_the_screen(&self, frame: &Frame) -> bool {
        let id = frame.data["interaction_id"].as_u64();
        frame.kind == FrameType::ReplyAccepted && id == self.answered_here.map(|id| u64::from(id.0))
    }

    fn draw(&self, table: &RoundtableView) {
        if table.status == RoundtableStatus::Closed || table.pending.is_some() {
            return self.hide();
        }
        self.bar.show(&self.now(table));
    }

    fn now(&self, table: &RoundtableView) -> String {
        let closed = table.agenda.iter().filter(|topic| topic.status == TopicStatus::Closed).count();
        let parts = [
            format!("round {} of at most {}", table.rounds.len().max(1), table.limits.max_rounds),
            self.who(table),
            format!("{closed} of {} topics closed", table.agenda.len()),
            format!("{} artifacts", table.artifacts.len()),
        ];
        parts.join(" · ")
    }

    /// Who is thinking.
    fn who(&self, table: &RoundtableView) -> String {
        let Some(round) = table.rounds.last() else { return "the facilitator is thinking".to_owned() };
        match round.step {
            RoundStep::Question | RoundStep::Recorded => "the facilitator chooses what to ask".to_owned(),
            RoundStep::Responses => {
                let is_heard = |role: &str| {
                    round.answers.iter().any(|answer| answer.role.as_str() == role)
                        || round.missing.iter().any(|missing| missing.as_str() == role)
                };
                let awaited: Vec<_> =
                    self.speakers.iter().map(String::as_str).filter(|role| !is_heard(role)).collect();
                match awaited.as_slice() {
                    [] => "everybody has answered".to_owned(),
                    [one] => format!("{one} is thinking"),
                    several => format!("{} are thinking", several.join(", ")),
                }
            }
            RoundStep::Synthesis | RoundStep::Artifacts => "the facilitator draws it together".to_owned(),
        }
    }
}
