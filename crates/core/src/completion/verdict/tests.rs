use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{AUTO_DECISIONS_MAX, Rules, Verdict, verdict};
use crate::completion::{Ask, Evidence, Validity};
use crate::{Choice, ErrorCode, ExecutionMode, FieldError, Question, Schema, Warning, WarningCode};

const INTERACTIVE: Rules = Rules {
    mode: ExecutionMode::Interactive,
    attempt_counted: 1,
    max_attempt: None,
    repairs: 0,
    repair_limit: 1,
    waits_for: 0,
    auto_decisions: 0,
};
const AUTO: Rules = Rules { mode: ExecutionMode::Auto, ..INTERACTIVE };

/// What the tables below say about a verdict, with everything that matters of it.
#[derive(Debug, PartialEq)]
enum Expect {
    Succeeded(Value, &'static [WarningCode]),
    Asks(Question, &'static [WarningCode]),
    Decides(Question, &'static [WarningCode]),
    WaitsForContract,
    Repairs,
    Fails(ErrorCode),
}

use Expect::{Asks, Decides, Fails, Repairs, Succeeded, WaitsForContract};

impl From<Verdict> for Expect {
    fn from(verdict: Verdict) -> Self {
        let codes = |warnings: Vec<Warning>| -> &'static [WarningCode] {
            warnings.into_iter().map(|warning| warning.code).collect::<Vec<_>>().leak()
        };
        match verdict {
            Verdict::Succeeded { output, warnings } => Succeeded(output, codes(warnings)),
            Verdict::NeedsInput { question: Some(question), warnings } => Asks(question, codes(warnings)),
            Verdict::NeedsInput { question: None, warnings } => {
                assert_eq!(warnings, []);
                WaitsForContract
            }
            Verdict::AutoDecide { question, warnings } => Decides(question, codes(warnings)),
            Verdict::Repair { .. } => Repairs,
            Verdict::Failed { code, .. } => Fails(code),
        }
    }
}

/// The verdict on a text whose result should have an integer `a`.
#[expect(clippy::needless_pass_by_value, reason = "a table reads better without `&`")]
#[track_caller]
fn with_schema(rules: Rules, text: &str, expected: Expect) {
    let schema = json!({"properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let evidence = Evidence::read(text, Some(&Schema::compile(&schema).unwrap()));
    assert_eq!(Expect::from(verdict(&rules, &evidence)), expected, "for {text}");
}

/// The verdict on a text whose result can be anything.
#[expect(clippy::needless_pass_by_value, reason = "a table reads better without `&`")]
#[track_caller]
fn without_schema(rules: Rules, text: &str, expected: Expect) {
    assert_eq!(Expect::from(verdict(&rules, &Evidence::read(text, None))), expected, "for {text}");
}

fn open(prompt: &str) -> Question {
    Question::open_text(prompt)
}

const NONE: &[WarningCode] = &[];
const REPAIRED: &[WarningCode] = &[WarningCode::OutputRepaired];
const MALFORMED: &[WarningCode] = &[WarningCode::AskUserMalformed];
const SOFT: &[WarningCode] = &[WarningCode::InteractiveCompletedWithoutDoneMarker];

const DONE: &str = r#"Done: {"__SKILL_DONE__": true, "a": 1}"#;
const DONE_WRONG: &str = r#"Done: {"__SKILL_DONE__": true, "a": "x"}"#;
const UNMARKED: &str = r#"Done: {"a": 1}"#;
const UNMARKED_WRONG: &str = r#"Done: {"a": "x"}"#;
const ASKED: &str = r#"{"__SKILL_DONE__": false, "message": "Red?", "ui_hints": {"options": ["red"]}}"#;
const ASKED_BADLY: &str = r#"Red? {"ask_user": {"kind": "choose_one"}}"#;
const ASKED_AND_UNMARKED: &str = r#"{"ask_user": {"prompt": "Red?"}} {"a": 1}"#;

fn red() -> Question {
    Question::choose_one("Red?", vec![Choice::new("red", "red")])
}

#[test]
fn an_interactive_turn_marked_as_done_succeeds_with_a_valid_result() {
    with_schema(INTERACTIVE, DONE, Succeeded(json!({"a": 1}), NONE));
    without_schema(INTERACTIVE, DONE_WRONG, Succeeded(json!({"a": "x"}), NONE));
    without_schema(INTERACTIVE, r#"{"__SKILL_DONE__": true}"#, Succeeded(json!({}), NONE));
    with_schema(Rules { repairs: 1, ..INTERACTIVE }, DONE, Succeeded(json!({"a": 1}), REPAIRED));
}

#[test]
fn an_interactive_turn_without_the_marker_succeeds_only_with_a_valid_result() {
    with_schema(INTERACTIVE, UNMARKED, Succeeded(json!({"a": 1}), SOFT));
    with_schema(INTERACTIVE, UNMARKED_WRONG, Asks(open(UNMARKED_WRONG), NONE));
    without_schema(INTERACTIVE, UNMARKED, Asks(open(UNMARKED), NONE));
    with_schema(INTERACTIVE, ASKED_AND_UNMARKED, Asks(open("Red?"), NONE));
    with_schema(
        INTERACTIVE,
        r#"Hm. {"__SKILL_DONE__": false} {"a": 1}"#,
        Asks(open(r#"Hm.  {"a": 1}"#), NONE),
    );
}

#[test]
fn an_interactive_turn_without_completion_asks() {
    with_schema(INTERACTIVE, "Red or blue?", Asks(open("Red or blue?"), NONE));
    with_schema(INTERACTIVE, ASKED, Asks(red(), NONE));
    with_schema(INTERACTIVE, ASKED_BADLY, Asks(open("Red?"), MALFORMED));
    without_schema(INTERACTIVE, ASKED, Asks(red(), NONE));
}

#[test]
fn an_interactive_result_is_repaired_only_if_it_claims_to_be_done() {
    with_schema(INTERACTIVE, DONE_WRONG, Repairs);
    with_schema(INTERACTIVE, r#"{"__SKILL_DONE__": true}"#, Repairs);
    with_schema(Rules { repairs: 1, ..INTERACTIVE }, DONE_WRONG, Asks(open("Done:"), NONE));
    with_schema(Rules { repair_limit: 0, ..INTERACTIVE }, DONE_WRONG, Asks(open("Done:"), NONE));
}

#[test]
fn the_last_attempt_fails_instead_of_asking() {
    let last = Rules { attempt_counted: 2, max_attempt: Some(2), ..INTERACTIVE };
    let exceeded = || Fails(ErrorCode::InteractiveMaxAttemptExceeded);
    with_schema(last, "Red or blue?", exceeded());
    with_schema(last, ASKED, exceeded());
    with_schema(Rules { repairs: 1, ..last }, DONE_WRONG, exceeded());
    with_schema(last, DONE_WRONG, Repairs);
    with_schema(last, DONE, Succeeded(json!({"a": 1}), NONE));
    with_schema(last, UNMARKED, Succeeded(json!({"a": 1}), SOFT));
    with_schema(Rules { attempt_counted: 1, ..last }, ASKED, Asks(red(), NONE));
    with_schema(Rules { waits_for: 1, ..last }, ASKED, WaitsForContract);
    with_schema(Rules { mode: ExecutionMode::Auto, ..last }, ASKED, Decides(red(), NONE));
}

#[test]
fn no_turn_ends_while_a_contract_asks() {
    for rules in [INTERACTIVE, AUTO] {
        for text in [DONE, DONE_WRONG, UNMARKED, ASKED, ASKED_BADLY, ""] {
            with_schema(Rules { waits_for: 2, ..rules }, text, WaitsForContract);
            without_schema(Rules { waits_for: 1, ..rules }, text, WaitsForContract);
        }
    }
}

#[test]
fn an_auto_turn_succeeds_with_a_valid_result() {
    with_schema(AUTO, DONE, Succeeded(json!({"a": 1}), NONE));
    with_schema(AUTO, UNMARKED, Succeeded(json!({"a": 1}), NONE));
    with_schema(AUTO, ASKED_AND_UNMARKED, Succeeded(json!({"a": 1}), NONE));
    with_schema(Rules { repairs: 1, ..AUTO }, UNMARKED, Succeeded(json!({"a": 1}), REPAIRED));
    without_schema(AUTO, UNMARKED_WRONG, Succeeded(json!({"a": "x"}), NONE));
    without_schema(AUTO, " It is 42. ", Succeeded(json!("It is 42."), NONE));
}

#[test]
fn an_auto_turn_without_a_valid_result_is_repaired_then_fails() {
    let repaired = Rules { repairs: 1, ..AUTO };
    for (text, code) in [
        (UNMARKED_WRONG, ErrorCode::OutputSchemaInvalid),
        (DONE_WRONG, ErrorCode::OutputSchemaInvalid),
        ("Done.", ErrorCode::OutputMissing),
        ("", ErrorCode::OutputMissing),
    ] {
        with_schema(AUTO, text, Repairs);
        with_schema(repaired, text, Fails(code));
    }
    without_schema(AUTO, " \n", Repairs);
    without_schema(repaired, " \n", Fails(ErrorCode::OutputMissing));
}

#[test]
fn a_question_of_an_auto_turn_is_decided_a_limited_number_of_times() {
    let often = |auto_decisions| Rules { auto_decisions, ..AUTO };
    with_schema(AUTO, ASKED, Decides(red(), NONE));
    without_schema(AUTO, ASKED, Decides(red(), NONE));
    with_schema(AUTO, ASKED_BADLY, Decides(open("Red?"), MALFORMED));
    with_schema(AUTO, r#"Hm. {"__SKILL_DONE__": false}"#, Decides(open("Hm."), NONE));
    without_schema(AUTO, ASKED_AND_UNMARKED, Decides(open("Red?"), NONE));
    with_schema(often(AUTO_DECISIONS_MAX - 1), ASKED, Decides(red(), NONE));
    with_schema(often(AUTO_DECISIONS_MAX), ASKED, Fails(ErrorCode::OutputMissing));
    with_schema(often(AUTO_DECISIONS_MAX), DONE, Succeeded(json!({"a": 1}), NONE));
}

#[test]
fn agents_and_people_are_told_what_is_wrong() {
    let errors = |count| (0..count).map(|n| FieldError::new(format!("/{n}"), "is wrong")).collect();
    let evidence =
        |count| Evidence { validity: Validity::Invalid(errors(count)), ..Evidence::read("{}", None) };
    let Verdict::Repair { problem } = verdict(&AUTO, &evidence(2)) else { panic!("a repair") };
    assert_eq!(
        problem,
        "the JSON object in your last message does not meet the output schema:\n- /0: is wrong\n- /1: is wrong"
    );
    let rules = Rules { repairs: 1, ..AUTO };
    let Verdict::Failed { message, .. } = verdict(&rules, &evidence(4)) else { panic!("a failure") };
    assert_eq!(
        message,
        "the result does not meet the output schema: /0: is wrong; /1: is wrong; /2: is wrong, and more"
    );
}

/// Everything that `Evidence::read` can tell apart.
fn every_evidence() -> Vec<Evidence> {
    let asks = [
        Ask::None,
        Ask::Question(red()),
        Ask::Malformed { problem: "odd".to_owned(), prompt: "Red?".to_owned() },
    ];
    let invalid = || Validity::Invalid(vec![FieldError::new("/a", "is wrong")]);
    let output = || Some(json!({"a": 1}));
    let results = [
        (output(), Validity::Valid, None),
        (output(), invalid(), None),
        (output(), Validity::NoSchema, None),
        (None, invalid(), None),
        (None, Validity::NoSchema, Some("words".to_owned())),
        (None, Validity::NoSchema, None),
    ];
    let mut all = Vec::new();
    for done in [None, Some(true), Some(false)] {
        for ask in &asks {
            for (output, validity, plain) in &results {
                for asked in [false, true] {
                    let asks = *ask != Ask::None || done == Some(false);
                    if asks && !asked || done == Some(true) && output.is_none() {
                        continue;
                    }
                    let (output, validity, plain) = (output.clone(), validity.clone(), plain.clone());
                    let (ask, prose) = (ask.clone(), "prose".to_owned());
                    all.push(Evidence { done, asked, output, validity, ask, plain, prose });
                }
            }
        }
    }
    all
}

fn every_rule() -> Vec<Rules> {
    let mut all = Vec::new();
    for &mode in ExecutionMode::ALL {
        for (attempt_counted, max_attempt) in [(9, None), (1, Some(2)), (2, Some(2)), (3, Some(2))] {
            for (repairs, repair_limit) in [(0, 0), (0, 2), (1, 2), (2, 2), (3, 2)] {
                for waits_for in [0, 1] {
                    for auto_decisions in [0, AUTO_DECISIONS_MAX] {
                        all.push(Rules {
                            mode,
                            attempt_counted,
                            max_attempt,
                            repairs,
                            repair_limit,
                            waits_for,
                            auto_decisions,
                        });
                    }
                }
            }
        }
    }
    all
}

fn is_soft(warnings: &[Warning]) -> bool {
    warnings.iter().any(|warning| warning.code == WarningCode::InteractiveCompletedWithoutDoneMarker)
}

/// The properties that hold whatever the rules and the evidence are.
fn assert_sound(rules: &Rules, evidence: &Evidence, verdict: &Verdict) {
    let interactive = rules.mode == ExecutionMode::Interactive;
    let contract_asks = Verdict::NeedsInput { question: None, warnings: Vec::new() };
    assert_eq!(*verdict == contract_asks, rules.waits_for > 0, "exactly then a contract is waited for");
    match verdict {
        Verdict::Succeeded { warnings, .. } => {
            assert!(!matches!(evidence.validity, Validity::Invalid(_)), "no result breaks its schema");
            assert!(evidence.done != Some(false) || !interactive, "what is not done is not done");
            let soft = interactive && evidence.done.is_none();
            assert_eq!(is_soft(warnings), soft);
            assert!(!soft || evidence.validity == Validity::Valid && !evidence.asked);
            let repaired = warnings.iter().any(|warning| warning.code == WarningCode::OutputRepaired);
            assert_eq!(repaired, rules.repairs > 0);
        }
        Verdict::NeedsInput { question: Some(_), warnings } => {
            assert!(interactive, "an auto run never waits for a turn's question");
            assert!(rules.max_attempt.is_none_or(|max| rules.attempt_counted < max));
            assert_eq!(!warnings.is_empty(), matches!(evidence.ask, Ask::Malformed { .. }));
        }
        Verdict::NeedsInput { question: None, .. } => {}
        Verdict::AutoDecide { warnings, .. } => {
            assert!(!interactive && evidence.asked && evidence.done != Some(true));
            assert!(rules.auto_decisions < AUTO_DECISIONS_MAX);
            assert_eq!(!warnings.is_empty(), matches!(evidence.ask, Ask::Malformed { .. }));
        }
        Verdict::Repair { .. } => {
            assert!(rules.repairs < rules.repair_limit);
            assert!(!interactive || evidence.done == Some(true), "a person can be asked instead");
        }
        Verdict::Failed { code: ErrorCode::InteractiveMaxAttemptExceeded, .. } => {
            assert!(interactive && rules.max_attempt.is_some_and(|max| rules.attempt_counted >= max));
        }
        Verdict::Failed { code, .. } => {
            assert!(matches!(code, ErrorCode::OutputMissing | ErrorCode::OutputSchemaInvalid));
            assert!(!interactive);
        }
    }
}

#[test]
fn every_verdict_is_sound() {
    let mut counts = BTreeMap::new();
    for rules in every_rule() {
        for evidence in every_evidence() {
            let verdict = verdict(&rules, &evidence);
            assert_sound(&rules, &evidence, &verdict);
            let name = match verdict {
                Verdict::Succeeded { .. } => "succeeded",
                Verdict::NeedsInput { .. } => "needs input",
                Verdict::AutoDecide { .. } => "auto decide",
                Verdict::Repair { .. } => "repair",
                Verdict::Failed { .. } => "failed",
            };
            *counts.entry(name).or_insert(0) += 1;
        }
    }
    // A change here is a change of the rules: say why.
    let expected =
        [("auto decide", 600), ("failed", 1636), ("needs input", 5188), ("repair", 176), ("succeeded", 1040)];
    assert_eq!(counts, BTreeMap::from(expected));
}
