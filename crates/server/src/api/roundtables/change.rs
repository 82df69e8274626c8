//! Changes of artifacts by people: amend, revert, supersede and withdraw.

use adjourn_core::named;
use adjourn_core::roundtable::{
    Agreement, ArtifactId, ArtifactView, BadName, Changes, CriterionId, PersonChange,
};
use adjourn_runtime::roundtable::ArtifactRequest;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::auth::caller::Caller;
use crate::extract::body;
use crate::extract::members::Members;
use crate::extract::query::{Names, RoundtablePath};
use crate::problem::Problem;
use crate::problem::code::Code;
use crate::server::Server;

/// Bytes of a reason and of a title: both are in front of every agent in the next round.
const LINE_BYTES_MAX: usize = 4 * 1024;

/// Bytes of what an artifact says.
const BODY_BYTES_MAX: usize = 64 * 1024;

pub(super) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new().routes(routes!(change).refuses(&[
        Code::BadJson,
        Code::BadRequest,
        Code::UnknownRoundtable,
        Code::UnknownArtifact,
        Code::BodyTooSlow,
        Code::KeyReused,
        Code::NotAllowedNow,
        Code::Conflict,
        Code::BodyTooLarge,
        Code::UnsupportedMediaType,
        Code::Invalid,
    ]))
}

named! {
    /// What a person can do to an artifact.
    pub enum ArtifactAction {
        /// Have it say something else.
        Amend = "amend",
        /// Restore the version before the last amendment.
        Revert = "revert",
        /// Put a newer artifact in its place.
        Supersede = "supersede",
        /// Take it out.
        Withdraw = "withdraw",
    }
}

// As it is described: it is read by hand, so that everything that is wrong with it is said at once.
/// A change of an artifact by a person.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "action": "amend", "body": "Cards and cash are taken.", "reason": "The owner wants both." }))]
pub(crate) struct ArtifactChange {
    #[schema(inline)]
    action: ArtifactAction,
    /// Why. It stays in the history of the artifact.
    #[schema(pattern = r"\S", max_length = 4096)]
    reason: String,
    /// Of an amendment: the new title.
    #[schema(max_length = 4096)]
    title: Option<String>,
    /// Of an amendment: what it says now.
    #[schema(max_length = 65_536)]
    body: Option<String>,
    /// Of an amendment: how far the table agrees.
    agreement: Option<Agreement>,
    /// Of an amendment: the criteria of its topic that it covers.
    covers: Option<Vec<CriterionId>>,
    /// Of `supersede`: the newer artifact that takes its place.
    by: Option<ArtifactId>,
}

const KEYS: [&str; 7] = ["action", "reason", "title", "body", "agreement", "covers", "by"];

/// Changes a result, as a person.
///
/// It counts at once, also while a round is going on, and the agents are told in their next turn. What the artifact's
/// machine does not allow is refused with what it allows. A closed roundtable changes no more.
#[utoipa::path(
    post, path = "/v1/roundtables/{id}/artifacts/{artifact}", tag = "roundtables", operation_id = "changeArtifact",
    params(RoundtablePath, ("artifact" = ArtifactId, Path, description = "Its name."), body::KeyHeader),
    request_body = ArtifactChange,
    responses((status = 200, body = ArtifactView,
        description = "The change is durable. The artifact as it is now, with everything it said before.")),
)]
pub(crate) async fn change(
    State(server): State<Server>,
    RoundtablePath(id): RoundtablePath,
    Names(names): Names<(String, String)>,
    caller: Caller,
    headers: HeaderMap,
    body::Json(document): body::Json,
) -> Result<Json<ArtifactView>, Problem> {
    let key = body::key(&headers)?;
    let (_, name) = names;
    let unknown = |detail: String| Problem::new(Code::UnknownArtifact, detail);
    let artifact_id: ArtifactId = name.parse().map_err(|bad: BadName| unknown(bad.to_string()))?;
    let (change, reason) = read(&document)?;
    let request = ArtifactRequest { artifact_id, change, reason, by: caller.by(), key };
    let table = server.service.change_artifact(id, request).await?;
    let found = table.artifact(artifact_id).map(ArtifactView::of);
    found.map(Json).ok_or_else(|| unknown(format!("{id} has no artifact {artifact_id}")))
}

fn read(document: &Value) -> Result<(PersonChange, String), Problem> {
    let mut members = Members::of(document, &KEYS);
    let reason: Option<String> =
        members.required("reason", "the history of the artifact says why it changed");
    let action: Option<ArtifactAction> =
        members.required("action", "it is one of amend, revert, supersede, withdraw");
    let changes = Changes {
        title: members.optional("title"),
        body: members.optional("body"),
        agreement: members.optional("agreement"),
        covers: members.optional("covers"),
        supported_by: None,
    };
    let by: Option<ArtifactId> = members.optional("by");
    let limits = [
        ("reason", &reason, LINE_BYTES_MAX),
        ("title", &changes.title, LINE_BYTES_MAX),
        ("body", &changes.body, BODY_BYTES_MAX),
    ];
    for (key, text, most) in limits {
        if let Some(length) = text.as_ref().map(String::len).filter(|length| *length > most) {
            members.wrong(key, format!("has {length} bytes, at most {most} are taken"));
        }
    }
    let strays: &[&str] = match action {
        Some(ArtifactAction::Amend) => &["by"],
        Some(ArtifactAction::Supersede) => &["title", "body", "agreement", "covers"],
        Some(ArtifactAction::Revert | ArtifactAction::Withdraw) => {
            &["title", "body", "agreement", "covers", "by"]
        }
        None => &[],
    };
    for key in strays.iter().filter(|key| document.get(**key).is_some_and(|value| !value.is_null())) {
        members.wrong(key, "does not go with this action");
    }
    if action == Some(ArtifactAction::Supersede) && by.is_none() {
        members.wrong("by", "is missing: it names the newer artifact");
    }
    members.finish()?;
    let change = match (action, by) {
        (Some(ArtifactAction::Amend), _) => PersonChange::Amend(changes),
        (Some(ArtifactAction::Revert), _) => PersonChange::Revert,
        (Some(ArtifactAction::Supersede), Some(by)) => PersonChange::Supersede { by },
        (Some(ArtifactAction::Withdraw), _) => PersonChange::Withdraw,
        (Some(ArtifactAction::Supersede), None) | (None, _) => {
            return Err(Problem::internal("a member that is required was not read"));
        }
    };
    Ok((change, reason.unwrap_or_default()))
}
