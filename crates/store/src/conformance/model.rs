//! The lists as a few lines over everything there is: slow, and plainly right.

use adjourn_core::{Entry, RunRow};

use crate::{After, RunFilter};

/// What [`Store::runs`](crate::Store::runs) should give.
pub(super) fn runs(all: &[RunRow], filter: &RunFilter, limit: usize) -> Vec<RunRow> {
    let mut found: Vec<_> = all
        .iter()
        .filter(|row| filter.status.is_none_or(|status| row.status == status))
        .filter(|row| filter.skill.is_none() || row.skill == filter.skill)
        .filter(|row| filter.label.as_ref().is_none_or(|(key, value)| row.labels.get(key) == Some(value)))
        .filter(|row| filter.before.is_none_or(|before| row.run_id < before))
        .cloned()
        .collect();
    found.sort_by_key(|row| std::cmp::Reverse(row.run_id));
    found.truncate(limit);
    found
}

/// What [`Store::read`](crate::Store::read) should give, of all entries of the stream.
pub(super) fn read(all: &[Entry], after: After, limit: usize) -> Vec<Entry> {
    let is_before = |entry: &&Entry| match after {
        After::Seq(seq) => entry.seq <= seq,
        After::Frame(frame) => entry.last_frame <= frame,
    };
    all.iter().skip_while(is_before).take(limit).cloned().collect()
}
