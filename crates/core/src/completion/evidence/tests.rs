use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};

use super::{Ask, Evidence, Validity};
use crate::{Choice, FieldError, Question, Schema};

fn schema(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap()
}

/// What a text shows of done, asked and output.
#[track_caller]
fn check(text: &str, done: Option<bool>, asked: bool, output: Value) {
    let evidence = Evidence::read(text, None);
    let found = (evidence.done, evidence.asked, evidence.output.unwrap_or_default());
    assert_eq!(found, (done, asked, output), "in {text}");
}

#[test]
fn the_marker_says_whether_the_turn_is_done() {
    check("All done!", None, false, json!(null));
    check(r#"{"__SKILL_DONE__": true, "a": 1}"#, Some(true), false, json!({"a": 1}));
    check(r#"{"__SKILL_DONE__": "True", "a": 1}"#, Some(true), false, json!({"a": 1}));
    check(r#"{"__SKILL\u005fDONE__": true, "a": "\ud83e\udd80"}"#, Some(true), false, json!({"a": "🦀"}));
    check("\u{feff}Here:\r\n```json\r\n{\"__SKILL_DONE__\": true}\r\n```", Some(true), false, json!({}));
    check(r#"{"__SKILL_DONE__": false}"#, Some(false), true, json!(null));
    check(r#"{"__SKILL_DONE__": "false", "a": 1}"#, Some(false), true, json!(null));
    check(r#"{"__SKILL_DONE__": 1, "a": 1}"#, Some(false), true, json!(null));
    check(r#"{"__SKILL_DONE__": null}"#, Some(false), true, json!(null));
    check(r#"{"deep": {"__SKILL_DONE__": true}}"#, None, false, json!({"deep": {"__SKILL_DONE__": true}}));
    check(r#"{"__SKILL_DONE__": false, "a": 1, "__SKILL_DONE__": true}"#, Some(true), false, json!({"a": 1}));
    check(r#"{"__SKILL_DONE__": true, "a": {"b": 1}"#, None, false, json!(null));
    check(r#"{"__SKILL_DONE__": true, "a": "\ud800"}"#, None, false, json!(null));
}

#[test]
fn the_last_marked_object_wins_but_what_was_asked_stays_asked() {
    check(
        r#"{"__SKILL_DONE__": true, "a": 1} {"__SKILL_DONE__": true, "a": 2}"#,
        Some(true),
        false,
        json!({"a": 2}),
    );
    check(r#"{"__SKILL_DONE__": false} {"__SKILL_DONE__": true, "a": 2}"#, Some(true), true, json!({"a": 2}));
    check(
        r#"{"__SKILL_DONE__": true, "a": 1} {"__SKILL_DONE__": false}"#,
        Some(false),
        true,
        json!({"a": 1}),
    );
    check(r#"{"ask_user": 1} {"__SKILL_DONE__": true, "a": 1}"#, Some(true), true, json!({"a": 1}));
    check(r#"{"__SKILL_DONE__": true, "ask_user": 1}"#, Some(true), true, json!({"ask_user": 1}));
    check(r#"{"ask_user": {"prompt": "?"}}"#, None, true, json!(null));
    check(r#"{"a": 1} {"ask_user": []}"#, None, true, json!({"a": 1}));
}

#[test]
fn the_result_is_the_marked_object_or_the_last_one() {
    check(r#"First {"a": 1}, then {"a": 2}."#, None, false, json!({"a": 2}));
    check(r#"{"__SKILL_DONE__": true, "a": 1} such as {"b": 2}"#, Some(true), false, json!({"a": 1}));
    check(r#"{"a": 1} {"__SKILL_DONE__": true}"#, Some(true), false, json!({"a": 1}));
    check(r#"{"__SKILL_DONE__": true} {"a": 1}"#, Some(true), false, json!({"a": 1}));
    check(r#"{"__SKILL_DONE__": true, "a": 1} {"__SKILL_DONE__": true}"#, Some(true), false, json!({"a": 1}));
    check(r#"{"a": 1} {"__SKILL_DONE__": false}"#, Some(false), true, json!(null));
    check(r#"{"a": 1, "a": 2}"#, None, false, json!({"a": 2}));
    // Braces in code are no result; alone they are.
    check(r#"{"a": 1} is printed by println!("{}", a)"#, None, false, json!({"a": 1}));
    check("I ran println!(\"{}\", a)", None, false, json!(null));
    check(" {} \n", None, false, json!({}));
}

#[test]
fn a_question_is_read_from_either_form() {
    let ask = |text: &str| Evidence::read(text, None).ask;
    let colours = vec![Choice::new("red", "red"), Choice::new("blue", "blue")];
    let question = Ask::Question(Question::choose_one("Which?", colours));
    let hints = r#""ui_hints": {"kind": "choose_one", "options": ["red", "blue"]}"#;
    assert_eq!(ask(&format!(r#"{{"__SKILL_DONE__": false, "message": "Which?", {hints}}}"#)), question);
    assert_eq!(ask(r#"{"ask_user": {"prompt": "Which?", "options": ["red", "blue"]}}"#), question);
    assert_eq!(
        ask(r#"{"__SKILL_DONE__": false, "ask_user": {"prompt": "Which?", "options": ["red", "blue"]}}"#),
        question
    );
    assert_eq!(
        ask(r#"{"ask_user": {"prompt": "One?"}} {"ask_user": {"prompt": "Two?"}}"#),
        Ask::Question(Question::open_text("Two?"))
    );
    // A marker alone asks nothing of its own.
    assert_eq!(ask("Which? {\"__SKILL_DONE__\": false}"), Ask::None);
    assert_eq!(
        ask(r#"{"ask_user": {"prompt": "One?"}} {"__SKILL_DONE__": false}"#),
        Ask::Question(Question::open_text("One?"))
    );
}

#[test]
fn an_unreadable_question_is_asked_in_the_words_of_the_turn() {
    let check = |text: &str, problem: &str, prompt: &str| {
        let expected = Ask::Malformed { problem: problem.to_owned(), prompt: prompt.to_owned() };
        assert_eq!(Evidence::read(text, None).ask, expected, "in {text}");
    };
    check(
        "Red or blue?\n```json\n{\"ask_user\": {\"options\": [\"red\", \"blue\"]}}\n```",
        "the question has no `prompt`",
        "Red or blue?",
    );
    check(
        r#"Hm. {"ask_user": "Red?"}"#,
        "the question is only a string, it should be an object with `prompt`",
        "Red?",
    );
    check(
        r#"Hm. {"__SKILL_DONE__": "maybe", "message": "Red?"}"#,
        "`__SKILL_DONE__` is a string, it should be true or false",
        "Red?",
    );
    check(r#"Hm. {"__SKILL_DONE__": 0}"#, "`__SKILL_DONE__` is a number, it should be true or false", "Hm.");
}

#[test]
fn the_text_itself_is_kept_only_where_it_can_be_the_result() {
    let any = schema(&json!(true));
    let plain = |text, schema| Evidence::read(text, schema).plain;
    assert_eq!(plain("\n It is 42. ", None).as_deref(), Some("It is 42."));
    assert_eq!(plain("\u{feff}It is 42.", None).as_deref(), Some("It is 42."));
    assert_eq!(plain(" \u{feff}\r\n", None), None);
    assert_eq!(plain("It is 42.", Some(&any)), None);
    assert_eq!(plain(r#"It is {"a": 42}."#, None), None);
}

#[test]
fn prose_keeps_the_objects_that_are_meant_for_people() {
    let prose = |text| Evidence::read(text, None).prose;
    assert_eq!(prose(r#"Write {"a": 1}? {"__SKILL_DONE__": false}"#), r#"Write {"a": 1}?"#);
}

#[test]
fn the_result_is_checked_without_the_marker() {
    let strict = schema(&json!({"properties": {"a": {"type": "integer"}}, "additionalProperties": false}));
    let validity = |text| Evidence::read(text, Some(&strict)).validity;
    assert_eq!(validity(r#"{"__SKILL_DONE__": true, "a": 1}"#), Validity::Valid);
    assert_eq!(validity(r#"{"a": 1}"#), Validity::Valid);
    let wrong = FieldError::new("/a", "value is not of type \"integer\"");
    assert_eq!(validity(r#"{"__SKILL_DONE__": true, "a": "x"}"#), Validity::Invalid(vec![wrong]));
    let missing = FieldError::new("", "there is no JSON object");
    assert_eq!(validity("Done."), Validity::Invalid(vec![missing]));
    assert_eq!(Evidence::read(r#"{"a": "x"}"#, None).validity, Validity::NoSchema);
}

#[test]
fn a_schema_that_declares_the_marker_sees_it() {
    let declared = [
        json!({"properties": {"__SKILL_DONE__": {"const": true}, "a": true}, "additionalProperties": false}),
        json!({"required": ["__SKILL_DONE__"]}),
    ];
    for declares in declared {
        for text in [
            r#"{"__SKILL_DONE__": true, "a": 1}"#,
            r#"{"__SKILL_DONE__": "true", "a": 1}"#,
            r#"{"a": 1} {"__SKILL_DONE__": true}"#,
        ] {
            let evidence = Evidence::read(text, Some(&schema(&declares)));
            assert_eq!(
                (evidence.output, evidence.validity),
                (Some(json!({"a": 1})), Validity::Valid),
                "in {text}"
            );
        }
    }
    let required = schema(&json!({"required": ["__SKILL_DONE__"]}));
    assert!(matches!(Evidence::read(r#"{"a": 1}"#, Some(&required)).validity, Validity::Invalid(_)));
}

proptest! {
    #[test]
    fn any_text_gives_evidence(
        parts in prop::collection::vec(
            prop_oneof![
                any::<String>(),
                prop::sample::select(vec![
                    r#"{"__SKILL_DONE__": true, "a": 1}"#, r#"{"__SKILL_DONE__": false, "message": "?"}"#,
                    r#"{"__SKILL_DONE__":"#, r#"{"ask_user": {}}"#, r#"{"ask_user": {"prompt": "?"}}"#, r#"{"a": 2}"#,
                    "{}", "```json\n", "\n```", "{\"", "}",
                ]).prop_map(str::to_owned),
            ],
            0..12,
        ),
    ) {
        let text = parts.concat();
        let evidence = Evidence::read(&text, Some(&schema(&json!({"required": ["a"]}))));
        prop_assert!(!evidence.prose.trim().is_empty());
        prop_assert!(evidence.done != Some(false) || evidence.asked);
        prop_assert!(evidence.ask == Ask::None || evidence.asked);
        prop_assert!(evidence.done != Some(true) || evidence.output.is_some());
        let has_a = evidence.output.as_ref().is_some_and(|output| output.get("a").is_some());
        prop_assert_eq!(has_a, evidence.validity == Validity::Valid);
    }

    #[test]
    fn a_marked_object_is_the_result_in_any_prose(a in any::<String>(), before in "[^{]*", after in "[^{]*") {
        let text = format!("{before}{}{after}", json!({"__SKILL_DONE__": true, "a": a}));
        let evidence = Evidence::read(&text, None);
        prop_assert_eq!(evidence.done, Some(true));
        prop_assert_eq!(evidence.output, Some(json!({"a": a})));
    }
}
