use std::collections::BTreeMap;

use adjourn_core::ExecutionMode;
use proptest::prelude::{prop_assert, proptest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Document, PROBLEMS_MAX, Place, Variables};

#[derive(Debug, Deserialize, PartialEq, Default)]
#[serde(default)]
struct Whole {
    name: String,
    mode: Option<ExecutionMode>,
    #[serde(deserialize_with = "super::within::<1, 10, _, _>")]
    count: Option<u32>,
    price: Option<f64>,
    tags: Vec<String>,
    labels: BTreeMap<String, String>,
    parts: Vec<Part>,
    part: Option<Part>,
    on: bool,
    any: Value,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Part {
    id: u32,
    #[serde(default)]
    note: Option<String>,
}

fn lines<T: serde::de::DeserializeOwned>(document: &Document) -> Vec<String> {
    document.read::<T>().problems.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(document: &Document, expected: &[&str]) {
    assert_eq!(lines::<Whole>(document), expected);
}

#[test]
fn the_three_formats_say_the_same() {
    let json = r#"{"name": "a", "mode": "auto", "count": 3, "price": 1.5, "tags": ["x", "y"], "labels": {"k": "v"},
        "parts": [{"id": 1}], "part": {"id": 2, "note": "n"}, "on": true, "any": {"deep": [1, null]}}"#;
    let toml = "name = \"a\"\nmode = \"auto\"\ncount = 0x3\nprice = 1.5\ntags = [\"x\", \"y\"]\nlabels = { k = \"v\" }\n\
                on = true\nany = { deep = [1] }\n[[parts]]\nid = 1\n[part]\nid = 2\nnote = \"n\"\n";
    let yaml = "name: a\nmode: auto\ncount: 3\nprice: 1.5\ntags: [x, \"y\"]\nlabels: {k: v}\nparts:\n- id: 1\n\
                part: {id: 2, note: n}\non: true\nany: {deep: [1, ~]}\n";
    let whole = Document::json(json).unwrap().read::<Whole>().whole().unwrap();
    assert_eq!(whole.any, json!({"deep": [1, null]}));
    assert_eq!(Document::yaml(yaml).unwrap().read::<Whole>().whole().unwrap(), whole);
    let toml = Document::toml(toml).unwrap().read::<Whole>().whole().unwrap();
    assert_eq!(toml, Whole { any: json!({"deep": [1]}), ..whole });
}

#[test]
fn everything_that_is_wrong_is_told_with_its_place() {
    let json = "{\"nam\": 1,\n \"name\": 1, \"mode\": \"atuo\",\n \"count\": 11, \"price\": [],\n \"tags\": [1, \"a\", {}],\n \
                \"labels\": {\"a/b\": null}, \"parts\": [{\"id\": \"x\"}, {\"note\": \"n\", \"i\": 1}, 3],\n \"part\": [], \"on\": \"yes\"}";
    check(
        &Document::json(json).unwrap(),
        &[
            "1:2: nam: unknown key; did you mean `name`?",
            "2:10: name: should be a string, it is a whole number",
            "2:21: mode: unknown value `atuo`; did you mean `auto`?",
            "3:11: count: should be a whole number from 1 to 10, it is 11",
            "3:24: price: should be a number, it is a list",
            "4:11: tags[0]: should be a string, it is a whole number",
            "4:19: tags[2]: should be a string, it is an object",
            "5:20: labels.a/b: should be a string, it is null",
            "5:44: parts[0].id: should be a whole number, it is a string",
            "5:64: parts[1].i: unknown key; did you mean `id`?",
            "5:73: parts[2]: should be an object, it is a whole number",
            "6:10: part: should be an object, it is a list",
            "6:20: on: should be true or false, it is a string",
        ],
    );
    let pointers: Vec<_> = Document::json(json).unwrap().read::<Whole>().problems;
    assert!(pointers.iter().any(|problem| problem.path.pointer() == "/labels/a~1b"));
    check(&Document::toml("part = 1").unwrap(), &["1:8: part: should be a table, it is a whole number"]);
    check(&Document::yaml("part: 1").unwrap(), &["1:7: part: should be a mapping, it is a whole number"]);
    check(&Document::json("3").unwrap(), &["1:1: should be an object, it is a whole number"]);
}

#[test]
fn what_is_right_is_kept_besides_what_is_wrong() {
    let reading =
        Document::json(r#"{"name": "a", "tags": ["x", 1, "y"], "count": 0}"#).unwrap().read::<Whole>();
    let expected =
        Whole { name: "a".to_owned(), tags: vec!["x".to_owned(), "y".to_owned()], ..Whole::default() };
    assert_eq!(reading.value, Some(expected));
    assert_eq!(reading.problems.len(), 2);
}

#[test]
fn every_field_that_is_missing_is_told() {
    #[derive(Debug, Deserialize)]
    struct Outer {
        name: String,
        mode: ExecutionMode,
        part: Part,
        tags: Vec<String>,
        inner: Option<Inner>,
    }
    #[derive(Debug, Deserialize)]
    struct Inner {
        a: String,
        b: f64,
    }
    let read = |text: &str| lines::<Outer>(&Document::json(text).unwrap());
    let expected = [
        "1:1: name: is missing",
        "1:1: tags: is missing",
        "1:26: part.id: is missing",
        "1:39: inner.a: is missing",
        "1:45: inner.b: should be a number, it is a string",
    ];
    assert_eq!(read(r#"{"mode": "auto", "part": {}, "inner": {"b": "x"}}"#), expected);
    let text = r#"{"name": "n", "mode": "auto", "part": {"id": 1}, "tags": ["t"], "inner": {}}"#;
    let reading = Document::json(text).unwrap().read::<Outer>();
    assert_eq!(reading.problems.len(), 2);
    let outer = reading.value.expect("only an optional part of it is wrong");
    assert!(outer.inner.is_none_or(|Inner { a, b }| a.is_empty() && b == 0.0), "no stand-in is left");
    assert_eq!((outer.name.as_str(), outer.part.id, outer.tags.len()), ("n", 1, 1));
    assert_eq!(outer.mode, ExecutionMode::Auto);
}

#[test]
fn null_is_the_same_as_nothing() {
    let reading = Document::json(r#"{"name": null, "count": null, "part": null}"#).unwrap().read::<Whole>();
    assert_eq!(reading.whole().unwrap(), Whole::default());
}

#[test]
fn syntax_errors_have_their_place() {
    for (problem, expected) in [
        (
            Document::json("{\n \"a\": }").unwrap_err(),
            "2:7: not valid JSON: expected value at line 2 column 7",
        ),
        (Document::json("{\"a\": 1,\n \"\\u0061\": 2}").unwrap_err(), "2:2: `a` is there twice"),
        (Document::json(&"[".repeat(65)).unwrap_err(), "1:65: not valid JSON: EOF"),
        (
            Document::json(&format!("{}{}", "[".repeat(65), "]".repeat(65))).unwrap_err(),
            "1:66: it is nested deeper than the 64 levels",
        ),
        (Document::yaml("a: 1\na: 2").unwrap_err(), "2:1: `a` is there twice"),
        (Document::yaml("a: &x 1\nb: *x").unwrap_err(), "2:4: aliases are not allowed here"),
        (Document::yaml("a: b: c").unwrap_err(), "1:5: not valid YAML: "),
        (Document::yaml("[1]: 2").unwrap_err(), "1:1: a key has to be text"),
        (Document::yaml(&"[".repeat(40)).unwrap_err(), "1:33: it nests deeper than 32 levels"),
        (Document::toml("[slots\ntotal = 3").unwrap_err().remove(0), "1:7: not valid TOML: "),
    ] {
        assert!(problem.to_string().starts_with(expected), "{problem}");
    }
}

#[test]
fn a_text_in_the_wrong_place_is_not_repeated() {
    let secret = "sk-very-secret";
    for text in [format!("count: {secret}"), format!("on: {secret}"), format!("parts: [{secret}]")] {
        let told = lines::<Whole>(&Document::yaml(&text).unwrap()).join("\n");
        assert!(!told.contains(secret), "{told}");
    }
}

#[test]
fn a_document_with_very_many_mistakes_is_told_the_first_of_them() {
    let keys: Vec<_> = (0..100_000).map(|key| format!("\"k{key}\": 1")).collect();
    let document = Document::json(&format!("{{{}}}", keys.join(","))).unwrap();
    assert_eq!(lines::<Whole>(&document).len(), PROBLEMS_MAX);
    let items = vec!["1"; 100_000].join(",");
    let document = Document::json(&format!("{{\"tags\": [{items}]}}")).unwrap();
    let told = lines::<Whole>(&document).len();
    assert!((1..=PROBLEMS_MAX).contains(&told), "{told}");
}

#[test]
fn variables_override_single_values_and_nothing_else() {
    let variables = |pairs: &[(&str, &str)]| -> Variables {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let set = variables(&[
        ("ADJOURN_COUNT", "7"),
        ("ADJOURN_MODE", "auto"),
        ("ADJOURN_PART_NOTE", "there"),
        ("ADJOURN_TAGS", "a,b"),
        ("ADJOURN_LABELS", "x"),
        ("ADJOURN_NAME", "12"),
    ]);
    let text = "count = 99\ntags = [\"x\"]\n[part]\nid = 1\n";
    let mut document = Document::toml(text).unwrap();
    assert_eq!(document.override_by("ADJOURN_", &set), ["ADJOURN_TAGS"]);
    let reading = document.read::<Whole>();
    let whole = reading.value.unwrap();
    assert_eq!((whole.count, whole.mode, whole.name.as_str()), (Some(7), Some(ExecutionMode::Auto), "12"));
    assert_eq!(whole.part.unwrap().note.as_deref(), Some("there"));
    assert_eq!(whole.tags, ["x"]);
    let told: Vec<_> = reading.problems.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["$ADJOURN_LABELS: labels: should be a table, it is a string"]);
    assert_eq!(document.place("/count"), Some(Place::Variable("ADJOURN_COUNT".to_owned())));
    let mut wrong = Document::toml("").unwrap();
    wrong.override_by("ADJOURN_", &variables(&[("ADJOURN_COUNT", "lots"), ("ADJOURN_COUNTS", "1")]));
    let expected = [
        "$ADJOURN_COUNT: count: should be a whole number from 1 to 10, it is a string",
        "$ADJOURN_COUNTS: counts: unknown key; did you mean `count`?",
    ];
    check(&wrong, &expected);
}

#[test]
fn places_are_looked_up_by_pointer() {
    let mut document = Document::yaml("a:\n  - b: 1\n    c: 2\nd: 3\n").unwrap();
    let line = |document: &Document, pointer| match document.place(pointer) {
        Some(Place::Text { line, .. }) => line,
        other => panic!("{other:?}"),
    };
    for (pointer, expected) in [("", 1), ("/a", 2), ("/a/0/c", 3), ("/a/0/x", 2), ("/d", 4), ("/z", 1)] {
        assert_eq!(line(&document, pointer), expected, "{pointer}");
    }
    assert_eq!(document.key_place("/a"), Some(Place::Text { line: 1, column: 1 }));
    let taken = document.split_off(&["d", "e"]);
    assert_eq!(
        (taken.read::<Value>().value.unwrap(), document.read::<Value>().value.unwrap()),
        (json!({"d": 3}), json!({"a": [{"b": 1, "c": 2}]}))
    );
    assert!(taken.has("/d") && !document.has("/d"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "([-a-z:&*!|>\\[\\]{}#'\"?=,0-9 \n\t]|\\PC){0,60}") {
        for document in [Document::json(&text).ok(), Document::toml(&text).ok(), Document::yaml(&text).ok()] {
            let Some(document) = document else { continue };
            let Err(problems) = document.read::<Whole>().whole() else { continue };
            prop_assert!(!problems.is_empty());
        }
    }

    #[test]
    fn json_is_read_as_serde_json_reads_it(text in "[\\[\\]{}:,\"a0-9.e \\\\u-]{0,30}") {
        let ours = Document::json(&text).map(|document| document.read::<Value>().value.unwrap());
        if let (Ok(ours), Ok(theirs)) = (ours, serde_json::from_str::<Value>(&text)) {
            prop_assert!(ours == theirs);
        }
    }
}
