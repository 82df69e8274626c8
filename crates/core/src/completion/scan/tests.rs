use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Map, Value};

use super::{DEPTH_MAX, Scan};

/// Scans to the end, asserts that no byte was looked at more than twice, and returns what was found.
fn found(text: &str) -> Vec<&str> {
    let mut scan = Scan::new(text);
    let found = scan.by_ref().map(|span| &text[span]).collect();
    assert!(scan.visits() <= 2 * text.len(), "{} visits of {} bytes", scan.visits(), text.len());
    found
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(found(text), expected, "in {text:?}");
    for object in expected {
        serde_json::from_str::<Map<String, Value>>(object).expect("the grammar is that of the parser");
    }
}

#[test]
fn whole_top_level_objects_are_found_in_order() {
    check("", &[]);
    check("no braces at all", &[]);
    check("{}", &["{}"]);
    check(r#"{"a":1}"#, &[r#"{"a":1}"#]);
    check(r#"Here: {"a": {"b": [1, {}]}} and {"c":2}."#, &[r#"{"a": {"b": [1, {}]}}"#, r#"{"c":2}"#]);
    check("```json\r\n{\r\n  \"a\": null\r\n}\r\n```\r\n", &["{\r\n  \"a\": null\r\n}"]);
    check("\u{feff}{\"ключ\": \"значение 🦀\"}", &["{\"ключ\": \"значение 🦀\"}"]);
    check(r#"{"\u00e9\n\/\"": "\ud83e\udd80"}{}"#, &[r#"{"\u00e9\n\/\"": "\ud83e\udd80"}"#, "{}"]);
    check(r#"{"a":1,"a":2}"#, &[r#"{"a":1,"a":2}"#]);
    check(r#"{"brace in a string": "} {"}"#, &[r#"{"brace in a string": "} {"}"#]);
    check(r#"[{"a":1}, {"b":2}]"#, &[r#"{"a":1}"#, r#"{"b":2}"#]);
    check(r#"fn main() { println!("{}", 1) } {"a":1}"#, &["{}", r#"{"a":1}"#]);
}

#[test]
fn every_kind_of_value_is_followed() {
    for value in
        ["0", "-0", "10", "-1.5", "0.25", "1e9", "2E-7", "3.0e+10", "true", "false", "null", "[]", r#""""#]
    {
        for object in [
            format!(r#"{{"a":{value}}}"#),
            format!(r#"{{"a": {value} , "b":[{value},{value} ]}}"#),
            format!("{{\"a\":[\n{value}\n]}}"),
        ] {
            check(&object, &[&object]);
        }
    }
}

#[test]
fn what_is_not_json_is_not_found() {
    for text in [
        "{",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        r#"{,"a":1}"#,
        r#"{"a" 1}"#,
        r#"{"a":1 "b":2}"#,
        r#"{a:1}"#,
        r#"{'a':1}"#,
        r#"{"a":[1,]}"#,
        r#"{"a":[1}"#,
        r#"{"a":1]"#,
        r#"{"a":01}"#,
        r#"{"a":1.}"#,
        r#"{"a":.5}"#,
        r#"{"a":+1}"#,
        r#"{"a":-}"#,
        r#"{"a":1e}"#,
        r#"{"a":1e+}"#,
        r#"{"a":tru}"#,
        r#"{"a":nulll}"#,
        r#"{"a":"\x"}"#,
        r#"{"a":"\u12g4"}"#,
        "{\"a\":\"line\nbreak\"}",
        "{\"a\":\"\t\"}",
    ] {
        check(text, &[]);
    }
}

#[test]
fn an_object_in_a_truncated_or_broken_one_is_not_whole() {
    check(r#"{"a": {"b": 1}"#, &[]);
    check(r#"{"a": {"b": 1}, "c": "cut o"#, &[]);
    check(r#"{"a": {"b": 1} oops"#, &[]);
    check(r#"{"a": {"b": 1} oops {"c": 2}"#, &[r#"{"c": 2}"#]);
    check("{\"a\": \"cut off\n{\"c\": 2}", &[r#"{"c": 2}"#]);
    check(r#"use {braces} or {{twice}}, then {"c": 2}"#, &[r#"{"c": 2}"#]);
}

#[test]
fn nesting_is_followed_as_deep_as_the_parser_goes() {
    let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    let in_arrays = |depth: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1));
    let deepest = DEPTH_MAX as usize;
    check(&nested(deepest), &[&nested(deepest)]);
    check(&in_arrays(deepest), &[&in_arrays(deepest)]);
    for too_deep in [nested(deepest + 1), in_arrays(deepest + 1)] {
        assert!(serde_json::from_str::<Value>(&too_deep).is_err());
        assert!(!found(&too_deep).contains(&too_deep.as_str()));
    }
}

#[test]
fn ten_megabytes_of_anything_are_read_in_one_pass() {
    for unit in [
        "{",
        "}",
        "{\"a\":",
        "{\"a\":[",
        "{\"a\":\"",
        "{\"unterminated ",
        "{\"a\":\"\n",
        "{}",
        "{\"a\":1},",
        "\"",
        "\\",
        "{\"\\u00",
        "{\"a\":-",
        "if (x) { y[\"z\"] = {w: 1}; } // prose with {code}\n",
        "```json\n{\"a\": {\"b\": \n```\n",
    ] {
        let text = unit.repeat(10 * 1024 * 1024 / unit.len());
        let mut scan = Scan::new(&text);
        scan.by_ref().for_each(drop);
        assert!(scan.visits() <= 2 * text.len(), "{} visits for {unit:?}", scan.visits());
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(any::<String>(), json(), 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// Text that looks like JSON often enough to get deep into the automaton.
fn jsonish() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "a", "0", "1", ".", "e", "-", "+", "true",
            "null", " ", "\n", "é", "{\"a\":", "\"b\"", "{}",
        ]),
        0..60,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_and_only_objects_are_found(text in prop_oneof![any::<String>(), jsonish()]) {
        for object in found(&text) {
            // Lone surrogates and numbers out of range are in the grammar, but the parser refuses them.
            let odd = object.contains("\\u") || object.contains(['e', 'E']);
            prop_assert!(odd || serde_json::from_str::<Map<String, Value>>(object).is_ok());
        }
    }

    #[test]
    fn text_that_is_an_object_is_found_whole(text in jsonish()) {
        if serde_json::from_str::<Map<String, Value>>(&text).is_ok() {
            prop_assert_eq!(found(&text), vec![text.trim_ascii()]);
        }
    }

    #[test]
    fn an_object_is_found_in_any_prose(
        object in object(),
        pretty in any::<bool>(),
        fenced in any::<bool>(),
        before in "[^{]*",
        after in "[^{]*",
    ) {
        let json = if pretty { format!("{object:#}") } else { object.to_string() };
        let text = if fenced {
            format!("{before}\n```json\n{json}\n```\n{after}")
        } else {
            format!("{before}{json}{after}")
        };
        prop_assert_eq!(found(&text), vec![json]);
    }

    #[test]
    fn a_truncated_object_is_never_found(object in object(), cut in any::<prop::sample::Index>()) {
        let json = object.to_string();
        let end = json.floor_char_boundary(cut.index(json.len()));
        prop_assert_eq!(found(&json[..end]), Vec::<&str>::new());
    }
}
