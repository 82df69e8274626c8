//! Options of a run: in a request, and as a skill's defaults.

use adjourn_core::{FieldError, Profile, Strict};
use serde_json::{Map, Value};

use adjourn_api::nearest::hint;
use adjourn_api::read::PROBLEMS_MAX as UNKNOWN_MAX;

/// A week, in seconds. A turn or a question that takes longer has been forgotten.
const SECONDS_MAX: u64 = 7 * 24 * 60 * 60;

/// A year: a question may well outlive its asker's patience.
const SESSION_SECONDS_MAX: u64 = 366 * 24 * 60 * 60;

/// Attempts, repairs: more than this is no limit.
const COUNT_MAX: u64 = 1_000;

/// Options of a run that somebody chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether questions may be decided without a person.
    pub strict: Option<Strict>,
    /// How long a question waits.
    pub session_timeout_sec: Option<u32>,
    /// What becomes of the process while the run waits.
    pub profile: Option<Profile>,
    /// How many attempts an interactive run has.
    pub max_attempt: Option<u32>,
    /// How long one turn may take.
    pub hard_timeout_sec: Option<u32>,
    /// How many repairs an attempt has.
    pub repair_limit: Option<u32>,
    /// Who goes first in the queue: higher does.
    pub priority: Option<i32>,
}

const KEYS: [&str; 7] = [
    "interactive_require_user_reply",
    "session_timeout_sec",
    "interactive_profile",
    "max_attempt",
    "hard_timeout_sec",
    "repair_limit",
    "priority",
];

impl Options {
    /// Reads options as a request has them, and everything that is wrong with them. `path` is where they stand.
    pub fn read(value: &Value, path: &str) -> (Self, Vec<FieldError>) {
        let mut reading = Reading { path, errors: Vec::new() };
        let mut options = Self::default();
        match value {
            Value::Null => {}
            Value::Object(members) => {
                for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                    options.set(key, value, &mut reading);
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                reading.errors.push(FieldError::new(path, "should be an object"));
            }
        }
        (options, reading.errors)
    }

    /// Reads options as packages for Skill-Runner have them as well: under its names, and with some that mean nothing
    /// here and are left out.
    pub(crate) fn read_defaults(value: &Value, path: &str) -> (Self, Vec<FieldError>) {
        let Value::Object(members) = value else { return Self::read(value, path) };
        let mut ours = Map::new();
        for (key, value) in members {
            match key.as_str() {
                "interactive_auto_reply" => {
                    let require = value.as_bool().map_or(value.clone(), |auto| Value::Bool(!auto));
                    ours.insert("interactive_require_user_reply".to_owned(), require);
                }
                "interactive_reply_timeout_sec" => {
                    ours.insert("session_timeout_sec".to_owned(), value.clone());
                }
                "hard_timeout_seconds" => {
                    ours.insert("hard_timeout_sec".to_owned(), value.clone());
                }
                "execution_mode" | "no_cache" | "env" => {}
                _ => {
                    ours.insert(key.clone(), value.clone());
                }
            }
        }
        Self::read(&Value::Object(ours), path)
    }

    fn set(&mut self, key: &str, value: &Value, reading: &mut Reading<'_>) {
        match key {
            "interactive_require_user_reply" => {
                self.strict = match value {
                    Value::Bool(true) => Some(Strict::On),
                    Value::Bool(false) => Some(Strict::Off),
                    _ => reading.wrong(key, "should be true or false"),
                };
            }
            "session_timeout_sec" => {
                self.session_timeout_sec = reading.number(key, value, 1, SESSION_SECONDS_MAX);
            }
            "interactive_profile" => self.profile = reading.profile(key, value),
            "max_attempt" => self.max_attempt = reading.number(key, value, 1, COUNT_MAX),
            "hard_timeout_sec" => self.hard_timeout_sec = reading.number(key, value, 1, SECONDS_MAX),
            "repair_limit" => self.repair_limit = reading.number(key, value, 0, COUNT_MAX),
            "priority" => {
                self.priority = match value.as_i64().and_then(|priority| i32::try_from(priority).ok()) {
                    None => reading.wrong(key, "should be a whole number"),
                    priority => priority,
                };
            }
            _ if reading.errors.len() >= UNKNOWN_MAX => {}
            _ => {
                reading.wrong::<()>(key, &format!("unknown option{}", hint(key, KEYS)));
            }
        }
    }

    /// These options, and where they say nothing, `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            strict: self.strict.or(others.strict),
            session_timeout_sec: self.session_timeout_sec.or(others.session_timeout_sec),
            profile: self.profile.or(others.profile),
            max_attempt: self.max_attempt.or(others.max_attempt),
            hard_timeout_sec: self.hard_timeout_sec.or(others.hard_timeout_sec),
            repair_limit: self.repair_limit.or(others.repair_limit),
            priority: self.priority.or(others.priority),
        }
    }
}

struct Reading<'a> {
    path: &'a str,
    errors: Vec<FieldError>,
}

impl Reading<'_> {
    fn wrong<T>(&mut self, key: &str, message: &str) -> Option<T> {
        let key = key.replace('~', "~0").replace('/', "~1");
        self.errors.push(FieldError::new(format!("{}/{key}", self.path), message));
        None
    }

    fn number(&mut self, key: &str, value: &Value, least: u64, most: u64) -> Option<u32> {
        match value.as_u64().filter(|number| (least..=most).contains(number)) {
            Some(number) => u32::try_from(number).ok(),
            None => self.wrong(key, &format!("should be a whole number from {least} to {most}")),
        }
    }

    /// `{"kind": "resumable"}`, or only the kind.
    fn profile(&mut self, key: &str, value: &Value) -> Option<Profile> {
        let kind = value.get("kind").unwrap_or(value);
        match kind.as_str().map(str::parse) {
            Some(Ok(profile)) => Some(profile),
            Some(Err(unknown)) => self.wrong(key, &format!("`kind`: {unknown}")),
            None => self.wrong(key, "should be an object with `kind`: `resumable` or `sticky_process`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use adjourn_core::{FieldError, Profile, Strict};
    use serde_json::json;

    use super::Options;

    #[test]
    fn options_are_read_whole() {
        let value = json!({
            "interactive_require_user_reply": false, "session_timeout_sec": 60, "interactive_profile":
            {"kind": "sticky_process"}, "max_attempt": 3, "hard_timeout_sec": 9, "repair_limit": 0, "priority": -1,
        });
        let expected = Options {
            strict: Some(Strict::Off),
            session_timeout_sec: Some(60),
            profile: Some(Profile::StickyProcess),
            max_attempt: Some(3),
            hard_timeout_sec: Some(9),
            repair_limit: Some(0),
            priority: Some(-1),
        };
        assert_eq!(Options::read(&value, "/options"), (expected, Vec::new()));
        assert_eq!(Options::read(&json!({"priority": null}), "").0, Options::default());
    }

    #[test]
    fn every_wrong_option_is_named() {
        let value = json!({
            "interactive_profile": {"kind": "sticky"}, "max_atempt": 1, "max_attempt": 0, "priority": "high",
            "interactive_require_user_reply": "no",
        });
        let (options, errors) = Options::read(&value, "/options");
        assert_eq!(options, Options::default());
        let expected = [
            ("/interactive_profile", "`kind`: `sticky` is not one of resumable, sticky_process"),
            ("/max_atempt", "unknown option; did you mean `max_attempt`?"),
            ("/max_attempt", "should be a whole number from 1 to 1000"),
            ("/priority", "should be a whole number"),
            ("/interactive_require_user_reply", "should be true or false"),
        ];
        let expected = expected.map(|(path, message)| FieldError::new(format!("/options{path}"), message));
        assert_eq!(errors, expected);
        assert_eq!(Options::read(&json!([]), "/o").1, [FieldError::new("/o", "should be an object")]);
    }

    #[test]
    fn defaults_of_other_packages_are_understood() {
        let value =
            json!({"interactive_auto_reply": true, "hard_timeout_seconds": 5, "no_cache": true, "env": {}});
        let expected = Options { strict: Some(Strict::Off), hard_timeout_sec: Some(5), ..Options::default() };
        assert_eq!(Options::read_defaults(&value, ""), (expected, Vec::new()));
    }

    #[test]
    fn the_first_to_say_something_wins() {
        let first = Options { max_attempt: Some(1), ..Options::default() };
        let second = Options { max_attempt: Some(2), priority: Some(3), ..Options::default() };
        assert_eq!(
            first.or(second),
            Options { max_attempt: Some(1), priority: Some(3), ..Options::default() }
        );
    }
}
