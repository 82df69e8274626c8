//! Everything that waits for a person.

use adjourn_api::{Code, Page, Waiting, WaitingRoundtable, WaitingRun};
use adjourn_core::{
    InteractionId, InteractionView, OpenInteraction, RoundtableId, RunId, StreamId, Timestamp,
};
use adjourn_runtime::Service;
use adjourn_store::OpenCursor;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::api::pages::limit;
use crate::api::runs::bad_cursor;
use crate::extract::query::Parameters;
use crate::problem::Problem;
use crate::server::Server;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new().routes(routes!(list).refuses(&[Code::BadRequest]))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct InboxQuery {
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
    /// Items of a page.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
}

/// Everything that waits for a person, the oldest first.
#[utoipa::path(
    get, path = "/v1/inbox", tag = "inbox", operation_id = "inbox", params(InboxQuery),
    responses((status = 200, body = Page<Waiting>, description = "Questions, with the runs and roundtables that ask them.")),
)]
pub(crate) async fn list(
    State(server): State<Server>,
    Parameters(wanted): Parameters<InboxQuery>,
) -> Result<Json<Page<Waiting>>, Problem> {
    let limit = limit(wanted.limit)?;
    let after = wanted.cursor.as_deref().map(read_cursor).transpose()?;
    let page = server.blocking(move |service| {
        let open = service.journal().open_interactions(after, limit + 1)?;
        let page = Page::cut(open, limit, |open| write_cursor(OpenCursor::after(open)));
        Ok(page.map(|open| open.iter().filter_map(|open| waiting(service, open)).collect()))
    });
    page.await.map(Json)
}

/// The question as whoever asks it knows it; none where it was answered meanwhile.
fn waiting(service: &Service, open: &OpenInteraction) -> Option<Waiting> {
    match open.stream {
        StreamId::Run(run_id) => {
            let run = service.run(run_id).ok()?;
            let interaction = run.interaction(open.interaction_id).filter(|it| it.is_open())?;
            Some(Waiting::Run(WaitingRun {
                run_id,
                skill: run.spec().skill.clone(),
                engine: run.spec().engine.clone(),
                interaction: InteractionView::of(&run, interaction),
            }))
        }
        StreamId::Roundtable(roundtable_id) => {
            let table = service.roundtable(roundtable_id).ok()?;
            let interaction = table.interaction(open.interaction_id).filter(|it| it.is_open())?;
            Some(Waiting::Roundtable(WaitingRoundtable {
                roundtable_id,
                subject: table.spec().subject.clone(),
                interaction: InteractionView::of_roundtable(interaction),
            }))
        }
    }
}

pub(crate) fn write_cursor(cursor: OpenCursor) -> String {
    format!("{}.{}.{}", cursor.created_at.millis(), cursor.stream, cursor.interaction_id)
}

pub(crate) fn read_cursor(text: &str) -> Result<OpenCursor, Problem> {
    parse(text).ok_or_else(bad_cursor)
}

/// A run or a roundtable, by its id.
fn stream(text: &str) -> Option<StreamId> {
    let run = text.parse::<RunId>().ok().map(StreamId::Run);
    run.or_else(|| text.parse::<RoundtableId>().ok().map(StreamId::Roundtable))
}

fn parse(text: &str) -> Option<OpenCursor> {
    let mut parts = text.split('.');
    let cursor = OpenCursor {
        created_at: Timestamp::from_millis(parts.next()?.parse().ok()?),
        stream: stream(parts.next()?)?,
        interaction_id: InteractionId(parts.next()?.parse().ok()?),
    };
    parts.next().is_none().then_some(cursor)
}
