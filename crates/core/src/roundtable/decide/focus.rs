//! What a round is about: what the facilitator asks for if it can be, else what comes first. A slip does not cost a round.

use super::super::Roundtable;
use super::super::id::TopicId;
use super::super::proposal::{Aim, Ask, FocusKind};
use super::super::round::{Asked, Focus};
use crate::machines::TopicStatus;

/// What is asked in the end, with notes on what the facilitator did not get.
pub(super) fn settle(table: &Roundtable, ask: &Ask) -> Asked {
    let mut notes = Vec::new();
    let focus = match ask.focus.as_ref().map(|aim| aimed(table, aim)) {
        Some(Ok(focus)) => focus,
        Some(Err(problem)) => {
            let focus = first(table);
            notes.push(format!("{problem}; the round is about {} instead", described(&focus)));
            focus
        }
        None => first(table),
    };
    let speakers = table.current.as_ref().map(|round| round.speakers.as_slice()).unwrap_or_default();
    let (directives, stray): (Vec<_>, Vec<_>) =
        ask.directives.clone().into_iter().partition(|(role, _)| speakers.contains(role));
    notes.extend(stray.iter().map(|(role, _)| format!("`{role}` is not asked in this round")));
    Asked {
        topic_id: topic_of(table, &focus),
        focus,
        question: ask.question.clone(),
        context: ask.context.clone(),
        directives: directives.into_iter().collect(),
        notes,
    }
}

/// What is aimed at, if it is there and still to be settled. When all is settled, anything will do.
fn aimed(table: &Roundtable, aim: &Aim) -> Result<Focus, String> {
    let Aim { kind, id } = aim;
    let unknown = || format!("there is no {kind} `{id}`");
    let (focus, is_open) = match kind {
        FocusKind::Topic => {
            let topic = table.topics.iter().find(|topic| topic.id.as_str() == id).ok_or_else(unknown)?;
            (Focus::Topic(topic.id.clone()), topic.status != TopicStatus::Closed)
        }
        FocusKind::Conflict => {
            let found = id.parse().ok().and_then(|id| table.conflict(id)).ok_or_else(unknown)?;
            (Focus::Conflict(found.about.conflict_id), found.is_open())
        }
        FocusKind::Question => {
            let found = id.parse().ok().and_then(|id| table.question(id)).ok_or_else(unknown)?;
            (Focus::Question(found.about.question_id), found.is_open())
        }
    };
    if is_open || table.unsettled() == super::Unsettled::default() {
        Ok(focus)
    } else {
        Err(format!("the {kind} `{id}` is settled"))
    }
}

/// Critical topics, then the others, then what else is open; when all is settled, the first topic.
fn first(table: &Roundtable) -> Focus {
    let unsettled = table.unsettled();
    let is_critical = |id: &&TopicId| table.spec.topic(id).is_some_and(|topic| topic.critical);
    let topic = unsettled.topics.iter().find(is_critical).or(unsettled.topics.first());
    topic
        .map(|id| Focus::Topic(id.clone()))
        .or(unsettled.conflicts.first().map(|id| Focus::Conflict(*id)))
        .or(unsettled.questions.first().map(|id| Focus::Question(*id)))
        .unwrap_or_else(|| Focus::Topic(table.topics[0].id.clone()))
}

fn topic_of(table: &Roundtable, focus: &Focus) -> TopicId {
    let topic = match focus {
        Focus::Topic(id) => Some(id),
        Focus::Conflict(id) => table.conflict(*id).map(|conflict| &conflict.about.topic_id),
        Focus::Question(id) => table.question(*id).map(|question| &question.about.topic_id),
    };
    topic.expect("a focus is something that is there").clone()
}

fn described(focus: &Focus) -> String {
    match focus {
        Focus::Topic(id) => format!("the topic `{id}`"),
        Focus::Conflict(id) => format!("the conflict `{id}`"),
        Focus::Question(id) => format!("the question `{id}`"),
    }
}
