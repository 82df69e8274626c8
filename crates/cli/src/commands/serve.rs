//! `adjourn serve`: the data directory over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use adjourn_server::{Ending, Error, GRACE_DEFAULT, LISTEN_DEFAULT, Options, OtherUsers};
use tokio::signal::unix::{SignalKind, signal};

use crate::data::Global;
use crate::exit::Exit;
use crate::logs::{self, LogFormat};
use crate::make_room::{LOOK_EVERY, MakeRoom};

/// Own the data directory and serve it over HTTP, until it is told to stop
///
/// Listens on a port of this machine and on the socket `adjourn.sock` in the data directory. Runs that were started go on,
/// and what a restart left behind is taken up. Ctrl-C or SIGTERM ends it: no turn begins any more, those that are going on
/// have --grace seconds to finish, and what takes longer is taken up by the next owner. A second one ends it at once.
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

    /// Let all users of this machine in without a token, where the address is of this machine only
    #[arg(long, conflicts_with = "tokens")]
    open: bool,

    /// How long turns may take to finish when it is told to stop
    #[arg(long, value_name = "SEC", default_value_t = GRACE_DEFAULT.as_secs())]
    grace: u64,
}

impl Serve {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        logs::begin(self.log_format)?;
        let ending = Ending::default();
        end_by_signal(&ending, self.grace, self.log_format)?;
        let config = global.config()?;
        global.protect_data(|said| self.log_format.say(said))?;
        let options = Options {
            data_dir: global.data.clone(),
            config,
            listen: self.listen,
            tokens: self.tokens,
            other_users: if self.open { OtherUsers::LetIn } else { OtherUsers::Refused },
            grace: Duration::from_secs(self.grace),
        };
        let mut room = MakeRoom::new(global);
        loop {
            let served = adjourn_server::run(options.clone(), ending.clone(), |address| {
                global.remember_config();
                self.log_format.say(&format!("listening on http://{address}"));
            });
            match served.await {
                // The owner that a command left in the background makes room, if no turn goes on there.
                Err(Error::Store(adjourn_store::Error::Owned { owner, .. })) if room.asks(&owner) => {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
                served => return Ok(served.map(|()| Exit::Done)?),
            }
        }
    }
}

/// Ends the server by Ctrl-C or SIGTERM, and at once by a second one.
pub(super) fn end_by_signal(ending: &Ending, grace_sec: u64, format: LogFormat) -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let ending = ending.clone();
    tokio::spawn(async move {
        for ended in [&ending.soon, &ending.now] {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if !ending.soon.is_cancelled() {
                format.say(&format!(
                    "ending: no turn begins any more, and those at work have {grace_sec} s; once more ends it at once"
                ));
            }
            ended.cancel();
        }
    });
    Ok(())
}
