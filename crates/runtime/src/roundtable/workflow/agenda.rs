//! The agenda of a workflow, as people write it: criteria are sentences, whose ids are derived from their words.

use std::collections::BTreeSet;

use adjourn_api::read::{Document, Problem, text_or_object};
use adjourn_core::roundtable::{Criterion, CriterionId, DoneWhen, TopicId, TopicSpec};
use serde::{Deserialize, Deserializer};

/// Characters of a derived id. A sentence has six to ten words, and agents repeat the id in every artifact that covers it.
const ID_CHARS_MAX: usize = 48;

/// A topic as it is written.
#[derive(Deserialize)]
pub(super) struct Topic {
    topic_id: TopicId,
    title: String,
    #[serde(default)]
    critical: bool,
    done_when: Done,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Done {
    criteria: Vec<CriterionText>,
    min_requirements: u32,
    min_artifacts: u32,
}

/// A criterion: a sentence, or one with an id of its own.
enum CriterionText {
    Sentence(String),
    WithId(Criterion),
}

impl<'de> Deserialize<'de> for CriterionText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a sentence, or an object with `id` and `text`";
        text_or_object(deserializer, expecting, Self::Sentence, Self::WithId)
    }
}

/// The topics of an agenda, and every criterion that is there twice.
pub(super) fn agenda(topics: Vec<Topic>, document: &Document) -> (Vec<TopicSpec>, Vec<Problem>) {
    let mut problems = Vec::new();
    let topics = topics.into_iter().enumerate().map(|(index, topic)| {
        let Topic { topic_id, title, critical, done_when } = topic;
        let Done { criteria, min_requirements, min_artifacts } = done_when;
        let (criteria, twice) = with_ids(criteria);
        for (place, text) in twice {
            let pointer = format!("/agenda/{index}/done_when/criteria/{place}");
            let message = format!("the criterion `{text}` is there twice: leave one out");
            problems.push(document.problem(&pointer, message));
        }
        let done_when = DoneWhen { criteria, min_requirements, min_artifacts };
        TopicSpec { topic_id, title, critical, done_when }
    });
    (topics.collect(), problems)
}

/// Criteria with the ids that sentences are given, and the sentences that are there twice, with their indices.
fn with_ids(texts: Vec<CriterionText>) -> (Vec<Criterion>, Vec<(usize, String)>) {
    let own = texts.iter().filter_map(|criterion| match criterion {
        CriterionText::Sentence(_) => None,
        CriterionText::WithId(criterion) => Some(criterion.id.as_str().to_owned()),
    });
    let mut ids: BTreeSet<String> = own.collect();
    let (mut sentences, mut criteria, mut twice) = (BTreeSet::new(), Vec::new(), Vec::new());
    for (index, criterion) in texts.into_iter().enumerate() {
        let text = match criterion {
            CriterionText::WithId(criterion) => {
                criteria.push(criterion);
                continue;
            }
            CriterionText::Sentence(text) => text.trim().to_owned(),
        };
        if !sentences.insert(text.to_lowercase()) {
            twice.push((index, text));
            continue;
        }
        let id = free_id(&text, index, &ids);
        ids.insert(id.clone());
        criteria.push(Criterion { id: CriterionId::new(id), text });
    }
    (criteria, twice)
}

/// An id for a sentence that is not taken. Where two sentences begin alike, the later one is counted.
fn free_id(text: &str, place: usize, taken: &BTreeSet<String>) -> String {
    let id = match words(text) {
        id if id.is_empty() => format!("criterion_{}", place + 1),
        id => id,
    };
    let counted = (2..).map(|count: usize| format!("{id}_{count}"));
    let free = std::iter::once(id.clone()).chain(counted).find(|id| !taken.contains(id));
    free.expect("numbers do not run out")
}

/// The words of a sentence, as many as fit, in lower case with an underscore between them.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = String::new();
    let mut chars = 0;
    for word in words {
        let length = word.chars().count();
        if !id.is_empty() && chars + 1 + length > ID_CHARS_MAX {
            break;
        }
        if !id.is_empty() {
            id.push('_');
            chars += 1;
        }
        id.extend(word.chars().take(ID_CHARS_MAX));
        chars += length;
    }
    id
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::with_ids;

    /// The ids of these criteria.
    fn ids(criteria: Value) -> Vec<String> {
        let (criteria, twice) = with_ids(serde_json::from_value(criteria).unwrap());
        assert_eq!(twice, []);
        criteria.iter().map(|criterion| criterion.id.as_str().to_owned()).collect()
    }

    #[test]
    fn an_id_is_the_words_of_its_sentence() {
        let cases = [
            ("Primary user personas identified", "primary_user_personas_identified"),
            ("  Entry/exit   conditions -- defined! ", "entry_exit_conditions_defined"),
            ("Öffnungszeiten sind genannt", "öffnungszeiten_sind_genannt"),
            (
                "It is said for every single piece of data who owns it",
                "it_is_said_for_every_single_piece_of_data_who",
            ),
            ("?!", "criterion_1"),
        ];
        for (text, id) in cases {
            assert_eq!(ids(json!([text])), [id], "{text}");
        }
        let long = ids(json!(["x".repeat(400)]));
        assert_eq!(long[0].len(), super::ID_CHARS_MAX);
    }

    #[test]
    fn no_two_criteria_of_a_topic_get_the_same_id() {
        let given =
            json!(["Is it said?", "Is it said!", {"id": "is_it_said_2", "text": "own"}, "is it, said"]);
        assert_eq!(ids(given), ["is_it_said", "is_it_said_3", "is_it_said_2", "is_it_said_4"]);
        let added = json!(["Is it said?", "Is it said!", "later"]);
        assert_eq!(ids(added)[..2], ["is_it_said", "is_it_said_2"], "what is added changes none");
    }

    #[test]
    fn a_sentence_that_is_there_twice_is_refused_with_its_place() {
        let yaml = "name: x\nagenda:\n  - topic_id: a\n    title: A\n    done_when:\n      criteria:\n        - It is said\n        - other\n        - 'it is said '\n";
        let problem = super::super::Workflow::parse("mine.yaml", yaml).unwrap_err().to_string();
        let expected = "mine.yaml:9:11: agenda[0].done_when.criteria[2]: the criterion `it is said` is there twice: leave one out";
        assert_eq!(problem, expected);
    }
}
