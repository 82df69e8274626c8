//! Fuzzing of what ACP agents send.

use std::path::Path;

use adjourn_core::{OutputStream, RawRef, reply};
use agent_client_protocol::RawJsonRpcMessage;
use agent_client_protocol::v1::schema::RequestPermissionRequest;
use serde_json::Value;

use super::AcpConfig;
use super::narrator::Narrator;
use super::permission;
use super::wire::{Message, read_message};
use crate::fuzzing::masker;
use crate::lines::{LINE_BYTES_MAX, Lines};

/// Reads the messages of an agent: updates are told, requests for a permission are answered by the policy, and become a
/// question.
pub fn acp_frames(bytes: &[u8]) {
    let masker = masker();
    let mut narrator = Narrator::default();
    narrator.begin();
    let mut lines = Lines::new(0, LINE_BYTES_MAX);
    let mut all = lines.push(bytes);
    all.extend(lines.finish());
    for line in all {
        let raw = RawRef { attempt: 1, stream: OutputStream::Stdout, from: line.from, to: line.to };
        let Some(bytes) = &line.bytes else { continue };
        match read_message(&masker.bytes(bytes)) {
            Ok(Message::Update(notification)) => {
                narrator.read(notification.update, raw);
            }
            Ok(Message::Protocol { message, is_request: _ }) => {
                if let Some(params) = message.get("params") {
                    ask_permission(params.clone());
                }
                let _ = serde_json::from_value::<RawJsonRpcMessage>(message);
            }
            Ok(Message::Ignored) | Err(_) => {}
        }
    }
    narrator.finish();
    narrator.take_text();
}

fn ask_permission(params: Value) {
    let Ok(request) = serde_json::from_value::<RequestPermissionRequest>(params) else { return };
    // A folder that is not there, so that nothing on disk decides.
    permission::answer_by_policy(&AcpConfig::new(Vec::new()), Path::new("/nowhere"), &request);
    permission::digest(&request);
    let asked = permission::question("agent", &request);
    if let Ok(asked) = asked {
        let _ = reply::check(&asked.question, &"yes".into());
    }
    permission::chosen(&request, Some("yes"));
}
