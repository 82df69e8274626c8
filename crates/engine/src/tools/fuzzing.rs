//! Fuzzing of what tool servers answer.

use adjourn_core::{JSON_DEPTH_MAX, JsonSize, reply};
use rmcp::model::{CallToolResult, ElicitRequestParams, InputRequiredResult};
use serde::Deserialize;
use serde_json::Value;

use super::catalogue::Tool;
use super::limits::RESULT_BYTES_MAX;
use super::outcome::Called;
use super::unfinished::{Asked, Unfinished};

/// Reads each line as a result of a tool, as the definition of one, and as a question of one.
pub fn mcp_results(bytes: &[u8]) {
    let mut tools = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        for tool in &tools {
            let _ = Tool::check(tool, &value);
        }
        if let Ok(result) = CallToolResult::deserialize(&value) {
            call_ended(&result);
        }
        if let Ok(tool) = rmcp::model::Tool::deserialize(&value)
            && let Ok(tool) = Tool::of(tool)
        {
            tools.push(tool);
        }
        if let Ok(wants) = InputRequiredResult::deserialize(&value)
            && let Ok(unfinished) = Unfinished::instead_of_result(wants)
        {
            answer(unfinished);
        }
        if let Ok(params) = ElicitRequestParams::deserialize(&value)
            && let Ok(asked) = Asked::of("key", params)
            && let Ok(unfinished) = Unfinished::mid_call(None, asked)
        {
            answer(unfinished);
        }
    }
}

fn call_ended(result: &CallToolResult) {
    if let Called::Completed(value) = Called::of(result) {
        let size = JsonSize::of(&value);
        assert!(size.depth <= JSON_DEPTH_MAX, "a result is nested {} levels deep", size.depth);
        let bytes = value.to_string().len();
        assert!(bytes <= RESULT_BYTES_MAX, "a result has {bytes} bytes");
    }
}

/// Answers every question of a tool, as far as its schema takes the answers.
fn answer(mut unfinished: Unfinished) {
    while let Some(question) = unfinished.question() {
        let answer = reply::check(&question, &question.default_answer()).unwrap_or(Value::Bool(false));
        unfinished = unfinished.answered(answer);
    }
    unfinished.responses().count();
}
