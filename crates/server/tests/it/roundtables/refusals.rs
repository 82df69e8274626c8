//! What is refused, with the place and what would be right.

use hyper::Method;
use serde_json::{Value, json};

use super::{Table, request, stage};

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_wrong_is_refused_with_every_mistake_and_nothing_is_opened() {
    let stage = stage().await;
    let wrong = [
        (json!({ "subject": " " }), "/subject", "is blank"),
        (json!({ "participants": ["archtect"] }), "/participants/0/role", "did you mean `architect`?"),
        (json!({ "strategy": "debat" }), "/strategy", "did you mean `debate`?"),
        (json!({ "workflow": "spec" }), "/workflow", "did you mean `specs`?"),
        (json!({ "workflow": { "yaml": "name: x\nparticipants: [qa]" } }), "/agenda", "has no topic"),
        (json!({ "engine": "tabel" }), "/engine", "did you mean `table`?"),
        (
            json!({ "limits": { "min_rounds": 5, "max_rounds": 2 } }),
            "/limits/min_rounds",
            "more than max_rounds",
        ),
        (json!({ "topics": [] }), "/topics", "unknown key"),
    ];
    for (more, path, message) in wrong {
        let problem = stage.post("/v1/roundtables", &request(more.clone())).await.is_problem(422, "INVALID");
        let errors = problem["errors"].as_array().unwrap();
        let found = errors.iter().find(|error| error["path"] == path);
        let said = found.and_then(|error| error["message"].as_str()).unwrap_or_default();
        assert!(said.contains(message), "{more}: {problem}");
    }
    let two = json!({ "strategy": "debat", "participants": ["archtect"] });
    let problem = stage.post("/v1/roundtables", &request(two)).await.is_problem(422, "INVALID");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2, "{problem}");
    assert_eq!(stage.get("/v1/roundtables").await.is(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_not_found() {
    let stage = stage().await;
    let nobody = "/v1/roundtables/rt_01h455vb4pex5vsknk084sn02q";
    for rest in ["", "/events", "/artifacts", "/artifacts/REQ-001", "/export"] {
        stage.get(&format!("{nobody}{rest}")).await.is_problem(404, "UNKNOWN_ROUNDTABLE");
    }
    let answer = json!({ "interaction_id": 1, "response": "accept" });
    for (rest, body) in [("/reply", answer), ("/escalate", json!({})), ("/close", json!({}))] {
        stage.post(&format!("{nobody}{rest}"), &body).await.is_problem(404, "UNKNOWN_ROUNDTABLE");
    }
    stage.get("/v1/roundtables/run_01h455vb4pex5vsknk084sn02q").await.is_problem(404, "UNKNOWN_ROUNDTABLE");
    let table = Table::open(&stage, json!({})).await;
    for name in ["REQ-001", "REQ-1", "x"] {
        table.get(&format!("/artifacts/{name}")).await.is_problem(404, "UNKNOWN_ARTIFACT");
    }
    for query in ["/export?format=pdf", "/events?limit=0", "/export?fromat=md"] {
        let call = stage.call(Method::GET, &table.path(query)).header("accept", "application/json");
        call.send().await.is_problem(400, "BAD_REQUEST");
    }
    stage.get("/v1/roundtables?cursor=x").await.is_problem(400, "BAD_REQUEST");
    stage.get("/v1/roundtables?status=open").await.is_problem(400, "BAD_REQUEST");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_does_not_fit_says_where_and_the_question_stays_open() {
    let stage = stage().await;
    let table = Table::open(&stage, json!({})).await;
    table.until("user.input.required").await;
    let pending = table.show().await["pending"].clone();
    let answered = |response: Value| json!({ "interaction_id": 1, "response": response });
    for (body, path) in [
        (answered(json!({ "decision": "conclude" })), "/decision"),
        (answered(json!({ "decision": "own_decision" })), "/text"),
        (answered(json!(7)), ""),
        (json!({ "response": "accept" }), "/interaction_id"),
        (json!({ "interaction_id": 1 }), "/response"),
        (json!({ "interaction_id": 1, "reponse": "accept" }), "/reponse"),
        (json!([]), ""),
    ] {
        let problem = table.say("/reply", body.clone()).await.is_problem(422, "INVALID");
        assert_eq!(problem["errors"][0]["path"], path, "{body}: {problem}");
    }
    table.say("/escalate", json!({ "note": "x".repeat(5000) })).await.is_problem(422, "INVALID");
    let unknown = json!({ "interaction_id": 9, "response": "accept" });
    table.say("/reply", unknown).await.is_problem(409, "NOT_OPEN");
    assert_eq!(table.show().await["pending"], pending);
    table.say("/reply", answered(json!("accept"))).await.is(202);
}
