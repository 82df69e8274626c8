//! What a server logs, and how.

use std::io::IsTerminal;

use anyhow::anyhow;
use tracing_subscriber::EnvFilter;

use crate::exit::wrong_use;

/// The variable that says what is logged, like `debug` or `adjourn_server=debug,info`.
const FILTER: &str = "ADJOURN_LOG";

/// What is logged unless it is said: the ends of runs, and what somebody may have to look at.
const FILTER_DEFAULT: &str = "info";

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object for each line
    Json,
}

impl LogFormat {
    /// Tells whoever started the server something they want to know whatever is logged; programs that read the log find
    /// it there.
    pub(crate) fn say(self, text: &str) {
        match self {
            Self::Text => anstream::eprintln!("{text}"),
            Self::Json => tracing::info!("{text}"),
        }
    }
}

/// From now on, what is logged goes to stderr.
pub(crate) fn begin(format: LogFormat) -> anyhow::Result<()> {
    let filter = std::env::var(FILTER).unwrap_or_else(|_| FILTER_DEFAULT.to_owned());
    let filter = EnvFilter::try_new(&filter).map_err(|error| {
        wrong_use(anyhow!(
            "{FILTER} is `{filter}`: {error}; it is like `debug` or `adjourn_server=debug,info`"
        ))
    })?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let begun = match format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => {
            lines.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init()
        }
    };
    begun.map_err(|error| anyhow!("the log cannot begin: {error}"))
}
