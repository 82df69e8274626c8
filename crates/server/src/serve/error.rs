//! Errors that stop the server from starting.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::auth::tokens::TokensError;
use crate::webhooks::WebhookError;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address could be reached by others, and nothing would ask them who they are.
    #[error(
        "{0} can be reached from other machines, so whoever comes needs a token: name a file of them in \
         $ADJOURN_TOKENS (`adjourn token` makes one), or listen on 127.0.0.1 or [::1]"
    )]
    NoTokens(SocketAddr),
    /// The file of tokens cannot be used.
    #[error(transparent)]
    Tokens(#[from] TokensError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The socket in the data directory cannot be made.
    #[error("cannot make the socket {}: {source}", path.display())]
    Socket {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Webhooks cannot be sent as they are configured.
    #[error(transparent)]
    Webhooks(#[from] WebhookError),
    /// The data directory cannot be opened.
    #[error(transparent)]
    Store(#[from] adjourn_store::Error),
    /// A listener stopped to work.
    #[error("the server stopped: {0}")]
    Stopped(#[from] io::Error),
}
