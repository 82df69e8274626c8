//! `wait_for_change`: waits for something to happen to one run, or to any.

use std::time::Duration;

use adjourn_core::{Frame, RunId};
use adjourn_runtime::Service;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::answers::{Change, Changes, RunState};
use super::transcript::line;
use crate::problem::Problem;
use crate::server::Server;
use crate::stream::all_events::AllEventsReader;
use crate::stream::run_reader::RunReader;

/// How long a call waits that does not say it, in seconds: short enough for a model to report in between.
const WAIT_DEFAULT_SEC: u64 = 20;

/// How long a call may wait, in seconds: clients give up on a call after a minute.
const WAIT_MAX_SEC: u64 = 50;

/// Changes of one answer: a model has to read them.
const CHANGES_MAX: usize = 40;

/// When a call ends that waits for so long.
pub(super) fn time(seconds: Option<u64>) -> Result<Instant, Problem> {
    match seconds.unwrap_or(WAIT_DEFAULT_SEC) {
        seconds @ 0..=WAIT_MAX_SEC => Ok(Instant::now() + Duration::from_secs(seconds)),
        other => {
            Err(Problem::bad_request(format!("`timeout_sec` is {other}: it should be 0 to {WAIT_MAX_SEC}")))
        }
    }
}

/// What happens to one run after the frame `cursor`; from now on without one.
pub(super) async fn of_run(
    server: &Server,
    id: RunId,
    cursor: Option<u64>,
    until: Instant,
) -> Result<Changes, Problem> {
    let mut commits = server.service.journal().watch_stream(id.into());
    let now = server.blocking(move |service| Ok(service.row(id)?)).await?;
    let after = cursor.unwrap_or(now.seq);
    loop {
        commits.mark_unchanged();
        let (frames, run) = server
            .blocking(move |service| {
                let run = service.run(id)?;
                let reader = RunReader { journal: service.journal(), id, engine: run.spec().engine.clone() };
                Ok((reader.frames(after, CHANGES_MAX)?.0, run))
            })
            .await?;
        let is_over =
            run.status().is_terminal() || !happens(&mut commits, &server.shutdown, until, &frames).await;
        if !frames.is_empty() || is_over {
            let frames = &frames[..frames.len().min(CHANGES_MAX)];
            return Ok(Changes {
                changed: !frames.is_empty(),
                changes: frames.iter().map(change).collect(),
                cursor: frames.last().map_or(after, |frame| frame.seq),
                run: Some(RunState::of(&run)),
            });
        }
    }
}

/// The status changes of all runs after the position `cursor`; from now on without one.
pub(super) async fn of_all(server: &Server, cursor: Option<u64>, until: Instant) -> Result<Changes, Problem> {
    let mut commits = server.service.journal().watch();
    let mut after = match cursor {
        Some(cursor) => cursor,
        None => server.blocking(|service| Ok(service.journal().head()?)).await?,
    };
    let mut frames = Vec::new();
    loop {
        commits.mark_unchanged();
        while frames.is_empty() {
            let read = move |service: &Service| Ok(AllEventsReader::new(service.journal()).frames(after)?);
            let (found, upto) = server.blocking(read).await?;
            let Some(upto) = upto else { break };
            (frames, after) = (found, upto);
        }
        if !frames.is_empty() || !happens(&mut commits, &server.shutdown, until, &frames).await {
            return Ok(Changes {
                changed: !frames.is_empty(),
                changes: frames.iter().map(change).collect(),
                cursor: after,
                run: None,
            });
        }
    }
}

/// Whether something happens before the time is up; not waited for if something has.
async fn happens(
    commits: &mut watch::Receiver<u64>,
    shutdown: &CancellationToken,
    until: Instant,
    already: &[Frame],
) -> bool {
    if !already.is_empty() {
        return true;
    }
    tokio::select! {
        () = shutdown.cancelled() => false,
        changed = timeout_at(until, commits.changed()) => matches!(changed, Ok(Ok(()))),
    }
}

fn change(frame: &Frame) -> Change {
    Change {
        run_id: frame.run_id.to_string(),
        at: frame.ts.to_string(),
        kind: frame.kind.to_string(),
        text: line(frame),
    }
}
