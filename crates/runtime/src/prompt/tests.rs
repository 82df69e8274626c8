use std::path::{Path, PathBuf};

use adjourn_core::{
    By, ByKind, Choice, Consequence, ContractStatus, Evidence, ExecutionId, ExecutionMode, Question,
};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{Answered, First, GO_ON, News, Settled, SkillText, first, go_on, go_on_with_task, news, repair};

const NOTHING: First<'_> = First {
    skill: None,
    task: None,
    input: &Value::Null,
    parameter: &Value::Null,
    files: &[],
    output_schema: None,
    mode: ExecutionMode::Interactive,
};

fn answers(answered: &[Answered<'_>]) -> String {
    news(&News { answered, ..News::default() })
}

#[test]
fn the_first_prompt_of_a_skill_says_everything() {
    let files = [PathBuf::from("uploads/notes.txt")];
    let schema = json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}});
    let skill =
        SkillText { name: "report", text: "# Report\n\nWrite it.", folder: Path::new(".skill/report") };
    let prompt = first(&First {
        skill: Some(skill),
        task: Some("Write about tea."),
        input: &json!({"topic": "tea"}),
        parameter: &json!({"pages": 2}),
        files: &files,
        output_schema: Some(&schema),
        mode: ExecutionMode::Interactive,
    });
    insta::assert_snapshot!(prompt);
}

#[test]
fn a_bare_prompt_in_auto_mode_says_that_nobody_is_there() {
    insta::assert_snapshot!(first(&First {
        task: Some("Count the files."),
        mode: ExecutionMode::Auto,
        ..NOTHING
    }));
}

#[test]
fn the_contract_of_the_prompt_is_the_one_that_is_read() {
    let prompt = first(&First { task: Some("x"), ..NOTHING });
    let example = prompt.lines().find(|line| line.contains("false, \"message\"")).unwrap();
    let evidence = Evidence::read(example, None);
    let options = vec![Choice::new("SQLite", "SQLite"), Choice::new("PostgreSQL", "PostgreSQL")];
    assert_eq!(evidence.ask, adjourn_core::Ask::Question(Question::choose_one("Which database?", options)));
    assert_eq!(evidence.done, Some(false));
}

#[test]
fn one_answer_is_told_with_its_question() {
    let question =
        Question::choose_one("Where to?\nIt cannot be undone.", vec![Choice::new("prod", "Production")]);
    let by = By { kind: ByKind::User, name: Some("ann".to_owned()), via: None };
    let answered = [Answered { question: &question, response: &json!("prod"), by: &by }];
    insta::assert_snapshot!(answers(&answered));
}

#[test]
fn several_answers_come_together_and_a_made_one_says_so() {
    let (name, sure) = (Question::open_text("What name?"), Question::confirm("Sure?"));
    let form = Question::open_text("Details?");
    insta::assert_snapshot!(answers(&[
        Answered { question: &name, response: &json!("Tea\n# not a heading"), by: &By::USER },
        Answered { question: &sure, response: &json!(false), by: &By::AUTO_DECIDE },
        Answered { question: &form, response: &json!({"n": 1, "tags": ["a"]}), by: &By::USER },
    ]));
}

#[test]
fn a_repair_names_what_is_wrong_and_asks_for_the_whole() {
    let schema = json!({"required": ["title"]});
    let problem = "the JSON object in your last message does not meet the output schema:\n- /version: \"version\" is a \
                   required property";
    insta::assert_snapshot!(repair(problem, Some(&schema)));
    let missing = repair("your last message has no result in it", None);
    assert!(!missing.contains("schema that it has"), "{missing}");
}

#[test]
fn a_turn_that_goes_on_is_told_its_answers_again() {
    assert_eq!(go_on(&News::default()), GO_ON);
    let repeated = go_on_with_task(&News::default(), "# Task\n\nPaint the shed.");
    assert!(repeated.starts_with(GO_ON) && repeated.ends_with("# Task\n\nPaint the shed."), "{repeated}");
    assert!(
        repeated.contains("a repetition") && repeated.contains("nothing that is already done"),
        "{repeated}"
    );
    let question = Question::open_text("Which version?");
    let answered = Answered { question: &question, response: &json!("2.4.0"), by: &By::USER };
    let text = go_on(&News { answered: &[answered], ..News::default() });
    assert!(text.starts_with(GO_ON) && text.ends_with("The user answered:\n\n> 2.4.0"), "{text}");
}

#[test]
fn consequences_are_fields_to_read() {
    let consequence = |number, status, result: Option<Value>, error: Option<&str>, outcome_unknown| Settled {
        call: "mail.send".to_owned(),
        arguments: json!({ "to": "ann" }),
        consequence: Consequence {
            execution_id: ExecutionId::from_bits(number),
            status,
            result,
            error_message: error.map(str::to_owned),
            outcome_unknown,
            assumed: false,
            arguments: None,
        },
    };
    let both = [
        consequence(1, ContractStatus::Completed, Some(json!({"sent": true})), None, false),
        consequence(2, ContractStatus::Failed, None, Some("timed out"), true),
    ];
    insta::assert_snapshot!(news(&News { settled: &both, waiting: 1, ..News::default() }));
    let mut edited = consequence(1, ContractStatus::Completed, Some(json!({"sent": true})), None, false);
    edited.consequence.arguments = Some(json!({ "to": "bob" }));
    insta::assert_snapshot!(news(&News { settled: &[edited], ..News::default() }));
}

#[test]
fn a_permission_is_told_with_what_it_was_for() {
    let options =
        vec![adjourn_core::Choice::new("allow", "Allow"), adjourn_core::Choice::new("no", "Reject")];
    let question = Question::choose_one("the agent asks for your permission: push", options);
    let permissions = [
        Answered { question: &question, response: &json!("allow"), by: &By::USER },
        Answered { question: &question, response: &Value::Null, by: &By::AUTO_DECIDE },
    ];
    insta::assert_snapshot!(news(&News { permissions: &permissions, ..News::default() }));
}

#[test]
fn going_on_never_repeats_the_task() {
    insta::assert_snapshot!(GO_ON);
}

proptest! {
    #[test]
    fn data_never_ends_its_fence(text in "(`{3}|\n|json|a){0,12}") {
        let prompt = first(&First { task: Some("x"), input: &json!({"a": text}), ..NOTHING });
        let section = prompt.split("# Input\n\n```json\n").nth(1).unwrap();
        let inside = section.split("\n```\n").next().unwrap();
        let read: Value = serde_json::from_str(inside).unwrap();
        prop_assert_eq!(read["a"].as_str(), Some(text.as_str()));
    }

    #[test]
    fn words_of_others_stay_quoted(text in "(#|\n|a|`{3}){1,12}") {
        let question = Question::open_text("q");
        let prompt = answers(&[Answered { question: &question, response: &json!(text), by: &By::USER }]);
        let answer = prompt.split("answered:\n\n").nth(1).unwrap().split("\n\nGo on with").next().unwrap();
        prop_assert!(answer.lines().all(|line| line.starts_with('>')), "{}", prompt);
    }
}
