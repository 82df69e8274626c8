//! XX: secrets stay where they belong.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::stage::{Stage, child};

/// A variable of ours that the agent is given.
const VARIABLE: &str = "DEPLOY_TOKEN";

/// What nobody may see, in whatever spelling the rest of a value comes.
pub(super) const CORES: [&str; 2] = ["c0reOfTheVariable", "c0reOfTheInput"];

/// Values that are written differently in JSON.
const FROM_VARIABLE: &str = "tok\"en\\c0reOfTheVariable/é";
const FROM_INPUT: &str = "pass\tc0reOfTheInput\"";

/// Prints the variable in two pieces, as it is and as JSON, and complains with it.
const TELLS: &str = r#"
rest=${DEPLOY_TOKEN#????????}
printf '%s' "${DEPLOY_TOKEN%"$rest"}"; sleep 0.05; printf '%s\n' "$rest"
python3 -c '
import json, os, re
key = json.loads(re.search("\"api_key\": (\".*\")", open("prompt.1").read()).group(1))
print(key, json.dumps(key), json.dumps(json.dumps(os.environ["DEPLOY_TOKEN"])))
print(json.dumps({"__SKILL_DONE__": True, "answer": os.environ["DEPLOY_TOKEN"] + key}))
'
printf 'cannot log in with %s\n' "$DEPLOY_TOKEN" >&2
"#;

#[test]
fn xx_15_secrets_of_environment_and_input_are_neither_stored_nor_shown() {
    if std::env::var_os(VARIABLE).is_none() {
        let name =
            "scenarios::xx::secrets::xx_15_secrets_of_environment_and_input_are_neither_stored_nor_shown";
        child::run_again(name, &[(VARIABLE, FROM_VARIABLE)]);
        return;
    }
    let stage = Stage::with_engine(&format!("pass_env = [\"{VARIABLE}\"]"));
    let input = json!({ "input": { "api_key": FROM_INPUT } });
    let (succeeds, fails) = (stage.start(input.clone()), stage.start(input));
    assert!(succeeds.turn(1).prompt.contains(&json!(FROM_INPUT).to_string()), "the agent is told as it is");
    succeeds.turn(1).does(TELLS);
    fails.turn(1).does(&format!("{TELLS} exit 1"));
    let state = succeeds.ends();
    assert_eq!(state.result(), Some(&json!({ "answer": "⟦masked⟧⟦masked⟧" })));
    let error = fails.ends().error().unwrap().to_string();
    assert!(error.contains("cannot log in with ⟦masked⟧"), "{error}");

    let shown = [&succeeds, &fails].map(|run| format!("{:?} {:?}", run.frames(), run.state()));
    hides(shown.concat().as_bytes(), "what is shown");
    for run in [succeeds, fails] {
        let logs = stage.data().join(format!("runs/{}/logs", run.id));
        for stream in ["stdout", "stderr"] {
            let log = fs::read(logs.join(format!("attempt-1.{stream}"))).unwrap();
            assert!(String::from_utf8_lossy(&log).contains("⟦masked⟧"), "{stream} was logged");
            hides(&log, stream);
        }
    }
    hides_database(&stage.data());
    stage.restart();
    hides_database(&stage.data());
}

#[test]
fn xx_15_a_secret_that_comes_in_pieces_is_not_shown_to_who_watches() {
    let settings = "[engines.streaming]\nkind = \"exec\"\npreset = \"gemini\"\ncommand = [\"./agent\"]";
    let stage = Stage::with(settings);
    let input = json!({ "api_key": "first half c0reOfTheInput" });
    let run = stage.start(json!({ "engine": "streaming", "input": input }));
    let mut watching = stage.service().driver().deltas();
    let piece = |text: &str| json!({ "type": "message", "role": "assistant", "content": text }).to_string();
    let events = [
        json!({ "type": "init", "session_id": "s1" }).to_string(),
        piece("The key is first half c0re"),
        piece("OfTheInput."),
        json!({ "type": "result", "status": "success", "stats": {} }).to_string(),
    ];
    run.turn(1).says(&events.join("\n"));
    run.waits();
    let mut shown = String::new();
    while let Ok(delta) = watching.try_recv() {
        shown.push_str(&delta.text);
    }
    assert_eq!(shown, "The key is ⟦masked⟧.");
    assert_eq!(run.state().interactions()[0].question.prompt, "The key is ⟦masked⟧.");
}

#[test]
fn xx_15_values_of_pass_env_are_masked_whatever_their_names() {
    if std::env::var_os("GH_PAT").is_none() {
        let name = "scenarios::xx::secrets::xx_15_values_of_pass_env_are_masked_whatever_their_names";
        let variables = [
            ("GH_PAT", "ghp_c0reOfTheVariable"),
            ("DATABASE_URL", "postgres://app:c0reOfTheInput@db/app"),
            ("STAGE_NAME", "production"),
        ];
        child::run_again(name, &variables);
        return;
    }
    let stage = Stage::with_engine("pass_env = [\"GH_PAT\", \"DATABASE_URL\", \"STAGE_NAME\"]");
    let run = stage.start(json!({}));
    run.turn(1).does(
        "echo \"$GH_PAT $DATABASE_URL $STAGE_NAME\" >&2\n\
         printf '{\"__SKILL_DONE__\": true, \"answer\": \"%s %s %s\"}' \"$GH_PAT\" \"$DATABASE_URL\" \"$STAGE_NAME\"",
    );
    assert_eq!(run.ends().result(), Some(&json!({ "answer": "⟦masked⟧ ⟦masked⟧ production" })));
    for stream in ["stdout", "stderr"] {
        let log = stage.data().join(format!("runs/{}/logs/attempt-1.{stream}", run.id));
        let log = fs::read(log).unwrap();
        assert!(String::from_utf8_lossy(&log).contains("⟦masked⟧ ⟦masked⟧ production"), "{stream}");
        hides(&log, stream);
    }
    hides(format!("{:?} {:?}", run.frames(), run.state()).as_bytes(), "what is shown");
    hides_database(&stage.data());
}

/// All of the database, whatever SQLite made of it.
pub(super) fn hides_database(data: &Path) {
    let files = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.is_file()).collect();
    assert!(files.iter().any(|path| path.ends_with("adjourn.db")), "{files:?}");
    for file in files {
        hides(&fs::read(&file).unwrap(), &file.display().to_string());
    }
}

pub(super) fn hides(bytes: &[u8], place: &str) {
    for core in CORES {
        let is_there = bytes.windows(core.len()).any(|window| window == core.as_bytes());
        assert!(!is_there, "{core} is in {place}");
    }
}
