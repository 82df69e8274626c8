use serde_json::{Value, json};

use super::{Unreadable, read};
use crate::{Choice, Field, FieldKind, Question, QuestionKind};

#[expect(clippy::needless_pass_by_value, reason = "a table of `json!` reads better without `&`")]
#[track_caller]
fn check(ask: Value, expected: Question) {
    assert_eq!(read(&ask), Ok(expected), "for {ask}");
}

#[expect(clippy::needless_pass_by_value, reason = "a table of `json!` reads better without `&`")]
#[track_caller]
fn malformed(ask: Value, problem: &str, prompt: Option<&str>) {
    let expected = Unreadable { problem: problem.to_owned(), prompt: prompt.map(str::to_owned) };
    assert_eq!(read(&ask), Err(expected), "for {ask}");
}

fn abc(kind: QuestionKind) -> Question {
    Question {
        kind,
        options: vec![Choice::new("a", "a"), Choice::new("b", "b")],
        ..Question::open_text("Which?")
    }
}

#[test]
fn the_words_stand_under_any_of_three_names() {
    for key in ["prompt", "message", "question"] {
        check(json!({key: " Which? "}), Question::open_text("Which?"));
        check(json!({"ui_hints": {key: "Which?"}}), Question::open_text("Which?"));
    }
    check(json!({"prompt": " ", "message": null, "question": "Which?"}), Question::open_text("Which?"));
    check(json!({"prompt": "Which?", "interaction_id": 7, "context": {}}), Question::open_text("Which?"));
}

#[test]
fn the_kind_is_named_or_follows_from_the_rest() {
    check(json!({"prompt": "Which?", "kind": "confirm"}), Question::confirm("Which?"));
    check(
        json!({"prompt": "Which?", "ui_hints": {"kind": " Choose-One", "options": ["a", "b"]}}),
        abc(QuestionKind::ChooseOne),
    );
    check(
        json!({"prompt": "Which?", "kind": "choose_many", "options": ["a", "b"]}),
        abc(QuestionKind::ChooseMany),
    );
    check(json!({"prompt": "Which?", "options": ["a", "b"]}), abc(QuestionKind::ChooseOne));
    check(json!({"prompt": "Which?", "options": []}), Question::open_text("Which?"));
    check(
        json!({"prompt": "Which?", "options": ["a", "b"], "ui_hints": {"options": null}}),
        abc(QuestionKind::ChooseOne),
    );
    check(
        json!({"prompt": "Which?", "kind": "confirm", "required_fields": ["a"]}),
        Question::confirm("Which?"),
    );
    for (schema, kind) in [
        (json!({"type": "object"}), QuestionKind::Form),
        (json!({"properties": {}}), QuestionKind::Form),
        (json!({"type": "integer"}), QuestionKind::OpenText),
    ] {
        let expected = Question { kind, schema: Some(schema.clone()), ..Question::open_text("Which?") };
        check(json!({"prompt": "Which?", "schema": schema}), expected);
    }
}

#[test]
fn options_come_in_many_shapes() {
    let options = |options: Value| read(&json!({"prompt": "?", "options": options})).unwrap().options;
    let choice = |value: Value, label: &str| Choice { value, label: label.to_owned() };
    assert_eq!(
        options(json!(["a", 2, 2.5, true, {"value": 1, "label": "One"}, {"value": "b"}, {"label": "C"}])),
        [
            choice(json!("a"), "a"),
            choice(json!(2), "2"),
            choice(json!(2.5), "2.5"),
            choice(json!(true), "true"),
            choice(json!(1), "One"),
            choice(json!("b"), "b"),
            choice(json!("C"), "C"),
        ]
    );
}

#[test]
fn a_form_has_fields_names_or_a_schema() {
    let text = |name: &str, required| Field {
        name: name.to_owned(),
        label: name.to_owned(),
        kind: FieldKind::Text,
        required,
        options: Vec::new(),
        default: None,
    };
    let form = |fields| Question { kind: QuestionKind::Form, fields, ..Question::open_text("?") };
    check(
        json!({"prompt": "?", "fields": ["a", {"name": "b"}]}),
        form(vec![text("a", false), text("b", false)]),
    );
    check(json!({"prompt": "?", "required_fields": ["a"]}), form(vec![text("a", true)]));
    check(
        json!({"prompt": "?", "fields": ["a", "b"], "required_fields": ["b"]}),
        form(vec![text("a", false), text("b", true)]),
    );
    check(
        json!({"prompt": "?", "kind": "form", "ui_hints": {"fields": [
            {"name": "n", "label": "N", "type": "integer", "required": true, "default": 3},
            {"name": "s", "kind": "string", "default": null},
            {"name": "c", "options": ["x"]},
        ]}}),
        form(vec![
            Field {
                label: "N".to_owned(),
                kind: FieldKind::Integer,
                default: Some(json!(3)),
                ..text("n", true)
            },
            text("s", false),
            Field { kind: FieldKind::ChooseOne, options: vec![Choice::new("x", "x")], ..text("c", false) },
        ]),
    );
    check(
        json!({"prompt": "?", "kind": "form", "schema": {"type": "object"}, "default": {"a": 1}}),
        Question {
            schema: Some(json!({"type": "object"})),
            default: Some(json!({"a": 1})),
            ..form(Vec::new())
        },
    );
}

#[test]
fn what_cannot_be_read_is_named_and_its_words_are_kept() {
    let needs_object = "it should be an object with `prompt`";
    malformed(json!(null), &format!("the question is null, {needs_object}"), None);
    malformed(json!([]), &format!("the question is a list, {needs_object}"), None);
    malformed(json!(" Which? "), &format!("the question is only a string, {needs_object}"), Some("Which?"));
    malformed(json!(" "), &format!("the question is only a string, {needs_object}"), None);
    malformed(json!({}), "the question has no `prompt`", None);
    malformed(json!({"prompt": ""}), "the question has no `prompt`", None);
    malformed(json!({"prompt": 7, "kind": "confirm"}), "the question has no `prompt`", None);

    let rest = |mut ask: Value, problem: &str| {
        ask["prompt"] = json!("Which?");
        malformed(ask, problem, Some("Which?"));
    };
    rest(
        json!({"kind": "guess"}),
        "the question's `kind` is unknown: `guess` is not one of open_text, choose_one, choose_many, confirm, form",
    );
    rest(json!({"kind": 1}), "`kind` is a number, it should be a string");
    rest(json!({"kind": "choose_one"}), "a `choose_one` question needs `options`");
    rest(json!({"kind": "choose_many", "options": []}), "a `choose_many` question needs `options`");
    rest(json!({"options": {"a": 1}}), "`options` is an object, it should be a list");
    rest(
        json!({"options": ["a", null]}),
        "an option is null, it should be a string, a number or an object with `value` and `label`",
    );
    rest(json!({"options": [{}]}), "an option has neither `value` nor `label`");
    rest(json!({"kind": "form"}), "a `form` needs `fields` or a `schema`");
    rest(json!({"fields": {"a": "text"}}), "`fields` is an object, it should be a list");
    rest(json!({"fields": [1]}), "a field is a number, it should be an object with `name`");
    rest(json!({"fields": [{"label": "A"}]}), "a field has no `name`");
    rest(
        json!({"fields": [{"name": "a", "type": 1}]}),
        "the kind of the field `a` is a number, it should be a string",
    );
    rest(
        json!({"fields": [{"name": "a", "type": "date"}]}),
        "the kind of the field `a` is unknown: `date` is not one of text, number, integer, boolean, choose_one, choose_many",
    );
    rest(
        json!({"fields": [{"name": "a", "type": "choose_one"}]}),
        "the field `a` is `choose_one` and needs `options`",
    );
    rest(json!({"required_fields": "a"}), "`required_fields` is a string, it should be a list");
    rest(json!({"required_fields": [1]}), "a required field is a number, it should be a name");
    rest(
        json!({"kind": "form", "schema": {"$ref": "#/missing"}}),
        "the question's `schema` is not a usable JSON schema: Pointer '/missing' does not exist",
    );
}
