//! What an agent is told of the gateway, and how its requests for what is offered there are known.

use agent_client_protocol::v1::schema::{
    ContentBlock, HttpHeader, InitializeResponse, McpServer, McpServerHttp, RequestPermissionRequest,
    ToolCallContent, ToolCallUpdateFields, ToolKind,
};
use serde_json::Value;

use super::failure::Trouble;
use super::live::Live;
use crate::gateway::{NAME, Offered};

impl Live {
    /// The servers that a conversation is opened with. An agent that cannot reach the gateway can still ask the user by what it
    /// says, but not do work that takes tools.
    pub(super) fn servers(&self, agent: &InitializeResponse) -> Result<Vec<McpServer>, Trouble> {
        let (Some(badge), Some(seat)) = (&self.badge, &self.seat) else { return Ok(Vec::new()) };
        if agent.agent_capabilities.mcp_capabilities.http {
            let bearer = format!("Bearer {}", badge.token().expose());
            let headers = vec![HttpHeader::new("Authorization", bearer)];
            return Ok(vec![McpServer::Http(McpServerHttp::new(NAME, badge.url()).headers(headers))]);
        }
        if seat.offered.is_needed() { Err(Trouble::NoGateway) } else { Ok(Vec::new()) }
    }
}

/// Whether a request is for a call of a tool that is offered at the gateway. It need not be asked about: the call is a
/// contract, which a person is asked about where that is due.
///
/// All there is to know it by is a title, and some agents take that from the arguments of a tool, which the model writes: a
/// command that is called like one of our tools must not pass for it. So the arguments have to be there to be looked at, and
/// must not have the title in them; and whatever is said to run commands, or names a file, is no tool of ours.
pub(super) fn is_ours(request: &RequestPermissionRequest, offered: &Offered) -> bool {
    let fields = &request.tool_call.fields;
    let Some(title) = &fields.title else { return false };
    let is_plain = matches!(fields.kind, None | Some(ToolKind::Other))
        && fields.locations.as_ref().is_none_or(Vec::is_empty);
    let is_called_so = offered.names().any(|tool| titles(tool).contains(&plain(title)));
    let arguments = arguments(fields);
    is_plain && is_called_so && arguments.is_some_and(|arguments| !has_text(&arguments, title))
}

/// What agents call a tool of the gateway when they ask about it.
fn titles(tool: &str) -> [String; 2] {
    // claude; gemini.
    [format!("mcp__{NAME}__{tool}"), format!("{tool} ({NAME} MCP Server)")].map(|title| plain(&title))
}

/// Agents replace what is not allowed in the name of a function.
fn plain(title: &str) -> String {
    title
        .chars()
        .map(|one| if one.is_ascii_alphanumeric() || " ()".contains(one) { one } else { '_' })
        .collect()
}

/// The arguments of a call, all of them: as they are, or as the only text about it.
fn arguments(fields: &ToolCallUpdateFields) -> Option<Value> {
    if let Some(arguments @ Value::Object(_)) = &fields.raw_input {
        return Some(arguments.clone());
    }
    match fields.content.as_deref()? {
        [ToolCallContent::Content(content)] => match &content.content {
            ContentBlock::Text(text) => serde_json::from_str(&text.text).ok().filter(Value::is_object),
            _ => None,
        },
        _ => None,
    }
}

/// Whether any text in `value` has `part` in it.
fn has_text(value: &Value, part: &str) -> bool {
    match value {
        Value::String(text) => text.contains(part),
        Value::Array(items) => items.iter().any(|item| has_text(item, part)),
        Value::Object(fields) => fields.values().any(|field| has_text(field, part)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
