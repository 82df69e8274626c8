//! A conversation with an agent whose process is there.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use adjourn_core::Process;
use agent_client_protocol::v1::schema::{
    CancelNotification, PromptResponse, RequestPermissionRequest, RequestPermissionResponse, SessionId,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Client, Error, JsonRpcRequest, on_receive_request};
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::AcpConfig;
use super::failure::Trouble;
use super::files::Files;
use super::keeper::Kept;
use super::narrator::Narrator;
use super::permission::cancelled;
use super::terminals::Terminals;
use super::wire::{Ends, Update, Wire};
use crate::gateway::{AccessToken, TurnGuard};
use crate::supervisor::Supervised;
use crate::turn::Turn;

/// How long an agent may take to end its turn once it was told to. Ending its process may take 4 s more, and a canceled
/// run has to be gone within 5.
const CANCEL_MAX: Duration = Duration::from_millis(500);

/// How long an agent may take to end by itself when nobody talks to it any more. That is how the protocol ends, and there
/// is one that ends in no other way but by being killed.
const PARTING_MAX: Duration = Duration::from_secs(1);

/// A permission that the agent asks for.
pub(super) struct Asked {
    pub(super) request: RequestPermissionRequest,
    pub(super) responder: Responder<RequestPermissionResponse>,
}

/// A conversation with an agent.
pub(super) struct Live {
    /// What people call the agent.
    pub(super) name: String,
    pub(super) kept: Arc<Kept>,
    pub(super) wire: Arc<Wire>,
    pub(super) connection: ConnectionTo<Agent>,
    pub(super) updates: mpsc::Receiver<Update>,
    pub(super) requests: mpsc::UnboundedReceiver<Asked>,
    /// The conversation, once it is open.
    pub(super) session: Option<SessionId>,
    /// The answer to the prompt of the turn that is not over.
    pub(super) prompting: Option<BoxFuture<'static, Result<PromptResponse, Error>>>,
    /// Permissions that wait for a person, in this turn.
    pub(super) waiting: Vec<Asked>,
    pub(super) narrator: Narrator,
    /// The way of this process to the gateway, if it was told of one.
    pub(super) badge: Option<AccessToken>,
    /// What it may call there, while a turn goes on.
    pub(super) seat: Option<TurnGuard>,
    /// The protocol at work. It ends when nobody listens any more.
    _protocol: AbortOnDropHandle<()>,
}

impl Live {
    /// Talks to an agent that was started.
    pub(super) async fn connect(
        name: String,
        mut supervised: Supervised,
        turn: &Turn,
        config: &AcpConfig,
        terminals: Terminals,
    ) -> io::Result<Self> {
        let (wire, Ends { channel, updates }) = Wire::open(&mut supervised, turn).await?;
        let kept = Kept::keep(supervised);
        let files = Arc::new(Files::new(config, &turn.workspace));
        let terminals = Arc::new(terminals);
        let (asks, requests) = mpsc::unbounded_channel();
        let (connected, connection) = oneshot::channel();
        let protocol = async move {
            let asked = async move |request: RequestPermissionRequest, responder, _: ConnectionTo<Agent>| {
                // Where nobody listens any more the responder says so when it is dropped.
                let _ = asks.send(Asked { request, responder });
                Ok(())
            };
            let client = Client.v1().name("adjourn").on_receive_request(asked, on_receive_request!());
            let client = super::files::serve(client, files);
            let client = super::terminals::serve(client, terminals);
            let talk = client.connect_with(channel, async move |connection: ConnectionTo<Agent>| {
                let _ = connected.send(connection);
                std::future::pending::<Result<(), Error>>().await
            });
            // That it ended is seen by whoever waits for an answer.
            let _ = talk.await;
        };
        let protocol = AbortOnDropHandle::new(tokio::spawn(protocol));
        let connection =
            connection.await.map_err(|_| io::Error::other("the connection to the agent cannot be set up"))?;
        Ok(Self {
            name,
            kept,
            wire,
            connection,
            updates,
            requests,
            session: None,
            prompting: None,
            waiting: Vec::new(),
            narrator: Narrator::default(),
            badge: None,
            seat: None,
            _protocol: protocol,
        })
    }

    pub(super) fn process(&self) -> Process {
        self.kept.process()
    }

    pub(super) fn kept(&self) -> Arc<Kept> {
        self.kept.clone()
    }

    /// Whether it can still be talked to.
    pub(super) fn is_there(&self) -> bool {
        self.kept.is_there()
    }

    /// Ends the process, and waits until nothing of it is left.
    pub(super) async fn end(&mut self) {
        self.prompting = None;
        self.wire.close();
        if timeout(PARTING_MAX, self.kept.gone()).await.is_err() {
            self.kept.end().await;
        }
    }

    /// Asks the agent something outside of a turn. What it shows meanwhile is nothing new: it is replaying what was said.
    pub(super) async fn ask<Q: JsonRpcRequest>(
        &mut self,
        what: &'static str,
        limit: Duration,
        request: Q,
    ) -> Result<Q::Response, Trouble> {
        let answer = self.connection.send_request(request).block_task();
        let Self { wire, updates, requests, .. } = self;
        let listen = async {
            let mut answer = std::pin::pin!(answer);
            loop {
                tokio::select! {
                    biased;
                    () = wire.failed() => return Err(Trouble::Broken),
                    Some(_) = updates.recv() => {}
                    Some(asked) = requests.recv() => drop(asked.responder.respond(cancelled())),
                    answer = &mut answer => {
                        return answer.map_err(|error| Trouble::Refused { what, error });
                    }
                }
            }
        };
        timeout(limit, listen).await.unwrap_or(Err(Trouble::TimedOut { what, limit }))
    }

    /// Has the agent give up the turn that is not over, if there is one: it may want to write down what it did.
    pub(super) async fn leave_turn(&mut self) {
        let (Some(mut prompting), Some(session)) = (self.prompting.take(), &self.session) else { return };
        if self.connection.send_notification(CancelNotification::new(session.clone())).is_err() {
            return;
        }
        for asked in self.waiting.drain(..) {
            let _ = asked.responder.respond(cancelled());
        }
        let Self { updates, requests, kept, .. } = self;
        let until_it_does = async {
            loop {
                tokio::select! {
                    biased;
                    () = kept.gone() => return,
                    Some(_) = updates.recv() => {}
                    Some(asked) = requests.recv() => drop(asked.responder.respond(cancelled())),
                    _ = &mut prompting => return,
                }
            }
        };
        tokio::select! {
            () = until_it_does => {}
            () = sleep(CANCEL_MAX) => {}
        }
    }
}

impl Drop for Live {
    /// Whoever drops a conversation has no more use for its process.
    fn drop(&mut self) {
        self.kept.end_soon();
    }
}
