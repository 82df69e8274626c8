//! Options of a run under the names that Skill-Runner has for them.

use adjourn_core::{ExecutionMode, Profile};
use serde::Deserialize;

use crate::read::within;
use crate::run::read_profile;
use crate::{RunOptions, run};

/// Options of a run in a package or a job for Skill-Runner: its names, ours, and some that mean nothing here.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkillRunnerOptions {
    interactive_auto_reply: Option<bool>,
    interactive_require_user_reply: Option<bool>,
    #[serde(
        alias = "interactive_reply_timeout_sec",
        deserialize_with = "within::<1, { run::SESSION_SECONDS_MAX }, _, _>"
    )]
    session_timeout_sec: Option<u32>,
    #[serde(deserialize_with = "read_profile")]
    interactive_profile: Option<Profile>,
    #[serde(deserialize_with = "within::<1, { run::COUNT_MAX }, _, _>")]
    max_attempt: Option<u32>,
    #[serde(alias = "hard_timeout_seconds", deserialize_with = "within::<1, { run::SECONDS_MAX }, _, _>")]
    hard_timeout_sec: Option<u32>,
    #[serde(deserialize_with = "within::<0, { run::COUNT_MAX }, _, _>")]
    repair_limit: Option<u32>,
    priority: Option<i32>,
    /// The mode of a job.
    pub execution_mode: Option<ExecutionMode>,
    /// There is no cache here.
    pub no_cache: Option<bool>,
    /// Variables for the agent, which are set where its engine is.
    pub env: Option<serde_json::Value>,
}

impl SkillRunnerOptions {
    /// The options of the run.
    pub fn options(&self) -> RunOptions {
        let auto = self.interactive_auto_reply;
        RunOptions {
            interactive_require_user_reply: self.interactive_require_user_reply.or(auto.map(|auto| !auto)),
            session_timeout_sec: self.session_timeout_sec,
            interactive_profile: self.interactive_profile,
            max_attempt: self.max_attempt,
            hard_timeout_sec: self.hard_timeout_sec,
            repair_limit: self.repair_limit,
            priority: self.priority,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::SkillRunnerOptions;
    use crate::RunOptions;
    use crate::read::Document;

    #[test]
    fn the_names_of_both_are_understood() {
        let value = json!({
            "interactive_auto_reply": true, "hard_timeout_seconds": 5, "no_cache": true, "env": {}, "priority": 2,
            "execution_mode": "auto",
        });
        let options = Document::of(value).read::<SkillRunnerOptions>().whole().unwrap().options();
        let expected = RunOptions {
            interactive_require_user_reply: Some(false),
            hard_timeout_sec: Some(5),
            priority: Some(2),
            ..RunOptions::default()
        };
        assert_eq!(options, expected);
    }
}
