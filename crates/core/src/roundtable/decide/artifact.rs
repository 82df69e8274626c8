//! A person's change of a result: the machine's table decides, and the history says who and why.
//!
//! It counts at once, also while a round is going on. What the round's synthesis then proposes about the same artifact is
//! judged against the artifact as it is by then. How far topics are covered is worked out again when a round is recorded.

use super::super::artifact::ArtifactChange;
use super::super::command::{ChangeArtifact, PersonChange};
use super::super::event::PersonMark;
use super::super::id::Role;
use super::{Draft, Event, Refusal, person, proposals};
use crate::FieldError;

pub(super) fn change(draft: &mut Draft, wanted: &ChangeArtifact) -> Result<(), Refusal> {
    let ChangeArtifact { artifact_id, change, reason, by, key } = wanted;
    if person::is_repeated(draft, key.as_ref())? {
        return Ok(());
    }
    draft.active()?;
    let table = &draft.table;
    let id = *artifact_id;
    let artifact = table.artifact(id).ok_or(Refusal::UnknownArtifact(id))?;
    if reason.trim().is_empty() {
        return Err(invalid("/reason", "is blank: the history has to say why"));
    }
    let reason = reason.clone();
    let change = match change {
        PersonChange::Amend(changes) => {
            let version = proposals::changed(&artifact.version, changes.clone());
            ArtifactChange::Amended { version, reason, by: Role::person() }
        }
        PersonChange::Revert => ArtifactChange::Reverted { reason, by: Role::person() },
        PersonChange::Supersede { by } => ArtifactChange::Superseded { by: *by, reason: Some(reason) },
        PersonChange::Withdraw => ArtifactChange::Withdrawn { reason },
    };
    artifact.after(&change, by.actor())?;
    match &change {
        ArtifactChange::Amended { version, .. } => {
            if *version == artifact.version {
                return Err(invalid("", format!("it changes nothing about {id}")));
            }
            proposals::check_version(table, &artifact.topic_id, version)
                .map_err(|problem| invalid("", problem))?;
        }
        ArtifactChange::Superseded { by, .. } => {
            let newer = table.artifact(*by).ok_or(Refusal::UnknownArtifact(*by))?;
            proposals::is_newer(table, newer, artifact).map_err(|problem| invalid("/by", problem))?;
        }
        ArtifactChange::Edited { .. }
        | ArtifactChange::Reverted { .. }
        | ArtifactChange::Withdrawn { .. } => {}
    }
    let person = Some(PersonMark { by: by.clone(), key: key.clone() });
    draft.emit(Event::ArtifactChanged { id, change, person });
    Ok(())
}

fn invalid(path: &str, message: impl Into<String>) -> Refusal {
    Refusal::Invalid(vec![FieldError::new(path, message)])
}
