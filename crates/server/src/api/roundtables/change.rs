//! Changes of artifacts by people: amend, revert, supersede and withdraw.

use adjourn_api::{ArtifactAction, ArtifactChange, Code};
use adjourn_core::FieldError;
use adjourn_core::roundtable::{ArtifactId, ArtifactView, BadName, Changes, PersonChange};
use adjourn_runtime::roundtable::ArtifactRequest;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::auth::caller::Caller;
use crate::extract::body;
use crate::extract::query::{Names, RoundtablePath};
use crate::problem::Problem;
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
    body::Json(change): body::Json<ArtifactChange>,
) -> Result<Json<ArtifactView>, Problem> {
    let key = body::key(&headers)?;
    let (_, name) = names;
    let unknown = |detail: String| Problem::new(Code::UnknownArtifact, detail);
    let artifact_id: ArtifactId = name.parse().map_err(|bad: BadName| unknown(bad.to_string()))?;
    let (change, reason) = checked(change)?;
    let request = ArtifactRequest { artifact_id, change, reason, by: caller.by(), key };
    let table = server.service.change_artifact(id, request).await?;
    let found = table.artifact(artifact_id).map(ArtifactView::of);
    found.map(Json).ok_or_else(|| unknown(format!("{id} has no artifact {artifact_id}")))
}

/// The change, if what it has goes with its action; and why it is made.
fn checked(change: ArtifactChange) -> Result<(PersonChange, String), Problem> {
    let ArtifactChange { action, reason, title, body, agreement, covers, by } = change;
    let mut errors = Vec::new();
    let limits = [
        ("/reason", Some(&reason), LINE_BYTES_MAX),
        ("/title", title.as_ref(), LINE_BYTES_MAX),
        ("/body", body.as_ref(), BODY_BYTES_MAX),
    ];
    for (path, text, most) in limits {
        if let Some(length) = text.map(String::len).filter(|length| *length > most) {
            errors.push(FieldError::new(path, format!("has {length} bytes, at most {most} are taken")));
        }
    }
    let of_amendment = [
        ("/title", title.is_some()),
        ("/body", body.is_some()),
        ("/agreement", agreement.is_some()),
        ("/covers", covers.is_some()),
    ];
    let mut refuse = |path, is_there| {
        if is_there {
            errors.push(FieldError::new(path, "does not go with this action"));
        }
    };
    let (amends, supersedes) = match action {
        ArtifactAction::Amend => (true, false),
        ArtifactAction::Supersede => (false, true),
        ArtifactAction::Revert | ArtifactAction::Withdraw => (false, false),
    };
    of_amendment.into_iter().for_each(|(path, is_there)| refuse(path, is_there && !amends));
    refuse("/by", by.is_some() && !supersedes);
    let change = match (action, by) {
        (ArtifactAction::Amend, _) => {
            PersonChange::Amend(Changes { title, body, agreement, covers, supported_by: None })
        }
        (ArtifactAction::Revert, _) => PersonChange::Revert,
        (ArtifactAction::Supersede, Some(by)) => PersonChange::Supersede { by },
        (ArtifactAction::Supersede, None) => {
            errors.push(FieldError::new("/by", "is missing: it names the newer artifact"));
            return Err(Problem::invalid(errors));
        }
        (ArtifactAction::Withdraw, _) => PersonChange::Withdraw,
    };
    if errors.is_empty() { Ok((change, reason)) } else { Err(Problem::invalid(errors)) }
}
