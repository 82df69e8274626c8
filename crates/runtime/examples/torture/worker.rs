//! The process that is killed: it keeps runs going and answers what they ask.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use adjourn_core::{By, RunId, RunStatus, Timestamp};
use adjourn_runtime::config::Config;
use adjourn_runtime::request::RunRequest;
use adjourn_runtime::{ReplyRequest, Service};
use adjourn_store::{OpenCursor, RunFilter};
use serde_json::json;

/// What makes this program a worker.
pub(crate) const SUBCOMMAND: &str = "__work";

/// Runs that go on at the same time.
const IN_FLIGHT: usize = 32;

/// Asks in its first three attempts and is done in the fourth. Each turn takes a moment, so that kills hit turns.
const AGENT: &str = r#"#!/bin/sh
cat >/dev/null
echo '{"adjourn": {"handle": "conversation"}}'
sleep 0.0$(( $$ % 5 ))
if [ "$ADJOURN_ATTEMPT" -lt 4 ]; then
    echo "{\"__SKILL_DONE__\": false, \"message\": \"question $ADJOURN_ATTEMPT\"}"
else
    echo '{"__SKILL_DONE__": true, "answered": 3}'
fi
"#;

const CONFIG: &str = r#"
[slots]
total = 8
[engines.agent]
kind = "exec"
preset = "command"
command = ["sh", "AGENT"]
"#;

/// Works on `data` until `runs` runs have ended.
pub(crate) fn main(data: &Path, runs: usize) {
    let folder = data.parent().expect("the data directory is in a folder");
    let agent = folder.join("agent.sh");
    std::fs::write(&agent, AGENT).expect("the agent can be written");
    let text = CONFIG.replace("AGENT", &agent.display().to_string());
    let config = Config::parse(&folder.join("adjourn.toml"), &text, &BTreeMap::new()).expect("it is valid");
    let tasks =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be built");
    tasks.block_on(work(data, config, runs));
    // The service's threads end with the process.
    std::process::exit(0);
}

async fn work(data: &Path, config: Config, runs: usize) {
    let (service, _threads) = Service::open(data, config).expect("the last owner is dead");
    let mut changes = service.store().watch();
    let mut asked = HashSet::new();
    loop {
        changes.borrow_and_update();
        let rows = service.store().runs(&RunFilter::default(), runs * 2).expect("it can be read");
        let unfinished = rows.iter().filter(|row| !row.status.is_terminal()).count();
        if rows.len() >= runs && unfinished == 0 {
            return;
        }
        for _ in unfinished..IN_FLIGHT.min(unfinished + runs.saturating_sub(rows.len())) {
            let request = RunRequest {
                prompt: Some("work".to_owned()),
                engine: Some("agent".to_owned()),
                ..RunRequest::default()
            };
            let created = service.create(request, None, None).await.expect("there is room");
            say(&format!("created {}", created.run.id()));
        }
        answer_all(&service, &mut asked).await;
        // Also looked at now and then, because a reply in flight changes nothing until it is durable.
        let _ = tokio::time::timeout(Duration::from_millis(20), changes.changed()).await;
    }
}

/// Answers everything that is asked, each in a task of its own.
async fn answer_all(service: &Service, asked: &mut HashSet<(RunId, u32)>) {
    let start = OpenCursor {
        created_at: Timestamp::from_millis(0),
        stream: RunId::from_bits(0).into(),
        interaction_id: adjourn_core::InteractionId(0),
    };
    for open in service.store().open_interactions(Some(start), 1000).expect("it can be read") {
        let Some(run_id) = open.stream.run() else { continue };
        if !asked.insert((run_id, open.interaction_id.0)) {
            continue;
        }
        let service = service.clone();
        tokio::spawn(async move {
            let reply = ReplyRequest {
                interaction_id: Some(open.interaction_id),
                response: json!(format!("answer {}", open.interaction_id)),
                action: None,
                by: By::USER,
                key: None,
            };
            match service.reply(run_id, reply).await {
                Ok(run) => say(&format!("replied {} {}", run.id(), open.interaction_id)),
                Err(error) => {
                    let row = service.row(run_id).expect("it was asked by somebody");
                    assert!(row.status == RunStatus::Failed, "refused while {}: {error}", row.status);
                }
            }
        });
    }
}

/// Tells the other side what is durable, in one write, so that a kill does not leave half a line.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // Whoever listened may be gone already.
    let _ = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
}
