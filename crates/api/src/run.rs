//! The request for a run.

use std::collections::BTreeMap;

use adjourn_core::{ExecutionMode, Profile, RunId, Strict};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use utoipa::ToSchema;

use crate::read::{text_or_object, within};

/// Seconds of a week. A turn that takes longer has been forgotten.
pub(crate) const SECONDS_MAX: u32 = 7 * 24 * 60 * 60;

/// Seconds of a year: a question may well outlive its asker's patience.
pub(crate) const SESSION_SECONDS_MAX: u32 = 366 * 24 * 60 * 60;

/// Attempts, repairs: more than this is no limit.
pub(crate) const COUNT_MAX: u32 = 1_000;

/// What to run: a skill or a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "skill": "triage", "input": { "issue": "it does not start" }, "labels": { "team": "billing" } }))]
pub struct NewRun {
    /// The name of an installed skill.
    pub skill: Option<String>,
    /// What to do, without a skill.
    #[schema(max_length = 262_144)]
    pub prompt: Option<String>,
    /// The engine; by default the first of the skill's that is installed.
    pub engine: Option<String>,
    /// By default the skill's.
    pub execution_mode: Option<ExecutionMode>,
    /// The skill's input.
    pub input: Option<Value>,
    /// The skill's parameters.
    pub parameter: Option<Value>,
    #[allow(missing_docs, reason = "its type says what it is")]
    pub options: Option<RunOptions>,
    /// What to find it by: at most 32.
    pub labels: Option<BTreeMap<String, String>>,
    /// The finished run whose conversation it takes over.
    pub continues: Option<RunId>,
}

/// Options of a run; what is left out is as the skill or the engine has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewRunOptions)]
pub struct RunOptions {
    /// Only a person answers; otherwise Adjourn decides when the deadline passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive_require_user_reply: Option<bool>,
    /// How long a question waits.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "within::<1, SESSION_SECONDS_MAX, _, _>"
    )]
    #[schema(minimum = 1, maximum = 31_622_400)]
    pub session_timeout_sec: Option<u32>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "read_profile",
        serialize_with = "write_profile"
    )]
    #[schema(value_type = Option<NewRunProfile>)]
    #[allow(missing_docs, reason = "its type says what it is")]
    pub interactive_profile: Option<Profile>,
    /// How many attempts an interactive run has. The skill's can only be lowered.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "within::<1, COUNT_MAX, _, _>"
    )]
    #[schema(minimum = 1, maximum = 1000)]
    pub max_attempt: Option<u32>,
    /// How long one turn may take.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "within::<1, SECONDS_MAX, _, _>"
    )]
    #[schema(minimum = 1, maximum = 604_800)]
    pub hard_timeout_sec: Option<u32>,
    /// How often an output that breaks its schema is sent back within one attempt.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "within::<0, COUNT_MAX, _, _>"
    )]
    #[schema(minimum = 0, maximum = 1000)]
    pub repair_limit: Option<u32>,
    /// Who goes first in the queue: higher does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
}

impl RunOptions {
    /// Whether questions may be decided without a person.
    pub fn strict(&self) -> Option<Strict> {
        self.interactive_require_user_reply.map(|require| if require { Strict::On } else { Strict::Off })
    }

    /// These options, and where they say nothing, `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            interactive_require_user_reply: self
                .interactive_require_user_reply
                .or(others.interactive_require_user_reply),
            session_timeout_sec: self.session_timeout_sec.or(others.session_timeout_sec),
            interactive_profile: self.interactive_profile.or(others.interactive_profile),
            max_attempt: self.max_attempt.or(others.max_attempt),
            hard_timeout_sec: self.hard_timeout_sec.or(others.hard_timeout_sec),
            repair_limit: self.repair_limit.or(others.repair_limit),
            priority: self.priority.or(others.priority),
        }
    }
}

/// What becomes of the process while the run waits.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRunProfile {
    kind: Profile,
}

/// `{"kind": "resumable"}`, or only the kind.
pub(crate) fn read_profile<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Profile>, D::Error> {
    let expecting = "an object with `kind`: `resumable` or `sticky_process`";
    let read = text_or_object(deserializer, expecting, |name| name.parse(), |it: NewRunProfile| Ok(it.kind))?;
    read.map(Some).map_err(|unknown: adjourn_core::UnknownName| {
        serde::de::Error::unknown_variant(&unknown.given, unknown.known)
    })
}

fn write_profile<S: Serializer>(profile: &Option<Profile>, serializer: S) -> Result<S::Ok, S::Error> {
    profile.map(|kind| NewRunProfile { kind }).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use adjourn_core::Profile;
    use serde_json::json;

    use super::RunOptions;
    use crate::read::Document;

    #[test]
    fn options_are_read_whole_and_written_as_they_were() {
        let value = json!({
            "interactive_require_user_reply": false, "session_timeout_sec": 60, "interactive_profile":
            {"kind": "sticky_process"}, "max_attempt": 3, "hard_timeout_sec": 9, "repair_limit": 0, "priority": -1,
        });
        let options = Document::of(value.clone()).read::<RunOptions>().whole().unwrap();
        let expected = RunOptions {
            interactive_require_user_reply: Some(false),
            session_timeout_sec: Some(60),
            interactive_profile: Some(Profile::StickyProcess),
            max_attempt: Some(3),
            hard_timeout_sec: Some(9),
            repair_limit: Some(0),
            priority: Some(-1),
        };
        assert_eq!(options, expected);
        assert_eq!(serde_json::to_value(options).unwrap(), value);
        let nothing = Document::of(json!({"priority": null})).read::<RunOptions>().whole().unwrap();
        assert_eq!(nothing, RunOptions::default());
        assert_eq!(serde_json::to_value(nothing).unwrap(), json!({}));
    }

    #[test]
    fn every_wrong_option_is_named() {
        let value = json!({
            "interactive_profile": {"kind": "sticky"}, "max_atempt": 1, "max_attempt": 0, "priority": "high",
            "interactive_require_user_reply": "no", "repair_limit": 1.5,
        });
        let reading = Document::of(value).read::<RunOptions>();
        let mut told: Vec<_> = reading.problems.iter().map(ToString::to_string).collect();
        told.sort();
        let expected = [
            "interactive_profile.kind: unknown value `sticky`; there are `resumable`, `sticky_process`",
            "interactive_require_user_reply: should be true or false, it is a string",
            "max_atempt: unknown key; did you mean `max_attempt`?",
            "max_attempt: should be a whole number from 1 to 1000, it is 0",
            "priority: should be a whole number, it is a string",
            "repair_limit: should be a whole number from 0 to 1000, it is a number with a fraction",
        ];
        assert_eq!(told, expected);
        assert_eq!(reading.value, Some(RunOptions::default()));
    }

    #[test]
    fn the_first_to_say_something_wins() {
        let first = RunOptions { max_attempt: Some(1), ..RunOptions::default() };
        let second = RunOptions { max_attempt: Some(2), priority: Some(3), ..RunOptions::default() };
        let expected = RunOptions { max_attempt: Some(1), priority: Some(3), ..RunOptions::default() };
        assert_eq!(first.or(second), expected);
    }
}
