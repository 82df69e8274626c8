//! What a user asks for, and the roundtable that it comes to.

use adjourn_api::nearest::hint;
use adjourn_api::read::{Document, pointer};
use adjourn_api::{GivenWorkflow, NewParticipant, NewRoundtable, NewSeat, NewWorkflow};
use adjourn_core::FieldError;
use adjourn_core::roundtable::{Memory, Pace, Role, RoundtableSpec, Seat, Strategy};
use adjourn_engine::ShellVariables;
use serde_json::Value;

use super::library::{Library, NotThere};
use super::workflow::Workflow;
use crate::request::field_errors;

/// The name of a workflow of the user's own that came without one, for messages.
pub(super) const UNNAMED: &str = "workflow";

/// Bytes of a subject: it is in front of every agent in every round. What is longer is context.
const SUBJECT_BYTES_MAX: usize = 4 * 1024;

/// Bytes of the context, which is in front of every agent too.
const CONTEXT_BYTES_MAX: usize = 64 * 1024;

/// The request for a roundtable, with what only somebody on this machine adds.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundtableRequest {
    /// What is asked for.
    pub roundtable: NewRoundtable,
    /// The variables of the shell that asks; none where no shell does, or it is not on this machine.
    pub shell: Option<ShellVariables>,
}

impl From<NewRoundtable> for RoundtableRequest {
    fn from(roundtable: NewRoundtable) -> Self {
        Self { roundtable, shell: None }
    }
}

impl RoundtableRequest {
    /// The request that a JSON document is.
    pub fn read(document: &Value) -> Result<Self, Vec<FieldError>> {
        let reading = Document::of(document.clone()).read::<NewRoundtable>();
        reading.whole().map(Into::into).map_err(field_errors)
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
            Err(NotThere::UnreadableWorkflow(unreadable)) => {
                errors.extend(unreadable.lines().map(|line| FieldError::new("/workflow", line)));
                return Err(errors);
            }
            Err(problem) => {
                errors.push(FieldError::new("/workflow", problem.to_string()));
                return Err(errors);
            }
        };
        let asked = &self.roundtable;
        let limits = asked.limits.unwrap_or_default().or(workflow.limits);
        let leads = asked.facilitator.clone().unwrap_or_default();
        let mut facilitator = Seat {
            memory: leads.memory.or(workflow.facilitator.memory).unwrap_or(Memory::Resume),
            ..Seat::facilitator(leads.engine.or(workflow.facilitator.engine).as_deref().unwrap_or(engine))
        };
        let participants = asked.participants.as_ref().unwrap_or(&workflow.participants);
        let mut participants: Vec<_> = participants.iter().map(|it| seated(it, engine)).collect();
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
        let strategy = asked.strategy.clone().unwrap_or(workflow.strategy);
        if Strategy::named(&strategy).is_err() {
            let hint = hint(&strategy, Strategy::ALL.iter().map(|known| known.name));
            errors.push(FieldError::new("/strategy", format!("there is no strategy `{strategy}`{hint}")));
        }
        let spec = RoundtableSpec {
            subject: asked.subject.clone(),
            workflow: workflow.name,
            document: workflow.document,
            strategy,
            limits,
            agenda: workflow.agenda,
            facilitator,
            participants,
            pace: if asked.interactive == Some(true) { Pace::Checkpoints } else { Pace::Continuous },
            context: asked.context.clone(),
            labels: asked.labels.clone().unwrap_or_default(),
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
        for (role, engine) in self.roundtable.engines.iter().flatten() {
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
        match &self.roundtable.workflow {
            None => library.workflow("specs"),
            Some(NewWorkflow::Named(name)) => library.workflow(name),
            Some(NewWorkflow::Given(GivenWorkflow { file, yaml })) => {
                Ok(Workflow::parse(file.as_deref().unwrap_or(UNNAMED), yaml)?)
            }
        }
    }

    fn lengths(&self) -> Vec<FieldError> {
        let NewRoundtable { subject, context, .. } = &self.roundtable;
        let context = context.as_deref().unwrap_or_default();
        let given =
            [("subject", subject.as_str(), SUBJECT_BYTES_MAX), ("context", context, CONTEXT_BYTES_MAX)];
        let too_long = given.into_iter().filter(|(_, text, most)| text.len() > *most);
        too_long
            .map(|(key, text, most)| {
                let message = format!("has {} bytes, at most {most} are taken", text.len());
                FieldError::new(pointer(&[key]), message)
            })
            .collect()
    }
}

/// A seat, with `engine` where it names none.
fn seated(participant: &NewParticipant, engine: &str) -> Seat {
    let NewSeat { role, engine: own, memory, side } = participant.seat();
    let engine = own.unwrap_or_else(|| engine.to_owned());
    Seat { role: Role::new(&role), engine, memory: memory.unwrap_or(Memory::Fresh), side }
}

#[cfg(test)]
mod tests {
    use adjourn_api::NewRoundtable;
    use adjourn_core::roundtable::{Memory, Role};
    use serde_json::{Value, json};

    use super::RoundtableRequest;
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
    fn the_workflow_says_what_the_request_does_not() {
        let request: RoundtableRequest = NewRoundtable::new("a shop").into();
        let spec = request.spec(&Library::default(), "claude", &known).unwrap();
        assert_eq!((spec.workflow.as_str(), spec.strategy.as_str()), ("specs", "standard"));
        assert_eq!(spec.participants[0].role, Role::new("product"));
        assert!(spec.participants.iter().all(|seat| seat.engine == "claude"));
        let changed =
            RoundtableRequest::read(&json!({"subject": "a shop", "limits": {"max_rounds": 4}})).unwrap();
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
        let unreadable = json!({
            "subjct": "x", "workflow": 1, "participants": [1, {"role": "qa", "side": "up"}], "limits": 3,
            "interactive": "yes",
        });
        let expected = [
            "/subjct: unknown key; did you mean `subject`?",
            "/workflow: should be the name of a workflow, or an object with its text in `yaml`, it is a whole number",
            "/participants/0: should be the name of a role, or an object with `role`, it is a whole number",
            "/participants/1/side: unknown value `up`; there are `for`, `against`",
            "/limits: should be an object, it is a whole number",
            "/interactive: should be true or false, it is a string",
        ];
        assert_eq!(problems(unreadable), expected);
        let inside = json!({
            "subject": "x", "workflow": {"yml": "name: x"}, "facilitator": {"engin": "claude"},
            "participants": [{"role": "qa", "sied": "for"}], "limits": {"min_round": 1},
        });
        let expected = [
            "/workflow/yml: unknown key; did you mean `yaml`?",
            "/facilitator/engin: unknown key; did you mean `engine`?",
            "/participants/0/sied: unknown key; did you mean `side`?",
            "/limits/min_round: unknown key; did you mean `min_rounds`?",
        ];
        assert_eq!(problems(inside), expected);
        assert_eq!(problems(json!([])), ["should be an object, it is a list"]);
        assert_eq!(
            problems(json!({"subject": "x", "workflow": "spec"})),
            ["/workflow: there is no workflow `spec`; did you mean `specs`?"]
        );
        assert_eq!(
            problems(json!({"subject": "x", "workflow": {"yaml": "name: x\nparticipants: [qa]"}})),
            ["/agenda: has no topic, a roundtable needs at least one"]
        );
        assert_eq!(
            problems(json!({"subject": "x", "workflow": {"yaml": "nam: x\nagenda: 1"}})),
            [
                "/workflow: workflow:1:1: nam: unknown key; did you mean `name`?",
                "/workflow: workflow:2:9: agenda: should be a list, it is a whole number",
            ]
        );
    }
}
