//! What a turn can call, by name.

use adjourn_core::RunError;

use crate::toolbox::{Toolbox, asks_the_user};

/// The names of what a turn can call, as it was when the turn began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Offered {
    names: Vec<String>,
}

impl Offered {
    /// Asks for it before an agent is told anything: a tool server that cannot be used costs no tokens.
    pub(crate) async fn by(tools: &dyn Toolbox) -> Result<Self, RunError> {
        let offers = tools.offers().await?;
        Ok(Self { names: offers.into_iter().map(|offer| offer.name).collect() })
    }

    /// Nothing: then an agent need not know that there is a gateway.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether the turn cannot do its work without. It can ask the user by what it says, too.
    pub(crate) fn is_needed(&self) -> bool {
        self.names.iter().any(|name| !asks_the_user(name))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}
