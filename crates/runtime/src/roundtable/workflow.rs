//! Workflows: an agenda, who usually sits at the table, and how it is held.

mod agenda;

use adjourn_core::roundtable::{Document, Limits, Memory, Side, TopicSpec};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::yaml::Yaml;
use adjourn_api::nearest::hint;

/// A workflow.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Workflow {
    /// What it is called.
    pub name: String,
    /// What it is for, in one sentence.
    #[serde(default)]
    pub summary: String,
    /// What comes out of it.
    #[serde(default = "requirements")]
    pub document: Document,
    /// How it is held, unless somebody chooses otherwise.
    #[serde(default = "standard")]
    pub strategy: String,
    /// How long it may take.
    #[serde(default)]
    pub limits: Limits,
    /// Who leads: only the engine and the memory can be chosen.
    #[serde(default)]
    pub facilitator: SeatText,
    /// Who takes part, unless somebody chooses otherwise.
    #[serde(default)]
    pub participants: Vec<SeatText>,
    /// What has to be settled.
    #[serde(default, deserialize_with = "agenda::deserialize")]
    pub agenda: Vec<TopicSpec>,
}

/// A place at the table as a workflow has it: a role, or more about one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeatText {
    /// Who sits there.
    pub role: String,
    /// The engine that plays the role.
    pub engine: Option<String>,
    /// Whether the agent remembers the rounds before.
    pub memory: Option<Memory>,
    /// Which side it takes.
    pub side: Option<Side>,
}

impl<'de> Deserialize<'de> for SeatText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Role(String),
            Seat {
                #[serde(default)]
                role: String,
                #[serde(default)]
                engine: Option<String>,
                #[serde(default)]
                memory: Option<Memory>,
                #[serde(default)]
                side: Option<Side>,
            },
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Role(role) => Self { role, ..Self::default() },
            Written::Seat { role, engine, memory, side } => Self { role, engine, memory, side },
        })
    }
}

/// What is wrong with the text of a workflow, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct UnreadableWorkflow {
    /// The file.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

const KEYS: &[&str] =
    &["name", "summary", "document", "strategy", "limits", "facilitator", "participants", "agenda"];
const SEAT_KEYS: &[&str] = &["role", "engine", "memory", "side"];
const TOPIC_KEYS: &[&str] = &["topic_id", "title", "critical", "done_when"];
const DONE_WHEN_KEYS: &[&str] = &["criteria", "min_requirements", "min_artifacts"];
const CRITERION_KEYS: &[&str] = &["id", "text"];
const LIMITS_KEYS: &[&str] = &[
    "min_rounds",
    "max_rounds",
    "max_rounds_per_conflict",
    "confidence_below",
    "escalation_cooldown_rounds",
];

impl Workflow {
    /// Reads a workflow; `file` is for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, UnreadableWorkflow> {
        let unreadable = |line, message| UnreadableWorkflow { file: file.to_owned(), line, message };
        let mut yaml = Yaml::parse(text).map_err(|error| unreadable(error.line, error.message))?;
        if !yaml.value.is_object() {
            return Err(unreadable(1, "should be a mapping with at least `name` and `agenda`".to_owned()));
        }
        if let Some((pointer, message)) = stray(&yaml.value) {
            return Err(unreadable(yaml.line(&pointer), message));
        }
        if let Err((pointer, message)) = agenda::name_criteria(&mut yaml.value) {
            return Err(unreadable(yaml.line(&pointer), message));
        }
        serde_path_to_error::deserialize(&yaml.value).map_err(|error| {
            let place = error.path().to_string();
            let pointer =
                format!("/{}", place.replace('[', "/").replace(']', "").replace('.', "/").replace("//", "/"));
            unreadable(yaml.line(&pointer), format!("`{place}`: {}", error.inner()))
        })
    }
}

/// The first key that means nothing, by its place.
fn stray(value: &Value) -> Option<(String, String)> {
    let list = |key: &str| value[key].as_array().cloned().unwrap_or_default();
    let mut places = vec![
        (String::new(), value.clone(), KEYS),
        ("/limits".to_owned(), value["limits"].clone(), LIMITS_KEYS),
        ("/facilitator".to_owned(), value["facilitator"].clone(), SEAT_KEYS),
    ];
    for (index, seat) in list("participants").into_iter().enumerate() {
        places.push((format!("/participants/{index}"), seat, SEAT_KEYS));
    }
    for (index, topic) in list("agenda").into_iter().enumerate() {
        let done_when = format!("/agenda/{index}/done_when");
        for (place, criterion) in
            topic["done_when"]["criteria"].as_array().cloned().unwrap_or_default().into_iter().enumerate()
        {
            places.push((format!("{done_when}/criteria/{place}"), criterion, CRITERION_KEYS));
        }
        places.push((done_when, topic["done_when"].clone(), DONE_WHEN_KEYS));
        places.push((format!("/agenda/{index}"), topic, TOPIC_KEYS));
    }
    places.into_iter().find_map(|(path, value, known)| {
        let key = value.as_object()?.keys().find(|key| !known.contains(&key.as_str()))?.clone();
        Some((format!("{path}/{key}"), format!("unknown key `{key}`{}", hint(&key, known.iter().copied()))))
    })
}

fn requirements() -> Document {
    Document::Requirements
}

fn standard() -> String {
    "standard".to_owned()
}

#[cfg(test)]
mod tests {
    use super::Workflow;

    const LEAST: &str =
        "name: mine\nagenda:\n  - topic_id: a\n    title: A\n    done_when: {min_requirements: 1}\n";

    #[test]
    fn a_workflow_needs_a_name_and_an_agenda_only() {
        let workflow = Workflow::parse("mine.yaml", LEAST).unwrap();
        assert_eq!((workflow.name.as_str(), workflow.strategy.as_str()), ("mine", "standard"));
        assert_eq!(workflow.agenda.len(), 1);
    }

    #[test]
    fn criteria_are_plain_sentences_whose_ids_are_derived() {
        let text = "name: mine
agenda:
  - topic_id: users
    title: Users
    done_when:
      criteria:
        - \"Primary user personas identified\"
        - \"Entry/exit conditions defined\"
        - {id: own, text: With an id of its own}
      min_requirements: 2
";
        let done_when = &Workflow::parse("mine.yaml", text).unwrap().agenda[0].done_when;
        let ids: Vec<_> = done_when.criteria.iter().map(|criterion| criterion.id.as_str()).collect();
        assert_eq!(ids, ["primary_user_personas_identified", "entry_exit_conditions_defined", "own"]);
        assert_eq!(done_when.criteria[1].text, "Entry/exit conditions defined");
        assert_eq!(done_when.min_requirements, 2);
    }

    #[test]
    fn what_is_wrong_with_one_is_said_with_its_line() {
        for (text, expected) in [
            ("", "mine.yaml:1: should be a mapping with at least `name` and `agenda`"),
            ("agenda: []", "mine.yaml:1: `.`: missing field `name`"),
            ("name: x\nagendaa: []", "mine.yaml:2: unknown key `agendaa`; did you mean `agenda`?"),
            (
                "name: x\nlimits:\n  min_round: 1",
                "mine.yaml:3: unknown key `min_round`; did you mean `min_rounds`?",
            ),
            (
                "name: x\ndocument: book",
                "mine.yaml:2: `document`: `book` is not one of requirements, architecture, brainstorm",
            ),
            (
                "name: x\nagenda:\n  - topic_id: a\n    titel: A",
                "mine.yaml:4: unknown key `titel`; did you mean `title`?",
            ),
            ("name: x\nagenda:\n  - title: A", "mine.yaml:3: `agenda[0]`: missing field `topic_id`"),
            (
                "name: x\nlimits: {min_rounds: many}",
                "mine.yaml:2: `limits.min_rounds`: invalid type: string \"many\", expected u32",
            ),
            ("name: [", "mine.yaml:2: not valid YAML"),
        ] {
            let said = Workflow::parse("mine.yaml", text).unwrap_err().to_string();
            assert!(said.starts_with(expected), "{text:?}: {said}");
        }
    }
}
