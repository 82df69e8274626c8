//! What a person typed, as the answer to a question.

use adjourn_core::{Action, FieldError, InteractionView, Question, QuestionKind, Source, reply};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer, and what it does to a call that needs approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Given {
    pub(crate) response: Value,
    pub(crate) action: Option<Action>,
}

impl Given {
    /// An answer to a question that is about no call.
    pub(crate) fn plain(response: Value) -> Self {
        Self { response, action: None }
    }

    /// The answer that `text` gives, or everything that is wrong with it.
    ///
    /// To a call that needs approval it is `approve`, `edit` with the new arguments, or `reject` with or without a reason;
    /// yes and no will do as well. To the question whether a call happened it may be an object, with a note.
    pub(crate) fn read(interaction: &InteractionView, text: &str) -> Result<Self, Vec<FieldError>> {
        let whole = |message: String| vec![FieldError::new("", message)];
        if interaction.approval().is_some() {
            let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
            return match word.to_ascii_lowercase().parse() {
                Ok(action) => Self::acting(action, rest.trim()).map_err(whole),
                Err(_) => from_text(&interaction.question, text)
                    .map(Self::plain)
                    .map_err(|_| whole("is neither approve, edit {…} nor reject".to_owned())),
            };
        }
        if interaction.source == Source::Recovery
            && let Ok(noted @ Value::Object(_)) = serde_json::from_str(text)
        {
            return Ok(Self::plain(noted));
        }
        from_text(&interaction.question, text).map(Self::plain)
    }

    /// What `action` does, with what was said besides.
    pub(crate) fn acting(action: Action, rest: &str) -> Result<Self, String> {
        let response = match action {
            Action::Edit => arguments(rest)?,
            Action::Approve | Action::Reject if rest.is_empty() => Value::Null,
            Action::Approve | Action::Reject => Value::from(rest),
        };
        Ok(Self { response, action: Some(action) })
    }
}

/// The arguments of a call.
pub(crate) fn arguments(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        Ok(_) => Err("is no JSON object with the arguments of the call".to_owned()),
        Err(error) => Err(format!("is no JSON object with the arguments of the call: {error}")),
    }
}

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
    use adjourn_core::{Action, Choice, Field, FieldKind, InteractionView, Question, QuestionKind};
    use serde_json::{Value, json};

    use super::{Given, from_text, problem_text};

    fn asks(source: &str, question: &Question, call: &Value) -> InteractionView {
        let mut view = json!(question);
        view["interaction_id"] = json!(1);
        view["status"] = json!("open");
        view["attempt_number"] = json!(1);
        view["source"] = json!(source);
        view["action_detail"] = call.clone();
        view["created_at"] = json!("2023-11-14T22:13:20.120Z");
        view["deadline_at"] = Value::Null;
        serde_json::from_value(view).unwrap()
    }

    #[test]
    fn a_call_is_approved_edited_or_rejected_in_words() {
        let call = json!({ "service": "mail", "method": "send", "arguments": { "to": "ann" } });
        let asks = asks("contract", &Question::confirm("May it?"), &call);
        let given = |response: Value, action| Ok(Given { response, action });
        for (text, expected) in [
            ("approve", given(Value::Null, Some(Action::Approve))),
            ("yes", given(json!("yes"), None)),
            ("Reject not to her", given(json!("not to her"), Some(Action::Reject))),
            ("reject", given(Value::Null, Some(Action::Reject))),
            (r#"edit {"to": "bob"}"#, given(json!({ "to": "bob" }), Some(Action::Edit))),
        ] {
            assert_eq!(Given::read(&asks, text), expected, "{text}");
        }
        for (text, problem) in [
            ("perhaps", "it is neither approve, edit {…} nor reject"),
            ("edit [1]", "it is no JSON object with the arguments of the call"),
        ] {
            assert_eq!(problem_text(&Given::read(&asks, text).unwrap_err()), problem);
        }
    }

    #[test]
    fn whether_a_call_happened_is_answered_with_a_word_or_with_a_note() {
        let question = Question::choose_one("Did it?", vec![Choice::new("happened", "It happened")]);
        let asks = asks("recovery", &question, &Value::Null);
        assert_eq!(Given::read(&asks, "happened"), Ok(Given::plain(json!("happened"))));
        let noted = json!({ "value": "happened", "note": "seen" });
        assert_eq!(Given::read(&asks, &noted.to_string()), Ok(Given::plain(noted)));
        assert!(Given::read(&asks, "approve").is_err());
    }

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
