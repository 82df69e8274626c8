//! One connection to a server, from the handshake to its end.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject, ProtocolVersion, SubscriptionFilter};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RunningService, ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{Peer, RoleClient};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::catalogue::{Catalogue, Changes, Tools};
use super::handler::Handler;
use super::limits::{LIST_MAX, MESSAGE_BYTES_MAX, PROBLEM_BYTES_MAX, QUESTIONS_MAX, START_MAX, shortened};
use super::midcall::{InFlight, MidCall};
use super::options::Place;
use super::outcome::{Called, Lost};
use super::process::Process;
use super::unfinished::{Unfinished, Way};
use crate::supervisor::Supervisor;

/// How long a call that a server put off is left alone.
const PUT_OFF: Duration = Duration::from_millis(250);

/// A server that answers.
#[derive(Debug)]
pub(super) struct Connection {
    service: RunningService<RoleClient, Handler>,
    calls: Arc<MidCall>,
    catalogue: Catalogue,
    /// None for a server that we did not start.
    process: Option<Process>,
}

/// A call, checked and ready to be made.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) tool: String,
    pub(super) arguments: JsonObject,
    pub(super) unfinished: Option<Unfinished>,
    pub(super) call_max: Duration,
}

/// What became of handing a call to a server.
pub(super) enum Handed {
    /// It was handed over, and this came of it.
    Over(Called),
    /// It was not, and why.
    NotOver(String),
}

impl Connection {
    /// Starts or reaches a server and shakes hands. The problem is why it cannot be used.
    pub(super) async fn open(
        place: &Place,
        supervisor: &Supervisor,
        tasks: &TaskTracker,
    ) -> Result<Self, String> {
        let calls = Arc::new(MidCall::new());
        let changes = Arc::new(Changes::new());
        let handler = Handler { calls: Arc::clone(&calls), changes: Arc::clone(&changes) };
        let (service, process) = match place {
            Place::Command { .. } => {
                let (process, pipes) = Process::start(place, supervisor, tasks).await?;
                let transport = AsyncRwTransport::new_client(pipes.stdout, pipes.stdin);
                let transport = transport.with_max_line_length(MESSAGE_BYTES_MAX);
                match greet(serve_client_with_lifecycle(handler, transport, lifecycle())).await {
                    Ok(service) => (service, Some(process)),
                    Err(problem) => return Err(process.explain(problem).await),
                }
            }
            Place::Url(url) => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config.max_sse_event_size = MESSAGE_BYTES_MAX;
                let transport = StreamableHttpClientTransport::from_config(config);
                (greet(serve_client_with_lifecycle(handler, transport, lifecycle())).await?, None)
            }
        };
        if announces_changes(service.peer()) {
            tasks.spawn(listen(service.peer().clone(), Arc::clone(&changes)));
        }
        Ok(Self { service, calls, catalogue: Catalogue::new(changes), process })
    }

    /// Whether it can still be used, as far as that is known.
    pub(super) fn is_alive(&self) -> bool {
        !self.service.peer().is_transport_closed() && !self.process.as_ref().is_some_and(Process::is_gone)
    }

    /// Ends it, and the server if that is ours. Does not wait for that.
    pub(super) fn end(&self) {
        self.service.cancellation_token().cancel();
        if let Some(process) = &self.process {
            process.end();
        }
    }

    /// Its tools by name. The problem is what is wrong with the server.
    pub(super) async fn tools(&self) -> Result<Tools, String> {
        let listed = tokio::time::timeout(LIST_MAX, self.catalogue.tools(self.service.peer())).await;
        listed.unwrap_or_else(|_| Err(format!("it did not list its tools within {} s", LIST_MAX.as_secs())))
    }

    /// Waits for the turn of a call.
    pub(super) async fn begin(&self, unfinished: Option<&Unfinished>) -> InFlight {
        let answers = unfinished.filter(|unfinished| unfinished.way() == Way::MidCall);
        self.calls.begin(answers.cloned()).await
    }

    /// Makes a call whose turn it is.
    pub(super) async fn call(&self, ready: &Ready, mut turn: InFlight, stop: &CancellationToken) -> Handed {
        let answered = tokio::time::timeout(ready.call_max, self.answer(ready));
        let called = tokio::select! {
            biased;
            answered = answered => match answered {
                Ok(handed) => return handed,
                Err(_) => Called::Lost(Lost::TimedOut(ready.call_max)),
            },
            asked = turn.question() => {
                match Unfinished::mid_call(ready.unfinished.as_ref(), asked) {
                    Ok(unfinished) => Called::NeedsInput(unfinished),
                    Err(problem) => Called::Failed(problem),
                }
            }
            () = stop.cancelled() => Called::Lost(Lost::Cancelled),
        };
        Handed::Over(called)
    }

    async fn answer(&self, ready: &Ready) -> Handed {
        let mut unfinished = ready.unfinished.clone();
        for _ in 0..QUESTIONS_MAX {
            let params = params(ready, unfinished.as_ref());
            let wants = match self.service.peer().call_tool_once(params).await {
                Ok(CallToolResponse::InputRequired(wants)) => wants,
                Ok(CallToolResponse::Complete(result)) => return Handed::Over(Called::of(&result)),
                Ok(_) => return lost(Lost::Nonsense("a task, which it was not offered".to_owned())),
                Err(error) => return self.failed(&error).await,
            };
            match Unfinished::instead_of_result(wants) {
                // It asks for nothing but to be called again, with what it said.
                Ok(put_off) if put_off.question().is_none() => unfinished = Some(put_off),
                Ok(unfinished) => return Handed::Over(Called::NeedsInput(unfinished)),
                Err(problem) => return Handed::Over(Called::Failed(problem)),
            }
            tokio::time::sleep(PUT_OFF).await;
        }
        Handed::Over(Called::Failed(format!("the server put the call off {QUESTIONS_MAX} times")))
    }

    async fn failed(&self, error: &ServiceError) -> Handed {
        match error {
            ServiceError::McpError(refusal) => {
                let problem = shortened(&refusal.message, PROBLEM_BYTES_MAX);
                Handed::Over(Called::Failed(format!("the server refused the call: {problem}")))
            }
            ServiceError::TransportSend(error) if was_not_sent(error) => {
                Handed::NotOver(chain(error.error.as_ref()))
            }
            ServiceError::TransportSend(error) => self.gone(chain(error.error.as_ref())).await,
            ServiceError::UnexpectedResponse => lost(Lost::Nonsense("no result of a tool".to_owned())),
            other => self.gone(other.to_string().to_lowercase()).await,
        }
    }

    async fn gone(&self, problem: String) -> Handed {
        lost(Lost::ServerGone(match &self.process {
            Some(process) => process.explain(problem).await,
            None => problem,
        }))
    }
}

fn lost(reason: Lost) -> Handed {
    Handed::Over(Called::Lost(reason))
}

/// What a call consists of, with the answers of those that were asked for instead of a result.
fn params(ready: &Ready, unfinished: Option<&Unfinished>) -> CallToolRequestParams {
    let mut params = CallToolRequestParams::new(ready.tool.clone()).with_arguments(ready.arguments.clone());
    if let Some(unfinished) = unfinished.filter(|unfinished| unfinished.way() == Way::InsteadOfResult) {
        let responses: BTreeMap<_, _> = unfinished.responses().collect();
        if !responses.is_empty() {
            params = params.with_input_responses(responses);
        }
        params.request_state = unfinished.request_state().map(ToOwned::to_owned);
    }
    params
}

/// The newest protocol that the server speaks: the one without sessions if it can, else an older one.
fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

async fn greet<S>(greeting: impl Future<Output = Result<S, ClientInitializeError>>) -> Result<S, String> {
    match tokio::time::timeout(START_MAX, greeting).await {
        Ok(greeted) => greeted.map_err(|error| shortened(&unready(&error), PROBLEM_BYTES_MAX)),
        Err(_) => Err(format!("it was not ready within {} s", START_MAX.as_secs())),
    }
}

/// Why a server did not get ready.
fn unready(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it was gone before it was ready".to_owned(),
        ClientInitializeError::TransportError { error, .. } => chain(error.error.as_ref()),
        ClientInitializeError::JsonRpcError(refusal) => {
            format!("it does not shake hands: {}", refusal.message)
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => unready(fallback),
        other => format!("it does not speak MCP: {other}"),
    }
}

/// Whether changes of the list have to be subscribed to. Older servers tell them without.
fn announces_changes(peer: &Peer<RoleClient>) -> bool {
    peer.peer_info().is_some_and(|info| {
        let tools = info.capabilities.tools.as_ref();
        !info.protocol_version.has_initialize() && tools.is_some_and(|tools| tools.list_changed == Some(true))
    })
}

/// Notes each change of the list for as long as the server tells them.
async fn listen(peer: Peer<RoleClient>, changes: Arc<Changes>) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    if let Ok(mut subscription) = peer.listen(filter).await {
        // What changed before it was listened to is not told.
        changes.note();
        while let Ok(Some(_)) = subscription.next().await {
            changes.note();
        }
    }
    changes.are_no_longer_told();
}

/// Whether a request did not reach a server at all: there was no connection for it.
fn was_not_sent(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_connect) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// An error with its causes, which is where the useful words are.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        cause = error.source();
    }
    words
}
