//! People at a roundtable: they open it, answer its questions, ask to have a say, change its results and close it.

use std::collections::BTreeSet;

use adjourn_core::roundtable::{
    ArtifactId, ChangeArtifact, Changes, Command, EscalationWish, Event, Interaction, Matter, Open,
    PersonChange, Reply, Role, Roundtable,
};
use adjourn_core::{By, InteractionId, ReplyKey, RoundtableId};
use adjourn_kernel::Answer;
use serde_json::{Value, json};

use super::{AskedBy, RoundtableAsk};
use crate::client::How;
use crate::mirror::RoundtableNews;
use crate::plan::{Agents, Person};
use crate::report::{Step, Violation, ensure};
use crate::simulation::{Simulation, Todo};

/// Something that a person does at a roundtable.
#[derive(Debug, Clone)]
pub(crate) struct RoundtableReaction {
    pub(crate) id: RoundtableId,
    pub(crate) deed: RoundtableDeed,
}

/// What a person does at a roundtable.
#[derive(Debug, Clone)]
pub(crate) enum RoundtableDeed {
    /// Answers a question.
    Reply {
        id: InteractionId,
        how: How,
        /// The number of the idempotency key.
        key: Option<u64>,
    },
    /// Asks to have a say.
    Escalate,
    /// Changes a result, with this number as the idempotency key.
    ChangeArtifact(u64),
    /// Closes it.
    Close,
}

impl Simulation {
    pub(crate) fn open_roundtable(&mut self, index: usize) -> Step {
        let id = self.roundtable_id();
        self.roundtables.plans.insert(id, index);
        let plan = &self.plan.roundtables[index];
        let key = plan.key.clone().map(|key| ReplyKey { key, digest: index.to_string() });
        let known_roles: BTreeSet<Role> =
            plan.spec.participants.iter().map(|seat| seat.role.clone()).collect();
        let command = Command::Open(Box::new(Open { spec: plan.spec.clone(), known_roles, key }));
        self.ask_roundtable(RoundtableAsk { id, command, from: AskedBy::Opener(index) });
        Ok(())
    }

    /// A UUIDv7, by the clock that everybody sees.
    fn roundtable_id(&mut self) -> RoundtableId {
        self.roundtables.ids += 1;
        let millis = u128::from(self.now().wall.millis().cast_unsigned());
        RoundtableId::from_bits(millis << 80 | 7 << 76 | 0b10 << 62 | self.roundtables.ids)
    }

    pub(super) fn opened(&mut self, index: usize, answer: Answer<Roundtable>) -> Result<(), Violation> {
        if Self::is_journal_trouble(&answer) {
            let delay = 500 + self.draw_delay(1000);
            self.later(delay, Todo::Open(index));
            return Ok(());
        }
        *self.roundtables.served.entry(index).or_default() += 1;
        let Ok(accepted) = answer else { return Ok(()) };
        let id = accepted.state.id();
        let plan = &self.plan.roundtables[index];
        let (escalate, close) = (plan.escalate_after_ms, plan.close_after_ms);
        if let Some(key) = plan.key.clone() {
            let first = *self.roundtables.opened.entry((key, index)).or_insert(id);
            ensure(first == id, "one key opens one roundtable", || format!("{first} and {id}"))?;
        }
        let later = |deed| Todo::ReactAtRoundtable(RoundtableReaction { id, deed });
        if let Some(after) = escalate {
            self.later(after, later(RoundtableDeed::Escalate));
        }
        if let Some(after) = close {
            self.later(after, later(RoundtableDeed::Close));
        }
        Ok(())
    }

    /// People see what is new at a roundtable, and decide what they are going to do.
    pub(crate) fn notice_roundtable(&mut self, news: &RoundtableNews) {
        let id = news.id;
        let Some(&index) = self.roundtables.plans.get(&id) else { return };
        let plan = &self.plan.roundtables[index];
        let (person, agents) = (plan.person, plan.agents);
        for event in &news.events {
            match event {
                Event::InteractionOpened { id: question, .. } => match person {
                    Person::Absent => {}
                    Person::Prompt => {
                        let key = Some(self.number());
                        self.reply_later(id, 1000, *question, How::Right, key);
                    }
                    Person::Anyhow => self.answer_roundtable_anyhow(id, *question),
                },
                Event::RoundRecorded { .. } if agents == Agents::Anyhow && self.random.once_in(4) => {
                    let (key, delay) = (self.number(), crate::seeded::delay(&mut self.random));
                    let deed = RoundtableDeed::ChangeArtifact(key);
                    let reaction = RoundtableReaction { id, deed };
                    self.later(delay, Todo::ReactAtRoundtable(reaction.clone()));
                    if self.random.once_in(3) {
                        self.later(delay, Todo::ReactAtRoundtable(reaction));
                    }
                }
                _ => {}
            }
        }
    }

    fn reply_later(
        &mut self,
        id: RoundtableId,
        delay: i64,
        question: InteractionId,
        how: How,
        key: Option<u64>,
    ) {
        let deed = RoundtableDeed::Reply { id: question, how, key };
        self.later(delay, Todo::ReactAtRoundtable(RoundtableReaction { id, deed }));
    }

    fn answer_roundtable_anyhow(&mut self, id: RoundtableId, question: InteractionId) {
        let key = self.random.once_in(2).then(|| self.number());
        let delay = crate::seeded::delay(&mut self.random);
        match self.random.below(8) {
            0 => self.reply_later(id, delay / 2, question, How::Wrong, None),
            // Two at the same moment: one of them is accepted.
            1 | 2 => self.reply_later(id, delay, question, How::Other, None),
            // The same once more.
            3 if key.is_some() => self.reply_later(id, delay, question, How::Right, key),
            4 => self.reply_later(id, delay, InteractionId(question.0 + 1), How::Right, None),
            5 => return,
            6 => {
                self.reply_later(id, delay, question, How::Edit, key);
                return;
            }
            _ => {}
        }
        self.reply_later(id, delay, question, How::Right, key);
    }

    pub(crate) fn react_at_roundtable(&mut self, reaction: RoundtableReaction) -> Step {
        let id = reaction.id;
        let by = By { name: Some(format!("person {}", self.number())), ..By::USER };
        let Some(roundtable) = self.mirror.roundtables.states.get(&id) else { return Ok(()) };
        let command = match &reaction.deed {
            RoundtableDeed::Reply { id: question, how, key } => Command::Reply(Reply {
                interaction_id: *question,
                response: words(roundtable.interaction(*question), *how),
                by,
                key: key.map(|key| ReplyKey { key: format!("reply {key}"), digest: format!("{how:?}") }),
            }),
            RoundtableDeed::Escalate => Command::Escalate(EscalationWish { by, note: None }),
            RoundtableDeed::ChangeArtifact(key) => {
                let Some(artifact) = roundtable.artifacts().first() else { return Ok(()) };
                let last = roundtable.artifacts().last().map_or(artifact.id, |last| last.id);
                Command::ChangeArtifact(Box::new(ChangeArtifact {
                    artifact_id: artifact.id,
                    change: change(*key, last),
                    reason: "it has to be so".to_owned(),
                    by,
                    key: Some(ReplyKey { key: format!("change {key}"), digest: String::new() }),
                }))
            }
            RoundtableDeed::Close => Command::Close(by),
        };
        self.ask_roundtable(RoundtableAsk { id, command, from: AskedBy::Person(reaction) });
        Ok(())
    }

    pub(super) fn reacted_at_roundtable(
        &mut self,
        reaction: RoundtableReaction,
        command: &Command,
        answer: &Answer<Roundtable>,
    ) {
        if Self::is_journal_trouble(answer) {
            let delay = 500 + self.draw_delay(1000);
            self.later(delay, Todo::ReactAtRoundtable(reaction));
            return;
        }
        match (command, answer) {
            (Command::Reply(reply), Ok(_)) => {
                self.counts.add("replies to roundtables accepted");
                self.watch.roundtable_reply_acknowledged(reaction.id, reply);
            }
            (Command::Reply(_), Err(_)) => self.counts.add("replies to roundtables refused"),
            (Command::Close(_), Ok(_)) => self.watch.closing_acknowledged(reaction.id),
            _ => {}
        }
    }

    /// Answers every question of a roundtable, once faults have stopped.
    pub(crate) fn tidy_roundtables(&mut self) {
        let pending: Vec<_> = self
            .mirror
            .roundtables
            .active()
            .filter_map(|roundtable| Some((roundtable.id(), roundtable.pending()?.interaction_id)))
            .collect();
        for (id, question) in pending {
            self.reply_later(id, 0, question, How::Right, None);
        }
    }
}

/// An answer to a question of a roundtable.
fn words(interaction: Option<&Interaction>, how: How) -> Value {
    let Some(interaction) = interaction else { return json!("to nothing") };
    match (interaction.matter, how) {
        (_, How::Wrong) => json!(12345),
        (Matter::Checkpoint, How::Right) => json!("continue"),
        (Matter::Checkpoint, How::Other) => json!({ "decision": "conclude" }),
        (Matter::Checkpoint, How::Edit) => json!({ "decision": "close" }),
        (Matter::Escalation(_), How::Right) => json!({ "decision": "own_decision", "text": "so be it" }),
        (Matter::Escalation(_), How::Other) => json!({ "decision": "discuss" }),
        // It is refused where nothing is recommended.
        (Matter::Escalation(_), How::Edit) => json!({ "decision": "accept" }),
    }
}

fn change(key: u64, last: ArtifactId) -> PersonChange {
    match key % 4 {
        0 => PersonChange::Revert,
        1 => PersonChange::Withdraw,
        2 => PersonChange::Supersede { by: last },
        _ => PersonChange::Amend(Changes { body: Some(format!("version {key}")), ..Changes::default() }),
    }
}
