//! The raw output of attempts.

use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_raw_reference_leads_to_the_bytes_that_the_agent_printed() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.turn(1, "echo oops >&2\necho '{\"__SKILL_DONE__\": true, \"answer\": \"done\"}'\n").await;
    let frames = run.events(None).await.rest().await;
    let raw = frames.iter().map(|frame| &frame.data["raw_ref"]).find(|raw| !raw.is_null()).unwrap();
    let log = |query: String| run.path(&format!("/attempts/{}/log?{query}", raw["attempt"]));
    let get = async |query: String| stage.get(&log(query)).await.body;

    let printed = "{\"__SKILL_DONE__\": true, \"answer\": \"done\"}\n";
    let (from, to) = (raw["from"].as_u64().unwrap(), raw["to"].as_u64().unwrap());
    let pointed = get(format!("stream=stdout&from={from}&to={to}")).await;
    assert_eq!(pointed, printed.trim_end());
    assert_eq!(get(String::new()).await, printed);
    assert_eq!(get("stream=stderr".to_owned()).await, "oops\n");
    assert_eq!(get("from=2&to=5".to_owned()).await, printed[2..5]);
    assert_eq!(get("to=100000".to_owned()).await, printed);
    assert_eq!(get(format!("from={}", i64::MAX)).await, "");
    assert_eq!(stage.get(&log(String::new())).await.headers["content-security-policy"], "sandbox");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_is_not_there_is_a_problem() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.finishes(1).await;
    run.becomes("succeeded").await;
    stage.get(&run.path("/attempts/2/log")).await.is_problem(404, "NO_LOG");
    for bad in [
        "/attempts/one/log",
        "/attempts/1/log?from=2&to=1",
        "/attempts/1/log?stream=stdin",
        "/attempts/1/log?from=-1",
    ] {
        stage.get(&run.path(bad)).await.is_problem(400, "BAD_REQUEST");
    }
    std::fs::remove_dir_all(stage.data().join("runs").join(&run.id).join("logs")).unwrap();
    stage.get(&run.path("/attempts/1/log")).await.is_problem(404, "NO_LOG");
    let nobody = "/v1/runs/run_01h455vb4pex5vsknk084sn02q/attempts/1/log";
    stage.get(nobody).await.is_problem(404, "UNKNOWN_RUN");
}
