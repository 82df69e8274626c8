//! `adjourn serve`: the data directory over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use adjourn_server::{
    Background, Ending, Error, GRACE_DEFAULT, LISTEN_DEFAULT, Options, OtherUsers, run_until_idle,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::background::GREETING;
use crate::client::answering;
use crate::data::Global;
use crate::exit::Exit;
use crate::logs::{self, LogFormat};
use crate::output::print_line;

/// How long the owner before may take to let go of the data directory.
const LET_GO_WITHIN: Duration = Duration::from_secs(10);

/// How often it is looked meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(50);

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

    /// Listen on the socket only, and end when nothing can go on without a person
    #[arg(long, hide = true, conflicts_with = "listen")]
    until_idle: bool,
}

impl Serve {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        logs::begin(self.log_format)?;
        let ending = Ending::default();
        end_by_signal(&ending, self.grace, self.log_format)?;
        if self.until_idle {
            self.in_background(global, ending).await?;
            return Ok(Exit::Done);
        }
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
        adjourn_server::run(options, ending, |address| {
            self.log_format.say(&format!("listening on http://{address}"));
        })
        .await?;
        Ok(Exit::Done)
    }

    /// Owns the data directory for a command that left, unless somebody else does.
    async fn in_background(&self, global: &Global, ending: Ending) -> anyhow::Result<()> {
        // So that what is typed at the terminal where the command was started does not end it. Fails only where it leads a
        // group already, and then it is out of reach as well.
        let _ = rustix::process::setsid();
        let config = global.config()?;
        global.protect_data(|said| self.log_format.say(said))?;
        print_line(&format!("{GREETING}\n"))?;
        let began = Instant::now();
        loop {
            let options = Background {
                data_dir: global.data.clone(),
                config: config.clone(),
                grace: Duration::from_secs(self.grace),
            };
            match run_until_idle(options, ending.clone()).await {
                Err(Error::Store(adjourn_store::Error::Owned { .. }))
                    if answering(&global.data).await.is_some() =>
                {
                    return Ok(());
                }
                Err(Error::Store(adjourn_store::Error::Owned { .. })) if began.elapsed() < LET_GO_WITHIN => {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
                ended => return Ok(ended?),
            }
        }
    }
}

/// Ends the server by Ctrl-C or SIGTERM, and at once by a second one.
fn end_by_signal(ending: &Ending, grace_sec: u64, format: LogFormat) -> std::io::Result<()> {
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
