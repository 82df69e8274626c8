//! Webhooks: sends notices to a receiver until it has acknowledged them.
//!
//! What is to be told is in the journal, in the commit of the fact itself. Here it is only sent, as [Standard
//! Webhooks](https://www.standardwebhooks.com) has it, so that receivers find a library that checks it. A notice that was
//! answered with success goes; one that was not is sent again later. Killed in between, it is sent again: at least once,
//! with the same id.

mod deliverer;
mod receiver;
mod schedule;
mod signature;

use adjourn_runtime::Service;
use adjourn_runtime::config;
use tokio_util::sync::CancellationToken;

use deliverer::Deliverer;
use receiver::Receiver;
use signature::Key;

/// Why webhooks cannot be sent as they are configured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// The variable with the secret is not there.
    #[error(
        "webhooks.secret_env names the variable {0}, which is not set: it should hold the secret, {SECRET_HELP}"
    )]
    NoSecret(String),
    /// What is in it is no secret.
    #[error("the variable {0}, which webhooks.secret_env names, holds no secret: it should be {SECRET_HELP}")]
    BadSecret(String),
    /// The address or the system's certificates cannot be used.
    #[error("webhooks.url cannot be used: {0}")]
    Client(String),
}

const SECRET_HELP: &str =
    "`whsec_` and 24 to 64 bytes in Base64, as `echo \"whsec_$(openssl rand -base64 32)\"` makes it";

/// Somebody to be told.
pub(crate) struct Webhooks(Receiver);

impl Webhooks {
    /// As configured, with the secret from the environment.
    pub(crate) fn new(config: &config::Webhooks) -> Result<Self, WebhookError> {
        let key = config.secret_env.as_ref().map(|name| {
            let secret = std::env::var(name).map_err(|_| WebhookError::NoSecret(name.clone()))?;
            Key::read(&secret).ok_or_else(|| WebhookError::BadSecret(name.clone()))
        });
        Receiver::new(&config.url, key.transpose()?).map(Self)
    }

    /// Tells whatever there is to be told, until `shutdown`.
    pub(crate) async fn deliver(self, service: Service, shutdown: CancellationToken) {
        Deliverer::new(self.0, service).run(shutdown).await;
    }
}
