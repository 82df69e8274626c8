//! Runs of the same request, and keys whose runs were removed.

use std::fs;

use adjourn_store::{SqliteStore, Store};
use hyper::Method;
use serde_json::{Value, json};

use crate::client::Answer;
use crate::stage::{Actor, Stage};

/// What the agent does to the files that it was given.
const MEDDLES: &str = "echo changed >uploads/notes.txt\necho new >uploads/extra.txt\n\
                       printf '{\"__SKILL_DONE__\": true, \"answer\": \"done\"}'\n";

async fn with_notes(stage: &Stage) -> Actor<'_> {
    let body = format!(
        "--limit\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{}\r\n\
         --limit\r\nContent-Disposition: form-data; name=\"notes.txt\"; filename=\"x\"\r\n\r\nas given\r\n--limit--\r\n",
        Stage::request(json!({}))
    );
    let call = stage.call(Method::POST, "/v1/runs").body(body);
    let run = call.header("content-type", "multipart/form-data; boundary=limit").send().await.is(201);
    stage.actor(run["run_id"].as_str().unwrap())
}

async fn rerun(stage: &Stage, id: &str, key: &str) -> Answer {
    stage.call(Method::POST, &format!("/v1/runs/{id}/rerun")).header("idempotency-key", key).send().await
}

async fn create(stage: &Stage, key: &str, more: Value) -> Answer {
    let call = stage.call(Method::POST, "/v1/runs").header("idempotency-key", key);
    call.json(&Stage::request(more)).send().await
}

fn files(run: &Actor<'_>) -> Vec<(String, String)> {
    let entries = fs::read_dir(run.work().join("uploads")).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// Removes a run as `prune` does.
async fn without(stage: Stage, id: &str) -> Stage {
    let run: adjourn_core::RunId = id.parse().unwrap();
    let prune = |data: &std::path::Path| {
        let _ = SqliteStore::open(data).unwrap().remove(run.into()).unwrap();
        fs::remove_dir_all(data.join(format!("runs/{run}"))).unwrap();
    };
    stage.restarted_after(prune).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rerun_gets_the_files_as_they_were_given() {
    let stage = Stage::new().await;
    let first = with_notes(&stage).await;
    first.turn(1, MEDDLES).await;
    first.becomes("succeeded").await;
    let again = rerun(&stage, &first.id, "k").await.is(201);
    let second = stage.actor(again["run_id"].as_str().unwrap());
    let given = [("notes.txt".to_owned(), "as given".to_owned())];
    assert_eq!(files(&second), given);
    second.turn(1, MEDDLES).await;
    second.becomes("succeeded").await;
    let third = rerun(&stage, &second.id, "other").await.is(201);
    assert_eq!(
        files(&stage.actor(third["run_id"].as_str().unwrap())),
        given,
        "and so does a rerun of a rerun"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_rerun_key_gives_the_same_run_whatever_became_of_the_first() {
    let stage = Stage::new().await;
    let first = with_notes(&stage).await;
    first.at_turn(1).await;
    let id = first.id.clone();
    let again = rerun(&stage, &id, "k").await.is(201);
    let second = again["run_id"].as_str().unwrap().to_owned();
    first.turn(1, MEDDLES).await;
    first.becomes("succeeded").await;
    assert_eq!(rerun(&stage, &id, "k").await.is(201)["run_id"], json!(second), "its workspace changed");

    let stage = without(stage, &id).await;
    assert_eq!(rerun(&stage, &id, "k").await.is(201)["run_id"], json!(second), "it was removed");
    rerun(&stage, &id, "new").await.is_problem(404, "UNKNOWN_RUN");
    rerun(&stage, &second, "k").await.is_problem(409, "KEY_REUSED");
    create(&stage, "k", json!({})).await.is_problem(409, "KEY_REUSED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_key_makes_no_second_run_after_its_run_was_removed() {
    let stage = Stage::new().await;
    let run = create(&stage, "k", json!({})).await.is(201);
    let first = stage.actor(run["run_id"].as_str().unwrap());
    first.finishes(1).await;
    first.becomes("succeeded").await;
    let id = first.id.clone();
    let stage = without(stage, &id).await;
    let refused = create(&stage, "k", json!({})).await.is_problem(410, "RUN_PRUNED");
    assert!(refused["detail"].as_str().unwrap().contains(&id), "{refused}");
    create(&stage, "k", json!({ "labels": { "other": "request" } })).await.is_problem(409, "KEY_REUSED");
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"], json!([]));
}
