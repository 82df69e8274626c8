//! A turn of an agent that tells the test how it gets to the gateway, and waits until it may leave.

use std::sync::Arc;

use adjourn_core::RunId;
use adjourn_engine::agent_processes::process_with_id;
use adjourn_engine::{Engine, ExecEngine, Finished, Gateway, Preset, Toolbox, Turn};
use reqwest::{Client, StatusCode};
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Scripted;
use crate::agent::{Stage, supervisor, until};
use crate::turns::{Going, config, turn};

const AGENT: &str = r#"
echo "$ADJOURN_MCP_URL $ADJOURN_MCP_TOKEN" >access
until [ -e leave ]; do sleep 0.01; done
echo "I was told $ADJOURN_MCP_TOKEN"
"#;

/// An agent that is at the gateway.
pub(crate) struct Visit {
    pub(crate) stage: Stage,
    pub(crate) url: String,
    pub(crate) token: String,
    going: Going,
}

impl Visit {
    pub(crate) async fn begin(gateway: &Gateway, run: u128, tools: Arc<Scripted>) -> Self {
        let stage = Stage::new();
        // Whoever shows a token has to be a process of its run: this one plays the agent, beside the one that is started.
        gateway.agents().register(RunId::from_bits(run), process_with_id(std::process::id()).unwrap());
        let config = config(&stage, Preset::Command, "sh", AGENT);
        let engine: Arc<dyn Engine> = Arc::new(ExecEngine::new(config, supervisor(), gateway.clone()));
        let tools: Arc<dyn Toolbox> = tools;
        let turn = Turn { run_id: RunId::from_bits(run), tools, ..turn(&stage, "go") };
        let going = Going::start(engine, turn).while_nobody_looks();
        let access = stage.lines_in("access", 1).await;
        let (url, token) = access[0].split_once(' ').unwrap();
        Self { url: url.to_owned(), token: token.to_owned(), stage, going }
    }

    /// With a gateway of its own.
    pub(crate) async fn alone(tools: Arc<Scripted>) -> Self {
        Self::begin(&Gateway::new(), 1, tools).await
    }

    pub(crate) async fn client(&self) -> Guest {
        Guest::enter(&self.url, &self.token).await
    }

    /// Asks for the tools as anybody could, with these headers.
    pub(crate) async fn knock(&self, headers: &[(&str, &str)]) -> StatusCode {
        knock(&self.url, headers, String::new()).await
    }

    /// Calls a tool, and hangs up as soon as the call has begun; returns when the server has done so, too.
    pub(crate) async fn call_and_leave(&self, tool: &str, has_begun: impl Fn() -> bool) {
        let address = self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}});
        let call = call.to_string();
        let head = [
            "POST /mcp HTTP/1.1".to_owned(),
            format!("host: {address}"),
            format!("authorization: Bearer {}", self.token),
            "content-type: application/json".to_owned(),
            "accept: application/json, text/event-stream".to_owned(),
            format!("content-length: {}", call.len()),
        ];
        let mut connection = TcpStream::connect(address).await.unwrap();
        let request = format!("{}\r\n\r\n{call}", head.join("\r\n"));
        connection.write_all(request.as_bytes()).await.unwrap();
        until(|| has_begun().then_some(())).await;
        connection.shutdown().await.unwrap();
        let mut rest = Vec::new();
        connection.read_to_end(&mut rest).await.unwrap();
    }

    /// The agent leaves; this is how its turn ended.
    pub(crate) async fn leave(self) -> (Stage, Finished) {
        std::fs::write(self.stage.path().join("leave"), "").unwrap();
        (self.stage, self.going.finish().await)
    }
}

/// Asks for the tools; the padding makes the request as long as it should be.
pub(crate) async fn knock(url: &str, headers: &[(&str, &str)], padding: String) -> StatusCode {
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {"padding": padding}}});
    let mut request = Client::new().post(url).body(body.to_string());
    request = request.header("content-type", "application/json");
    request = request.header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap().status()
}

/// A client with a token.
pub(crate) struct Guest(RunningService<RoleClient, ()>);

impl Guest {
    pub(crate) async fn enter(url: &str, token: &str) -> Self {
        let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(token);
        Self(().serve(StreamableHttpClientTransport::from_config(config)).await.unwrap())
    }

    pub(crate) async fn tools(&self) -> Vec<String> {
        let tools = self.0.list_all_tools().await.unwrap();
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    pub(crate) async fn try_call(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
        self.0.call_tool(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)).await
    }

    /// What a tool answered, as JSON.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        serde_json::to_value(self.try_call(tool, arguments).await.unwrap()).unwrap()
    }

    /// The text of the first block of an answer, and whether it is an error.
    pub(crate) async fn told(&self, tool: &str, arguments: Value) -> (bool, String) {
        let answer = self.call(tool, arguments).await;
        (answer["isError"] == true, answer["content"][0]["text"].as_str().unwrap().to_owned())
    }
}
