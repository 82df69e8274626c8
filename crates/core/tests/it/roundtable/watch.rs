//! What holds after every command, whatever it was.

use std::collections::BTreeSet;

use adjourn_core::machines::{RoundtableStatus, RoundtableTrigger, TopicStatus};
use adjourn_core::roundtable::{Artifact, ArtifactKind, Roundtable, Strategy, TopicId};
use adjourn_core::{ByKind, Stream};

use super::table::Table;

/// Checks the step from one state to the next.
pub(crate) fn check(before: &Roundtable, after: &Roundtable) {
    names_are_given_once(after);
    results_are_never_lost(before, after);
    topics_only_get_on(before, after);
    rounds_have_no_gaps(before, after);
    everybody_is_heard_once(after);
    it_waits_between_rounds_only(after);
    the_end_has_a_reason(before, after);
}

fn names_are_given_once(table: &Roundtable) {
    let ids: BTreeSet<_> = table.artifacts().iter().map(|artifact| artifact.id).collect();
    assert_eq!(ids.len(), table.artifacts().len());
    let ids: BTreeSet<_> = table.conflicts().iter().map(|conflict| conflict.about.conflict_id).collect();
    assert_eq!(ids.len(), table.conflicts().len());
    let ids: BTreeSet<_> = table.questions().iter().map(|question| question.about.question_id).collect();
    assert_eq!(ids.len(), table.questions().len());
}

fn results_are_never_lost(before: &Roundtable, after: &Roundtable) {
    for (old, new) in before.artifacts().iter().zip(after.artifacts()) {
        assert_eq!(old.id, new.id, "an artifact keeps its place");
        assert!(new.amendments.starts_with(&old.amendments), "history is only added to");
        if !old.is_living() {
            assert_eq!(old, new, "what is final does not change");
        }
    }
    assert!(after.artifacts().len() >= before.artifacts().len());
    for (place, artifact) in after.artifacts().iter().enumerate() {
        assert_eq!(artifact.end.is_some(), !artifact.is_living());
        let successor = artifact.end.as_ref().and_then(|end| end.superseded_by);
        if let Some(successor) = successor {
            let newer = |one: &Artifact| one.id == successor;
            assert!(after.artifacts()[place + 1..].iter().any(newer), "superseded by something newer");
        }
    }
}

fn topics_only_get_on(before: &Roundtable, after: &Roundtable) {
    for (old, new) in before.topics().iter().zip(after.topics()) {
        assert!(old.status <= new.status, "a topic went back");
        if old.status != TopicStatus::Closed && new.status == TopicStatus::Closed {
            assert!(everything_is_there(after, &new.id), "closed although something is missing");
        }
    }
}

/// What `done_when` asks for, worked out a second time.
fn everything_is_there(table: &Roundtable, id: &TopicId) -> bool {
    let done_when = &table.spec().topic(id).unwrap().done_when;
    let artifacts = table.artifacts().iter();
    let living: Vec<_> = artifacts.filter(|one| one.topic_id == *id && one.end.is_none()).collect();
    let covered: BTreeSet<_> = living.iter().flat_map(|one| &one.version.covers).collect();
    done_when.criteria.iter().all(|criterion| covered.contains(&criterion.id))
        && living.len() >= done_when.min_artifacts as usize
        && living.iter().filter(|one| one.id.kind == ArtifactKind::Requirement).count()
            >= done_when.min_requirements as usize
}

fn rounds_have_no_gaps(before: &Roundtable, after: &Roundtable) {
    assert!(after.rounds().starts_with(before.rounds()), "what is recorded does not change");
    let numbers: Vec<_> = after.rounds().iter().chain(after.current()).map(|round| round.number).collect();
    let counted: Vec<_> = (1..).take(numbers.len()).collect();
    assert_eq!(numbers, counted);
    assert!(numbers.len() <= after.spec().limits.max_rounds as usize);
    assert!(after.rounds().iter().all(|round| round.decided.is_some()));
}

fn everybody_is_heard_once(table: &Roundtable) {
    let strategy = Strategy::named(&table.spec().strategy).unwrap();
    for round in table.rounds().iter().chain(table.current()) {
        assert_eq!(round.phase, strategy.phase(round.number).name);
        let answered = round.answers.iter().map(|answer| &answer.role);
        let heard: Vec<_> = answered.chain(round.missing.iter().map(|missing| &missing.role)).collect();
        let once: BTreeSet<_> = heard.iter().copied().collect();
        assert_eq!(once.len(), heard.len());
        assert!(heard.iter().all(|role| round.speakers.contains(role)));
    }
}

fn it_waits_between_rounds_only(table: &Roundtable) {
    let open = table.interactions().iter().filter(|interaction| interaction.is_open()).count();
    assert!(open <= 1);
    assert!(open == 0 || table.current().is_none(), "it waits while a round goes on");
}

fn the_end_has_a_reason(before: &Roundtable, after: &Roundtable) {
    assert_eq!(after.closing().is_some(), after.status() == RoundtableStatus::Closed);
    let Some(closing) = after.closing() else { return };
    assert_eq!(before.closing(), None, "it ends once");
    assert!(after.current().is_none() && after.pending().is_none(), "nothing outlives it");
    let limits = after.spec().limits;
    let rounds = after.recorded_rounds();
    match closing.reason {
        RoundtableTrigger::Conclude if closing.by.kind == ByKind::System => {
            assert!(after.topics().iter().all(|topic| topic.status == TopicStatus::Closed));
            assert!((limits.min_rounds..=limits.max_rounds).contains(&rounds));
        }
        RoundtableTrigger::ExhaustRounds => assert_eq!(rounds, limits.max_rounds),
        RoundtableTrigger::Fail => assert!(closing.problem.is_some(), "an error says what is wrong"),
        RoundtableTrigger::Conclude | RoundtableTrigger::CloseByUser => {
            assert_eq!(closing.by.kind, ByKind::User);
        }
    }
}

/// The stream as a whole: without gaps, and closed by its last frame, if by any.
pub(crate) fn check_stream(table: &Table) {
    let frames = table.frames();
    let numbers: Vec<_> = frames.iter().map(|frame| frame.seq).collect();
    assert_eq!(numbers, (1..=frames.len() as u64).collect::<Vec<_>>());
    let ends: Vec<_> = frames.iter().filter(|frame| frame.kind.name() == "roundtable.closed").collect();
    assert_eq!(ends.len(), usize::from(table.table.closing().is_some()));
    if let Some(end) = ends.first() {
        assert_eq!(end.seq, frames.len() as u64, "nothing comes after the end");
    }
    let folded = Roundtable::fold(table.table.id(), &table.entries).unwrap();
    assert_eq!(folded.as_ref(), Some(&table.table), "the journal alone says everything");
}
