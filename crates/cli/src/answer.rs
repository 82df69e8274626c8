//! What a person typed, as the answer to a question.

use adjourn_core::{FieldError, Question, QuestionKind, reply};
use serde_json::Value;

/// The answer that `text` gives to `question`, or everything that is wrong with it.
///
/// A person types words and a script may type JSON, so whichever of the two is an answer is taken. Several choices are
/// separated by commas.
pub(crate) fn from_text(question: &Question, text: &str) -> Result<Value, Vec<FieldError>> {
    let word = Value::from(text);
    let json = serde_json::from_str::<Value>(text).ok();
    let readings: Vec<Value> = match question.kind {
        QuestionKind::Form => json.into_iter().chain([word]).collect(),
        QuestionKind::ChooseMany => {
            json.filter(Value::is_array).into_iter().chain([word, listed(text)]).collect()
        }
        QuestionKind::OpenText | QuestionKind::ChooseOne | QuestionKind::Confirm => {
            [word].into_iter().chain(json).collect()
        }
    };
    let mut problems = Vec::new();
    for reading in readings {
        match reply::check(question, &reading) {
            Ok(_) => return Ok(reading),
            // The reading that comes first is what was most likely meant, except that a list is more than a word.
            Err(errors) if problems.is_empty() || reading.is_array() => problems = errors,
            Err(_) => {}
        }
    }
    Err(problems)
}

fn listed(text: &str) -> Value {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
}

/// What is wrong with an answer, in one line.
pub(crate) fn problem_text(errors: &[FieldError]) -> String {
    let errors = errors.iter().map(|FieldError { path, message }| match path.as_str() {
        "" => format!("it {message}"),
        path => format!("{} {message}", path.trim_start_matches('/')),
    });
    errors.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use adjourn_core::{Choice, Field, FieldKind, Question, QuestionKind};
    use serde_json::json;

    use super::{from_text, problem_text};

    fn choices(kind: QuestionKind) -> Question {
        let options = vec![Choice { value: json!(1), label: "One".to_owned() }, Choice::new("b", "Bee")];
        Question { kind, ..Question::choose_one("Which?", options) }
    }

    #[test]
    fn words_and_json_are_both_answers() {
        let one = choices(QuestionKind::ChooseOne);
        assert_eq!(from_text(&one, "b"), Ok(json!("b")));
        assert_eq!(from_text(&one, "bee"), Ok(json!("bee")));
        assert_eq!(from_text(&one, "1"), Ok(json!("1")));
        assert_eq!(from_text(&Question::confirm("?"), "Yes"), Ok(json!("Yes")));
        assert_eq!(from_text(&Question::open_text("?"), "{\"a\": 1}"), Ok(json!("{\"a\": 1}")));
    }

    #[test]
    fn several_choices_are_separated_by_commas_or_a_list() {
        let many = choices(QuestionKind::ChooseMany);
        assert_eq!(from_text(&many, "1, bee"), Ok(json!(["1", "bee"])));
        assert_eq!(from_text(&many, "[1]"), Ok(json!([1])));
        assert_eq!(from_text(&many, "b"), Ok(json!("b")));
        let problem = problem_text(&from_text(&many, "b,c").unwrap_err());
        assert_eq!(problem, "1 is not one of the options: 1 (One), \"b\" (Bee)");
    }

    #[test]
    fn a_form_is_an_object() {
        let field = Field {
            name: "city".to_owned(),
            label: "City".to_owned(),
            kind: FieldKind::Text,
            required: true,
            options: Vec::new(),
            default: None,
        };
        let form = Question { kind: QuestionKind::Form, fields: vec![field], ..Question::open_text("?") };
        assert_eq!(from_text(&form, r#"{"city": "Rome"}"#), Ok(json!({"city": "Rome"})));
        assert_eq!(problem_text(&from_text(&form, "{}").unwrap_err()), "city is missing");
        let problem = problem_text(&from_text(&form, "Rome").unwrap_err());
        assert_eq!(problem, "it is not an object with the fields of the form");
    }
}
