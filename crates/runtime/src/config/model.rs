//! The model of an engine of kind `reasoning`.

use adjourn_engine::model::{Api, ModelOptions, Prices};
use adjourn_engine::secrets::Secret;

use super::ConfigError;
use super::document::Variables;
use super::reader::Reader;
use super::value::url;

/// The most that `output_tokens_max` can ask for: some times what any model writes in one reply, so that a slip of the
/// finger is found here and not by the server.
const OUTPUT_TOKENS_MAX: u32 = 1_000_000;

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

pub(super) fn read(reader: &Reader<'_>) -> Option<Model> {
    let api = reader.named::<Api>("api").map(|found| found.value);
    let base_url = url(reader, "base_url");
    let model = reader.string("model").map(|found| found.value);
    let api_key_env = reader.string("api_key_env").map(|found| found.value);
    let output_tokens_max =
        reader.number("output_tokens_max", 1..=OUTPUT_TOKENS_MAX).map(|found| found.value);
    let prices = prices(&reader.table("prices"));
    if api.is_none() {
        reader.missing("api", "`openai` or `anthropic`");
    }
    if model.is_none() {
        reader.missing("model", "the name of the model to ask");
    }
    let (api, model) = (api?, model?);
    let base_url = base_url.unwrap_or_else(|| api.base_url().to_owned());
    Some(Model { api, base_url, model, api_key_env, output_tokens_max, prices })
}

/// `{ input_usd_per_million = 3, output_usd_per_million = 15 }`: half of a price would be a wrong bill.
fn prices(reader: &Reader<'_>) -> Option<Prices> {
    if !reader.is_there() {
        return None;
    }
    let price = |key| {
        let found = reader.amount(key);
        if found.is_none() {
            reader.missing(key, "the price of a million tokens, in dollars");
        }
        found.map(|found| found.value)
    };
    let (input, output) = (price("input_usd_per_million"), price("output_usd_per_million"));
    reader.finish();
    Some(Prices { input_usd_per_million: input?, output_usd_per_million: output? })
}
