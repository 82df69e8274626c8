//! The model of an engine of kind `reasoning`.

use adjourn_api::read::Variables;
use adjourn_engine::model::{Api, ModelOptions, Prices};
use adjourn_engine::secrets::Secret;

use super::ConfigError;

/// The most that `output_tokens_max` can ask for: some times what any model writes in one reply, so that a slip of the
/// finger is found here and not by the server.
pub(super) const OUTPUT_TOKENS_MAX: u32 = 1_000_000;

/// A model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// How it is talked to.
    pub api: Api,
    /// Where. By default where the maker of the interface serves it.
    pub base_url: String,
    /// Its name there.
    pub model: String,
    /// The variable that holds the key; none where no key is needed.
    pub api_key_env: Option<String>,
    /// How much it may write in one reply, where that is not left to the server.
    pub output_tokens_max: Option<u32>,
    /// What it costs, if that is known.
    pub prices: Option<Prices>,
}

impl Model {
    /// How it is asked. Its key is looked up only now: an engine that nobody uses needs none.
    pub fn options(&self, variables: &Variables) -> Result<ModelOptions, ConfigError> {
        Ok(ModelOptions {
            api_key: self.api_key(variables)?,
            output_tokens_max: self.output_tokens_max,
            prices: self.prices,
            ..ModelOptions::new(self.api, &self.base_url, &self.model)
        })
    }

    fn api_key(&self, variables: &Variables) -> Result<Option<Secret>, ConfigError> {
        let Some(variable) = &self.api_key_env else { return Ok(None) };
        match variables.get(variable).filter(|value| !value.is_empty()) {
            Some(value) => Ok(Some(Secret::new(value))),
            None => Err(ConfigError::MissingVariable {
                key: "api_key_env".to_owned(),
                variable: variable.clone(),
            }),
        }
    }
}
