//! One turn of a conversation: a prompt, all that comes of it, and its end.

use std::path::Path;
use std::time::Duration;

use adjourn_core::{Observation, PermissionRequest, Usage};
use agent_client_protocol::v1::schema::{
    ContentBlock, PromptRequest, PromptResponse, RequestPermissionResponse, SessionId, StopReason,
};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::AcpConfig;
use super::failure::Trouble;
use super::gateway;
use super::live::{Asked, Live};
use super::permission::{
    PermissionAnswer, allowed, answer_by_policy, chosen, denied, digest, question, unshowable,
};
use super::wire::Update;
use crate::gateway::Offered;
use crate::turn::{Decision, Finished, Seen, Turn, show};

/// How long an agent that waits for a permission has to be silent until its turn counts as waiting: what it asks at
/// once is put to a person at once, and what it does besides is seen. Agents ask for parallel calls within milliseconds.
const SILENCE: Duration = Duration::from_millis(250);

/// How a turn ended for the process.
pub(super) enum Played {
    /// It can go on with another turn.
    Pause(Finished),
    /// It cannot.
    Over(Finished),
}

impl Live {
    /// Plays a turn. When it is told to stop, the agent is told first.
    pub(super) async fn play(
        &mut self,
        turn: &Turn,
        config: &AcpConfig,
        seen: &mpsc::Sender<Seen>,
        stop: &CancellationToken,
    ) -> Played {
        let played = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            played = self.converse(turn, config, seen) => Some(played),
        };
        match played {
            Some(Ok(finished)) => Played::Pause(finished),
            Some(Err(trouble)) => Played::Over(self.failure(trouble).await),
            None => {
                self.leave_turn().await;
                Played::Over(Finished::Stopped)
            }
        }
    }

    async fn converse(
        &mut self,
        turn: &Turn,
        config: &AcpConfig,
        seen: &mpsc::Sender<Seen>,
    ) -> Result<Finished, Trouble> {
        self.wire.turn_over(turn).await;
        let mut clerk = Clerk {
            config,
            workspace: &turn.workspace,
            offered: self.seat.as_ref().map(|seat| seat.offered.clone()).unwrap_or_default(),
            name: self.name.clone(),
            decisions: turn.decisions.clone(),
            new: Vec::new(),
        };
        if self.prompting.is_none() {
            self.prompt(&turn.prompt);
        }
        self.waiting = clerk.settle(std::mem::take(&mut self.waiting));
        match self.listen(&mut clerk, seen).await? {
            Some(response) => self.conclude(&response, seen).await,
            None => {
                for one in self.narrator.pause() {
                    show(seen, one).await;
                }
                Ok(Finished::NeedsPermission(clerk.new))
            }
        }
    }

    fn prompt(&mut self, prompt: &str) {
        // What came after the last turn belongs to none.
        while self.updates.try_recv().is_ok() {}
        self.narrator.begin();
        let session = self.session.clone().unwrap_or_else(|| SessionId::new(""));
        let request = PromptRequest::new(session, vec![ContentBlock::from(prompt.to_owned())]);
        self.prompting = Some(Box::pin(self.connection.send_request(request).block_task()));
    }

    /// Listens until the prompt is answered; nothing if the agent waits for a permission.
    async fn listen(
        &mut self,
        clerk: &mut Clerk<'_>,
        seen: &mpsc::Sender<Seen>,
    ) -> Result<Option<PromptResponse>, Trouble> {
        let Self { wire, updates, requests, session, prompting, waiting, narrator, .. } = self;
        let Some(prompt) = prompting else { return Ok(None) };
        loop {
            // In this order: what came before the answer is told before it.
            tokio::select! {
                biased;
                () = wire.failed() => return Err(Trouble::Broken),
                Some(Update { notification, raw }) = updates.recv() => {
                    is_ours(session.as_ref(), &notification.session_id)?;
                    for one in narrator.read(notification.update, raw) {
                        show(seen, one).await;
                    }
                    if narrator.is_too_long() {
                        return Err(Trouble::TooLong);
                    }
                }
                Some(asked) = requests.recv() => {
                    is_ours(session.as_ref(), &asked.request.session_id)?;
                    waiting.extend(clerk.take(asked));
                }
                response = &mut *prompt => {
                    *prompting = None;
                    // Whatever it asked is not asked any more.
                    waiting.clear();
                    let refused = |error| Trouble::Refused { what: "session/prompt", error };
                    return response.map(Some).map_err(refused);
                }
                () = sleep(SILENCE), if !waiting.is_empty() => return Ok(None),
            }
        }
    }

    async fn conclude(
        &mut self,
        response: &PromptResponse,
        seen: &mpsc::Sender<Seen>,
    ) -> Result<Finished, Trouble> {
        for one in self.narrator.finish() {
            show(seen, one).await;
        }
        if let Some(used) = &response.usage {
            let usage =
                Usage { input_tokens: used.input_tokens, output_tokens: used.output_tokens, cost_usd: None };
            show(seen, Seen::Fact(Observation::Usage(usage))).await;
        }
        match response.stop_reason {
            StopReason::EndTurn => Ok(Finished::Completed { text: self.narrator.take_text() }),
            reason => Err(Trouble::Stopped(reason)),
        }
    }
}

fn is_ours(ours: Option<&SessionId>, given: &SessionId) -> Result<(), Trouble> {
    if ours == Some(given) { Ok(()) } else { Err(Trouble::WrongSession(given.0.to_string())) }
}

/// Answers what the agent asks, as far as that is decided.
struct Clerk<'a> {
    config: &'a AcpConfig,
    workspace: &'a Path,
    /// What it can call at the gateway.
    offered: Offered,
    /// What people call the agent.
    name: String,
    /// What a person decided, and was not used yet.
    decisions: Vec<Decision>,
    /// What a person has to be asked.
    new: Vec<PermissionRequest>,
}

impl Clerk<'_> {
    /// Answers requests that waited since the turn before. Those that nobody decided go on waiting.
    fn settle(&mut self, waiting: Vec<Asked>) -> Vec<Asked> {
        let mut left = Vec::new();
        for asked in waiting {
            match self.decided(&asked) {
                Some(response) => answer(asked, response),
                None => left.push(asked),
            }
        }
        left
    }

    /// Answers a request, or gives it back to wait for a person.
    fn take(&mut self, asked: Asked) -> Option<Asked> {
        let response = match self.decided(&asked) {
            Some(response) => response,
            None if gateway::is_ours(&asked.request, &self.offered) => allowed(&asked.request),
            None => match answer_by_policy(self.config, self.workspace, &asked.request) {
                PermissionAnswer::Allow => allowed(&asked.request),
                PermissionAnswer::Deny => denied(&asked.request),
                PermissionAnswer::Ask => match question(&self.name, &asked.request) {
                    Ok(question) => {
                        self.new.push(question);
                        return Some(asked);
                    }
                    Err(too_long) => {
                        // An agent that is gone will be missed elsewhere.
                        let _ = asked.responder.respond_with_result(Err(unshowable(too_long)));
                        return None;
                    }
                },
            },
        };
        answer(asked, response);
        None
    }

    /// What a person decided about this very request. That counts once.
    fn decided(&mut self, asked: &Asked) -> Option<RequestPermissionResponse> {
        let wanted = digest(&asked.request);
        let place = self.decisions.iter().position(|decision| decision.digest == wanted)?;
        let decision = self.decisions.remove(place);
        Some(chosen(&asked.request, decision.option.as_deref()))
    }
}

fn answer(asked: Asked, response: RequestPermissionResponse) {
    // An agent that is gone will be missed elsewhere.
    let _ = asked.responder.respond(response);
}
