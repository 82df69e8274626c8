//! Whether a model can be reached, without asking it anything that costs.

use std::time::Duration;

use reqwest::StatusCode;
use tokio::time::timeout;

use super::client::{HttpModel, chain};
use super::error::ModelError;
use super::refusal::Refusal;
use super::wire::Wire;
use crate::secrets::Secret;

/// How long it may take. A list of models needs no model to be loaded.
const REACH_MAX: Duration = Duration::from_secs(10);

impl HttpModel {
    /// The name of the model.
    pub fn name(&self) -> &str {
        &self.options.model
    }

    /// Asks the server which models it has, and whether the key is right with it.
    ///
    /// What it answers is not looked at: lists are cut into pages, leave names out that work, and some servers have none.
    pub async fn reach(&self) -> Result<(), ModelError> {
        let asked = timeout(REACH_MAX, self.list_models()).await;
        asked.unwrap_or(Err(ModelError::Silent { after: REACH_MAX }))
    }

    async fn list_models(&self) -> Result<(), ModelError> {
        let wire = Wire::of(self.options.api);
        let request = self.client.get(self.url(wire.models));
        let key = self.options.api_key.as_ref().map(Secret::expose);
        let sent = (wire.authorize)(request, key).send().await;
        let unavailable = |problem| ModelError::Unavailable { attempts: 1, problem };
        let response = sent.map_err(|error| unavailable(chain(error)))?;
        if response.status().is_success() || response.status() == StatusCode::NOT_FOUND {
            return Ok(());
        }
        Err(match self.refusal(response).await? {
            Refusal::Passing(problem) => unavailable(problem),
            Refusal::Lasting(error) => error,
        })
    }
}
