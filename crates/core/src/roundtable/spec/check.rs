//! Whether a roundtable can be held: everything that is wrong with it is said at once.

use std::collections::BTreeSet;

use super::{DoneWhen, Limits, RoundtableSpec, Seat, Side, TopicSpec};
use crate::FieldError;
use crate::roundtable::id::Role;
use crate::roundtable::strategy::{Sides, Strategy};

/// Rounds that a roundtable may ask for. Each is a turn of every agent at the table: whoever needs more of them has more
/// than one subject.
pub const ROUNDS_MAX: u32 = 100;

/// Topics on one agenda: the whole agenda is in front of the facilitator in every round.
pub const TOPICS_MAX: usize = 50;

/// Participants at one table: all their answers have to fit into one synthesis.
pub const PARTICIPANTS_MAX: usize = 20;

impl RoundtableSpec {
    /// Everything that keeps the roundtable from being held where the roles `known` have a prompt.
    pub fn problems(&self, known: &BTreeSet<Role>) -> Vec<FieldError> {
        let mut problems = Problems::default();
        problems.blank("/subject", &self.subject);
        problems.limits(&self.limits);
        problems.agenda(&self.agenda);
        problems.seats(self, known);
        match Strategy::named(&self.strategy) {
            Err(unknown) => problems.add("/strategy", unknown.to_string()),
            Ok(strategy) => problems.sides(strategy, &self.participants),
        }
        problems.0
    }
}

#[derive(Default)]
struct Problems(Vec<FieldError>);

impl Problems {
    fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(FieldError::new(path, message));
    }

    fn blank(&mut self, path: impl Into<String>, text: &str) {
        if text.trim().is_empty() {
            self.add(path, "is blank, it should be some text");
        }
    }

    fn limits(&mut self, limits: &Limits) {
        let Limits { min_rounds, max_rounds, max_rounds_per_conflict, .. } = *limits;
        if min_rounds == 0 {
            self.add("/limits/min_rounds", "is 0, a roundtable has at least one round");
        }
        if min_rounds > max_rounds {
            let message = format!("is {min_rounds}, more than max_rounds, which is {max_rounds}");
            self.add("/limits/min_rounds", message);
        }
        if max_rounds > ROUNDS_MAX {
            self.add("/limits/max_rounds", format!("is {max_rounds}, at most {ROUNDS_MAX} are possible"));
        }
        if max_rounds_per_conflict == 0 {
            self.add("/limits/max_rounds_per_conflict", "is 0, a conflict takes at least one round");
        }
    }

    fn agenda(&mut self, agenda: &[TopicSpec]) {
        if agenda.is_empty() {
            self.add("/agenda", "has no topic, a roundtable needs at least one");
        }
        if agenda.len() > TOPICS_MAX {
            self.add("/agenda", format!("has {} topics, at most {TOPICS_MAX} are possible", agenda.len()));
        }
        let mut seen = BTreeSet::new();
        for (place, topic) in agenda.iter().enumerate() {
            let path = format!("/agenda/{place}");
            self.blank(format!("{path}/topic_id"), topic.topic_id.as_str());
            self.blank(format!("{path}/title"), &topic.title);
            if !seen.insert(&topic.topic_id) {
                self.add(format!("{path}/topic_id"), format!("`{}` names two topics", topic.topic_id));
            }
            self.done_when(&format!("{path}/done_when"), &topic.done_when);
        }
    }

    fn done_when(&mut self, path: &str, done_when: &DoneWhen) {
        let DoneWhen { criteria, min_requirements, min_artifacts } = done_when;
        if criteria.is_empty() && *min_requirements == 0 && *min_artifacts == 0 {
            let message =
                "asks for nothing: it needs a criterion, or min_requirements or min_artifacts of at least 1";
            self.add(path, message);
        }
        let mut seen = BTreeSet::new();
        for (place, criterion) in criteria.iter().enumerate() {
            let path = format!("{path}/criteria/{place}");
            self.blank(format!("{path}/id"), criterion.id.as_str());
            self.blank(format!("{path}/text"), &criterion.text);
            if !seen.insert(&criterion.id) {
                self.add(format!("{path}/id"), format!("`{}` names two criteria", criterion.id));
            }
        }
    }

    fn seats(&mut self, spec: &RoundtableSpec, known: &BTreeSet<Role>) {
        let RoundtableSpec { facilitator, participants, .. } = spec;
        if facilitator.role.as_str() != Role::FACILITATOR {
            self.add("/facilitator/role", format!("is `{}`, it should be `facilitator`", facilitator.role));
        }
        if participants.is_empty() {
            self.add("/participants", "is empty, a roundtable needs at least one participant");
        }
        if participants.len() > PARTICIPANTS_MAX {
            let message =
                format!("has {} roles, at most {PARTICIPANTS_MAX} are possible", participants.len());
            self.add("/participants", message);
        }
        let mut seen = BTreeSet::new();
        for (place, seat) in participants.iter().enumerate() {
            let path = format!("/participants/{place}/role");
            if seat.role.as_str() == Role::FACILITATOR {
                self.add(path, "`facilitator` leads the table and takes no other seat");
            } else if !known.contains(&seat.role) {
                let known: Vec<_> = known.iter().map(Role::as_str).collect();
                self.add(path, format!("`{}` is not one of {}", seat.role, known.join(", ")));
            } else if !seen.insert(&seat.role) {
                self.add(path, format!("`{}` sits there already", seat.role));
            }
        }
    }

    fn sides(&mut self, strategy: &Strategy, participants: &[Seat]) {
        match strategy.sides {
            Sides::None => {
                for (place, _) in participants.iter().enumerate().filter(|(_, seat)| seat.side.is_some()) {
                    let message = format!("the strategy `{}` has no sides", strategy.name);
                    self.add(format!("/participants/{place}/side"), message);
                }
            }
            Sides::Two => {
                let seated = strategy.seated(participants);
                for side in Side::ALL {
                    if !participants.is_empty() && seated.iter().all(|seat| seat.side != Some(*side)) {
                        self.add("/participants", format!("nobody speaks `{side}`, and a debate needs both"));
                    }
                }
            }
        }
    }
}
