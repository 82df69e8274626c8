//! A message between an MCP client and a server, as far as it has to be understood to be passed on.

use serde_json::{Value, json};

/// Where a message says which version of the protocol it is written in.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// JSON-RPC: what came is not JSON.
const PARSE_ERROR: i64 = -32700;

/// JSON-RPC: the server could not do it.
const INTERNAL_ERROR: i64 = -32603;

/// A message of a client.
pub(super) struct Message(Value);

impl Message {
    /// The message in a line, or the answer to what is none.
    pub(super) fn read(line: &[u8]) -> Result<Self, Value> {
        serde_json::from_slice(line).map(Self).map_err(|error| {
            let message = format!("this is not JSON: {error}");
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": PARSE_ERROR, "message": message } })
        })
    }

    pub(super) fn document(&self) -> &Value {
        &self.0
    }

    /// What the HTTP transport says in headers: the method, what it is about, and the version of the protocol, which is the
    /// one that was `agreed` on unless the message names its own.
    pub(super) fn headers<'a>(&'a self, agreed: Option<&'a str>) -> Vec<(&'static str, &'a str)> {
        let params = &self.0["params"];
        let method = self.0["method"].as_str();
        let name = match method {
            Some("tools/call" | "prompts/get") => params["name"].as_str(),
            Some("resources/read") => params["uri"].as_str(),
            _ => None,
        };
        let version = params["_meta"][VERSION_KEY].as_str().or(agreed);
        let given = [("mcp-method", method), ("mcp-name", name), ("mcp-protocol-version", version)];
        given.into_iter().filter_map(|(header, value)| Some((header, value?))).collect()
    }

    /// Whether the answer to it says which version is spoken from then on.
    pub(super) fn is_handshake(&self) -> bool {
        self.0["method"] == "initialize"
    }

    /// The answer that it could not be passed on; none where none is expected.
    pub(super) fn failed(&self, problem: &str) -> Option<Value> {
        let id = self.0.get("id").filter(|_| self.0.get("method").is_some())?;
        Some(json!({
            "jsonrpc": "2.0", "id": id, "error": { "code": INTERNAL_ERROR, "message": problem },
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Message;

    #[test]
    fn a_request_travels_with_its_method_its_name_and_its_version() {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        let call =
            json!({ "id": 1, "method": "tools/call", "params": { "name": "read_run", "_meta": meta } });
        let message = Message::read(call.to_string().as_bytes()).unwrap();
        assert_eq!(
            message.headers(Some("2025-06-18")),
            [("mcp-method", "tools/call"), ("mcp-name", "read_run"), ("mcp-protocol-version", "2026-07-28")]
        );
        let read = json!({ "id": 1, "method": "resources/read", "params": { "uri": "adjourn://x" } });
        let message = Message::read(read.to_string().as_bytes()).unwrap();
        assert_eq!(message.headers(None), [("mcp-method", "resources/read"), ("mcp-name", "adjourn://x")]);
        assert!(message.headers(Some("2025-06-18")).contains(&("mcp-protocol-version", "2025-06-18")));
    }

    #[test]
    fn whoever_asks_is_answered_and_whoever_tells_is_not() {
        let failed = |text: &str| Message::read(text.as_bytes()).unwrap().failed("no owner");
        assert_eq!(failed(r#"{"id": "a", "method": "tools/list"}"#).unwrap()["id"], "a");
        assert_eq!(failed(r#"{"method": "notifications/initialized"}"#), None);
        assert_eq!(failed("[]"), None);
        assert_eq!(Message::read(b"{").err().unwrap()["error"]["code"], -32700);
    }
}
