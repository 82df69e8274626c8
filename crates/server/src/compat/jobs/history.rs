//! The history of the chat events of a job, as a page.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::extract::query::{Parameters, RunPath};
use crate::problem::Problem;
use crate::server::Server;
use crate::stream::run_reader::RunReader;

/// Events of an answer, which is held in memory. Whoever wants more goes on behind the last one.
const EVENTS_MAX: usize = 2000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryQuery {
    /// The first event; from the beginning without it.
    from_seq: Option<u64>,
    /// The last event; to the end without it.
    to_seq: Option<u64>,
}

pub(super) async fn page(
    State(server): State<Server>,
    RunPath(id): RunPath,
    Parameters(HistoryQuery { from_seq, to_seq }): Parameters<HistoryQuery>,
) -> Result<Json<Value>, Problem> {
    let page = server.blocking(move |service| {
        let row = service.row(id)?;
        let reader = RunReader { journal: service.journal(), id, engine: row.engine };
        let after = from_seq.unwrap_or(1).saturating_sub(1);
        let (mut frames, _) = reader.frames(after, EVENTS_MAX)?;
        frames.retain(|frame| to_seq.is_none_or(|last| frame.seq <= last));
        frames.truncate(EVENTS_MAX);
        Ok(json!({
            "request_id": id,
            "count": frames.len(),
            "events": frames,
            "source": "journal",
            "cursor_floor": row.seq.min(1),
            "cursor_ceiling": row.seq,
        }))
    });
    page.await.map(Json)
}
