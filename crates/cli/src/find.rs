//! Which run or roundtable is meant: its id, or an end of it that no other has.

use adjourn_core::roundtable::RoundtableView;
use adjourn_core::{ListedRun, RoundtableId, RunId, RunView, Timestamp};
use anyhow::bail;
use axum::http::StatusCode;

use crate::client::{Client, Refused, RunQuery};
use crate::text::{age, one_line};

/// Shorter ones fit by chance.
const ABBREVIATION_CHARS_MIN: usize = 4;

/// Those that are named where several fit.
const CANDIDATES_MAX: usize = 10;

/// Characters of what a candidate is about.
const ABOUT_CHARS_MAX: usize = 40;

/// The run that `given` means.
pub(crate) async fn find(client: &mut Client<'_>, given: &str) -> anyhow::Result<RunView> {
    let id = match given.parse::<RunId>() {
        Ok(id) => id,
        Err(_) => {
            let part = part(given, RunId::PREFIX, "a run")?;
            let rows = client.runs(&RunQuery::default(), usize::MAX).await?.items;
            let candidates = rows.into_iter().map(|ListedRun { row, .. }| Candidate {
                id: row.run_id,
                status: row.status.name(),
                about: row.skill.unwrap_or_else(|| "-".to_owned()),
                created_at: row.created_at,
            });
            only("run", "ps", given, fitting(candidates, &part))?
        }
    };
    client.run(id).await.map_err(|error| not_there(error, &format!("run {id}"), "ps"))
}

/// The roundtable that `given` means.
pub(crate) async fn find_roundtable(client: &mut Client<'_>, given: &str) -> anyhow::Result<RoundtableView> {
    let id = match given.parse::<RoundtableId>() {
        Ok(id) => id,
        Err(_) => {
            let part = part(given, RoundtableId::PREFIX, "a roundtable")?;
            let rows = client.roundtables(None, usize::MAX).await?.items;
            let candidates = rows.into_iter().map(|row| Candidate {
                id: row.roundtable_id,
                status: row.status.name(),
                about: row.subject,
                created_at: row.created_at,
            });
            only("roundtable", "roundtable list", given, fitting(candidates, &part))?
        }
    };
    let found = client.roundtable(id).await;
    found.map_err(|error| not_there(error, &format!("roundtable {id}"), "roundtable list"))
}

/// Something that may be meant.
struct Candidate<I> {
    id: I,
    status: &'static str,
    about: String,
    created_at: Timestamp,
}

/// What an id has to begin or end with.
fn part(given: &str, prefix: &str, what: &str) -> anyhow::Result<String> {
    let part = given.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')).unwrap_or(given);
    if part.chars().count() < ABBREVIATION_CHARS_MIN {
        bail!(
            "`{given}` is too short for {what}: give its id, or at least {ABBREVIATION_CHARS_MIN} characters of \
             the beginning or the end of it"
        );
    }
    Ok(part.to_ascii_lowercase())
}

/// Those whose id begins or ends like this.
fn fitting<I: ToString>(candidates: impl Iterator<Item = Candidate<I>>, part: &str) -> Vec<Candidate<I>> {
    let fits = |candidate: &Candidate<I>| {
        let id = candidate.id.to_string();
        let digits = id.split_once('_').map_or(id.as_str(), |(_, digits)| digits);
        digits.starts_with(part) || digits.ends_with(part)
    };
    candidates.filter(fits).collect()
}

/// The one that is meant.
fn only<I: Copy + std::fmt::Display>(
    what: &str,
    lists: &str,
    given: &str,
    fitting: Vec<Candidate<I>>,
) -> anyhow::Result<I> {
    match fitting.as_slice() {
        [] => bail!("there is no {what} `{given}`: `adjourn {lists}` lists those there are"),
        [only] => Ok(only.id),
        several => bail!("`{given}` can be any of these {what}s:\n{}", listed(several)),
    }
}

fn not_there(error: anyhow::Error, what: &str, lists: &str) -> anyhow::Error {
    match error.downcast_ref::<Refused>() {
        Some(refused) if refused.is(StatusCode::NOT_FOUND) => {
            anyhow::anyhow!("there is no {what}: `adjourn {lists}` lists those there are")
        }
        Some(_) | None => error,
    }
}

fn listed<I: std::fmt::Display>(candidates: &[Candidate<I>]) -> String {
    let now = crate::data::now();
    let mut lines: Vec<_> = candidates
        .iter()
        .take(CANDIDATES_MAX)
        .map(|Candidate { id, status, about, created_at }| {
            format!("  {id}  {status}  {}  {} ago", one_line(about, ABOUT_CHARS_MAX), age(*created_at, now))
        })
        .collect();
    if candidates.len() > CANDIDATES_MAX {
        lines.push("  and more".to_owned());
    }
    lines.join("\n")
}
