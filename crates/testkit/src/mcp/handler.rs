//! The server's side of the protocol.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, DiscoverRequestMethod, DiscoverResult, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::Notify;

use super::Age;
use super::tools;

/// How many tools are on a page of the list.
const PAGE: usize = 4;

/// What all connections of a process share.
#[derive(Debug)]
pub(super) struct Shared {
    folder: PathBuf,
    pub(super) age: Age,
    /// Tools that are described differently, or are there besides the usual ones: what each says of itself.
    pub(super) descriptions: BTreeMap<String, String>,
    pub(super) has_grown: AtomicBool,
    pub(super) grown: Notify,
}

impl Shared {
    pub(super) fn new(folder: PathBuf, age: Age) -> Self {
        let descriptions = match std::fs::read(folder.join(super::DESCRIPTIONS)) {
            Ok(bytes) => serde_json::from_slice(&bytes).expect("descriptions are an object of texts"),
            Err(_) => BTreeMap::new(),
        };
        Self { folder, age, descriptions, has_grown: AtomicBool::new(false), grown: Notify::new() }
    }

    /// Writes a line, and says how many there are.
    pub(super) fn note(&self, file: &str, line: &str) -> usize {
        let path = self.folder.join(file);
        let mut open = OpenOptions::new().create(true).append(true).open(&path).expect("the folder is there");
        writeln!(open, "{line}").expect("the file can be written");
        std::fs::read_to_string(path).expect("it was just written").lines().count()
    }
}

/// One connection.
#[derive(Debug, Clone)]
pub(super) struct Handler(pub(super) Arc<Shared>);

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let mut config = ServerConfig::new(capabilities);
        config.server_info = Implementation::new("scripted", "1");
        config
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        match self.0.age {
            Age::Newest => {
                let info = self.get_info();
                let versions = ProtocolVersion::KNOWN_VERSIONS.to_vec();
                Ok(DiscoverResult::new(versions, info.capabilities).with_server_info(info.server_info))
            }
            // What a server says that has never heard of it.
            Age::Older => Err(ErrorData::method_not_found::<DiscoverRequestMethod>()),
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = tools::list(self.0.has_grown.load(Ordering::SeqCst), &self.0.descriptions);
        let from =
            request.and_then(|request| request.cursor).and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let mut page = ListToolsResult::with_all_items(all.iter().skip(from).take(PAGE).cloned().collect());
        page.next_cursor = (from + PAGE < all.len()).then(|| (from + PAGE).to_string());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(&self.0, request, &context.peer).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.0.grown.notified() => {
                    let _ = context.sink().notify_tool_list_changed().await;
                }
            }
        }
    }
}
