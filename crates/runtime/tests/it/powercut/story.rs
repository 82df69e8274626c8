//! A run that does everything that has to survive: it has a secret and a file, asks, and makes a call that needs a yes.

use std::collections::BTreeMap;
use std::fs;

use adjourn_core::{Action, Run, RunId, RunStatus, Subject};
use adjourn_powercut::{CrashPoint, Recording};
use adjourn_runtime::workspace::Upload;
use adjourn_store::{RunFilter, SqliteStore};
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::world::says_done;
use crate::stage::{Actor, Stage, request};

/// The tool of the run is not called without a yes, and never twice.
const TOOLS: &str = "irreversible = [\"count\"]\napprove = [\"count\"]";

/// Known to be one by the name of the parameter that it is in. What the journal has instead is masked.
const SECRET: &str = "c0rrect-horse";

const UPLOAD: &str = "milk, bread";

/// What the model says to every run: a question, a call with a secret, and the end.
pub(super) fn model() -> ModelServer {
    let question = json!({ "__SKILL_DONE__": false, "message": "What first?" }).to_string();
    let call = Reply::call("count", json!({ "text": format!("pay with {SECRET}") }));
    ModelServer::start(Script::new([Reply::text(question), call, says_done("paid")]).for_many()).unwrap()
}

/// A stage with the tools of the story, on which nobody is at work yet.
pub(super) fn stage(model: &ModelServer) -> Stage {
    let stage = Stage::closed("");
    stage.give_tools(&model.url(), TOOLS);
    stage
}

/// Records what is done to the data directory of a stage from now on.
pub(super) fn record(stage: &Stage) -> Recording {
    let recording = Recording::start(&stage.data());
    recording.count_effects(&stage.path().join("effects"));
    recording
}

/// A stage on what a power cut left.
pub(super) fn after(point: &CrashPoint<'_>, model: &ModelServer) -> Stage {
    let stage = stage(model);
    point.rebuild(&stage.data()).unwrap();
    // The world is what it was: it has no power cut.
    fs::write(stage.path().join("effects"), "before\n".repeat(point.effects)).unwrap();
    stage
}

/// Creates the run.
pub(super) fn create(stage: &Stage) -> Result<RunId, adjourn_runtime::ServiceError> {
    let upload = stage.path().join("upload");
    fs::write(&upload, UPLOAD).unwrap();
    let mut wanted = request(json!({ "parameter": { "password": SECRET } }));
    wanted.files = vec![Upload { name: "list".to_owned(), from: upload }];
    let service = stage.service();
    let created = stage.wait(service.create(wanted, Some("the run".to_owned()), None));
    created.map(|created| created.run.id())
}

pub(super) fn approve(run: &Actor<'_>) -> Result<(), adjourn_runtime::ServiceError> {
    let question = run.waits();
    run.decide(question.interaction_id, Action::Approve, Value::Null).map(drop)
}

/// The only run that there is, if there is one.
pub(super) fn run_in(stage: &Stage) -> Option<RunId> {
    let rows = stage.store().runs(&RunFilter::default(), usize::MAX).unwrap();
    assert!(rows.len() <= 1, "{rows:?}");
    rows.first().map(|row| row.run_id)
}

/// Takes the run to its end, answering what it asks. Returns how often each kind of question was asked.
pub(super) fn finish(run: &Actor<'_>, context: &str) -> (Run, BTreeMap<&'static str, u32>) {
    let mut asked = BTreeMap::new();
    loop {
        let state = run.until("an end or a question", |run| {
            (run.status().is_terminal() || run.status() == RunStatus::WaitingUser).then(|| run.clone())
        });
        if state.status().is_terminal() {
            return (state, asked);
        }
        let (name, answered) = match run.waits().subject {
            Subject::Recovery(_) => ("recovery", run.reply("happened").map(drop)),
            Subject::Approval(_) => ("approval", approve(run)),
            Subject::Turn => ("agent", run.reply("alpha").map(drop)),
            other => panic!("{context}: nobody was to ask {other:?}"),
        };
        answered.unwrap_or_else(|error| panic!("{context}: {error}"));
        *asked.entry(name).or_default() += 1;
    }
}

/// Everything that is to be read of the run is there: the request with its secret, its skill, and its file.
pub(super) fn is_whole(stage: &Stage, run_id: RunId, context: &str) {
    let service = stage.service();
    let again = service.request_of(run_id).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(again.parameter, json!({ "password": SECRET }), "{context}");
    let run = service.run(run_id).unwrap();
    let workspace =
        service.turn_setup().workspaces().of(&run).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(fs::read_to_string(workspace.uploads.join("list")).unwrap(), UPLOAD, "{context}");
    for skill in [&workspace.skill, &workspace.skill_copy] {
        let text = fs::read_to_string(skill.as_ref().unwrap().join("SKILL.md"));
        let text = text.unwrap_or_else(|error| panic!("{context}: {error}"));
        assert!(text.contains("Ask, and say what they answered."), "{context}: {text}");
    }
}

/// The doctor finds nothing in a data directory that nobody works on.
pub(super) fn is_sound(stage: &Stage, context: &str) {
    let store = SqliteStore::open_reader(&stage.data()).unwrap();
    assert_eq!(store.examine().unwrap().findings, [], "{context}");
}
