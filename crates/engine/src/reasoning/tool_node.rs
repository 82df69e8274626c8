//! The tool node: has the calls of one reply made, all at the same time.

use futures::future::join_all;

use super::outcome::Outcome;
use super::step::Step;
use crate::toolbox::{Call, Told, Toolbox};
use crate::turn::Finished;

/// What came of the calls of one reply.
#[derive(Debug, Default)]
pub(super) struct Called {
    /// Calls that are over, by their reference. The journal has them.
    pub(super) over: Vec<(String, Outcome)>,
    /// What the journal does not have: calls without a contract.
    pub(super) told: Vec<Step>,
    /// Calls that wait for a person.
    pub(super) waiting: usize,
}

/// Has the calls made, each known by its reference. Fails where the turn is over.
pub(super) async fn call(tools: &dyn Toolbox, calls: Vec<(String, Call)>) -> Result<Called, Finished> {
    let asked = calls.into_iter().map(async |(call_ref, call)| (call_ref, tools.call(call).await));
    let mut called = Called::default();
    for (call_ref, told) in join_all(asked).await {
        match told {
            Told::Over(consequence) => called.over.push((call_ref, Outcome::over(&consequence))),
            Told::Before(consequence) => {
                called.told.push(Step::Told { call_ref, outcome: Outcome::before(&consequence) });
            }
            Told::Refused(why) => called.told.push(Step::Told { call_ref, outcome: Outcome::refused(&why) }),
            Told::WithUser(_) | Told::NoAttemptLeft(_) => called.waiting += 1,
            Told::Stale(_) => return Err(Finished::Stopped),
        }
    }
    Ok(called)
}
