use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use adjourn_core::{ExecutionMode, FieldError, Profile, ResumesBy, RunSpec, Strict};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Checked, INPUT_BYTES_MAX, LABELS_MAX, PROMPT_BYTES_MAX, RunRequest, SkillRef, Surroundings};
use crate::config::Config;
use crate::skill::Skill;
use crate::workspace::{Upload, Workspace};

fn skill(runner: &Value, schemas: &[(&str, Value)]) -> (TempDir, Skill) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("demo");
    fs::create_dir_all(dir.join("assets")).unwrap();
    fs::write(dir.join("SKILL.md"), "---\nname: demo\ndescription: d\n---\nx").unwrap();
    fs::write(dir.join("assets/runner.json"), runner.to_string()).unwrap();
    for (name, schema) in schemas {
        fs::write(dir.join(format!("assets/{name}.schema.json")), schema.to_string()).unwrap();
    }
    let skill = Skill::load(&dir).unwrap();
    (folder, skill)
}

fn workspace() -> Workspace {
    let (work, uploads) = (PathBuf::from("/data/work"), PathBuf::from("/data/work/uploads"));
    Workspace { work, skill: None, skill_copy: None, uploads, logs: "/data/logs".into() }
}

fn check_on(
    config: &str,
    request: RunRequest,
    skill: Option<&Skill>,
    installed: &[&str],
) -> Result<Checked, Vec<FieldError>> {
    let config = Config::parse(Path::new("adjourn.toml"), config, &BTreeMap::new()).unwrap();
    let is_installed = |name: &str| installed.contains(&name);
    let workspace = workspace();
    request.check(Surroundings { config: &config, skill, is_installed: &is_installed, workspace: &workspace })
}

fn check(request: &Value, skill: Option<&Skill>) -> Result<Checked, Vec<FieldError>> {
    check_on("", RunRequest::read(request)?, skill, &["codex"])
}

#[track_caller]
fn refused(request: &Value, skill: Option<&Skill>, expected: &[&str]) {
    let errors: Vec<_> = check(request, skill).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(errors, expected, "for {request}");
}

#[test]
fn a_prompt_alone_is_enough() {
    let checked = check(&json!({"prompt": "Write."}), None).unwrap();
    let spec =
        RunSpec { prompt: Some("Write.".to_owned()), ..RunSpec::new("codex", ExecutionMode::Interactive) };
    assert_eq!(checked, Checked { spec, uploads: Vec::new(), continues: None, notice: None });
}

#[test]
fn everything_that_is_asked_for_is_in_the_spec() {
    let runner = json!({
        "engines": ["codex", "local"], "max_attempt": 5,
        "entrypoint": {"prompts": {"common": "About {{ input.topic }}: {{ input.doc }} ({{ parameter.n }}) in {{ run_dir }}"}},
        "runtime": {"default_options": {"session_timeout_sec": 9, "interactive_profile": {"kind": "resumable"}}},
    });
    let input = json!({"required": ["topic", "doc"], "properties": {
        "topic": {"x-input-source": "inline"}, "doc": {"x-input-source": "file"},
    }});
    let (_folder, skill) = skill(&runner, &[("input", input)]);
    let request = json!({
        "skill": "demo", "engine": "local", "execution_mode": "auto", "input": {"topic": "tea"}, "parameter": {"n": 1},
        "options": {"max_attempt": 2, "interactive_require_user_reply": false, "hard_timeout_sec": 60, "priority": 7},
        "labels": {"team": "a"}, "continues": "run_01h455vb4pex5vsknk084sn02q",
    });
    let mut request = RunRequest::read(&request).unwrap();
    request.files = vec![Upload { name: "doc".to_owned(), from: "/tmp/x".into() }];
    let config = "[engines.local]\nkind = \"reasoning\"\napi = \"openai\"\nmodel = \"m\"";
    let checked = check_on(config, request.clone(), Some(&skill), &[]).unwrap();
    let expected = RunSpec {
        skill: Some("demo".to_owned()),
        prompt: Some("About tea: uploads/doc (1) in /data/work".to_owned()),
        resumes_by: ResumesBy::Journal,
        profile: Profile::Resumable,
        strict: Strict::Off,
        session_timeout_sec: 9,
        max_attempt: Some(2),
        hard_timeout_sec: Some(60),
        priority: 7,
        labels: [("team".to_owned(), "a".to_owned())].into(),
        input: json!({"topic": "tea", "doc": "doc"}),
        parameter: json!({"n": 1}),
        ..RunSpec::new("local", ExecutionMode::Auto)
    };
    assert_eq!(checked.spec, expected);
    assert_eq!(checked.uploads, request.files);
    assert_eq!(checked.continues, Some("run_01h455vb4pex5vsknk084sn02q".parse().unwrap()));
}

#[test]
fn a_request_that_cannot_be_read_is_refused_field_by_field() {
    refused(
        &json!({"promt": "x", "skill": 1, "labels": {"a/b": 1}, "continues": "yesterday", "options": {"prioritty": 1}}),
        None,
        &[
            "/promt: unknown key; did you mean `prompt`?",
            "/skill: should be a string, it is a whole number",
            "/labels/a~1b: should be a string, it is a whole number",
            "/continues: `yesterday` is not a run id: one looks like `run_01h455vb4pex5vsknk084sn02q`",
            "/options/prioritty: unknown key; did you mean `priority`?",
        ],
    );
    refused(&json!([]), None, &["should be an object, it is a list"]);
}

#[test]
fn all_problems_come_at_once() {
    let input = json!({"required": ["topic"], "properties": {"n": {"type": "integer"}, "f": {"x-input-source": "file"}}});
    let runner = json!({"engines": ["claude"], "execution_modes": ["auto"], "max_attempt": 2});
    let (_folder, skill) = skill(&runner, &[("input", input), ("parameter", json!({"required": ["p"]}))]);
    let labels: BTreeMap<String, &str> = (0..=LABELS_MAX).map(|n| (format!("l{n}"), "")).collect();
    refused(
        &json!({
            "skill": "demo", "engine": "codex", "execution_mode": "interactive", "labels": labels,
            "input": {"n": "x", "f": "not-sent.txt"}, "options": {"max_attempt": 3},
        }),
        Some(&skill),
        &[
            "/labels: has 33 labels, at most 32 are taken",
            "/execution_mode: the skill `demo` runs only in mode `auto`",
            "/engine: the skill `demo` does not run on `codex`; it runs on claude",
            "/options/max_attempt: is 3, but the skill allows at most 2: it can only be lowered",
            "/input/f: should be the name of a file that comes with the request",
            "/input: \"topic\" is a required property",
            "/input/n: value is not of type \"integer\"",
            "/parameter: \"p\" is a required property",
        ],
    );
}

#[test]
fn there_has_to_be_something_to_do() {
    let (_folder, skill) = skill(&json!({}), &[]);
    refused(&json!({}), None, &["there is nothing to do: give a `skill` or a `prompt`"]);
    refused(&json!({"prompt": " "}), None, &["/prompt: is empty"]);
    refused(
        &json!({"prompt": "x", "skill": "demo"}),
        Some(&skill),
        &["/prompt: is for a run without a skill: leave out one of the two"],
    );
    refused(
        &json!({"continues": "run_01h455vb4pex5vsknk084sn02q"}),
        None,
        &["/prompt: is missing: say what the continued run should do next"],
    );
}

#[test]
fn limits_are_named() {
    refused(
        &json!({"prompt": "x".repeat(PROMPT_BYTES_MAX + 1)}),
        None,
        &["/prompt: has 262145 bytes, at most 262144 are taken"],
    );
    refused(
        &json!({"prompt": "x", "input": "x".repeat(INPUT_BYTES_MAX)}),
        None,
        &["/input: has 524290 bytes as JSON, at most 524288 are taken"],
    );
    let (name, value) = ("n".repeat(65), "v".repeat(257));
    let expected = format!("/labels/{name}: a label's name has 1 to 64 bytes");
    refused(
        &json!({"prompt": "x", "labels": {name: "", "l": value}}),
        None,
        &["/labels/l: a label's value has at most 256 bytes", &expected],
    );
}

#[test]
fn the_engine_is_the_first_of_the_skill_that_is_installed() {
    let (folder, skill) = skill(&json!({"engines": ["gemini", "codex", "claude"]}), &[]);
    let request = || RunRequest { skill: Some(SkillRef::Named("demo".to_owned())), ..RunRequest::default() };
    let engine = |skill: &Skill, installed: &[&str]| {
        check_on("", request(), Some(skill), installed).map(|checked| (checked.spec.engine, checked.notice))
    };
    assert_eq!(engine(&skill, &["claude", "codex"]), Ok(("codex".to_owned(), None)));
    let missing = "no engine is installed here that could do it: install one of gemini, codex, claude";
    assert_eq!(engine(&skill, &["opencode"]), Err(vec![FieldError::new("/engine", missing)]));
    refused(
        &json!({"skill": "demo", "engine": "replay"}),
        Some(&skill),
        &["/engine: `replay` plays recordings, and the skill `demo` has none"],
    );
    fs::write(folder.path().join("demo/assets/recording.jsonl"), "").unwrap();
    let skill = Skill::load(&skill.dir).unwrap();
    let or_replay = format!("{missing}, or ask for `engine: replay` to have a recording played");
    assert_eq!(engine(&skill, &[]), Err(vec![FieldError::new("/engine", or_replay)]));
    let named = RunRequest { engine: Some("replay".to_owned()), ..request() };
    let notice = "`replay` plays a recording, and no agent works on the request";
    let checked = check_on("", named, Some(&skill), &[]).unwrap();
    assert_eq!((checked.spec.engine.as_str(), checked.notice.as_deref()), ("replay", Some(notice)));
    refused(
        &json!({"skill": "demo", "engine": "cluade"}),
        Some(&skill),
        &["/engine: there is no engine `cluade`; did you mean `claude`?"],
    );
}

#[test]
fn the_mode_is_interactive_where_the_skill_allows_it() {
    let mode = |runner: Value| {
        let (_folder, skill) = skill(&runner, &[]);
        check(&json!({"skill": "demo"}), Some(&skill)).unwrap().spec.execution_mode
    };
    assert_eq!(mode(json!({})), ExecutionMode::Interactive);
    assert_eq!(mode(json!({"execution_modes": ["auto", "interactive"]})), ExecutionMode::Interactive);
    assert_eq!(mode(json!({"execution_modes": ["auto"]})), ExecutionMode::Auto);
    refused(
        &json!({"prompt": "x", "execution_mode": "automatic"}),
        None,
        &["/execution_mode: unknown value `automatic`; there are `auto`, `interactive`"],
    );
}

#[test]
fn files_have_plain_names() {
    let files =
        ["a.txt", "../x", "a.txt"].map(|name| Upload { name: name.to_owned(), from: "/tmp/x".into() });
    let request = RunRequest { prompt: Some("x".to_owned()), files: files.to_vec(), ..RunRequest::default() };
    let errors: Vec<_> =
        check_on("", request, None, &["codex"]).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        ["/files/..~1x: is not a plain name: no folders, no leading dot", "/files/a.txt: is there twice"]
    );
}
