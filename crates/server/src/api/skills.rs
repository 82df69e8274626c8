//! The installed skills.

use adjourn_api::{Code, Page};
use adjourn_core::ExecutionMode;
use adjourn_runtime::skill::{Installed, Skill};
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::extract::query::Names;
use crate::problem::Problem;
use crate::server::Server;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new()
        .routes(routes!(list).refuses(&[]))
        .routes(routes!(show).refuses(&[Code::BadRequest, Code::UnknownSkill]))
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
    /// The name, as clients of Skill-Runner know it.
    id: String,
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
    /// The name, as clients of Skill-Runner know it.
    id: String,
    name: String,
    /// All that is wrong with it.
    problem: String,
}

impl SkillView {
    fn of(found: &Installed) -> Self {
        let name = found.name.clone();
        match Skill::load(&found.dir) {
            Ok(skill) => Self::Usable(Box::new(UsableSkill {
                id: name.clone(),
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
            Err(problems) => {
                Self::Unusable(UnusableSkill { id: name.clone(), name, problem: problems.to_string() })
            }
        }
    }
}

/// The installed skills, by name.
#[utoipa::path(
    get, path = "/v1/skills", tag = "catalog", operation_id = "listSkills",
    responses((status = 200, body = Page<SkillView>, description = "All of them.")),
)]
pub(crate) async fn list(State(server): State<Server>) -> Result<Json<Page<SkillView>>, Problem> {
    let skills = server.blocking(|service| Ok(service.skills().iter().map(SkillView::of).collect()));
    skills.await.map(Page::whole).map(Json)
}

/// An installed skill.
#[utoipa::path(
    get, path = "/v1/skills/{name}", tag = "catalog", operation_id = "showSkill",
    params(("name" = String, Path, description = "Its name.")),
    responses((status = 200, body = SkillView, description = "The skill.")),
)]
pub(crate) async fn show(
    State(server): State<Server>,
    Names(name): Names<String>,
) -> Result<Json<SkillView>, Problem> {
    let skill = server.blocking(move |service| {
        let dir = service
            .skill_folder(&name)
            .map_err(|not_found| Problem::new(Code::UnknownSkill, not_found.to_string()))?;
        Ok(SkillView::of(&Installed { name, dir }))
    });
    skill.await.map(Json)
}
