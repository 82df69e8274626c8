//! What a server may ask of us.

use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};

use super::catalogue::Changes;
use super::midcall::MidCall;
use super::unfinished::Asked;

/// Our side of a connection: forms are taken to the person, and nothing else is offered.
#[derive(Debug)]
pub(super) struct Handler {
    pub(super) calls: Arc<MidCall>,
    pub(super) changes: Arc<Changes>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        ClientConfig::new(capabilities, Implementation::new("adjourn", env!("CARGO_PKG_VERSION")))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match Asked::of("", request) {
            Ok(asked) => Ok(self.calls.answer(asked).await),
            Err(_) => Ok(ElicitResult::new(ElicitationAction::Decline)),
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changes.note();
    }
}
