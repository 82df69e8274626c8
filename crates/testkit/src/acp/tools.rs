//! Tools of the MCP servers that a session is given.

use std::collections::HashMap;

use agent_client_protocol::v1::schema::McpServer;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;

/// Calls a tool: the result as JSON, or what went wrong.
pub(super) async fn call(
    server: Option<&McpServer>,
    name: &str,
    arguments: Value,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let Some(McpServer::Http(server)) = server else { return Err("there is no server".into()) };
    let mut headers = HashMap::new();
    for header in &server.headers {
        headers.insert(header.name.parse()?, header.value.parse()?);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(server.url.as_str()).custom_headers(headers);
    let client = ().serve(StreamableHttpClientTransport::from_config(config)).await?;
    let arguments = serde_json::from_value::<JsonObject>(arguments)?;
    let called =
        client.call_tool(CallToolRequestParams::new(name.to_owned()).with_arguments(arguments)).await;
    let _ = client.cancel().await;
    Ok(serde_json::to_string(&called?)?)
}
