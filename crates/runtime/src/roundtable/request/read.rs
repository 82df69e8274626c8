//! A request as it is sent: everything that cannot be read is said at once.

use adjourn_core::FieldError;
use adjourn_core::roundtable::{Memory, Pace};
use serde_json::{Map, Value};

use super::{ParticipantRequest, RoundtableRequest, WorkflowRef};
use crate::request::pointer;
use adjourn_api::nearest::hint;

const KEYS: [&str; 11] = [
    "subject",
    "workflow",
    "strategy",
    "engine",
    "engines",
    "facilitator",
    "participants",
    "interactive",
    "context",
    "limits",
    "labels",
];

impl RoundtableRequest {
    /// The request that a JSON document is.
    pub fn read(document: &Value) -> Result<Self, Vec<FieldError>> {
        let Value::Object(members) = document else {
            return Err(vec![FieldError::new("", "should be an object")]);
        };
        let mut reading = Reading { members, errors: Vec::new() };
        let request = reading.request();
        if reading.errors.is_empty() { Ok(request) } else { Err(reading.errors) }
    }
}

struct Reading<'a> {
    members: &'a Map<String, Value>,
    errors: Vec<FieldError>,
}

impl Reading<'_> {
    fn request(&mut self) -> RoundtableRequest {
        self.only(&KEYS);
        let subject: Option<String> = self.field("subject", "should be a string");
        if subject.is_none() && self.errors.iter().all(|error| error.path != "/subject") {
            self.errors.push(FieldError::new("/subject", "is missing: say what is to be discussed"));
        }
        let interactive: bool = self.field("interactive", "should be true or false").unwrap_or_default();
        let workflow = self.workflow();
        let (facilitator_engine, facilitator_memory) = self.facilitator();
        RoundtableRequest {
            workflow,
            strategy: self.field("strategy", "should be a string"),
            engine: self.field("engine", "should be a string"),
            engines: self
                .field("engines", "should be an object with an engine for each role")
                .unwrap_or_default(),
            facilitator_engine,
            facilitator_memory,
            participants: self.participants(),
            pace: if interactive { Pace::Checkpoints } else { Pace::Continuous },
            context: self.field("context", "should be a string"),
            limits: self.limits(),
            labels: self.field("labels", "should be an object of strings").unwrap_or_default(),
            ..RoundtableRequest::new(subject.unwrap_or_default())
        }
    }

    /// Notes every member that there should not be.
    fn only(&mut self, keys: &[&str]) {
        let unknown = self.members.keys().filter(|key| !keys.contains(&key.as_str()));
        for key in unknown.take(adjourn_api::read::PROBLEMS_MAX) {
            let message = format!("unknown key{}", hint(key, keys.iter().copied()));
            self.errors.push(FieldError::new(pointer(&[key]), message));
        }
    }

    /// A field of this type; null is the same as nothing.
    fn field<T: serde::de::DeserializeOwned>(&mut self, key: &str, wanted: &str) -> Option<T> {
        let value = self.members.get(key).filter(|value| !value.is_null())?;
        let read = serde_json::from_value(value.clone());
        if read.is_err() {
            self.errors.push(FieldError::new(pointer(&[key]), wanted));
        }
        read.ok()
    }

    fn workflow(&mut self) -> Option<WorkflowRef> {
        match self.members.get("workflow") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(WorkflowRef::Named(name.clone())),
            Some(Value::Object(given)) => {
                let mut reading = Reading { members: given, errors: Vec::new() };
                reading.only(&["file", "yaml"]);
                let file: Option<String> = reading.field("file", "should be a string");
                let yaml: Option<String> = reading.field("yaml", "should be a string");
                if yaml.is_none() && reading.errors.is_empty() {
                    reading.errors.push(FieldError::new("/yaml", "is missing: it holds the workflow"));
                }
                self.take(reading.errors, "/workflow");
                let file = file.unwrap_or_else(|| "workflow".to_owned());
                yaml.map(|yaml| WorkflowRef::Given { file, yaml })
            }
            Some(_) => {
                let wanted = "should be the name of a workflow, or an object with its text in `yaml`";
                self.errors.push(FieldError::new("/workflow", wanted));
                None
            }
        }
    }

    /// The engine and the memory of the facilitator.
    fn facilitator(&mut self) -> (Option<String>, Option<Memory>) {
        match self.members.get("facilitator") {
            None | Some(Value::Null) => (None, None),
            Some(Value::Object(facilitator)) => {
                let mut reading = Reading { members: facilitator, errors: Vec::new() };
                reading.only(&["engine", "memory"]);
                let engine = reading.field("engine", "should be a string");
                let memory = reading.field("memory", "should be `resume` or `fresh`");
                self.take(reading.errors, "/facilitator");
                (engine, memory)
            }
            Some(_) => {
                let wanted = "should be an object with `engine` or `memory`";
                self.errors.push(FieldError::new("/facilitator", wanted));
                (None, None)
            }
        }
    }

    fn participants(&mut self) -> Option<Vec<ParticipantRequest>> {
        let list: Vec<Value> = self.field("participants", "should be a list of roles")?;
        let mut participants = Vec::new();
        for (place, given) in list.iter().enumerate() {
            match given {
                Value::String(role) => participants.push(ParticipantRequest::new(role)),
                Value::Object(members) => {
                    let mut reading = Reading { members, errors: Vec::new() };
                    reading.only(&["role", "engine", "memory", "side"]);
                    participants.push(ParticipantRequest {
                        role: reading.field("role", "should be a string").unwrap_or_default(),
                        engine: reading.field("engine", "should be a string"),
                        memory: reading.field("memory", "should be `resume` or `fresh`"),
                        side: reading.field("side", "should be `for` or `against`"),
                    });
                    self.take(reading.errors, &format!("/participants/{place}"));
                }
                _ => {
                    let message = "should be the name of a role, or an object with `role`";
                    self.errors.push(FieldError::new(format!("/participants/{place}"), message));
                }
            }
        }
        Some(participants)
    }

    fn limits(&mut self) -> Value {
        let limits = self.members.get("limits").cloned().unwrap_or_default();
        if !limits.is_null() && !limits.is_object() {
            self.errors.push(FieldError::new("/limits", "should be an object of numbers"));
        }
        limits
    }

    fn take(&mut self, errors: Vec<FieldError>, path: &str) {
        let inside = errors.into_iter().map(|it| FieldError::new(format!("{path}{}", it.path), it.message));
        self.errors.extend(inside);
    }
}
