//! Which model to ask, and with how much patience.

use std::time::Duration;

use adjourn_core::named;

use crate::secrets::Secret;

named! {
    /// The interface of a model.
    pub enum Api {
        /// OpenAI's chat completions, which most servers speak.
        Openai = "openai",
        /// Anthropic's messages.
        Anthropic = "anthropic",
    }
}

impl Api {
    /// Where its maker serves it.
    pub const fn base_url(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }
}

/// A model, and how it is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOptions {
    /// How it is talked to.
    pub api: Api,
    /// Where, without the path of a particular call.
    pub base_url: String,
    /// Its name there.
    pub model: String,
    /// The key; none where no key is needed.
    pub api_key: Option<Secret>,
    /// How much it may write in one reply. None: what the server thinks right, or 8192 where the
    /// interface demands a number.
    pub output_tokens_max: Option<u32>,
    /// What it costs, if that is known.
    pub prices: Option<Prices>,
    /// How long it is waited for.
    pub patience: Patience,
}

impl ModelOptions {
    /// A model without a key, asked with the usual patience.
    pub fn new(api: Api, base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            api,
            base_url: base_url.into(),
            model: model.into(),
            api_key: None,
            output_tokens_max: None,
            prices: None,
            patience: Patience::default(),
        }
    }
}

/// What Anthropic's interface, which demands a number, is told when nobody says otherwise: what all of its models can
/// write, also the older ones.
pub(super) const OUTPUT_TOKENS_DEFAULT: u32 = 8192;

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize)]
pub struct Prices {
    /// For a million tokens that it reads.
    pub input_usd_per_million: f64,
    /// For a million tokens that it writes.
    pub output_usd_per_million: f64,
}

impl Prices {
    /// What so many tokens cost.
    pub fn cost_usd(self, input_tokens: u64, output_tokens: u64) -> f64 {
        let input = input_tokens as f64 * self.input_usd_per_million;
        let output = output_tokens as f64 * self.output_usd_per_million;
        (input + output) / 1e6
    }
}

/// How long a model is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How often it is asked before the call is given up.
    pub attempts_max: u32,
    /// About how long it is waited before the second attempt; twice as long before each further one.
    pub first_delay: Duration,
    /// The longest that is waited because of that doubling.
    pub delay_max: Duration,
    /// The longest that is waited because the server asks for it. If it asks for more, the call is given up at once.
    pub retry_after_max: Duration,
    /// How long a connection may take.
    pub connect_max: Duration,
    /// How long the server may be silent, also before its first word.
    pub silence_max: Duration,
}

impl Default for Patience {
    /// - Five attempts, half a second doubled, is what the vendors' own clients do at most; together some 15 s, enough for
    ///   a restart behind a load balancer.
    /// - Rate limits are counted per minute, so a minute is the longest that a server reasonably asks for.
    /// - Ten seconds to connect covers a lost packet or two on any line.
    /// - Models that think before they speak are silent for minutes; five is where vendors' own gateways give up.
    fn default() -> Self {
        Self {
            attempts_max: 5,
            first_delay: Duration::from_millis(500),
            delay_max: Duration::from_secs(30),
            retry_after_max: Duration::from_secs(60),
            connect_max: Duration::from_secs(10),
            silence_max: Duration::from_secs(300),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Prices;

    #[test]
    fn a_million_tokens_cost_their_price() {
        let prices = Prices { input_usd_per_million: 3.0, output_usd_per_million: 15.0 };
        assert_eq!(prices.cost_usd(1_000_000, 0), 3.0);
        assert_eq!(prices.cost_usd(0, 2_000_000), 30.0);
        assert_eq!(prices.cost_usd(500_000, 100_000), 3.0);
    }
}
