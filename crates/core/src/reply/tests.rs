use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};

use super::{GO_ON, check};
use crate::{Choice, Field, FieldError, FieldKind, Question, QuestionKind};

fn options() -> Vec<Choice> {
    vec![
        Choice::new("prod", "Production"),
        Choice::new("test", "Test bed"),
        Choice { value: json!(3), label: "three".to_owned() },
    ]
}

fn question(kind: QuestionKind) -> Question {
    Question { kind, options: options(), ..Question::open_text("?") }
}

fn field(name: &str, kind: FieldKind) -> Field {
    let (name, label) = (name.to_owned(), name.to_owned());
    Field { name, label, kind, required: false, options: Vec::new(), default: None }
}

fn form() -> Question {
    let fields = vec![
        Field { required: true, ..field("name", FieldKind::Text) },
        field("note", FieldKind::Text),
        field("ratio", FieldKind::Number),
        Field { default: Some(json!(1)), ..field("count", FieldKind::Integer) },
        field("sure", FieldKind::Boolean),
        Field { options: options(), ..field("where", FieldKind::ChooseOne) },
        Field { options: options(), ..field("a/b", FieldKind::ChooseMany) },
    ];
    Question { fields, ..question(QuestionKind::Form) }
}

#[expect(clippy::needless_pass_by_value, reason = "a table of `json!` reads better without `&`")]
#[track_caller]
fn accepts(question: &Question, response: Value, answer: Value) {
    assert_eq!(check(question, &response), Ok(answer.clone()), "for {response}");
    assert_eq!(check(question, &answer), Ok(answer), "the normal form stays as it is");
}

#[expect(clippy::needless_pass_by_value, reason = "a table of `json!` reads better without `&`")]
#[track_caller]
fn refuses(question: &Question, response: Value, errors: &[(&str, &str)]) {
    let errors: Vec<_> = errors.iter().map(|(path, message)| FieldError::new(*path, *message)).collect();
    assert_eq!(check(question, &response), Err(errors), "for {response}");
}

#[test]
fn any_text_answers_an_open_question() {
    let question = question(QuestionKind::OpenText);
    accepts(&question, json!(" blue "), json!(" blue "));
    refuses(&question, json!("  \n"), &[("", "is blank, it should be some text")]);
    refuses(&question, json!(null), &[("", "is not a string")]);
    refuses(&question, json!(["blue"]), &[("", "is not a string")]);
}

#[test]
fn a_schema_decides_over_an_open_question() {
    let schema = json!({"properties": {"n": {"type": "integer"}}, "required": ["n"], "type": "object"});
    for kind in [QuestionKind::OpenText, QuestionKind::Form] {
        let question = Question { kind, schema: Some(schema.clone()), ..Question::open_text("?") };
        accepts(&question, json!({"n": 1}), json!({"n": 1}));
        refuses(&question, json!({"n": "1"}), &[("/n", "value is not of type \"integer\"")]);
        refuses(&question, json!("n"), &[("", "value is not of type \"object\"")]);
    }
    let unusable = Question { schema: Some(json!({"type": "nothing"})), ..Question::open_text("?") };
    assert!(
        check(&unusable, &json!("x")).unwrap_err()[0].message.starts_with("cannot be checked: not a usable")
    );
}

#[test]
fn a_choice_is_an_option_by_its_value_or_by_its_one_name() {
    let question = question(QuestionKind::ChooseOne);
    let none = "is not one of the options: \"prod\" (Production), \"test\" (Test bed), 3 (three)";
    accepts(&question, json!("prod"), json!("prod"));
    accepts(&question, json!(" test BED "), json!("test"));
    accepts(&question, json!(3), json!(3));
    accepts(&question, json!(3.0), json!(3));
    accepts(&question, json!("3"), json!(3));
    accepts(&question, json!("Three"), json!(3));
    refuses(&question, json!("PROD"), &[("", none)]);
    refuses(&question, json!(4), &[("", none)]);
    refuses(&question, json!(["prod"]), &[("", none)]);
    refuses(&question, json!(null), &[("", none)]);

    let twins = Question::choose_one("?", vec![Choice::new("a", "Same"), Choice::new("b", "same")]);
    let ambiguous = "fits more than one option, say its value: \"a\" (Same), \"b\" (same)";
    refuses(&twins, json!("same"), &[("", ambiguous)]);
    accepts(&twins, json!("b"), json!("b"));
}

#[test]
fn choices_are_distinct_options() {
    let question = question(QuestionKind::ChooseMany);
    let none = "is not one of the options: \"prod\" (Production), \"test\" (Test bed), 3 (three)";
    accepts(&question, json!([]), json!([]));
    accepts(&question, json!(["production", "3"]), json!(["prod", 3]));
    accepts(&question, json!("Production"), json!(["prod"]));
    refuses(&question, json!("moon"), &[("", none)]);
    refuses(
        &question,
        json!(["prod", "moon", "Production"]),
        &[("/1", none), ("/2", "is chosen twice, once is enough")],
    );
}

#[test]
fn yes_and_no_have_many_spellings() {
    let question = question(QuestionKind::Confirm);
    for yes in [json!(true), json!("yes"), json!(" Y "), json!("TRUE")] {
        accepts(&question, yes, json!(true));
    }
    for no in [json!(false), json!("No"), json!("n"), json!("false")] {
        accepts(&question, no, json!(false));
    }
    for neither in [json!("maybe"), json!(""), json!(1), json!(null), json!([true])] {
        refuses(&question, neither, &[("", "is neither yes nor no: it should be true or false")]);
    }
}

#[test]
fn a_form_is_checked_field_by_field() {
    let form = form();
    accepts(&form, json!({"name": "ann"}), json!({"name": "ann", "count": 1}));
    accepts(&form, json!({"name": "ann", "note": null}), json!({"name": "ann", "count": 1}));
    accepts(
        &form,
        json!({
            "name": "ann", "note": "", "ratio": "0.5", "count": 7.0, "sure": "y", "where": "Test bed",
            "a/b": "Production"
        }),
        json!({
            "name": "ann", "note": "", "ratio": 0.5, "count": 7, "sure": true, "where": "test", "a/b": ["prod"]
        }),
    );
}

#[test]
fn everything_that_is_wrong_with_a_form_is_said_at_once() {
    let form = form();
    let none = "is not one of the options: \"prod\" (Production), \"test\" (Test bed), 3 (three)";
    refuses(
        &form,
        json!({
            "note": 1, "ratio": "half", "count": 1.5, "sure": "maybe", "where": "moon", "a/b": ["prod", "moon"],
            "extra~": 1
        }),
        &[
            ("/name", "is missing"),
            ("/note", "is not a string"),
            ("/ratio", "is not a number"),
            ("/count", "is not a whole number"),
            ("/sure", "is neither yes nor no: it should be true or false"),
            ("/where", none),
            ("/a~1b/1", none),
            ("/extra~0", "is not a field of the form: it has name, note, ratio, count, sure, where, a/b"),
        ],
    );
    refuses(&form, json!({"name": " "}), &[("/name", "is blank, it should be some text")]);
    refuses(&form, json!("ann"), &[("", "is not an object with the fields of the form")]);
    refuses(&form, json!({"name": "ann", "count": 1e300}), &[("/count", "is not a whole number")]);
}

#[test]
fn adjourn_alone_decides_what_changes_least() {
    let check = |question: Question, answer: Value| assert_eq!(question.default_answer(), answer);
    let default = |kind, default| Question { default: Some(default), ..question(kind) };
    check(question(QuestionKind::OpenText), json!(GO_ON));
    check(question(QuestionKind::ChooseOne), json!("prod"));
    check(question(QuestionKind::ChooseMany), json!([]));
    check(question(QuestionKind::Confirm), json!(false));
    check(form(), json!({"count": 1}));
    check(default(QuestionKind::OpenText, json!("blue")), json!("blue"));
    check(default(QuestionKind::ChooseOne, json!("Test bed")), json!("test"));
    check(default(QuestionKind::Confirm, json!("yes")), json!(true));
    check(Question { default: Some(json!({"name": "bob"})), ..form() }, json!({"name": "bob", "count": 1}));
    // A default that is no answer is as good as none.
    check(default(QuestionKind::OpenText, json!("")), json!(GO_ON));
    check(default(QuestionKind::ChooseOne, json!("moon")), json!("prod"));
    check(Question { default: Some(json!({"nobody": 1})), ..form() }, json!({"count": 1}));
    check(Question::choose_one("?", Vec::new()), json!(null));
}

/// A field whose default, if it has one, is an answer; a required one has one.
fn any_field(name: String) -> impl Strategy<Value = Field> {
    let kind_and_default = prop_oneof![
        "[a-z ]*x".prop_map(|text| (FieldKind::Text, json!(text))),
        any::<i32>().prop_map(|number| (FieldKind::Number, json!(number))),
        any::<i64>().prop_map(|number| (FieldKind::Integer, json!(number))),
        any::<bool>().prop_map(|yes| (FieldKind::Boolean, json!(yes))),
        Just((FieldKind::ChooseOne, json!("test"))),
        Just((FieldKind::ChooseMany, json!(["prod", 3]))),
    ];
    (kind_and_default, any::<bool>(), any::<bool>()).prop_map(
        move |((kind, default), required, has_default)| {
            let default = (required || has_default).then_some(default);
            Field { required, default, options: options(), ..field(&name, kind) }
        },
    )
}

fn any_question() -> impl Strategy<Value = Question> {
    let names = prop::collection::btree_set("[a-z~/]{1,4}", 0..5);
    let fields = names.prop_flat_map(|names| names.into_iter().map(any_field).collect::<Vec<_>>());
    let kind = prop::sample::select(QuestionKind::ALL);
    let default = prop::option::of(prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!(["prod"])),
        Just(json!({"a": 1})),
    ]);
    (kind, fields, default).prop_map(|(kind, fields, default)| Question { fields, default, ..question(kind) })
}

proptest! {
    #[test]
    fn what_adjourn_decides_alone_is_always_an_answer(question in any_question()) {
        let answer = question.default_answer();
        prop_assert_eq!(check(&question, &answer), Ok(answer));
    }
}
