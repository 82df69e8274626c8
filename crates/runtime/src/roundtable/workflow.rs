//! Workflows: an agenda, who usually sits at the table, and how it is held.

mod agenda;

use std::fmt;

use adjourn_api::read::{Document, Problem};
use adjourn_api::{NewFacilitator, NewParticipant};
use adjourn_core::roundtable::{self, Limits, TopicSpec};
use serde::Deserialize;

use agenda::Topic;

/// A workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// What it is for, in one sentence.
    pub summary: String,
    /// The document that comes out of it.
    pub document: roundtable::Document,
    /// How it is held, unless somebody chooses otherwise.
    pub strategy: String,
    /// How long it may take.
    pub limits: Limits,
    /// The engine and the memory of the facilitator.
    pub facilitator: NewFacilitator,
    /// The roles that take part, unless somebody chooses otherwise.
    pub participants: Vec<NewParticipant>,
    /// The topics that have to be settled.
    pub agenda: Vec<TopicSpec>,
}

/// A workflow as it is written.
#[derive(Deserialize)]
struct WorkflowText {
    name: String,
    #[serde(default)]
    summary: String,
    document: Option<roundtable::Document>,
    strategy: Option<String>,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    facilitator: NewFacilitator,
    #[serde(default)]
    participants: Vec<NewParticipant>,
    #[serde(default)]
    agenda: Vec<Topic>,
}

/// Everything that is wrong with the text of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableWorkflow {
    /// The file.
    pub file: String,
    /// At least one.
    pub problems: Vec<Problem>,
}

impl UnreadableWorkflow {
    /// One line for each problem.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.problems.iter().map(|problem| format!("{}:{problem}", self.file))
    }
}

impl fmt::Display for UnreadableWorkflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().collect::<Vec<_>>().join("\n"))
    }
}

impl std::error::Error for UnreadableWorkflow {}

impl Workflow {
    /// Reads a workflow; `file` is for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, UnreadableWorkflow> {
        Self::read(text).map_err(|problems| UnreadableWorkflow { file: file.to_owned(), problems })
    }

    fn read(text: &str) -> Result<Self, Vec<Problem>> {
        let document = Document::yaml(text).map_err(|problem| vec![problem])?;
        let text: WorkflowText = document.read().whole()?;
        let (agenda, problems) = agenda::agenda(text.agenda, &document);
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            name: text.name,
            summary: text.summary,
            document: text.document.unwrap_or(roundtable::Document::Requirements),
            strategy: text.strategy.unwrap_or_else(|| "standard".to_owned()),
            limits: text.limits,
            facilitator: text.facilitator,
            participants: text.participants,
            agenda,
        })
    }
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
            ("", "mine.yaml:1:1: should be a mapping, it is null"),
            ("agenda: []", "mine.yaml:1:1: name: is missing"),
            ("name: x\nagendaa: []", "mine.yaml:2:1: agendaa: unknown key; did you mean `agenda`?"),
            (
                "name: x\nlimits:\n  min_round: 1",
                "mine.yaml:3:3: limits.min_round: unknown key; did you mean `min_rounds`?",
            ),
            (
                "name: x\ndocument: book",
                "mine.yaml:2:11: document: unknown value `book`; there are `requirements`, `architecture`, `brainstorm`",
            ),
            (
                "name: x\nagenda:\n  - topic_id: a\n    titel: A",
                "mine.yaml:3:5: agenda[0].done_when: is missing\nmine.yaml:4:5: agenda[0].titel: unknown key; did you mean `title`?",
            ),
            ("name: x\nagenda:\n  - title: A", "mine.yaml:3:5: agenda[0].topic_id: is missing"),
            (
                "name: x\nlimits: {min_rounds: many}",
                "mine.yaml:2:22: limits.min_rounds: should be a whole number, it is a string",
            ),
            ("name: [", "mine.yaml:2:1: not valid YAML"),
        ] {
            let said = Workflow::parse("mine.yaml", text).unwrap_err().to_string();
            assert!(said.starts_with(expected), "{text:?}: {said}");
        }
    }
}
