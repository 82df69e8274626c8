//! What an agent is told of the gateway, and how its requests for what is offered there are known.

use agent_client_protocol::v1::schema::{
    ContentBlock, HttpHeader, InitializeResponse, McpServer, McpServerHttp, RequestPermissionRequest,
    ToolCallContent, ToolCallUpdateFields, ToolKind,
};
use serde_json::Value;

use super::failure::Trouble;
use super::live::Live;
use crate::environment::Environment;
use crate::gateway::{AccessToken, NAME, Offered, TOKEN_VARIABLE};

/// Has agents wait for their MCP servers before they begin: claude would ask its model without the tools of one that is not
/// there yet. Others do not know it.
const WAITS_FOR_SERVERS: (&str, &str) = ("MCP_CONNECTION_NONBLOCKING", "false");

/// Agents that hand what they are told on to another program as an argument, which others can read. They take the names of
/// variables for their values.
const GIVES_AWAY: &[&str] = &["@agentclientprotocol/claude-agent-acp"];

/// What an agent that is told of the gateway needs to get there.
pub(super) fn prepare(environment: &mut Environment, badge: &AccessToken) {
    badge.tell(environment);
    let (name, value) = WAITS_FOR_SERVERS;
    if environment.get(name).is_none() {
        environment.set(name, value);
    }
}

impl Live {
    /// The servers that a conversation is opened with. An agent that cannot reach the gateway can still ask the user by what it
    /// says, but not do work that takes tools.
    pub(super) fn servers(&self, agent: &InitializeResponse) -> Result<Vec<McpServer>, Trouble> {
        let (Some(badge), Some(seat)) = (&self.badge, &self.seat) else { return Ok(Vec::new()) };
        if agent.agent_capabilities.mcp_capabilities.http {
            let name = agent.agent_info.as_ref().map_or("", |info| info.name.as_str());
            let bearer = match GIVES_AWAY.contains(&name) {
                true => format!("Bearer ${{{TOKEN_VARIABLE}}}"),
                false => format!("Bearer {}", badge.token().expose()),
            };
            let headers = vec![HttpHeader::new("Authorization", bearer)];
            return Ok(vec![McpServer::Http(McpServerHttp::new(NAME, badge.url()).headers(headers))]);
        }
        if seat.offered.is_needed() { Err(Trouble::NoGateway) } else { Ok(Vec::new()) }
    }
}

/// Whether a request is for a call of a tool that is offered at the gateway. It need not be asked about: the call is a
/// contract, which a person is asked about where that is due.
///
/// Most of what it could be known by is a title, and some agents take that from the arguments of a tool, which the model
/// writes: a command that is called like one of our tools must not pass for it. So the arguments have to be there to be looked
/// at, and must not have the title in them; and whatever is said to run commands, or names a file, is no tool of ours.
pub(super) fn is_ours(request: &RequestPermissionRequest, offered: &Offered) -> bool {
    let fields = &request.tool_call.fields;
    let (Some(title), Some(arguments)) = (&fields.title, arguments(fields)) else { return false };
    let is_plain = matches!(fields.kind, None | Some(ToolKind::Other))
        && fields.locations.as_ref().is_none_or(Vec::is_empty);
    let is_called_so = if title == CODEX_TITLE {
        !offered.is_empty() && is_for_our_server(&arguments)
    } else {
        offered.names().any(|tool| titles(tool).contains(&plain(title)))
    };
    is_plain && is_called_so && !has_text(&arguments, title)
}

/// What claude and gemini call a tool of the gateway when they ask about it.
fn titles(tool: &str) -> [String; 2] {
    [format!("mcp__{NAME}__{tool}"), format!("{tool} ({NAME} MCP Server)")].map(|title| plain(&title))
}

/// What codex calls every tool of every server.
const CODEX_TITLE: &str = "Approve MCP tool call";

/// Codex gives its own record of the call for the arguments, in which the model writes only those of the tool.
fn is_for_our_server(record: &Value) -> bool {
    record["server_name"] == NAME && record["request"]["_meta"]["codex_approval_kind"] == "mcp_tool_call"
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
