//! When to ask again.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;

use super::options::Patience;

/// What is done about a failure that may pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Wait so long, then ask again.
    Wait(Duration),
    /// Give up, and why, in addition to what went wrong.
    GiveUp(Option<String>),
}

/// What to do after `attempts` failed ones. `random` is between 0 and 1.
///
/// Without a word from the server the delay is drawn from half of its length to all of it: clients that were turned away
/// together shall not come back together, and none at once.
pub(super) fn next(patience: &Patience, attempts: u32, retry_after: Option<Duration>, random: f64) -> Next {
    if attempts >= patience.attempts_max {
        return Next::GiveUp(None);
    }
    if let Some(asked) = retry_after {
        let longest = patience.retry_after_max;
        return if asked <= longest {
            Next::Wait(asked)
        } else {
            let (asked, longest) = (asked.as_secs(), longest.as_secs());
            Next::GiveUp(Some(format!("it asks to come back in {asked} s, at most {longest} s are waited")))
        };
    }
    let doubled = patience.first_delay.saturating_mul(1 << attempts.saturating_sub(1).min(16));
    Next::Wait(doubled.min(patience.delay_max).mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0))
}

/// How long a `Retry-After` asks to wait: so many seconds, or until a date. A date that has passed is now; what is neither
/// is as good as nothing.
pub(super) fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = rfc2822::parse(value).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

/// A number between 0 and 1. Without a source of them, the middle: then clients come back together, which is worse but not
/// wrong.
pub(super) fn random() -> f64 {
    getrandom::u32().map_or(0.5, |number| f64::from(number) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use super::{Next, next, retry_after};
    use crate::model::Patience;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn delays_double_up_to_a_limit_and_are_spread() {
        let patience = Patience { attempts_max: 100, ..Patience::default() };
        let delay = |attempts, random| match next(&patience, attempts, None, random) {
            Next::Wait(delay) => delay.as_millis(),
            Next::GiveUp(why) => panic!("{why:?}"),
        };
        assert_eq!(
            [1, 2, 3, 7, 8, 99].map(|attempts| delay(attempts, 1.0)),
            [500, 1000, 2000, 30_000, 30_000, 30_000]
        );
        assert_eq!([0.0, 0.5, 1.0].map(|random| delay(2, random)), [500, 750, 1000]);
    }

    #[test]
    fn what_the_server_asks_for_is_waited_unless_it_is_too_long() {
        let patience = Patience::default();
        assert_eq!(next(&patience, 1, Some(60 * SECOND), 0.3), Next::Wait(60 * SECOND));
        assert_eq!(next(&patience, 1, Some(Duration::ZERO), 0.3), Next::Wait(Duration::ZERO));
        let why = "it asks to come back in 61 s, at most 60 s are waited";
        assert_eq!(next(&patience, 1, Some(61 * SECOND), 0.3), Next::GiveUp(Some(why.to_owned())));
        assert_eq!(next(&patience, patience.attempts_max, Some(SECOND), 0.3), Next::GiveUp(None));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for (value, expected) in [
            ("0", Some(Duration::ZERO)),
            (" 17 ", Some(17 * SECOND)),
            ("0.25", Some(SECOND / 4)),
            ("Sun, 01 Mar 2026 12:00:30 GMT", Some(30 * SECOND)),
            ("Sun, 01 Mar 2026 11:59:00 GMT", Some(Duration::ZERO)),
            ("-1", None),
            ("inf", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after(value, now), expected, "{value}");
        }
    }
}
