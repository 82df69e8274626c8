//! The body of `POST /v1/runs` with files, as it is described.

use std::collections::BTreeMap;

use adjourn_api::NewRun;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A request with files.
#[derive(Serialize, Deserialize, ToSchema)]
pub(crate) struct NewRunForm {
    request: NewRun,
    /// Any other part is a file, by the name that the agent knows it by: at most 100, of 256 MiB each.
    #[serde(flatten)]
    files: BTreeMap<String, FileContent>,
}

/// The bytes of a file.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(value_type = String, format = Binary)]
struct FileContent(Vec<u8>);
