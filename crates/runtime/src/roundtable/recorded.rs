//! The roundtable that is built in as a recording, so that one can be seen without an agent.
//!
//! Each role has a recording of its own. A participant begins anew each round, so its nth conversation is round n; the
//! facilitator has one conversation, which its handle leads through.

use std::collections::BTreeMap;

use adjourn_core::roundtable::{Role, RoundtableSpec};
use adjourn_engine::{Pace, ReplayEngine};

use super::{LABEL_ROLE, LABEL_ROUND};

/// What was discussed.
pub(super) const SUBJECT: &str = "An online booking page for a bicycle repair shop with two mechanics";

/// The workflow that it was held by, with the strategy and the participants of that workflow.
const WORKFLOW: &str = "specs";

macro_rules! tapes {
    ($($role:literal),+ $(,)?) => {
        &[$(($role, include_str!(concat!("../../roundtable/recording/", $role, ".jsonl")))),+]
    };
}

/// The facilitator, and the participants as they sit.
const TAPES: &[(&str, &str)] = tapes!("facilitator", "product", "architect", "qa", "ux", "domain");

/// Why a roundtable cannot be played from the recording.
pub(super) fn fits(spec: &RoundtableSpec) -> Result<(), String> {
    let roles = TAPES.iter().skip(1).map(|(role, _)| Role::new(*role));
    let is_the_same = spec.workflow == WORKFLOW
        && spec.strategy == "standard"
        && spec.participants.iter().map(|seat| seat.role.clone()).eq(roles);
    if is_the_same {
        return Ok(());
    }
    Err(format!(
        "the roundtable that was recorded follows the workflow `{WORKFLOW}`: leave out strategy and participants"
    ))
}

/// The engine that plays the part that a run's labels name.
pub(crate) fn play(labels: &BTreeMap<String, String>, pace: Pace) -> Result<ReplayEngine, String> {
    let role = labels.get(LABEL_ROLE).map_or("", String::as_str);
    let round = labels.get(LABEL_ROUND).and_then(|round| round.parse().ok()).unwrap_or(1);
    let (_, tape) = TAPES
        .iter()
        .find(|(known, _)| *known == role)
        .ok_or_else(|| format!("the roundtable that was recorded has no `{role}`"))?;
    let engine = ReplayEngine::new(role, tape, pace).map_err(|error| error.to_string())?;
    let conversation = if role == Role::FACILITATOR { 1 } else { round };
    Ok(engine.with_conversation(conversation))
}
