//! From a configuration and a skill to what an agent is told, and back to the files it left.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use adjourn_core::{ExecutionMode, FieldError, RunId};
use adjourn_engine::secrets::{Masker, secrets_in};
use adjourn_runtime::config::Config;
use adjourn_runtime::prompt::{First, SkillText, first};
use adjourn_runtime::request::{RunRequest, Surroundings};
use adjourn_runtime::skill::{self, Skill};
use adjourn_runtime::workspace::{NewWorkspace, Place, Upload, Workspaces};
use serde_json::json;

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let file = root.join(path);
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder can be made");
        fs::write(file, text).expect("a file can be written");
    }
}

const FILES: [(&str, &str); 6] = [
    (
        "adjourn.toml",
        "skills = [\"skills\"]\n[engines.mine]\nkind = \"exec\"\npreset = \"command\"\ncommand = [\"./agent\"]\n",
    ),
    ("skills/report/SKILL.md", "---\nname: report\ndescription: Writes reports.\n---\nWrite a report.\n"),
    (
        "skills/report/assets/runner.json",
        r#"{"id": "report", "engines": ["mine"], "entrypoint": {"prompts": {"common": "Use {{ input.notes }}."}}}"#,
    ),
    (
        "skills/report/assets/input.schema.json",
        r#"{"required": ["notes"], "properties": {"notes": {"type": "string", "x-input-source": "file"}}}"#,
    ),
    (
        "skills/report/assets/output.schema.json",
        r#"{"required": ["report"], "properties": {"report": {"type": "string", "x-type": "file"}}}"#,
    ),
    ("notes.txt", "tea is good"),
];

#[test]
fn a_request_becomes_a_workspace_and_a_prompt_and_its_result_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &FILES);
    let data = folder.path().join(".adjourn");
    let config = Config::load_with(None, &data, &BTreeMap::new()).unwrap();
    let dir = skill::find("report", &config.skills).unwrap();
    assert_eq!(skill::check(&dir, &config.engine_names()), []);
    let skill = Skill::load(&dir).unwrap();

    let request = json!({"skill": "report", "parameter": {"password": "hunter2!"}});
    let mut request = RunRequest::read(&request).unwrap();
    request.files = vec![Upload { name: "notes".to_owned(), from: folder.path().join("notes.txt") }];
    let (workspaces, run_id) = (Workspaces::new(&data), RunId::from_bits(1));
    let plan = workspaces.plan(run_id, Some("report"), &Place::Own).unwrap();
    let is_installed = |name: &str| name == "mine";
    let known =
        Surroundings { config: &config, skill: Some(&skill), is_installed: &is_installed, workspace: &plan };
    let checked = request.check(known).unwrap();
    assert!(!data.exists(), "nothing is created by looking");
    assert_eq!(
        (checked.spec.engine.as_str(), checked.spec.execution_mode),
        ("mine", ExecutionMode::Interactive)
    );

    let new = NewWorkspace {
        run_id,
        skill: Some(&skill),
        uploads: &checked.uploads,
        place: Place::Own,
        shell: None,
    };
    let workspace = workspaces.create(&new).unwrap();
    assert_eq!(workspace, plan);
    let copy = workspace.skill.as_deref().unwrap();
    let files = [workspace.shown(&workspace.uploads.join("notes")).to_owned()];
    let prompt = first(&First {
        skill: Some(SkillText { name: &skill.name, text: &skill.text, folder: workspace.shown(copy) }),
        task: checked.spec.prompt.as_deref(),
        input: &checked.spec.input,
        parameter: &checked.spec.parameter,
        files: &files,
        output_schema: skill.output.as_ref().map(|output| &output.document),
        mode: checked.spec.execution_mode,
    });
    for part in ["Write a report.", "Use uploads/notes.", ".skill/report", "hunter2!", "\"x-type\": \"file\""]
    {
        assert!(prompt.contains(part), "{part} is not in\n{prompt}");
    }
    let masker = Masker::new(secrets_in(&checked.spec.parameter)).unwrap();
    assert!(!masker.text(&prompt).contains("hunter2!"));

    let keys = skill.output.as_ref().unwrap().files();
    let missing = FieldError::new("/report", "`report.md` is not there");
    assert_eq!(workspace.check_files(&json!({"report": "report.md"}), &keys), [missing]);
    fs::write(workspace.work.join("report.md"), "# Tea").unwrap();
    assert_eq!(workspace.check_files(&json!({"report": "report.md"}), &keys), []);

    assert_eq!(workspaces.sweep(|known| known == run_id).unwrap(), 0);
    workspaces.remove(run_id).unwrap();
    assert!(workspaces.open(run_id).is_err());
}
