//! The end of a round, in one commit: what was proposed, how far the topics got, and what comes next.

use super::super::escalation::Escalation;
use super::super::event::Event;
use super::super::interaction::{self, Matter};
use super::super::next::{NextAction, Standing};
use super::super::round::NextDecision;
use super::super::spec::Pace;
use super::{Draft, Refusal, proposals};
use crate::Actor;
use crate::interaction::By;
use crate::machine::Machine;
use crate::machines::{RoundStep, RoundtableTrigger, TopicMachine};

pub(super) fn record(draft: &mut Draft) -> Result<(), Refusal> {
    let synthesis = draft.round_at(RoundStep::Artifacts)?.synthesis.clone();
    let synthesis = synthesis.expect("a round gets to its artifacts with its synthesis");
    let refused = proposals::apply(draft, &synthesis.proposals);
    move_topics(draft);
    draft.emit(Event::RoundRecorded { refused });

    let standing = draft.table.standing();
    let (next, rule) = standing.next();
    let triggers = draft.table.triggers();
    draft.emit(Event::NextDecided(NextDecision { proposed: synthesis.next, next, rule, triggers }));
    match next {
        NextAction::Continue => match draft.table.spec.pace {
            Pace::Continuous => Ok(()),
            Pace::Checkpoints => {
                let question = interaction::checkpoint(standing.rounds, &synthesis.summary);
                draft.ask(Matter::Checkpoint, question);
                Ok(())
            }
        },
        NextAction::Conclude => conclude(draft, &standing),
        NextAction::Escalate => {
            raise(draft);
            Ok(())
        }
    }
}

/// Moves each topic as far as it is covered. The table has no edge back, so one that lost its cover stays where it is.
fn move_topics(draft: &mut Draft) {
    for place in 0..draft.table.topics.len() {
        let topic = &draft.table.topics[place];
        let (topic_id, from) = (topic.id.clone(), topic.status);
        let coverage = draft.table.coverage_of(&draft.table.spec.agenda[place]);
        if let Some(trigger) = coverage.trigger()
            && let Ok(to) = TopicMachine::step(from, trigger, Actor::System)
        {
            draft.emit(Event::TopicChanged { topic_id, from, to, trigger });
        }
    }
}

/// Ends a roundtable that is done, or has no round left.
pub(super) fn conclude(draft: &mut Draft, standing: &Standing) -> Result<(), Refusal> {
    let reason =
        if standing.topics_closed { RoundtableTrigger::Conclude } else { RoundtableTrigger::ExhaustRounds };
    draft.close(reason, &By::SYSTEM, None)
}

/// Puts everything that is at stake before a person.
pub(super) fn raise(draft: &mut Draft) {
    let triggers = draft.table.standing().triggers;
    let wish = draft.table.escalation_wish.clone();
    let escalation = Escalation::of(&draft.table, triggers, wish);
    let (number, question) = (escalation.number, interaction::escalation(&escalation));
    draft.emit(Event::EscalationRaised(Box::new(escalation)));
    draft.ask(Matter::Escalation(number), question);
}
