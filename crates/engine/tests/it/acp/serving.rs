//! Files and commands that Adjourn serves to an agent.

use std::fs;
use std::sync::Arc;

use adjourn_engine::{AcpConfig, AcpEngine, Finished, Gateway, Serves};
use adjourn_testkit::acp::Act;

use super::{config, script};
use crate::agent::{Stage, supervisor};
use crate::turns::{Going, turn};

async fn said(stage: &Stage, serves: &[Serves], acts: Vec<Act>) -> String {
    let config = AcpConfig { serves: serves.to_vec(), ..config(stage, &script(stage, vec![acts])) };
    let engine = Arc::new(AcpEngine::new(config, supervisor(), Gateway::new()));
    match Going::start(engine, turn(stage, "go")).until_it_ends().await.1 {
        Finished::Completed { text } => text,
        other => panic!("it is not done: {other:?}"),
    }
}

#[tokio::test]
async fn files_are_read_and_written_in_the_workspace_alone() {
    let stage = Stage::new();
    let file = stage.path().join("note");
    let acts = vec![Act::Write(file.clone(), "hello".to_owned()), Act::Read(file.clone())];
    assert_eq!(said(&stage, &[Serves::Files], acts).await, "hello");
    assert_eq!(fs::read_to_string(file).unwrap(), "hello");
    for outside in ["/etc/hostname", "../outside"] {
        let acts = vec![Act::Write(outside.into(), "x".to_owned())];
        assert!(said(&stage, &[Serves::Files], acts).await.starts_with("refused: Invalid params"));
        assert!(said(&stage, &[Serves::Files], vec![Act::Read(outside.into())]).await.starts_with("refused"));
    }
}

#[tokio::test]
async fn commands_run_in_the_workspace() {
    let stage = Stage::new();
    let command = ["sh", "-c", "pwd; echo oops >&2; exit 3"].map(str::to_owned).to_vec();
    let output = said(&stage, &[Serves::Terminal], vec![Act::Run(command)]).await;
    assert!(output.contains(&stage.path().display().to_string()) && output.contains("oops"), "{output}");
}

#[tokio::test]
async fn nothing_is_served_that_was_not_allowed() {
    let stage = Stage::new();
    fs::write(stage.path().join("note"), "secret").unwrap();
    let acts = vec![Act::Read(stage.path().join("note"))];
    assert!(said(&stage, &[Serves::Terminal], acts).await.starts_with("refused: Method not found"));
    let command = vec!["pwd".to_owned()];
    assert!(
        said(&stage, &[Serves::Files], vec![Act::Run(command)])
            .await
            .starts_with("refused: Method not found")
    );
}
