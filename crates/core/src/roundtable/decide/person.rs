//! What a person says: answers, the wish to be asked, and the end.

use super::super::command::Reply;
use super::super::escalation::EscalationWish;
use super::super::interaction::{self, Interaction, Matter, Word};
use super::super::next::{NextAction, Trigger};
use super::super::point::Settler;
use super::{Draft, Event, Refusal, record};
use crate::interaction::{By, ReplyKey};
use crate::machines::RoundtableTrigger;

/// Accepts an answer, or says why not.
pub(super) fn reply(draft: &mut Draft, reply: &Reply) -> Result<(), Refusal> {
    if is_repeated(draft, reply.key.as_ref())? {
        return Ok(());
    }
    let interaction = open_one(draft, reply)?;
    let matter = interaction.matter;
    let (word, text) = interaction::read(interaction, &reply.response).map_err(Refusal::Invalid)?;
    draft.emit(Event::InteractionAnswered {
        id: reply.interaction_id,
        word,
        text: text.clone(),
        by: reply.by.clone(),
        key: reply.key.clone(),
    });
    match word {
        // A remark is in the history, and so in front of the facilitator when the next round begins.
        Word::Continue => Ok(()),
        Word::Conclude => draft.close(RoundtableTrigger::Conclude, &reply.by, None),
        Word::Close => draft.close(RoundtableTrigger::CloseByUser, &reply.by, None),
        Word::Accept => {
            let escalation = matter.escalation().and_then(|number| draft.table.escalation(number));
            let recommendation = escalation.and_then(|escalation| escalation.recommendation.clone());
            settle(draft, matter, recommendation);
            go_on(draft)
        }
        Word::OwnDecision => {
            settle(draft, matter, text);
            go_on(draft)
        }
        Word::Discuss => go_on(draft),
    }
}

/// What a person decided ends the conflicts that it was asked about.
fn settle(draft: &mut Draft, matter: Matter, decision: Option<String>) {
    let escalation = matter.escalation().and_then(|number| draft.table.escalation(number));
    let triggers = escalation.map(|escalation| escalation.triggers.clone()).unwrap_or_default();
    for trigger in triggers {
        match trigger {
            Trigger::ConflictRounds(id) => {
                let resolution = decision.clone().unwrap_or_default();
                draft.emit(Event::ConflictResolved { id, resolution, by: Settler::User });
            }
            // There is nothing to end: the decision itself is what the next round goes by.
            Trigger::LowConfidence(_) => {}
        }
    }
}

/// After an escalation only the limits are left to say whether there is another round.
fn go_on(draft: &mut Draft) -> Result<(), Refusal> {
    let standing = draft.table.standing();
    match standing.next().0 {
        NextAction::Conclude => record::conclude(draft, &standing),
        NextAction::Continue | NextAction::Escalate => Ok(()),
    }
}

/// A wish to be asked is fulfilled at once between rounds, else when the round is recorded.
pub(super) fn escalate(draft: &mut Draft, wish: &EscalationWish) -> Result<(), Refusal> {
    draft.active()?;
    let is_asked = draft.table.pending().is_some_and(|pending| pending.matter != Matter::Checkpoint);
    if is_asked || draft.table.escalation_wish.is_some() {
        return Ok(());
    }
    draft.emit(Event::EscalationRequested(wish.clone()));
    // Before the first round there is nothing to decide about.
    if draft.table.current.is_none() && !draft.table.rounds.is_empty() {
        draft.withdraw_pending();
        record::raise(draft);
    }
    Ok(())
}

/// Breaks the roundtable off. A round that is not recorded is dropped.
pub(super) fn close(draft: &mut Draft, by: &By) -> Result<(), Refusal> {
    let closed = draft.table.closing.as_ref().map(|closing| closing.reason);
    if closed == Some(RoundtableTrigger::CloseByUser) {
        return Ok(());
    }
    draft.close(RoundtableTrigger::CloseByUser, by, None)
}

/// The same request with the same key again is answered like the first, and changes nothing.
pub(super) fn is_repeated(draft: &Draft, key: Option<&ReplyKey>) -> Result<bool, Refusal> {
    let Some(key) = key else { return Ok(false) };
    let replies = draft.table.interactions.iter().filter_map(|one| one.resolution.as_ref()?.key.as_ref());
    match replies.chain(&draft.table.person_keys).find(|before| before.key == key.key) {
        None => Ok(false),
        Some(before) if before.digest == key.digest => Ok(true),
        Some(_) => Err(Refusal::KeyReused { key: key.key.clone() }),
    }
}

/// The question that is named, if it waits for an answer.
fn open_one<'a>(draft: &'a Draft, reply: &Reply) -> Result<&'a Interaction, Refusal> {
    let id = reply.interaction_id;
    let open = || draft.table.pending().map(|pending| pending.interaction_id).into_iter().collect();
    match draft.table.interaction(id) {
        None => Err(Refusal::UnknownInteraction { id, open: open() }),
        Some(interaction) if interaction.is_open() => Ok(interaction),
        Some(interaction) => Err(Refusal::NotOpen { id, status: interaction.status, open: open() }),
    }
}
