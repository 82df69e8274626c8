//! `adjourn serve`: the data directory over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;

use adjourn_server::{LISTEN_DEFAULT, Options};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::data::Global;
use crate::exit::Exit;
use crate::logs::{self, LogFormat};

/// Own the data directory and serve it over HTTP, until it is told to stop
///
/// Listens on a port of this machine and on the socket `adjourn.sock` in the data directory. Runs that were started go on,
/// and what a restart left behind is taken up. Ctrl-C or SIGTERM ends it; turns that are going on then are taken up by the
/// next owner.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// The address to listen on; one that other machines can reach needs --tokens
    #[arg(long, value_name = "ADDR", default_value_t = LISTEN_DEFAULT)]
    listen: SocketAddr,
    /// How a line of the log on stderr looks; $ADJOURN_LOG says what is logged, `info` unless it does
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,

    /// A file of tokens: whoever comes by the address needs one then. `adjourn token` makes them
    #[arg(long, value_name = "FILE", env = "ADJOURN_TOKENS")]
    tokens: Option<PathBuf>,
}

impl Serve {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        logs::begin(self.log_format)?;
        let options = Options {
            data_dir: global.data.clone(),
            config: global.config()?,
            listen: self.listen,
            tokens: self.tokens,
        };
        let shutdown = CancellationToken::new();
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::spawn({
            let shutdown = shutdown.clone();
            async move {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                shutdown.cancel();
            }
        });
        adjourn_server::run(options, shutdown, |address| {
            match self.log_format {
                // Whoever starts it wants to know this, whatever is logged.
                LogFormat::Text => anstream::eprintln!("listening on http://{address}"),
                LogFormat::Json => tracing::info!("listening on http://{address}"),
            }
        })
        .await?;
        Ok(Exit::Done)
    }
}
