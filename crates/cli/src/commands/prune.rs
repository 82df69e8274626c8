//! `adjourn prune`: removes finished runs and their workspaces.

use std::time::Duration;

use adjourn_core::Timestamp;
use adjourn_runtime::prune;
use adjourn_runtime::workspace::Workspaces;
use clap::Args;

use crate::data::{Global, now};
use crate::exit::{Exit, wrong_use};
use crate::output::print_json;

/// Remove finished runs and roundtables, and what they left
///
/// A run is kept while another run continues it, while its roundtable is active, and while it is not known whether one of
/// its calls happened. A roundtable goes after its runs. A folder that was named with --workspace is never removed.
#[derive(Debug, Args)]
pub(super) struct Prune {
    /// How long ago they ended, at least: 30d, 12h, 45m or 10s
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Duration,
}

impl Prune {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        if let Some(url) = &global.server {
            return Err(wrong_use(format!(
                "runs are removed where they are kept, not from here: --server {url}"
            )));
        }
        // Not the service: nothing is to be driven just because something is tidied up.
        let workspaces = Workspaces::new(&global.absolute_data());
        let millis = i64::try_from(self.older_than.as_millis()).unwrap_or(i64::MAX);
        let before = Timestamp::from_millis(now().millis().saturating_sub(millis));
        let pruned = global.alone(|store| Ok(prune(store, &workspaces, before, now())?))?;
        if global.json {
            print_json(&serde_json::to_value(&pruned)?)?;
        } else {
            let runs = count(pruned.removed.len(), "run");
            match pruned.removed_roundtables.len() {
                0 => anstream::eprintln!("{runs} removed"),
                roundtables => anstream::eprintln!("{runs} and {} removed", count(roundtables, "roundtable")),
            }
            for kept in &pruned.kept {
                anstream::eprintln!("{kept}");
            }
            for kept in &pruned.kept_roundtables {
                anstream::eprintln!("{kept}");
            }
        }
        Ok(Exit::Done)
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// `30d`, `12h`, `45m`, `10s`.
fn age(text: &str) -> Result<Duration, String> {
    let wrong = || "it should be a number and d, h, m or s, as in 30d".to_owned();
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        'd' => 86_400,
        'h' => 3600,
        'm' => 60,
        's' => 1,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    Ok(Duration::from_secs(number.saturating_mul(seconds)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::age;

    #[test]
    fn ages_have_a_unit() {
        assert_eq!(age("2d"), Ok(Duration::from_secs(172_800)));
        assert_eq!(age("45m"), Ok(Duration::from_secs(2700)));
        for wrong in ["", "30", "d", "-1d", "1w", "1 d", "ü"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
