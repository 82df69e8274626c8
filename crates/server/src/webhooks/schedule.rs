//! The times at which a failed delivery is tried again.

use adjourn_core::{NoticeId, Timestamp};
use sha2::{Digest, Sha256};

/// After the first attempt in vain: a receiver that is being restarted is back by then.
const FIRST_MS: i64 = 1000;

/// The longest time between two attempts: whoever repairs a receiver does not want to wait for longer.
const LONGEST_MS: i64 = 60 * 60 * 1000;

/// Attempts before a notice is given up: three days of them, so that one that breaks on a Friday evening can be repaired
/// on Monday.
pub(super) const ATTEMPTS_MAX: u32 = 83;

/// When to send a notice again that was sent in vain so many times by now; never after the last attempt.
pub(super) fn again(id: NoticeId, attempts: u32, now: Timestamp) -> Option<Timestamp> {
    let delay_ms = delay_ms(attempts);
    let spread_ms = spread(id, attempts, delay_ms);
    (attempts < ATTEMPTS_MAX).then(|| Timestamp::from_millis(now.millis() + delay_ms + spread_ms))
}

/// Whether a notice that was sent in vain so many times is due. One that is further ahead than it can have been put off was
/// put off by a clock that was set back since: it is due now, and does not wait for that time to come again.
pub(super) fn is_due(due_at: Timestamp, attempts: u32, now: Timestamp) -> bool {
    let ahead_ms = due_at.millis_since(now);
    ahead_ms <= 0 || ahead_ms > delay_max_ms(attempts)
}

/// The longest time after so many attempts in vain, with its spread.
fn delay_max_ms(attempts: u32) -> i64 {
    if attempts == 0 {
        return 0;
    }
    let delay_ms = delay_ms(attempts);
    delay_ms + delay_ms / 5
}

fn delay_ms(attempts: u32) -> i64 {
    let doublings = attempts.saturating_sub(1).min(30);
    (FIRST_MS << doublings).min(LONGEST_MS)
}

/// Up to a fifth of the delay sooner or later, so that what failed together does not come back together. Taken from the
/// notice and not from chance, which serves as well and can be told beforehand.
fn spread(id: NoticeId, attempts: u32, delay_ms: i64) -> i64 {
    const MOST: i64 = u16::MAX as i64;
    let digest = Sha256::digest(format!("{id}:{attempts}"));
    let drawn = i64::from(u16::from_be_bytes([digest[0], digest[1]]));
    delay_ms * (2 * drawn - MOST) / (5 * MOST)
}

#[cfg(test)]
mod tests {
    use adjourn_core::{NoticeId, RunId, Timestamp};

    use super::{ATTEMPTS_MAX, LONGEST_MS, again, is_due};

    #[test]
    fn attempts_come_ever_later_for_three_days_and_then_no_more() {
        let id = NoticeId { run_id: RunId::from_bits(7), seq: 3 };
        let start = Timestamp::from_millis(0);
        let delays: Vec<_> =
            (1..).map_while(|attempts| again(id, attempts, start)).map(Timestamp::millis).collect();
        assert_eq!(delays.len() + 1, ATTEMPTS_MAX as usize);
        for (doubling, delay) in delays.iter().enumerate().take(11) {
            let middle = 1000 << doubling;
            assert!((middle * 4 / 5..=middle * 6 / 5).contains(delay), "{delay} after {doubling}");
        }
        assert!(delays[12..].iter().all(|delay| (LONGEST_MS * 4 / 5..=LONGEST_MS * 6 / 5).contains(delay)));
        let days = delays.iter().sum::<i64>() as f64 / 86_400_000.0;
        assert!((2.8..3.2).contains(&days), "{days} days");
    }

    #[test]
    fn a_notice_does_not_wait_for_a_clock_that_was_set_back() {
        let id = NoticeId { run_id: RunId::from_bits(7), seq: 3 };
        let now = Timestamp::from_millis(100_000_000);
        for attempts in 1..ATTEMPTS_MAX {
            let due_at = again(id, attempts, now).unwrap();
            assert!(!is_due(due_at, attempts, now), "it waits after {attempts}");
            assert!(is_due(due_at, attempts, due_at));
            let two_hours_back = now.plus_millis(-7_200_000);
            assert!(is_due(due_at, attempts, two_hours_back), "after {attempts}");
        }
        assert!(is_due(now, 0, now.plus_millis(-5000)), "one that was never sent does not wait at all");
    }

    #[test]
    fn what_failed_together_does_not_come_back_together() {
        let at = |seq| again(NoticeId { run_id: RunId::from_bits(7), seq }, 5, Timestamp::from_millis(0));
        let times: std::collections::BTreeSet<_> = (0..100).map(at).collect();
        assert!(times.len() > 90, "{times:?}");
    }
}
