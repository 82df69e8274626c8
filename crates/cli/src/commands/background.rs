//! `adjourn background`: the owner of a data directory that commands start and leave behind. Not to be typed by people.

use std::time::{Duration, Instant};

use adjourn_server::{Background as Options, Ending, Error, GRACE_DEFAULT, run_until_idle};

use crate::background::GREETING;
use crate::client::answering;
use crate::commands::serve::end_by_signal;
use crate::data::Global;
use crate::exit::Exit;
use crate::logs::{self, LogFormat};
use crate::output::print_line;

/// How long the owner before may take to let go of the data directory.
const LET_GO_WITHIN: Duration = Duration::from_secs(10);

/// How often it is looked meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Own the data directory until nothing can go on without a person, and nobody is connected
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Background {}

impl Background {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        // First of all, so that what is typed at the terminal where the command was started, or its end, does not end this.
        // Fails only where it leads a group already, and then it is out of reach as well.
        let _ = rustix::process::setsid();
        logs::begin(LogFormat::Text)?;
        let ending = Ending::default();
        end_by_signal(&ending, GRACE_DEFAULT.as_secs(), LogFormat::Text)?;
        let config = global.config()?;
        global.protect_data(|said| LogFormat::Text.say(said))?;
        global.remember_config();
        print_line(&format!("{GREETING}\n"))?;
        let began = Instant::now();
        loop {
            let options =
                Options { data_dir: global.data.clone(), config: config.clone(), grace: GRACE_DEFAULT };
            match run_until_idle(options, ending.clone()).await {
                Err(Error::Store(adjourn_store::Error::Owned { .. }))
                    if answering(&global.data).await.is_some() =>
                {
                    return Ok(Exit::Done);
                }
                Err(Error::Store(adjourn_store::Error::Owned { .. })) if began.elapsed() < LET_GO_WITHIN => {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
                ended => return Ok(ended.map(|()| Exit::Done)?),
            }
        }
    }
}
