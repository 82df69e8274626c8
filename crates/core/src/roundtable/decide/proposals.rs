//! What a synthesis proposes, one by one: through the machines into the state, or noted and left out.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::Roundtable;
use super::super::answer::Stance;
use super::super::artifact::{Agreement, Artifact, ArtifactChange, NewArtifact, Version};
use super::super::id::{ArtifactId, ArtifactKind, ConflictId, CriterionId, OpenQuestionId, Role, TopicId};
use super::super::point::{HeldPosition, NewConflict, NewQuestion, Settler};
use super::super::proposal::{Changes, CreateArtifact, PROPOSALS_MAX, Proposal, RefusedProposal};
use super::super::strategy::StanceRule;
use super::{Draft, Event};
use crate::Actor;
use crate::machine::Machine;
use crate::machines::{ConflictMachine, ConflictTrigger, QuestionMachine, QuestionTrigger};

/// Why a proposal came to nothing, for the facilitator to read.
type Problem = String;

/// Applies what can be applied, new artifacts first so that the rest can refer to them, and says what could not.
pub(super) fn apply(draft: &mut Draft, proposals: &[Value]) -> Vec<RefusedProposal> {
    let mut refused = Vec::new();
    let mut labels = Labels::default();
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for (place, said) in proposals.iter().enumerate() {
        let number = place + 1;
        match read(number, said) {
            Ok(Proposal::CreateArtifact(create)) => first.push((number, create)),
            Ok(other) => later.push((number, other)),
            Err(reason) => refused.push(RefusedProposal { number, reason }),
        }
    }
    for (number, proposal) in first {
        if let Err(reason) = create(draft, &mut labels, &proposal) {
            refused.push(RefusedProposal { number, reason });
        }
    }
    for (number, proposal) in later {
        if let Err(reason) = change(draft, &labels, proposal) {
            refused.push(RefusedProposal { number, reason });
        }
    }
    refused.sort_by_key(|refused| refused.number);
    refused
}

fn read(number: usize, said: &Value) -> Result<Proposal, Problem> {
    if number > PROPOSALS_MAX {
        return Err(format!("a synthesis holds at most {PROPOSALS_MAX} proposals"));
    }
    serde_json::from_value(said.clone()).map_err(|error| format!("it cannot be read: {error}"))
}

/// What the artifacts of this synthesis were called before they had numbers.
#[derive(Default)]
struct Labels(BTreeMap<String, ArtifactId>);

impl Labels {
    /// The artifact that is meant.
    fn find<'a>(&self, table: &'a Roundtable, name: &str) -> Result<&'a Artifact, Problem> {
        let id = self.0.get(name).copied().or_else(|| name.parse().ok());
        id.and_then(|id| table.artifact(id)).ok_or_else(|| format!("there is no artifact `{name}`"))
    }
}

fn create(draft: &mut Draft, labels: &mut Labels, create: &CreateArtifact) -> Result<(), Problem> {
    let table = &draft.table;
    if let Some(label) = &create.label
        && (labels.0.contains_key(label) || label.parse::<ArtifactId>().is_ok())
    {
        return Err(format!("the label `{label}` names something else already"));
    }
    let version = Version {
        title: create.title.clone(),
        body: create.body.clone(),
        agreement: create.agreement,
        covers: create.covers.clone(),
        supported_by: create.supported_by.clone(),
    };
    let topic_id = topic(table, create.topic_id.as_ref())?;
    seated(table, [&create.proposed_by])?;
    check(table, &topic_id, &version)?;
    let artifact_id = next_id(table, create.kind);
    labels.0.extend(create.label.clone().map(|label| (label, artifact_id)));
    let proposed_by = create.proposed_by.clone();
    draft.emit(Event::ArtifactCreated(Box::new(NewArtifact { artifact_id, topic_id, proposed_by, version })));
    Ok(())
}

fn change(draft: &mut Draft, labels: &Labels, proposal: Proposal) -> Result<(), Problem> {
    let table = &draft.table;
    let event = match proposal {
        // They came first.
        Proposal::CreateArtifact(_) => return Ok(()),
        Proposal::AmendArtifact { artifact, changes, reason, proposed_by } => {
            let artifact = labels.find(table, &artifact)?;
            seated(table, [&proposed_by])?;
            let version = changed(&artifact.version, changes);
            check(table, &artifact.topic_id, &version)?;
            let change = if artifact.round == table.round_now() {
                ArtifactChange::Edited { version: version.clone() }
            } else {
                not_blank("reason", &reason)?;
                ArtifactChange::Amended { version: version.clone(), reason, by: proposed_by }
            };
            let event = allowed(artifact, change)?;
            if version == artifact.version {
                return Err(format!("it changes nothing about {}", artifact.id));
            }
            event
        }
        Proposal::RevertArtifact { artifact, reason, proposed_by } => {
            not_blank("reason", &reason)?;
            seated(table, [&proposed_by])?;
            let change = ArtifactChange::Reverted { reason, by: proposed_by };
            allowed(labels.find(table, &artifact)?, change)?
        }
        Proposal::SupersedeArtifact { artifact, by, reason } => {
            let (old, new) = (labels.find(table, &artifact)?, labels.find(table, &by)?);
            let event = allowed(old, ArtifactChange::Superseded { by: new.id, reason })?;
            is_newer(table, new, old)?;
            event
        }
        Proposal::WithdrawArtifact { artifact, reason } => {
            not_blank("reason", &reason)?;
            allowed(labels.find(table, &artifact)?, ArtifactChange::Withdrawn { reason })?
        }
        Proposal::OpenConflict { topic_id, title, positions } => {
            not_blank("title", &title)?;
            check_positions(table, &positions)?;
            let topic_id = topic(table, topic_id.as_ref())?;
            let conflict_id = ConflictId(number_after(table.conflicts.len()));
            Event::ConflictOpened(NewConflict { conflict_id, topic_id, title, positions })
        }
        Proposal::ResolveConflict { conflict, resolution } => {
            not_blank("resolution", &resolution)?;
            let found = conflict.parse().ok().and_then(|id| table.conflict(id));
            let found = found.ok_or_else(|| format!("there is no conflict `{conflict}`"))?;
            ConflictMachine::step(found.status, ConflictTrigger::Resolve, Settler::Facilitator.actor())
                .map_err(|refused| refused.to_string())?;
            let id = found.about.conflict_id;
            Event::ConflictResolved { id, resolution, by: Settler::Facilitator }
        }
        Proposal::OpenQuestion { topic_id, text, asked_by } => {
            not_blank("text", &text)?;
            seated(table, [&asked_by])?;
            let topic_id = topic(table, topic_id.as_ref())?;
            let question_id = OpenQuestionId(number_after(table.questions.len()));
            Event::QuestionOpened(NewQuestion { question_id, topic_id, text, asked_by })
        }
        Proposal::ResolveQuestion { question, resolution } => {
            not_blank("resolution", &resolution)?;
            let found = question.parse().ok().and_then(|id| table.question(id));
            let found = found.ok_or_else(|| format!("there is no question `{question}`"))?;
            QuestionMachine::step(found.status, QuestionTrigger::Resolve, Settler::Facilitator.actor())
                .map_err(|refused| refused.to_string())?;
            let id = found.about.question_id;
            Event::QuestionResolved { id, resolution, by: Settler::Facilitator }
        }
    };
    draft.emit(event);
    Ok(())
}

/// The change as a fact, if the artifact's table has an edge for it.
fn allowed(artifact: &Artifact, change: ArtifactChange) -> Result<Event, Problem> {
    artifact.after(&change, Actor::Facilitator).map_err(|refused| format!("{}: {refused}", artifact.id))?;
    Ok(Event::ArtifactChanged { id: artifact.id, change, person: None })
}

/// Whether `new` can take the place of `old`.
pub(super) fn is_newer(table: &Roundtable, new: &Artifact, old: &Artifact) -> Result<(), Problem> {
    let place = |one: &Artifact| table.artifacts.iter().position(|artifact| artifact.id == one.id);
    if !new.is_living() {
        Err(format!("{} is {}: what takes the place of another has to be in force", new.id, new.status))
    } else if place(new) <= place(old) {
        Err(format!("{} is not newer than {}: it cannot take its place", new.id, old.id))
    } else {
        Ok(())
    }
}

/// The version with these changes.
pub(super) fn changed(version: &Version, changes: Changes) -> Version {
    let Changes { title, body, agreement, covers, supported_by } = changes;
    let version = version.clone();
    Version {
        title: title.unwrap_or(version.title),
        body: body.unwrap_or(version.body),
        agreement: agreement.unwrap_or(version.agreement),
        covers: covers.unwrap_or(version.covers),
        supported_by: supported_by.unwrap_or(version.supported_by),
    }
}

/// What holds for every version that the facilitator proposes.
fn check(table: &Roundtable, topic_id: &TopicId, version: &Version) -> Result<(), Problem> {
    check_version(table, topic_id, version)?;
    match (version.agreement, blocked_by(table)) {
        (Agreement::Consensus, Some(role)) => {
            Err(format!("`{role}` blocks: it can be draft or conflict, and no consensus"))
        }
        (Agreement::Consensus | Agreement::Draft | Agreement::Conflict, _) => Ok(()),
    }
}

/// What holds for every version of every artifact.
pub(super) fn check_version(
    table: &Roundtable,
    topic_id: &TopicId,
    version: &Version,
) -> Result<(), Problem> {
    not_blank("title", &version.title)?;
    not_blank("body", &version.body)?;
    seated(table, &version.supported_by)?;
    let spec = table.spec.topic(topic_id).ok_or_else(|| format!("there is no topic `{topic_id}`"))?;
    let is_known = |id: &CriterionId| spec.done_when.criteria.iter().any(|criterion| criterion.id == *id);
    if let Some(unknown) = version.covers.iter().find(|id| !is_known(id)) {
        return Err(format!("the topic `{topic_id}` has no criterion `{unknown}`"));
    }
    Ok(())
}

/// Who blocks in a round in which that counts.
fn blocked_by(table: &Roundtable) -> Option<&Role> {
    let round = table.current.as_ref()?;
    match table.strategy.phase(round.number).stance {
        StanceRule::Free => None,
        StanceRule::Required => round
            .answers
            .iter()
            .find(|answer| answer.said.stance == Some(Stance::Block))
            .map(|answer| &answer.role),
    }
}

fn check_positions(table: &Roundtable, positions: &[HeldPosition]) -> Result<(), Problem> {
    if positions.len() < 2 {
        return Err("a conflict has at least two positions".to_owned());
    }
    for HeldPosition { held_by, position, .. } in positions {
        not_blank("position", position)?;
        seated(table, held_by)?;
    }
    Ok(())
}

/// The topic that is named, or that of the round.
fn topic(table: &Roundtable, named: Option<&TopicId>) -> Result<TopicId, Problem> {
    let of_round = || table.current.as_ref()?.asked.as_ref().map(|asked| &asked.topic_id);
    let id = named.or_else(of_round).ok_or("it names no topic")?;
    if table.spec.topic(id).is_some() { Ok(id.clone()) } else { Err(format!("there is no topic `{id}`")) }
}

fn seated<'a>(table: &Roundtable, roles: impl IntoIterator<Item = &'a Role>) -> Result<(), Problem> {
    match roles.into_iter().find(|role| table.spec.seat(role).is_none()) {
        Some(stranger) => Err(format!("`{stranger}` does not sit at this table")),
        None => Ok(()),
    }
}

fn not_blank(field: &str, text: &str) -> Result<(), Problem> {
    if text.trim().is_empty() { Err(format!("its {field} is blank")) } else { Ok(()) }
}

fn next_id(table: &Roundtable, kind: ArtifactKind) -> ArtifactId {
    let before = table.artifacts.iter().filter(|artifact| artifact.id.kind == kind).count();
    ArtifactId { kind, number: number_after(before) }
}

fn number_after(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1)
}
