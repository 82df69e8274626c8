//! What there is to work with: skills, engines, machines and slots.

use std::collections::BTreeMap;

use adjourn_core::statechart::{Format, render};
use adjourn_core::{Chart, ExecutionMode, RunStatus};
use adjourn_runtime::Service;
use adjourn_runtime::skill::{self, Installed, Skill, installed};
use adjourn_store::RunFilter;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::code::Code;
use crate::openapi::Refuses;
use crate::pages::Page;
use crate::problem::Problem;
use crate::query::{Names, Parameters};
use crate::router::Server;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new()
        .routes(routes!(skills).refuses(&[]))
        .routes(routes!(show_skill).refuses(&[Code::BadRequest, Code::UnknownSkill]))
        .routes(routes!(engines).refuses(&[]))
        .routes(routes!(statecharts).refuses(&[]))
        .routes(routes!(statechart).refuses(&[Code::BadRequest, Code::UnknownMachine]))
        .routes(routes!(slots).refuses(&[]))
}

/// An installed skill. One that cannot be used is shown with its problem: somebody looks for it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum SkillView {
    /// A skill that can be used.
    Usable(Box<UsableSkill>),
    /// A skill that cannot be used.
    Unusable(UnusableSkill),
}

/// A skill that can be used.
#[derive(Serialize, ToSchema)]
pub(crate) struct UsableSkill {
    name: String,
    description: String,
    version: Option<String>,
    /// Modes it can be run in.
    execution_modes: Vec<ExecutionMode>,
    /// Engines it is meant for, best first; none for any.
    engines: Vec<String>,
    /// Engines it does not work with.
    unsupported_engines: Vec<String>,
    /// How many attempts an interactive run has.
    max_attempt: Option<u32>,
    /// Tool servers it uses.
    tools: Vec<String>,
    schemas: SkillSchemas,
}

/// JSON schemas of what a skill takes and gives.
#[derive(Serialize, ToSchema)]
struct SkillSchemas {
    input: Option<Value>,
    parameter: Option<Value>,
    output: Option<Value>,
}

/// A skill that cannot be used.
#[derive(Serialize, ToSchema)]
pub(crate) struct UnusableSkill {
    name: String,
    /// All that is wrong with it.
    problem: String,
}

impl SkillView {
    fn of(found: &Installed) -> Self {
        let name = found.name.clone();
        match Skill::load(&found.dir) {
            Ok(skill) => Self::Usable(Box::new(UsableSkill {
                name,
                description: skill.description,
                version: skill.version,
                execution_modes: skill.modes,
                engines: skill.engines,
                unsupported_engines: skill.unsupported_engines,
                max_attempt: skill.max_attempt,
                tools: skill.tools,
                schemas: SkillSchemas {
                    input: skill.input.map(|schema| schema.document),
                    parameter: skill.parameter.map(|schema| schema.document),
                    output: skill.output.map(|schema| schema.document),
                },
            })),
            Err(problems) => Self::Unusable(UnusableSkill { name, problem: problems.to_string() }),
        }
    }
}

/// The installed skills, by name.
#[utoipa::path(
    get, path = "/v1/skills", tag = "catalog", operation_id = "listSkills",
    responses((status = 200, body = Page<SkillView>, description = "All of them.")),
)]
pub(crate) async fn skills(State(server): State<Server>) -> Result<Json<Page<SkillView>>, Problem> {
    let skills = server.blocking(|service| {
        Ok(installed(&service.desk().config().skills).iter().map(SkillView::of).collect())
    });
    skills.await.map(Page::whole)
}

/// An installed skill.
#[utoipa::path(
    get, path = "/v1/skills/{name}", tag = "catalog", operation_id = "showSkill",
    params(("name" = String, Path, description = "Its name.")),
    responses((status = 200, body = SkillView, description = "The skill.")),
)]
pub(crate) async fn show_skill(
    State(server): State<Server>,
    Names(name): Names<String>,
) -> Result<Json<SkillView>, Problem> {
    let skill = server.blocking(move |service| {
        let dir = skill::find(&name, &service.desk().config().skills)
            .map_err(|not_found| Problem::new(Code::UnknownSkill, not_found.to_string()))?;
        Ok(SkillView::of(&Installed { name, dir }))
    });
    skill.await.map(Json)
}

/// An engine.
#[derive(Serialize, ToSchema)]
pub(crate) struct EngineView {
    name: String,
    /// `acp`, `exec`, `reasoning` or `replay`.
    kind: Option<String>,
    /// Its program is there.
    installed: bool,
}

/// The engines that are configured, or known by themselves.
#[utoipa::path(
    get, path = "/v1/engines", tag = "catalog", operation_id = "listEngines",
    responses((status = 200, body = Page<EngineView>, description = "All of them.")),
)]
pub(crate) async fn engines(State(server): State<Server>) -> Result<Json<Page<EngineView>>, Problem> {
    let engines = server.blocking(|service| {
        let desk = service.desk();
        let engine = |name: &str| EngineView {
            name: name.to_owned(),
            kind: desk.config().engine(name).map(|engine| engine.kind().to_string()),
            installed: desk.is_installed(name),
        };
        Ok(desk.config().engine_names().into_iter().map(engine).collect())
    });
    engines.await.map(Page::whole)
}

/// The machines that say what may follow on what.
#[utoipa::path(
    get, path = "/v1/statecharts", tag = "catalog", operation_id = "listStatecharts",
    responses((status = 200, body = Page<Chart>, description = "All of them.")),
)]
pub(crate) async fn statecharts() -> Json<Page<Chart>> {
    Page::whole(Chart::all())
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drawn {
    /// How it is shown; by default `json`.
    #[param(inline)]
    format: Option<Format>,
}

/// One machine, as data or as a drawing.
#[utoipa::path(
    get, path = "/v1/statecharts/{name}", tag = "catalog", operation_id = "showStatechart",
    params(("name" = String, Path, description = "Its name.", example = "run"), Drawn),
    responses((status = 200, description = "The machine.", content(
        (Chart = "application/json"), (String = "image/svg+xml"), (String = "text/plain; charset=utf-8"),
    ))),
)]
pub(crate) async fn statechart(
    Names(name): Names<String>,
    Parameters(Drawn { format }): Parameters<Drawn>,
) -> Result<Response, Problem> {
    let chart = Chart::named(&name).ok_or_else(|| {
        let names: Vec<_> = Chart::all().iter().map(|chart| chart.name).collect();
        let detail = format!("there is no machine `{name}`, only {}", names.join(", "));
        Problem::new(Code::UnknownMachine, detail)
    })?;
    let format = format.unwrap_or(Format::Json);
    let content_type = match format {
        Format::Json => "application/json",
        Format::Svg => "image/svg+xml",
        Format::Text | Format::Mermaid => "text/plain; charset=utf-8",
    };
    Ok(([(header::CONTENT_TYPE, content_type)], render(&chart, format)).into_response())
}

/// The right to run turns.
#[derive(Serialize, ToSchema)]
pub(crate) struct SlotsView {
    /// Turns that may go on at once.
    total: u32,
    /// Runs that may wait for theirs.
    queue_max: u32,
    /// Turns of one engine that may go on at once, where that is less.
    engine: BTreeMap<String, u32>,
    running: Count,
    queued: Count,
}

/// How many runs.
#[derive(Serialize, ToSchema)]
struct Count {
    total: usize,
    engine: BTreeMap<String, usize>,
}

/// How many turns may go on at once, how many do, and how many runs wait for theirs.
#[utoipa::path(
    get, path = "/v1/slots", tag = "catalog", operation_id = "slots",
    responses((status = 200, body = SlotsView, description = "Slots and queue.")),
)]
pub(crate) async fn slots(State(server): State<Server>) -> Result<Json<SlotsView>, Problem> {
    let slots = server.blocking(|service| {
        let limits = service.desk().config().slots.clone();
        Ok(SlotsView {
            total: limits.total,
            queue_max: limits.queue_max,
            engine: limits.engine,
            running: count(service, RunStatus::Running)?,
            queued: count(service, RunStatus::Queued)?,
        })
    });
    slots.await.map(Json)
}

/// Runs with a status that few have: those that run are as many as there are slots, those that are queued as many as
/// the queue takes.
fn count(service: &Service, status: RunStatus) -> Result<Count, Problem> {
    let filter = RunFilter { status: Some(status), ..RunFilter::default() };
    let mut engine = BTreeMap::new();
    for row in service.store().runs(&filter, usize::MAX)? {
        *engine.entry(row.engine).or_default() += 1;
    }
    Ok(Count { total: engine.values().sum(), engine })
}
