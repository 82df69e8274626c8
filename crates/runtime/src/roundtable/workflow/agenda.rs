//! The agenda of a workflow, as people write it: criteria are sentences, whose ids are derived from their words.

use std::collections::BTreeSet;

use adjourn_core::roundtable::{Criterion, CriterionId, DoneWhen, TopicId, TopicSpec};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

/// Characters of a derived id. A sentence has six to ten words, and agents repeat the id in every artifact that covers it.
const ID_CHARS_MAX: usize = 48;

/// The topics of an agenda.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<TopicSpec>, D::Error> {
    Ok(Vec::<Topic>::deserialize(deserializer)?.into_iter().map(Topic::spec).collect())
}

#[derive(Deserialize)]
struct Topic {
    topic_id: TopicId,
    title: String,
    #[serde(default)]
    critical: bool,
    done_when: Done,
}

#[derive(Deserialize)]
struct Done {
    #[serde(default)]
    criteria: Vec<Criterion>,
    #[serde(default)]
    min_requirements: u32,
    #[serde(default)]
    min_artifacts: u32,
}

impl Topic {
    fn spec(self) -> TopicSpec {
        let Self { topic_id, title, critical, done_when } = self;
        let Done { criteria, min_requirements, min_artifacts } = done_when;
        let done_when = DoneWhen { criteria, min_requirements, min_artifacts };
        TopicSpec { topic_id, title, critical, done_when }
    }
}

/// Turns the criteria of a workflow that are plain sentences into `{id, text}`. Fails with the place of a sentence that is
/// there twice, and what is wrong with it.
pub(super) fn name_criteria(workflow: &mut Value) -> Result<(), (String, String)> {
    // Looked up by `get_mut`: an index would add members that are not there.
    let topics = workflow.get_mut("agenda").and_then(Value::as_array_mut);
    for (place, topic) in topics.into_iter().flatten().enumerate() {
        let criteria = topic.get_mut("done_when").and_then(|done_when| done_when.get_mut("criteria"));
        let Some(Value::Array(criteria)) = criteria else { continue };
        let path = format!("/agenda/{place}/done_when/criteria");
        name_those_of_one_topic(criteria).map_err(|(at, problem)| (format!("{path}/{at}"), problem))?;
    }
    Ok(())
}

fn name_those_of_one_topic(criteria: &mut [Value]) -> Result<(), (usize, String)> {
    let mut ids: BTreeSet<_> =
        criteria.iter().filter_map(|it| it["id"].as_str().map(str::to_owned)).collect();
    let mut sentences = BTreeSet::new();
    for (place, criterion) in criteria.iter_mut().enumerate() {
        let text = match criterion {
            Value::String(text) => text.trim().to_owned(),
            Value::Object(_) | Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => continue,
        };
        if !sentences.insert(text.to_lowercase()) {
            return Err((place, format!("the criterion `{text}` is there twice: leave one out")));
        }
        let id = free_id(&text, place, &ids);
        ids.insert(id.clone());
        *criterion = json!({ "id": CriterionId::new(id), "text": text });
    }
    Ok(())
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

    use super::name_criteria;

    /// The ids of these criteria.
    fn ids(criteria: Value) -> Result<Vec<String>, (String, String)> {
        let mut workflow = json!({ "agenda": [{ "done_when": { "criteria": criteria } }] });
        name_criteria(&mut workflow)?;
        let criteria = workflow["agenda"][0]["done_when"]["criteria"].as_array().unwrap().clone();
        Ok(criteria.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect())
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
            assert_eq!(ids(json!([text])).unwrap(), [id], "{text}");
        }
        let long = ids(json!(["x".repeat(400)])).unwrap();
        assert_eq!(long[0].len(), super::ID_CHARS_MAX);
    }

    #[test]
    fn no_two_criteria_of_a_topic_get_the_same_id() {
        let given =
            json!(["Is it said?", "Is it said!", {"id": "is_it_said_2", "text": "own"}, "is it, said"]);
        assert_eq!(ids(given).unwrap(), ["is_it_said", "is_it_said_3", "is_it_said_2", "is_it_said_4"]);
        let added = json!(["Is it said?", "Is it said!", "later"]);
        assert_eq!(ids(added).unwrap()[..2], ["is_it_said", "is_it_said_2"], "what is added changes none");
    }

    #[test]
    fn a_sentence_that_is_there_twice_is_refused_with_its_place() {
        let (place, problem) = ids(json!(["It is said", "other", "it is said "])).unwrap_err();
        assert_eq!(place, "/agenda/0/done_when/criteria/2");
        assert_eq!(problem, "the criterion `it is said` is there twice: leave one out");
    }
}
