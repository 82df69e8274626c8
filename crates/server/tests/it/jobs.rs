//! Clients of Skill-Runner: its job API, and what goes wrong with the original.

mod api;
mod better;
mod chat;

use serde_json::{Value, json};

use crate::client::Answer;
use crate::stage::{Actor, Stage};

/// A job of the skill that all tests have, with more in it.
fn request(more: Value) -> Value {
    let mut document = json!({
        "skill_id": "survey", "engine": "scripted", "input": {}, "parameter": {}, "model": null,
        "runtime_options": { "execution_mode": "interactive", "no_cache": true, "env": {} },
    });
    for (key, value) in more.as_object().unwrap() {
        document[key] = value.clone();
    }
    document
}

/// Sends a job. What it is has to be driven as the run that it is.
async fn send(stage: &Stage, more: Value) -> Job<'_> {
    let sent = stage.post("/v1/jobs", &request(more)).await.is(200);
    assert_eq!(sent["cache_hit"], false);
    let id = sent["request_id"].as_str().unwrap();
    Job { stage, run: stage.actor(id), id: id.to_owned() }
}

struct Job<'a> {
    stage: &'a Stage,
    run: Actor<'a>,
    id: String,
}

impl Job<'_> {
    fn path(&self, rest: &str) -> String {
        format!("/v1/jobs/{}{rest}", self.id)
    }

    async fn get(&self, rest: &str) -> Value {
        self.stage.get(&self.path(rest)).await.is(200)
    }

    async fn reply(&self, body: Value) -> Answer {
        self.stage.post(&self.path("/interaction/reply"), &body).await
    }

    async fn cancel(&self) -> Value {
        self.stage.post(&self.path("/cancel"), &json!({})).await.is(200)
    }

    /// The types of all its chat events, and of status changes where they lead.
    async fn story(&self) -> Vec<String> {
        let history = self.get("/events/history").await;
        let events = history["events"].as_array().unwrap().iter();
        let word = |event: &Value| match event["data"]["to"].as_str() {
            Some(to) => to.to_owned(),
            None => event["type"].as_str().unwrap().to_owned(),
        };
        events.map(word).collect()
    }
}
