//! Reads the names and parameters in addresses.

use adjourn_api::Code;
use adjourn_core::{BadId, ExecutionId, RoundtableId, RunId};
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::{IntoParams, PartialSchema};

use crate::problem::Problem;

/// The run that an address names.
pub(crate) struct RunPath(pub(crate) RunId);

impl<S: Send + Sync> FromRequestParts<S> for RunPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        run_id(&first_name(parts, state).await?).map(Self)
    }
}

impl IntoParams for RunPath {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let id = ParameterBuilder::new().name("id").parameter_in(ParameterIn::Path).required(Required::True);
        vec![id.description(Some("The run.")).schema(Some(RunId::schema())).build()]
    }
}

/// The roundtable that an address names.
pub(crate) struct RoundtablePath(pub(crate) RoundtableId);

impl<S: Send + Sync> FromRequestParts<S> for RoundtablePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        roundtable_id(&first_name(parts, state).await?).map(Self)
    }
}

impl IntoParams for RoundtablePath {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let id = ParameterBuilder::new().name("id").parameter_in(ParameterIn::Path).required(Required::True);
        vec![id.description(Some("The roundtable.")).schema(Some(RoundtableId::schema())).build()]
    }
}

/// The first of the names in an address: the id, in every one that has an id.
async fn first_name<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<String, Problem> {
    let Names(names) = Names::<Vec<(String, String)>>::from_request_parts(parts, state).await?;
    Ok(names.into_iter().next().map(|(_, id)| id).unwrap_or_default())
}

/// The roundtable with this id. What is no id is the id of no roundtable.
pub(crate) fn roundtable_id(given: &str) -> Result<RoundtableId, Problem> {
    given.parse().map_err(|error: BadId| Problem::new(Code::UnknownRoundtable, error.to_string()))
}

/// The run with this id. What is no id is the id of no run.
pub(crate) fn run_id(given: &str) -> Result<RunId, Problem> {
    given.parse().map_err(|error: BadId| Problem::new(Code::UnknownRun, error.to_string()))
}

/// The contract that an address names. What is no id is the id of no contract.
pub(crate) struct ContractPath(pub(crate) ExecutionId);

impl<S: Send + Sync> FromRequestParts<S> for ContractPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Names(id) = Names::<String>::from_request_parts(parts, state).await?;
        let unknown = |error: BadId| Problem::new(Code::UnknownContract, error.to_string());
        id.parse().map(Self).map_err(unknown)
    }
}

impl IntoParams for ContractPath {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let id = ParameterBuilder::new().name("execution_id").parameter_in(ParameterIn::Path);
        let id = id.required(Required::True).description(Some("The contract."));
        vec![id.schema(Some(ExecutionId::schema())).build()]
    }
}

/// The names in an address.
pub(crate) struct Names<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Names<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = Path::from_request_parts(parts, state).await;
        read.map(|Path(names)| Self(names)).map_err(|rejection| Problem::bad_request(rejection.body_text()))
    }
}

/// The parameters of an address. One that is unknown is refused: a filter that is misspelt must not mean everything.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = Query::from_request_parts(parts, state).await;
        read.map(|Query(parameters)| Self(parameters))
            .map_err(|rejection| Problem::bad_request(rejection.body_text()))
    }
}
