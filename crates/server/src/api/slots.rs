//! Slots: how many turns may run at once, and how many do.

use std::collections::BTreeMap;

use adjourn_kernel::{EngineSlots, SlotUse};
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::problem::Problem;
use crate::server::Server;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new().routes(routes!(show).refuses(&[]))
}

/// Slots and queue, as the scheduler counts them.
#[derive(Serialize, ToSchema)]
pub(crate) struct SlotsView {
    #[serde(flatten)]
    all: CountsView,
    /// How many new runs may wait.
    queue_max: usize,
    /// The same for each engine that has a limit of its own, or a run that holds a slot or waits.
    engine: BTreeMap<String, CountsView>,
}

/// How slots are used.
#[derive(Serialize, ToSchema)]
struct CountsView {
    /// Turns that may go on at once; null for an engine without a limit of its own.
    total: Option<usize>,
    /// How many are held.
    held: usize,
    /// How many nobody holds; null where there is no limit.
    free: Option<usize>,
    /// Runs that wait for one.
    queued: usize,
}

impl CountsView {
    fn of(counts: EngineSlots) -> Self {
        Self { total: counts.limit, held: counts.held, free: counts.free(), queued: counts.waiting }
    }
}

/// How many turns may go on at once, how many do, and how many runs wait for theirs.
#[utoipa::path(
    get, path = "/v1/slots", tag = "catalog", operation_id = "slots",
    responses((status = 200, body = SlotsView, description = "Slots and queue.")),
)]
pub(crate) async fn show(State(server): State<Server>) -> Result<Json<SlotsView>, Problem> {
    let SlotUse { total, engine, queue_max } = server.service.slots().await?;
    let engine = engine.into_iter().map(|(name, counts)| (name, CountsView::of(counts))).collect();
    Ok(Json(SlotsView { all: CountsView::of(total), queue_max, engine }))
}
