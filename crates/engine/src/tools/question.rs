//! A tool's question as one of ours.

use adjourn_core::{Choice, Field, FieldKind, Question, QuestionKind};
use serde_json::Value;

/// The question that a message and the schema of its answer ask.
///
/// A schema without properties only wants a yes. One that has fields which a form cannot show is kept as a schema alone; any
/// surface can take JSON and check it against that. `order` names the properties in the order of the server.
pub(super) fn question(message: &str, schema: &Value, order: &[String]) -> Question {
    let properties = schema["properties"].as_object().filter(|properties| !properties.is_empty());
    let Some(properties) = properties else { return Question::confirm(message) };
    let is_required =
        |name: &str| schema["required"].as_array().into_iter().flatten().any(|required| required == name);
    let fields: Option<Vec<_>> =
        properties.iter().map(|(name, property)| field(name, property, is_required(name))).collect();
    let mut fields = fields.unwrap_or_default();
    fields.sort_by_key(|field| order.iter().position(|name| *name == field.name).unwrap_or(order.len()));
    Question {
        kind: QuestionKind::Form,
        fields,
        schema: Some(schema.clone()),
        ..Question::open_text(message)
    }
}

fn field(name: &str, property: &Value, required: bool) -> Option<Field> {
    let (kind, options) = kind(property)?;
    let label = match (property["title"].as_str(), property["description"].as_str()) {
        (Some(title), Some(description)) => format!("{title}: {description}"),
        (Some(text), None) | (None, Some(text)) => text.to_owned(),
        (None, None) => name.to_owned(),
    };
    Some(Field {
        name: name.to_owned(),
        label,
        kind,
        required,
        options,
        default: property.get("default").cloned(),
    })
}

fn kind(property: &Value) -> Option<(FieldKind, Vec<Choice>)> {
    if let Some(options) = options(property) {
        return Some((FieldKind::ChooseOne, options));
    }
    let plain = |kind| Some((kind, Vec::new()));
    match property["type"].as_str()? {
        "string" => plain(FieldKind::Text),
        "number" => plain(FieldKind::Number),
        "integer" => plain(FieldKind::Integer),
        "boolean" => plain(FieldKind::Boolean),
        "array" => Some((FieldKind::ChooseMany, options(&property["items"])?)),
        _ => None,
    }
}

/// What can be chosen: an `enum`, with names at its side in older servers, or a list of constants with titles.
fn options(property: &Value) -> Option<Vec<Choice>> {
    let choice = |value: &Value, title: Option<&str>| Choice {
        value: value.clone(),
        label: title.or(value.as_str()).map_or_else(|| value.to_string(), ToOwned::to_owned),
    };
    if let Some(values) = property["enum"].as_array() {
        let names = &property["enumNames"];
        return Some(
            values.iter().enumerate().map(|(at, value)| choice(value, names[at].as_str())).collect(),
        );
    }
    let constants = property["oneOf"].as_array().or_else(|| property["anyOf"].as_array())?;
    constants.iter().map(|one| Some(choice(one.get("const")?, one["title"].as_str()))).collect()
}

#[cfg(test)]
mod tests {
    use adjourn_core::{Choice, Field, FieldKind, Question, reply};
    use serde_json::json;

    use super::question;

    #[test]
    fn a_schema_becomes_a_form_whose_answer_meets_it() {
        let schema = json!({
            "type": "object",
            "properties": {
                "email": {"type": "string", "title": "E-mail", "description": "Where to", "minLength": 3},
                "age": {"type": "integer", "maximum": 150},
                "plan": {"type": "string", "enum": ["a", "b"], "enumNames": ["Small", "Large"], "default": "a"},
                "pets": {"type": "array", "items": {"anyOf": [{"const": "cat", "title": "Cats"}, {"const": "dog"}]}},
                "news": {"type": "boolean"},
            },
            "required": ["email"],
        });
        let order = ["email", "age", "plan", "pets", "news"].map(str::to_owned);
        let asked = question("Sign up", &schema, &order);
        let field = |name: &str, label: &str, kind, options: &[Choice]| Field {
            name: name.to_owned(),
            label: label.to_owned(),
            kind,
            required: false,
            options: options.to_vec(),
            default: None,
        };
        let mut email = field("email", "E-mail: Where to", FieldKind::Text, &[]);
        email.required = true;
        let sizes = [Choice::new("a", "Small"), Choice::new("b", "Large")];
        let mut plan = field("plan", "plan", FieldKind::ChooseOne, &sizes);
        plan.default = Some(json!("a"));
        let pets = [Choice::new("cat", "Cats"), Choice::new("dog", "dog")];
        let expected = [
            email,
            field("age", "age", FieldKind::Integer, &[]),
            plan,
            field("pets", "pets", FieldKind::ChooseMany, &pets),
            field("news", "news", FieldKind::Boolean, &[]),
        ];
        assert_eq!(asked.fields, expected);
        let answer = json!({"email": "a@b", "age": "41", "pets": ["Cats"]});
        let normal = json!({"email": "a@b", "age": 41, "plan": "a", "pets": ["cat"]});
        assert_eq!(reply::check(&asked, &answer), Ok(normal));
        let wrong = reply::check(&asked, &json!({"email": "a", "age": 200})).unwrap_err();
        assert_eq!(wrong.len(), 2, "what the form cannot say, the schema does: {wrong:?}");
    }

    #[test]
    fn nothing_to_fill_in_is_a_yes_or_no_and_what_no_form_can_show_stays_a_schema() {
        assert_eq!(
            question("Sure?", &json!({"type": "object", "properties": {}}), &[]),
            Question::confirm("Sure?")
        );
        assert_eq!(question("Sure?", &json!({}), &[]), Question::confirm("Sure?"));
        let nested = json!({"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]});
        let asked = question("What?", &nested, &[]);
        assert!(asked.fields.is_empty());
        assert_eq!(reply::check(&asked, &json!({"a": {}})), Ok(json!({"a": {}})));
        assert!(reply::check(&asked, &json!({})).is_err());
    }
}
