//! The question that a job waits on.

use adjourn_core::{Choice, Interaction, InteractionView, Run, RunStatus};
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::extract::query::RunPath;
use crate::problem::Problem;
use crate::server::Server;

pub(super) async fn show(State(server): State<Server>, RunPath(id): RunPath) -> Result<Json<Value>, Problem> {
    let run = server.blocking(move |service| Ok(service.run(id)?)).await?;
    let open = run.open_interactions().next();
    Ok(Json(json!({
        "request_id": id,
        "status": run.status(),
        "pending": open.map(|interaction| pending(&run, interaction)),
        "pending_owner": open.map(|_| RunStatus::WaitingUser),
    })))
}

/// The whole question, never a text that stands for it.
pub(super) fn pending(run: &Run, interaction: &Interaction) -> Value {
    let question = &interaction.question;
    let options =
        question.options.iter().map(|Choice { value, label }| json!({ "label": label, "value": value }));
    let required = question.fields.iter().filter(|field| field.required).map(|field| &field.name);
    let mut hints = json!({ "kind": question.kind });
    if !question.fields.is_empty() {
        hints["fields"] = json!(question.fields);
    }
    if let Some(schema) = &question.schema {
        hints["schema"] = schema.clone();
    }
    json!({
        "interaction_id": interaction.interaction_id,
        "kind": question.kind,
        "prompt": question.prompt,
        "source_attempt": interaction.attempt_number,
        "options": options.collect::<Vec<_>>(),
        "ui_hints": hints,
        // That project's only policy: whoever decides in place of a person does what it thinks best.
        "default_decision_policy": "engine_judgement",
        "required_fields": required.collect::<Vec<_>>(),
        "context": InteractionView::of(run, interaction),
    })
}
