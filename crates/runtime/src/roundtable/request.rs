//! What a user asks for, and the roundtable that it comes to.

mod read;

use std::collections::BTreeMap;

use adjourn_core::FieldError;
use adjourn_core::roundtable::{Limits, Memory, Pace, Role, RoundtableSpec, Seat, Side, Strategy};
use adjourn_engine::ShellVariables;
use serde_json::{Map, Value};

use super::library::{Library, NotThere};
use super::workflow::{SeatText, Workflow};
use crate::request::pointer;
use adjourn_api::nearest::hint;

/// Bytes of a subject: it is in front of every agent in every round. What is longer is context.
const SUBJECT_BYTES_MAX: usize = 4 * 1024;

/// Bytes of the context, which is in front of every agent too.
const CONTEXT_BYTES_MAX: usize = 64 * 1024;

/// Which workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkflowRef {
    /// One that is built in.
    Named(String),
    /// The user's own.
    Given {
        /// The name of its file, for messages.
        file: String,
        /// What it says.
        yaml: String,
    },
}

/// Somebody who is to take part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParticipantRequest {
    /// Who.
    pub role: String,
    /// The engine that plays the role; none for that of the others.
    pub engine: Option<String>,
    /// Whether the agent remembers the rounds before; none for a fresh one each round.
    pub memory: Option<Memory>,
    /// The side, where the strategy has sides.
    pub side: Option<Side>,
}

/// What a user asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundtableRequest {
    /// What is discussed.
    pub subject: String,
    /// The workflow; none for `specs`.
    pub workflow: Option<WorkflowRef>,
    /// The strategy; none for the workflow's.
    pub strategy: Option<String>,
    /// The engine of everybody who has none of their own; none for the best there is.
    pub engine: Option<String>,
    /// The engines of single roles, the facilitator's included. They come before what a workflow says.
    pub engines: BTreeMap<String, String>,
    /// The facilitator's engine; none for that of the others.
    pub facilitator_engine: Option<String>,
    /// Whether the facilitator remembers the steps before; none for what the workflow says.
    pub facilitator_memory: Option<Memory>,
    /// Who takes part; none for those of the workflow.
    pub participants: Option<Vec<ParticipantRequest>>,
    /// Whether a person looks at every round.
    pub pace: Pace,
    /// What everybody has to know beforehand.
    pub context: Option<String>,
    /// Limits that differ from those of the workflow, as JSON.
    pub limits: Value,
    /// What to find it by.
    pub labels: BTreeMap<String, String>,
    /// The variables of the shell that asks; none where no shell does, or it is not on this machine.
    pub shell: Option<ShellVariables>,
}

impl RoundtableRequest {
    /// A roundtable about `subject`, everything else at its default.
    pub fn new(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            workflow: None,
            strategy: None,
            engine: None,
            engines: BTreeMap::new(),
            facilitator_engine: None,
            facilitator_memory: None,
            participants: None,
            pace: Pace::Continuous,
            context: None,
            limits: Value::Null,
            labels: BTreeMap::new(),
            shell: None,
        }
    }

    /// The roundtable that it comes to, with `engine` for everybody who has none of their own; or everything that is
    /// wrong with it that the core does not know. `is_engine` says why an engine cannot be used.
    pub(super) fn spec(
        &self,
        library: &Library,
        engine: &str,
        is_engine: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<RoundtableSpec, Vec<FieldError>> {
        let mut errors = self.lengths();
        let workflow = match self.workflow(library) {
            Ok(workflow) => workflow,
            Err(problem) => {
                errors.push(FieldError::new("/workflow", problem.to_string()));
                return Err(errors);
            }
        };
        let limits = self.limits(workflow.limits).unwrap_or_else(|error| {
            errors.push(error);
            workflow.limits
        });
        let mut facilitator = Seat {
            memory: self.facilitator_memory.or(workflow.facilitator.memory).unwrap_or(Memory::Resume),
            ..Seat::facilitator(
                self.facilitator_engine
                    .as_ref()
                    .or(workflow.facilitator.engine.as_ref())
                    .map_or(engine, |it| it),
            )
        };
        let mut participants = match &self.participants {
            Some(chosen) => chosen.iter().map(|seat| seat.seat(engine)).collect(),
            None => workflow.participants.iter().map(|seat| seated(seat, engine)).collect::<Vec<_>>(),
        };
        let seats: Vec<_> = std::iter::once(&mut facilitator).chain(&mut participants).collect();
        errors.extend(self.engines_of_roles(seats, is_engine));
        if let Err(problem) = is_engine(&facilitator.engine) {
            errors.push(FieldError::new("/facilitator/engine", problem));
        }
        for (place, seat) in participants.iter().enumerate() {
            if let Err(problem) = library.role(&seat.role) {
                errors.push(FieldError::new(format!("/participants/{place}/role"), problem.to_string()));
            }
            if let Err(problem) = is_engine(&seat.engine) {
                errors.push(FieldError::new(format!("/participants/{place}/engine"), problem));
            }
        }
        let strategy = self.strategy.clone().unwrap_or(workflow.strategy);
        if Strategy::named(&strategy).is_err() {
            let hint = hint(&strategy, Strategy::ALL.iter().map(|known| known.name));
            errors.push(FieldError::new("/strategy", format!("there is no strategy `{strategy}`{hint}")));
        }
        let spec = RoundtableSpec {
            subject: self.subject.clone(),
            workflow: workflow.name,
            document: workflow.document,
            strategy,
            limits,
            agenda: workflow.agenda,
            facilitator,
            participants,
            pace: self.pace,
            context: self.context.clone(),
            labels: self.labels.clone(),
        };
        // What was said with the nearest right name is not said again.
        let known = library.roles();
        let rest =
            spec.problems(&known).into_iter().filter(|other| errors.iter().all(|it| it.path != other.path));
        let rest: Vec<_> = rest.collect();
        errors.extend(rest);
        if errors.is_empty() { Ok(spec) } else { Err(errors) }
    }

    /// Gives roles the engines that were chosen for them. An unknown role or engine is told with the nearest right name.
    fn engines_of_roles(
        &self,
        mut seats: Vec<&mut Seat>,
        is_engine: &dyn Fn(&str) -> Result<(), String>,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for (role, engine) in &self.engines {
            let path = pointer(&["engines", role]);
            let Some(place) = seats.iter().position(|seat| seat.role.as_str() == role) else {
                let hint = hint(role, seats.iter().map(|seat| seat.role.as_str()).collect::<Vec<_>>());
                errors.push(FieldError::new(path, format!("nobody at this table plays `{role}`{hint}")));
                continue;
            };
            match is_engine(engine) {
                Ok(()) => seats[place].engine.clone_from(engine),
                Err(problem) => errors.push(FieldError::new(path, problem)),
            }
        }
        errors
    }

    fn workflow(&self, library: &Library) -> Result<Workflow, NotThere> {
        match &self.workflow {
            None => library.workflow("specs"),
            Some(WorkflowRef::Named(name)) => library.workflow(name),
            Some(WorkflowRef::Given { file, yaml }) => Ok(Workflow::parse(file, yaml)?),
        }
    }

    fn limits(&self, workflow: Limits) -> Result<Limits, FieldError> {
        let Value::Object(changes) = &self.limits else { return Ok(workflow) };
        let mut limits =
            serde_json::to_value(workflow).expect("limits are plain data, and plain data is JSON");
        for (key, value) in changes {
            let Some(limit) = limits.get_mut(key) else {
                let known: Vec<_> =
                    limits.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
                let message = format!("unknown limit{}", hint(key, known));
                return Err(FieldError::new(pointer(&["limits", key]), message));
            };
            *limit = value.clone();
        }
        serde_path_to_error::deserialize(&limits).map_err(|error| {
            FieldError::new(pointer(&["limits", &error.path().to_string()]), error.inner().to_string())
        })
    }

    fn lengths(&self) -> Vec<FieldError> {
        let context = self.context.as_deref().unwrap_or_default();
        let given = [("subject", &*self.subject, SUBJECT_BYTES_MAX), ("context", context, CONTEXT_BYTES_MAX)];
        let too_long = given.into_iter().filter(|(_, text, most)| text.len() > *most);
        too_long
            .map(|(key, text, most)| {
                let message = format!("has {} bytes, at most {most} are taken", text.len());
                FieldError::new(pointer(&[key]), message)
            })
            .collect()
    }
}

impl ParticipantRequest {
    /// Somebody who plays `role`, everything else at its default.
    pub fn new(role: impl Into<String>) -> Self {
        Self { role: role.into(), ..Self::default() }
    }

    fn seat(&self, engine: &str) -> Seat {
        let Self { role, engine: own, memory, side } = self.clone();
        seated(&SeatText { role, engine: own, memory, side }, engine)
    }
}

/// A seat, with `engine` where it names none.
fn seated(seat: &SeatText, engine: &str) -> Seat {
    Seat {
        role: Role::new(&seat.role),
        engine: seat.engine.clone().unwrap_or_else(|| engine.to_owned()),
        memory: seat.memory.unwrap_or(Memory::Fresh),
        side: seat.side,
    }
}

#[cfg(test)]
mod tests {
    use adjourn_core::FieldError;
    use adjourn_core::roundtable::{Memory, Pace, Role, Side};
    use serde_json::{Value, json};

    use super::{ParticipantRequest, RoundtableRequest, WorkflowRef};
    use crate::roundtable::Library;

    fn known(engine: &str) -> Result<(), String> {
        if engine == "claude" || engine == "codex" {
            Ok(())
        } else {
            Err(format!("there is no engine `{engine}`"))
        }
    }

    fn problems(document: Value) -> Vec<String> {
        let spec = RoundtableRequest::read(&document)
            .and_then(|request| request.spec(&Library::default(), "claude", &known));
        spec.unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_request_is_read_whole() {
        let document = json!({
            "subject": "a shop", "workflow": {"file": "mine.yaml", "yaml": "name: x"}, "strategy": "debate",
            "engine": "claude", "facilitator": {"engine": "codex"}, "interactive": true, "context": "we have one",
            "participants": ["qa", {"role": "architect", "engine": "codex", "side": "against"}],
            "limits": {"min_rounds": 1}, "labels": {"team": "core"},
        });
        let expected = RoundtableRequest {
            workflow: Some(WorkflowRef::Given { file: "mine.yaml".to_owned(), yaml: "name: x".to_owned() }),
            strategy: Some("debate".to_owned()),
            engine: Some("claude".to_owned()),
            facilitator_engine: Some("codex".to_owned()),
            participants: Some(vec![
                ParticipantRequest::new("qa"),
                ParticipantRequest {
                    engine: Some("codex".to_owned()),
                    side: Some(Side::Against),
                    ..ParticipantRequest::new("architect")
                },
            ]),
            pace: Pace::Checkpoints,
            context: Some("we have one".to_owned()),
            limits: json!({"min_rounds": 1}),
            labels: [("team".to_owned(), "core".to_owned())].into(),
            ..RoundtableRequest::new("a shop")
        };
        assert_eq!(RoundtableRequest::read(&document), Ok(expected));
    }

    #[test]
    fn the_workflow_says_what_the_request_does_not() {
        let request = RoundtableRequest::new("a shop");
        let spec = request.spec(&Library::default(), "claude", &known).unwrap();
        assert_eq!((spec.workflow.as_str(), spec.strategy.as_str()), ("specs", "standard"));
        assert_eq!(spec.participants[0].role, Role::new("product"));
        assert!(spec.participants.iter().all(|seat| seat.engine == "claude"));
        let changed = RoundtableRequest { limits: json!({"max_rounds": 4}), ..request };
        let spec = changed.spec(&Library::default(), "claude", &known).unwrap();
        assert_eq!((spec.limits.min_rounds, spec.limits.max_rounds), (3, 4));
    }

    #[test]
    fn engines_can_be_mixed() {
        let document = json!({
            "subject": "a shop", "facilitator": {"engine": "codex"},
            "participants": ["qa", {"role": "architect", "engine": "codex"}],
        });
        let request = RoundtableRequest::read(&document).unwrap();
        let spec = request.spec(&Library::default(), "claude", &known).unwrap();
        let engines: Vec<_> = spec.participants.iter().map(|seat| seat.engine.as_str()).collect();
        assert_eq!((spec.facilitator.engine.as_str(), engines), ("codex", vec!["claude", "codex"]));
    }

    #[test]
    fn single_roles_get_engines_of_their_own_and_the_facilitator_a_memory() {
        let document = json!({
            "subject": "a shop", "facilitator": {"memory": "fresh"},
            "engines": {"qa": "codex", "facilitator": "codex"},
        });
        let spec = RoundtableRequest::read(&document)
            .and_then(|request| request.spec(&Library::default(), "claude", &known))
            .unwrap();
        assert_eq!((spec.facilitator.engine.as_str(), spec.facilitator.memory), ("codex", Memory::Fresh));
        let engines = spec.participants.iter().map(|seat| (seat.role.as_str(), seat.engine.as_str()));
        let other: Vec<_> = engines.filter(|(_, engine)| *engine != "claude").collect();
        assert_eq!(other, [("qa", "codex")]);
        let wrong = json!({ "subject": "a shop", "engines": {"qaa": "codex", "ux": "cluade"} });
        let expected = [
            "/engines/qaa: nobody at this table plays `qaa`; did you mean `qa`?",
            "/engines/ux: there is no engine `cluade`",
        ];
        assert_eq!(problems(wrong), expected);
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once_with_the_nearest_right_name() {
        let document = json!({
            "subject": " ", "strategy": "debat", "participants": ["archtect", {"role": "qa", "engine": "cloude"}],
            "limits": {"min_rounds": 5, "max_rounds": 2},
        });
        let expected = [
            "/participants/0/role: there is no role `archtect`; did you mean `architect`?",
            "/participants/1/engine: there is no engine `cloude`",
            "/strategy: there is no strategy `debat`; did you mean `debate`?",
            "/subject: is blank, it should be some text",
            "/limits/min_rounds: is 5, more than max_rounds, which is 2",
        ];
        assert_eq!(problems(document), expected);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let unreadable = RoundtableRequest::read(&json!({
            "subjct": "x", "workflow": 1, "participants": [1, {"side": "up"}], "limits": 3, "interactive": "yes",
        }));
        let paths: Vec<_> = unreadable.unwrap_err().into_iter().map(|error| error.path).collect();
        let expected = [
            "/subjct",
            "/subject",
            "/interactive",
            "/workflow",
            "/participants/0",
            "/participants/1/side",
            "/limits",
        ];
        assert_eq!(paths, expected);
        let inside = RoundtableRequest::read(&json!({
            "subject": "x", "workflow": {"yml": "name: x"}, "facilitator": {"engin": "claude"},
            "participants": [{"role": "qa", "sied": "for"}],
        }));
        let paths: Vec<_> = inside.unwrap_err().into_iter().map(|error| error.path).collect();
        assert_eq!(paths, ["/workflow/yml", "/facilitator/engin", "/participants/0/sied"]);
        assert_eq!(
            RoundtableRequest::read(&json!([])),
            Err(vec![FieldError::new("", "should be an object")])
        );
        assert_eq!(
            problems(json!({"subject": "x", "workflow": "spec"})),
            ["/workflow: there is no workflow `spec`; did you mean `specs`?"]
        );
        assert_eq!(
            problems(json!({"subject": "x", "workflow": {"yaml": "name: x\nparticipants: [qa]"}})),
            ["/agenda: has no topic, a roundtable needs at least one"]
        );
        assert_eq!(
            problems(json!({"subject": "x", "limits": {"min_round": 1}})),
            ["/limits/min_round: unknown limit; did you mean `min_rounds`?"]
        );
    }
}
