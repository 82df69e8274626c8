//! The tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, ElicitationAction, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    Tool, ToolAnnotations,
};
use rmcp::{Peer, RoleServer};
use serde_json::{Value, json};

use super::Age;
use super::handler::Shared;

/// The questions of `ask` and `ask_twice`, and what is filled in.
const QUESTIONS: [(&str, &str); 2] = [("What is your name?", "name"), ("How old are you?", "age")];

pub(super) fn list(has_grown: bool, descriptions: &BTreeMap<String, String>) -> Vec<Tool> {
    let tool = |name: &'static str, properties: Value, required: Value| {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        let schema = schema.as_object().cloned().unwrap_or_default();
        Tool::new(name, format!("The scripted tool `{name}`."), schema)
    };
    let plain = |name| tool(name, json!({}), json!([]));
    let text = || json!({"type": "string"});
    let mut echo = tool("echo", json!({"message": text()}), json!(["message"]));
    echo.annotations = Some(ToolAnnotations::new().read_only(true));
    let mut all = vec![
        tool("count", json!({"text": text()}), json!(["text"])),
        echo,
        tool("large", json!({"bytes": {"type": "integer"}}), json!(["bytes"])),
    ];
    all.extend(["fail", "refuse", "hang", "die", "ask", "ask_twice", "grow", "environment"].map(plain));
    all.extend(has_grown.then(|| plain("grown")));
    for (name, description) in descriptions {
        match all.iter_mut().find(|tool| tool.name == *name) {
            Some(tool) => tool.description = Some(description.clone().into()),
            None => {
                let schema = json!({"type": "object"}).as_object().cloned().unwrap_or_default();
                all.push(Tool::new(name.clone(), description.clone(), schema));
            }
        }
    }
    all
}

pub(super) async fn call(
    shared: &Arc<Shared>,
    request: CallToolRequestParams,
    peer: &Peer<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
    let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
    match request.name.as_ref() {
        "count" => {
            let count = shared.note("effects", &text("text"));
            Ok(CallToolResult::structured(json!({"count": count})).into())
        }
        "echo" => Ok(said(text("message"))),
        "large" => {
            let bytes = arguments["bytes"].as_u64().and_then(|bytes| usize::try_from(bytes).ok());
            Ok(said("x".repeat(bytes.unwrap_or_default())))
        }
        "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("it did not work")]).into()),
        "refuse" => Err(ErrorData::invalid_params("not like this", None)),
        "hang" => {
            shared.note("effects", "hang");
            std::future::pending().await
        }
        "die" => {
            shared.note("effects", "die");
            eprintln!("dying as told");
            std::process::exit(3)
        }
        "ask" => ask(shared, &request, peer, &QUESTIONS[..1]).await,
        "ask_twice" => ask(shared, &request, peer, &QUESTIONS).await,
        "grow" => {
            shared.has_grown.store(true, Ordering::SeqCst);
            match shared.age {
                Age::Newest => shared.grown.notify_waiters(),
                Age::Older => {
                    let _ = peer.notify_tool_list_changed().await;
                }
            }
            Ok(said("it grew".to_owned()))
        }
        "environment" => {
            let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
            Ok(CallToolResult::structured(json!({"names": names.collect::<Vec<_>>()})).into())
        }
        other => Ok(said(format!("`{other}` does nothing"))),
    }
}

fn said(text: String) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

async fn ask(
    shared: &Arc<Shared>,
    request: &CallToolRequestParams,
    peer: &Peer<RoleServer>,
    questions: &[(&str, &str)],
) -> Result<CallToolResponse, ErrorData> {
    let answers = match shared.age {
        Age::Newest => match answers_so_far(request) {
            Err(()) => return Ok(said("then not".to_owned())),
            Ok(answers) if answers.len() < questions.len() => {
                return Ok(next_question(questions[answers.len()], &answers));
            }
            Ok(answers) => answers,
        },
        Age::Older => {
            let mut answers = Vec::new();
            for (message, field) in questions {
                let answer = peer.create_elicitation(form(message, field)).await;
                let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                if answer.action != ElicitationAction::Accept {
                    return Ok(said("then not".to_owned()));
                }
                answers.push(answer.content.unwrap_or_default()[field].clone());
            }
            answers
        }
    };
    let answers = json!(answers);
    shared.note("effects", &answers.to_string());
    Ok(CallToolResult::structured(json!({"answers": answers})).into())
}

/// The answers that a request carries: those of earlier rounds in its state, the last one beside it. An error if the person
/// would not say.
fn answers_so_far(request: &CallToolRequestParams) -> Result<Vec<Value>, ()> {
    let mut answers: Vec<Value> = request
        .request_state
        .as_deref()
        .and_then(|state| serde_json::from_str(state).ok())
        .unwrap_or_default();
    for response in request.input_responses.iter().flat_map(|responses| responses.values()) {
        if response["action"] != "accept" {
            return Err(());
        }
        let filled_in = response["content"].as_object().and_then(|content| content.values().next());
        answers.push(filled_in.cloned().unwrap_or_default());
    }
    Ok(answers)
}

fn next_question((message, field): (&str, &str), answers: &[Value]) -> CallToolResponse {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(message, field)));
    let requests = InputRequests::from([("question".to_owned(), request)]);
    InputRequiredResult::new(Some(requests), Some(json!(answers).to_string())).into()
}

fn form(message: &str, field: &str) -> ElicitRequestParams {
    let schema = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: serde_json::from_value(schema).expect("it is one"),
    }
}
