//! The raw output of the attempts of a run: what the `raw_ref` of a frame points at.

use std::io::{Read, Seek, SeekFrom};

use adjourn_api::Code;
use adjourn_core::OutputStream;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::log_body;
use crate::api::openapi::Refuses;
use crate::extract::query::{Names, Parameters, RunPath, run_id};
use crate::problem::Problem;
use crate::server::Server;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    let codes = [Code::BadRequest, Code::UnknownRun, Code::NoLog, Code::WorkspaceFailed];
    OpenApiRouter::new().routes(routes!(show).refuses(&codes))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogQuery {
    /// By default `stdout`.
    #[param(inline)]
    stream: Option<OutputStream>,
    /// The first byte.
    #[param(minimum = 0)]
    from: Option<i64>,
    /// The byte after the last; by default all that there is.
    #[param(minimum = 0)]
    to: Option<i64>,
}

/// Where to begin, and how much to read.
fn range(from: i64, to: i64) -> Result<(u64, u64), Problem> {
    let wrong = || Problem::bad_request("`from` should not be negative, and `to` not less than `from`");
    let from = u64::try_from(from).map_err(|_| wrong())?;
    let length = u64::try_from(to).ok().and_then(|to| to.checked_sub(from)).ok_or_else(wrong)?;
    Ok((from, length))
}

/// The raw output of an attempt, with secrets masked.
///
/// Of an attempt that goes on, what there is by now. A log is removed with its run.
#[utoipa::path(
    get, path = "/v1/runs/{id}/attempts/{n}/log", tag = "files", operation_id = "attemptLog",
    params(RunPath, ("n" = u32, Path, minimum = 1, description = "The attempt."), LogQuery),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream", description = "Its bytes.")),
)]
pub(crate) async fn show(
    State(server): State<Server>,
    Names((id, attempt)): Names<(String, u32)>,
    Parameters(LogQuery { stream, from, to }): Parameters<LogQuery>,
) -> Result<Response, Problem> {
    let (id, stream) = (run_id(&id)?, stream.unwrap_or(OutputStream::Stdout));
    let (from, length) = range(from.unwrap_or(0), to.unwrap_or(i64::MAX))?;
    let log = server.blocking(move |service| {
        service.row(id)?;
        let log = service.attempt_log(id, attempt, stream)?.ok_or_else(|| {
            let detail = format!("attempt {attempt} of {id} left no {stream}, or it was removed");
            Problem::new(Code::NoLog, detail)
        })?;
        let failed = |error| Problem::new(Code::WorkspaceFailed, format!("reading the log failed: {error}"));
        // What an agent writes meanwhile is for whoever asks again.
        let end = log.metadata().map_err(failed)?.len();
        let mut log = log.take(length.min(end.saturating_sub(from)));
        log.get_mut().seek(SeekFrom::Start(from.min(end))).map_err(failed)?;
        Ok(log)
    });
    log.await.map(log_body::response)
}
