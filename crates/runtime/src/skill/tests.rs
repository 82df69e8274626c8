use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use adjourn_api::RunOptions;
use adjourn_core::ExecutionMode;
use serde_json::json;
use tempfile::TempDir;

use super::{Installed, Skill, Source, check, find, installed};

/// A folder `demo` with these files.
fn package(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("demo");
    for (path, text) in files {
        let file = dir.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    (folder, dir)
}

fn problems(dir: &Path) -> Vec<String> {
    check(dir, &["claude", "codex"]).iter().map(ToString::to_string).collect()
}

/// What is wrong with a package of these files, beside a good `SKILL.md`.
#[track_caller]
fn check_files(files: &[(&str, &str)], expected: &[&str]) {
    let all: Vec<_> = [("SKILL.md", SKILL)].into_iter().chain(files.iter().copied()).collect();
    let (_folder, dir) = package(&all);
    assert_eq!(problems(&dir), expected, "for {files:?}");
}

const SKILL: &str = "---\nname: demo\ndescription: Shows something.\n---\n\n# Demo\n\nDo it.\n";

#[test]
fn a_folder_with_only_a_skill_file_is_a_skill() {
    let (_folder, dir) = package(&[("SKILL.md", SKILL)]);
    let skill = Skill::load(&dir).unwrap();
    assert_eq!((skill.name.as_str(), skill.description.as_str()), ("demo", "Shows something."));
    assert_eq!(skill.text, "# Demo\n\nDo it.");
    assert_eq!(skill.modes, [ExecutionMode::Auto, ExecutionMode::Interactive]);
    assert_eq!(skill.default_mode(), ExecutionMode::Interactive);
    assert!(skill.allows_engine("anything") && skill.warnings.is_empty());
    assert!(skill.input.is_none() && skill.output.is_none() && skill.recording.is_none());
}

#[test]
fn a_package_for_skill_runner_is_read_as_it_is() {
    let runner = json!({
        "id": "demo", "version": "1.2", "engines": ["claude", "codex"], "unsupported_engines": ["gemini"],
        "execution_modes": ["auto"], "max_attempt": 3, "schemas": {"input": "assets/in.json"},
        "entrypoint": {"prompts": {"common": "Use {{ input.x }}", "codex": "In {{ run_dir }}"}},
        "runtime": {"dependencies": ["x"], "default_options": {"interactive_auto_reply": true, "no_cache": true}},
        "artifacts": [{"role": "r"}], "mcp": {"required_servers": ["mail"]}, "tools": ["web"],
    });
    let input = json!({"properties": {
        "a": {"x-input-source": "inline"}, "b": {"x-input-source": "file"}, "c": {"type": "string"},
    }});
    let output = json!({"properties": {"f": {"x-type": "artifact"}, "g": {"x-type": "file"}, "h": {}}});
    let (_folder, dir) = package(&[
        ("SKILL.md", SKILL),
        ("assets/runner.json", &runner.to_string()),
        ("assets/in.json", &input.to_string()),
        ("assets/output.schema.json", &output.to_string()),
        ("assets/recording.jsonl", ""),
    ]);
    let skill = Skill::load(&dir).unwrap();
    assert_eq!(skill.version.as_deref(), Some("1.2"));
    assert_eq!(skill.modes, [ExecutionMode::Auto]);
    assert_eq!(skill.default_mode(), ExecutionMode::Auto);
    assert_eq!(skill.max_attempt, Some(3));
    assert_eq!((&skill.tools[..], &skill.servers[..]), (&["web".to_owned()][..], &["mail".to_owned()][..]));
    assert_eq!(
        skill.options,
        RunOptions { interactive_require_user_reply: Some(false), ..RunOptions::default() }
    );
    assert_eq!(
        ["claude", "codex", "gemini", "x"].map(|it| skill.allows_engine(it)),
        [true, true, false, false]
    );
    let values = json!({"input": {"x": 1}, "run_dir": "/r"});
    assert_eq!(skill.prompt("claude").unwrap().render(&values).unwrap(), "Use 1");
    assert_eq!(skill.prompt("codex").unwrap().render(&values).unwrap(), "In /r");
    let sources: BTreeMap<_, _> = skill.input.as_ref().unwrap().sources().into_iter().collect();
    assert_eq!(sources, [("a", Source::Inline), ("b", Source::File), ("c", Source::Either)].into());
    assert_eq!(skill.output.as_ref().unwrap().files(), ["f", "g"]);
    assert_eq!(skill.recording, Some(dir.join("assets/recording.jsonl")));
    assert_eq!(
        problems(&dir),
        ["assets/runner.json:1: warning: unknown engine `gemini`; there are `claude`, `codex`"]
    );
}

#[test]
fn a_broken_skill_file_is_an_error_with_its_line() {
    let check_skill = |text: &str, expected: &[&str]| {
        let (_folder, dir) = package(&[("SKILL.md", text)]);
        assert_eq!(problems(&dir), expected, "for {text:?}");
    };
    check_skill(
        "---\nlicense: MIT\n---\n",
        &[
            "SKILL.md:1: error: `name` is missing in the front matter",
            "SKILL.md:1: error: `description` is missing in the front matter",
        ],
    );
    check_skill(
        "---\ndescription: x\nname: My_Demo\n---\n",
        &[
            "SKILL.md:3: warning: the name `My_Demo` should have only lower-case letters, digits and `-`",
            "SKILL.md:3: warning: the name `My_Demo` should be that of its folder, which is `demo`",
        ],
    );
    check_skill(
        "---\nname: ../x\ndescription: x\n---\n",
        &["SKILL.md:2: error: `../x` cannot be the name of a folder: use lower-case letters, digits and `-`"],
    );
    let (_folder, dir) = package(&[("README.md", "")]);
    assert_eq!(problems(&dir), ["SKILL.md: error: is not there"]);
}

#[test]
fn a_broken_manifest_is_told_with_lines() {
    check_files(
        &[("assets/runner.json", "{\n  \"id\": \"demo\",\n  oops\n}")],
        &["assets/runner.json:3: error: not valid JSON: key must be a string at line 3 column 3"],
    );
    check_files(
        &[(
            "assets/runner.json",
            "{\n\"id\": \"other\",\n\"max_attempt\": 0,\n\"execution_modes\": [],\n\"engine\": [\"claude\"],\n\"engines\":\n[\"cluade\"],\n\"tools\": [1]\n}",
        )],
        &[
            "assets/runner.json:2: warning: `id` is `other`, but the skill's name is `demo`",
            "assets/runner.json:3: error: `max_attempt`: should be a whole number from 1 to 4294967295, it is 0",
            "assets/runner.json:4: error: `execution_modes` is empty: it should hold `auto`, `interactive` or both",
            "assets/runner.json:5: warning: unknown key `engine` is ignored; did you mean `engines`?",
            "assets/runner.json:7: warning: unknown engine `cluade`; did you mean `claude`?",
            "assets/runner.json:8: error: `tools[0]`: should be a string, it is a whole number",
        ],
    );
    check_files(
        &[(
            "assets/runner.json",
            "{\"execution_modes\": [\"auto\",\n\"interactiv\"],\n\"entrypoint\": {\"prompts\": {\"common\": \"a\\n{% if %}\"}},\n\"engines\": [\"codex\"], \"unsupported_engines\": [\"codex\"],\n\"runtime\": {\"default_options\": {\"priority\": \"high\"}}}",
        )],
        &[
            "assets/runner.json:2: error: `execution_modes[1]`: unknown value `interactiv`; did you mean `interactive`?",
            "assets/runner.json:3: error: the prompt `common` cannot be used: line 2 of the template: syntax error: \
             unexpected end of block",
            "assets/runner.json:4: error: `codex` is both in `engines` and in `unsupported_engines`",
            "assets/runner.json:5: warning: `priority`: should be a whole number, it is a string, so it is ignored",
        ],
    );
}

#[test]
fn schemas_have_to_be_inside_and_usable() {
    let (_folder, dir) = package(&[
        ("SKILL.md", SKILL),
        (
            "assets/runner.json",
            "{\"schemas\": {\n\"input\": \"../secret.json\",\n\"parameter\": \"assets/none.json\",\n\"output\": \"assets/out.json\",\n\"ouput\": \"x\"}}",
        ),
        ("../secret.json", "{}"),
    ]);
    symlink("../../secret.json", dir.join("assets/out.json")).unwrap();
    assert_eq!(
        problems(&dir),
        [
            "assets/out.json: error: is a link that leads out of the folder, or nowhere",
            "assets/runner.json:2: error: the input schema `../secret.json` does not name a file in the folder: it \
             should be a relative path without `..`",
            "assets/runner.json:3: error: the parameter schema `assets/none.json` is not there",
            "assets/runner.json:4: error: the output schema `assets/out.json` leads out of the folder through a link",
            "assets/runner.json:5: warning: unknown schema `ouput` is ignored; did you mean `output`?",
        ]
    );
    check_files(
        &[
            ("assets/input.schema.json", "{\n\"type\": \"object\",\n}"),
            ("assets/output.schema.json", "{\n\"properties\": {\n\"a\": {\n\"type\": \"nothing\"}}}"),
        ],
        &[
            "assets/input.schema.json:3: error: not valid JSON: trailing comma at line 3 column 1",
            "assets/output.schema.json:4: error: not a usable JSON schema: /properties/a/type: \"nothing\" is not \
             valid under any of the schemas listed in the 'anyOf' keyword",
        ],
    );
}

#[test]
fn a_link_shows_nothing_from_outside() {
    let (folder, dir) = package(&[("SKILL.md", SKILL), ("assets/x", ""), ("../secret.json", "{}")]);
    for name in ["output.schema.json", "runner.json", "recording.jsonl"] {
        symlink(folder.path().join("secret.json"), dir.join("assets").join(name)).unwrap();
    }
    let problems = Skill::load(&dir).unwrap_err().problems;
    let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "assets/output.schema.json: error: leads out of the folder through a link",
            "assets/runner.json: error: leads out of the folder through a link",
        ]
    );
    fs::remove_file(dir.join("assets/output.schema.json")).unwrap();
    fs::write(dir.join("assets/new"), "{\"recording\": \"../secret.json\"}").unwrap();
    fs::rename(dir.join("assets/new"), dir.join("assets/runner.json")).unwrap();
    let error = Skill::load(&dir).unwrap_err().to_string();
    assert!(
        error.contains("runner.json:1: error: the recording `../secret.json` does not name a file"),
        "{error}"
    );
    fs::write(dir.join("assets/runner.json"), "{}").unwrap();
    assert_eq!(Skill::load(&dir).unwrap().recording, None, "it is a link that leads out");
}

#[test]
fn links_out_and_special_files_are_named() {
    let (_folder, dir) = package(&[("SKILL.md", SKILL), ("docs/a.md", "a"), (".git/config", "left out")]);
    symlink("docs/a.md", dir.join("fine.md")).unwrap();
    symlink("/etc/passwd", dir.join("absolute")).unwrap();
    symlink("../..", dir.join("up")).unwrap();
    symlink("nowhere", dir.join("dangling")).unwrap();
    symlink("loop", dir.join("loop")).unwrap();
    symlink("/dev/null", dir.join(".git/out")).unwrap();
    assert_eq!(
        problems(&dir),
        [
            "absolute: error: is a link with an absolute path, it should be relative",
            "dangling: error: is a link that leads out of the folder, or nowhere",
            "loop: error: is a link that leads out of the folder, or nowhere",
            "up: error: is a link that leads out of the folder, or nowhere",
        ]
    );
}

#[test]
fn errors_keep_a_skill_from_being_used_and_warnings_do_not() {
    let (_folder, dir) =
        package(&[("SKILL.md", SKILL), ("assets/runner.json", "{\"max_attempt\": 0, \"x\": 1}")]);
    let error = Skill::load(&dir).unwrap_err().to_string();
    assert!(error.starts_with(&format!(
        "the skill in {} cannot be used:\nassets/runner.json:1: error: ",
        dir.display()
    )));
    fs::write(dir.join("assets/runner.json"), "{\"x\": 1}").unwrap();
    assert_eq!(Skill::load(&dir).unwrap().warnings.len(), 1);
}

#[test]
fn installed_skills_are_found_by_name() {
    let (folder, dir) = package(&[("SKILL.md", SKILL), ("../other/SKILL.md", SKILL), ("../no-skill/x", "")]);
    let folders = [PathBuf::from("/does/not/exist"), folder.path().to_owned()];
    assert_eq!(find("demo", &folders), Ok(dir.clone()));
    let expected = [("demo", dir), ("other", folder.path().join("other"))];
    assert_eq!(installed(&folders), expected.map(|(name, dir)| Installed { name: name.to_owned(), dir }));
    let missing = |name| find(name, &folders).unwrap_err().to_string();
    assert_eq!(missing("dmeo"), "there is no skill `dmeo`; did you mean `demo`?");
    assert_eq!(missing("zebra"), "there is no skill `zebra`; there are `demo`, `other`");
    for name in ["", ".", "..", "../demo", "demo/../demo", "/etc", "de\0mo"] {
        assert!(find(name, &folders).is_err(), "{name}");
    }
}
