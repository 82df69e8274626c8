//! Whether a state contradicts itself: what decisions never lead to, and a damaged or foreign journal might.

use std::collections::BTreeSet;

use crate::roundtable::artifact::{Artifact, Version};
use crate::roundtable::id::{Role, TopicId};
use crate::roundtable::{Roundtable, spec::TopicSpec};

/// A state that contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the roundtable contradicts itself: {}", .0.join("; "))]
pub struct Inconsistent(pub Vec<String>);

pub(super) fn consistent(table: &Roundtable) -> Result<(), Inconsistent> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for artifact in &table.artifacts {
        let id = artifact.id;
        if !seen.insert(id) {
            problems.push(format!("{id} is there twice"));
        }
        let mut add = |problem: String| problems.push(format!("{id}: {problem}"));
        match table.spec.topic(&artifact.topic_id) {
            None => add(not_on_the_agenda(&artifact.topic_id)),
            Some(topic) => versions(artifact).for_each(|version| covers(topic, version, &mut add)),
        }
        let supporters = versions(artifact).flat_map(|version| &version.supported_by);
        strangers(table, supporters.chain([&artifact.proposed_by]), &mut add);
        ended(table, artifact, &mut add);
    }
    for conflict in &table.conflicts {
        let about = &conflict.about;
        let mut add = |problem: String| problems.push(format!("{}: {problem}", about.conflict_id));
        if table.spec.topic(&about.topic_id).is_none() {
            add(not_on_the_agenda(&about.topic_id));
        }
        strangers(table, about.positions.iter().flat_map(|position| &position.held_by), &mut add);
    }
    for question in &table.questions {
        let about = &question.about;
        let mut add = |problem: String| problems.push(format!("{}: {problem}", about.question_id));
        if table.spec.topic(&about.topic_id).is_none() {
            add(not_on_the_agenda(&about.topic_id));
        }
        strangers(table, [&about.asked_by], &mut add);
    }
    if problems.is_empty() { Ok(()) } else { Err(Inconsistent(problems)) }
}

/// The current version and all before it.
fn versions(artifact: &Artifact) -> impl Iterator<Item = &Version> {
    artifact.amendments.iter().map(|amendment| &amendment.before).chain([&artifact.version])
}

fn covers(topic: &TopicSpec, version: &Version, add: &mut impl FnMut(String)) {
    let criteria = &topic.done_when.criteria;
    for id in version.covers.iter().filter(|id| criteria.iter().all(|criterion| criterion.id != **id)) {
        add(format!("the topic `{}` has no criterion `{id}`", topic.topic_id));
    }
}

fn strangers<'a>(
    table: &Roundtable,
    roles: impl IntoIterator<Item = &'a Role>,
    add: &mut impl FnMut(String),
) {
    for role in roles.into_iter().filter(|role| table.spec.seat(role).is_none()) {
        add(format!("`{role}` does not sit at this table"));
    }
}

fn ended(table: &Roundtable, artifact: &Artifact, add: &mut impl FnMut(String)) {
    let Some(by) = artifact.end.as_ref().and_then(|end| end.superseded_by) else { return };
    let place = |id| table.artifacts.iter().position(|one| one.id == id);
    match place(by) {
        None => add(format!("it is superseded by {by}, which is not there")),
        Some(newer) if Some(newer) <= place(artifact.id) => {
            add(format!("it is superseded by {by}, which is not newer"));
        }
        Some(_) => {}
    }
}

fn not_on_the_agenda(id: &TopicId) -> String {
    format!("the topic `{id}` is not on the agenda")
}
