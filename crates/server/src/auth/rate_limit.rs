//! Rate limit for requests that change something.
//!
//! One client that is stuck in a loop must not fill the queue for all. Each token has a measure of its own. Where nobody
//! has one, all clients are this machine's user, and share one: an address of loopback says nothing, as there are
//! millions to choose from.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use adjourn_api::Code;
use adjourn_runtime::config::WriteRate;
use axum::http::Method;
use governor::clock::{Clock, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::auth::caller::Caller;
use crate::problem::Problem;

/// What the holder of a token may write unless the configuration says otherwise: more than people and their agents ever
/// do, and a loop without a pause needs more than a minute to fill a queue of ten thousand.
pub(crate) const RATE_DEFAULT: WriteRate = WriteRate { per_second: 100, burst: 200 };

/// Callers whose measure is remembered before those that have had their rest are forgotten. Names come from the file
/// of tokens, so this is only reached by a server that saw many of them go.
const CALLERS_KEPT: usize = 1024;

type Measures<C> = RateLimiter<Caller, HashMapStateStore<Caller>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// How often each caller may write. Cheap to clone.
#[derive(Clone)]
pub(crate) struct WriteLimit<C: Clock = MonotonicClock>(Arc<Inner<C>>);

struct Inner<C: Clock> {
    measures: Measures<C>,
    clock: C,
    rate: WriteRate,
}

impl WriteLimit {
    pub(crate) fn new(rate: WriteRate) -> Self {
        Self::with_clock(rate, MonotonicClock)
    }
}

impl<C: Clock + Clone> WriteLimit<C> {
    fn with_clock(rate: WriteRate, clock: C) -> Self {
        let at_least_one = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(at_least_one(rate.per_second)).allow_burst(at_least_one(rate.burst));
        let measures = RateLimiter::hashmap_with_clock(quota, clock.clone());
        Self(Arc::new(Inner { measures, clock, rate }))
    }

    /// Counts a request; refuses it where its caller wrote too often.
    pub(crate) fn count(&self, caller: &Caller, method: &Method) -> Result<(), Problem> {
        if method.is_safe() {
            return Ok(());
        }
        let Inner { measures, clock, rate } = self.0.as_ref();
        if measures.len() > CALLERS_KEPT {
            measures.retain_recent();
        }
        measures.check_key(caller).map_err(|early| too_often(early.wait_time_from(clock.now()), rate))
    }
}

fn too_often(wait: Duration, rate: &WriteRate) -> Problem {
    let seconds = wait.as_secs_f64().ceil().max(1.0) as u32;
    let detail = format!(
        "that is more than {} writes per second, and {} at once: nothing was changed, try again in {seconds} s",
        rate.per_second, rate.burst
    );
    Problem::new(Code::RateLimited, detail).retry_after(seconds)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use adjourn_runtime::config::WriteRate;
    use axum::http::{Method, header};
    use axum::response::IntoResponse;
    use governor::clock::FakeRelativeClock;

    use super::{CALLERS_KEPT, WriteLimit};
    use crate::auth::caller::Caller;
    use crate::auth::tokens::Role;

    fn caller(name: String) -> Caller {
        Caller::Token { name, role: Role::Admin }
    }

    #[test]
    fn a_caller_has_its_burst_and_then_its_rate_and_reading_costs_nothing() {
        let clock = FakeRelativeClock::default();
        let limit = WriteLimit::with_clock(WriteRate { per_second: 1, burst: 3 }, clock.clone());
        let (one, other) = (caller("one".to_owned()), caller("other".to_owned()));
        let writes = |caller: &Caller| (0..10).filter(|_| limit.count(caller, &Method::POST).is_ok()).count();
        assert_eq!(writes(&one), 3);
        assert!(limit.count(&one, &Method::GET).is_ok());
        assert_eq!((writes(&other), writes(&Caller::User { uid: None })), (3, 3));
        clock.advance(Duration::from_secs(2));
        assert_eq!(writes(&one), 2);
        let refused = limit.count(&one, &Method::DELETE).unwrap_err().into_response();
        assert_eq!(
            (refused.status().as_u16(), &refused.headers()[header::RETRY_AFTER]),
            (429, &"1".parse().unwrap())
        );
    }

    #[test]
    fn callers_that_had_their_rest_are_forgotten() {
        let clock = FakeRelativeClock::default();
        let limit = WriteLimit::with_clock(WriteRate { per_second: 1, burst: 1 }, clock.clone());
        for number in 0..5 * CALLERS_KEPT {
            limit.count(&caller(number.to_string()), &Method::POST).unwrap();
            clock.advance(Duration::from_secs(1));
        }
        assert!(limit.0.measures.len() <= CALLERS_KEPT + 1, "{}", limit.0.measures.len());
    }
}
