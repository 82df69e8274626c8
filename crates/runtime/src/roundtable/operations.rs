//! What every surface asks of roundtables.

use std::sync::Arc;

use adjourn_api::{GivenWorkflow, NewFacilitator, NewParticipant, NewWorkflow};
use adjourn_core::roundtable::{
    self, ArtifactId, ChangeArtifact, Command, EscalationWish, Frame, Open, Pace, PersonChange, Refusal,
    Reply, Roundtable, open_key,
};
use adjourn_core::{By, InteractionId, Record, ReplyKey, RoundtableId, RoundtableRow, Stream, canonical};
use adjourn_engine::ShellVariables;
use adjourn_kernel::{Denied, load_readable};
use adjourn_store::{After, Error};
use serde_json::{Value, json};

use super::library::Library;
use super::request::{RoundtableRequest, UNNAMED};
use crate::service::{Service, ServiceError, sha256};

/// A roundtable that was opened, or had been with the same idempotency key.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The roundtable.
    pub table: Arc<Roundtable>,
    /// What the asker should know.
    pub notice: Option<String>,
}

/// An answer to a question of a roundtable.
#[derive(Debug, Clone)]
pub struct RoundtableReply {
    /// Which question; none for the one that is open.
    pub interaction_id: Option<InteractionId>,
    /// The answer: the form that was asked for, one of its words, or plain text.
    pub response: Value,
    /// Who answers.
    pub by: By,
    /// The idempotency key that it was sent with.
    pub key: Option<String>,
}

/// A change that a person makes to a result of a roundtable.
#[derive(Debug, Clone)]
pub struct ArtifactRequest {
    /// The result.
    pub artifact_id: ArtifactId,
    /// What changes.
    pub change: PersonChange,
    /// The reason for it.
    pub reason: String,
    /// Who changes it.
    pub by: By,
    /// The idempotency key that it was sent with.
    pub key: Option<String>,
}

impl Service {
    /// Opens a roundtable, or finds the one that the same key opened before. It is held from then on.
    pub async fn open_roundtable(
        &self,
        request: RoundtableRequest,
        key: Option<String>,
    ) -> Result<Opened, ServiceError> {
        let key = key.map(|key| ReplyKey { key, digest: digest(&request) });
        let id = RoundtableId::from_bits(uuid::Uuid::now_v7().as_u128());
        let shell = request.shell.clone();
        let service = self.clone();
        let prepared = tokio::task::spawn_blocking(move || {
            let prepared = service.prepare_roundtable(&request, key)?;
            service.keep_roundtable_shell(id, shell.as_ref())?;
            Ok::<_, ServiceError>(prepared)
        });
        let prepared = prepared.await;
        let (open, notice) = match prepared {
            Ok(prepared) => prepared?,
            Err(_) => {
                return Err(ServiceError::Internal("opening the roundtable stopped halfway".to_owned()));
            }
        };
        let accepted = self.runtime().ask_roundtable(id, Command::Open(Box::new(open))).await;
        // Where it is not known whether it will be there after a crash, the next start finds out.
        let is_another = accepted.as_ref().is_ok_and(|accepted| accepted.state.id() != id);
        if is_another || matches!(accepted, Err(Denied::Refused(_))) {
            self.turn_setup().workspaces().forget_roundtable_shell(id);
        }
        let accepted = accepted?;
        let notice = notice.filter(|_| accepted.state.id() == id);
        Ok(Opened { table: accepted.state, notice })
    }

    /// Keeps what the engines here may have of a shell's variables, for the agents of a roundtable.
    fn keep_roundtable_shell(
        &self,
        id: RoundtableId,
        shell: Option<&ShellVariables>,
    ) -> Result<(), ServiceError> {
        let Some(shell) = shell else { return Ok(()) };
        let config = self.turn_setup().config();
        let engines: Vec<_> = config.engine_names().iter().filter_map(|name| config.engine(name)).collect();
        let variables = shell.all().iter().map(|(name, value)| (name.into(), value.into()));
        let shell = ShellVariables::new(variables, |name| engines.iter().any(|engine| engine.passes(name)));
        Ok(self.turn_setup().workspaces().keep_roundtable_shell(id, &shell)?)
    }

    fn prepare_roundtable(
        &self,
        request: &RoundtableRequest,
        key: Option<ReplyKey>,
    ) -> Result<(Open, Option<String>), ServiceError> {
        let library = self.library();
        let known_roles = library.roles();
        // Whoever asks again gets the same roundtable, also when an engine or a role is gone meanwhile.
        if let Some(key) = &key
            && let Some(holder) = self.store().holder(&open_key(&key.key))?
            && let Some(earlier) = holder.stream.roundtable()
        {
            let spec = match self.roundtable(earlier) {
                Err(ServiceError::UnknownRoundtable(roundtable)) => {
                    let key = key.key.clone();
                    return Err(ServiceError::Roundtable(Refusal::OpenedAndRemoved { key, roundtable }));
                }
                found => found?.spec().clone(),
            };
            return Ok((Open { spec, known_roles, key: Some(key.clone()) }, None));
        }
        self.check_room()?;
        let (spec, notice) = self.turn_setup().plan_roundtable(request)?;
        Ok((Open { spec, known_roles, key }, notice))
    }

    /// The roles and workflows that there are.
    pub fn library(&self) -> Library {
        self.turn_setup().library()
    }

    /// The state of a roundtable. [`RoundtableView`](roundtable::RoundtableView) shows it, and
    /// [`ArtifactView`](roundtable::ArtifactView) its artifacts.
    pub fn roundtable(&self, id: RoundtableId) -> Result<Roundtable, ServiceError> {
        load_readable(self.store().as_ref(), id)?.ok_or(ServiceError::UnknownRoundtable(id))
    }

    /// The row of a roundtable, which is cheaper than its state.
    pub fn roundtable_row(&self, id: RoundtableId) -> Result<RoundtableRow, ServiceError> {
        self.store().roundtable(id)?.ok_or(ServiceError::UnknownRoundtable(id))
    }

    /// The frames of up to `limit` entries of a roundtable's stream after the frame `after`. To follow it, watch the
    /// stream in the [store](Self::store); it ends with a frame that has `terminal` in its data.
    pub fn roundtable_frames(
        &self,
        id: RoundtableId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Frame>, ServiceError> {
        let first = self.store().read(id.into(), After::START, 1)?;
        let table =
            Roundtable::fold(id, &first).map_err(damaged)?.ok_or(ServiceError::UnknownRoundtable(id))?;
        let mut frames = Vec::new();
        for entry in self.store().read(id.into(), After::Frame(after), limit)? {
            let record = Record::<roundtable::Event>::of(&entry).map_err(damaged)?;
            // The first entry may begin before.
            frames.extend(record.frames(&table, &entry).into_iter().filter(|frame| frame.seq > after));
        }
        Ok(frames)
    }

    /// Answers a question of a roundtable.
    pub async fn reply_to_roundtable(
        &self,
        id: RoundtableId,
        answer: RoundtableReply,
    ) -> Result<Arc<Roundtable>, ServiceError> {
        let interaction_id = match answer.interaction_id {
            Some(id) => id,
            None => meant(&self.roundtable(id)?, answer.key.as_deref()),
        };
        let body = json!({ "interaction_id": interaction_id, "response": answer.response });
        let key = answer.key.map(|key| ReplyKey { key, digest: sha256(&canonical(&body)) });
        let reply = Reply { interaction_id, response: answer.response, by: answer.by, key };
        self.tell_roundtable(id, Command::Reply(reply)).await
    }

    /// Asks a roundtable to put what is open before a person: at once between rounds, else when the round is recorded.
    pub async fn escalate_roundtable(
        &self,
        id: RoundtableId,
        by: By,
        note: Option<String>,
    ) -> Result<Arc<Roundtable>, ServiceError> {
        self.tell_roundtable(id, Command::Escalate(EscalationWish { by, note })).await
    }

    /// Changes a result of a roundtable, as a person. The same request with the same key again changes nothing.
    pub async fn change_artifact(
        &self,
        id: RoundtableId,
        request: ArtifactRequest,
    ) -> Result<Arc<Roundtable>, ServiceError> {
        let ArtifactRequest { artifact_id, change, reason, by, key } = request;
        let body = json!([artifact_id, change, reason]);
        let key = key.map(|key| ReplyKey { key, digest: sha256(&canonical(&body)) });
        let change = ChangeArtifact { artifact_id, change, reason, by, key };
        self.tell_roundtable(id, Command::ChangeArtifact(Box::new(change))).await
    }

    /// Breaks a roundtable off: its runs are canceled, and a round that is not recorded is dropped.
    pub async fn close_roundtable(&self, id: RoundtableId, by: By) -> Result<Arc<Roundtable>, ServiceError> {
        self.tell_roundtable(id, Command::Close(by)).await
    }

    /// What came out of a roundtable, as a document for people.
    pub fn export_roundtable_markdown(&self, id: RoundtableId) -> Result<String, ServiceError> {
        roundtable::export_markdown(&self.roundtable(id)?).map_err(inconsistent)
    }

    /// What came out of a roundtable, all of it.
    pub fn export_roundtable_json(&self, id: RoundtableId) -> Result<Value, ServiceError> {
        roundtable::export_json(&self.roundtable(id)?).map_err(inconsistent)
    }

    async fn tell_roundtable(
        &self,
        id: RoundtableId,
        command: Command,
    ) -> Result<Arc<Roundtable>, ServiceError> {
        Ok(self.runtime().ask_roundtable(id, command).await?.state)
    }
}

impl From<Denied<Roundtable>> for ServiceError {
    fn from(denied: Denied<Roundtable>) -> Self {
        match denied {
            Denied::Refused(Refusal::UnknownRoundtable(id)) => Self::UnknownRoundtable(id),
            Denied::Refused(Refusal::Invalid(errors)) => Self::Invalid(errors),
            Denied::Refused(refusal) => Self::Roundtable(refusal),
            Denied::Failed(error) => Self::Denied(Denied::Failed(error)),
            Denied::QueueFull { waiting, queue_max } => {
                Self::Denied(Denied::QueueFull { waiting, queue_max })
            }
            Denied::DiskReserve { free_bytes, reserve_bytes } => {
                Self::Denied(Denied::DiskReserve { free_bytes, reserve_bytes })
            }
        }
    }
}

/// The question that an answer without a number is for: the one that the same key answered before, else the one that is open.
/// With none open, the last one, which is refused with what there is.
fn meant(table: &Roundtable, key: Option<&str>) -> InteractionId {
    let same_key = table.interactions().iter().find(|interaction| {
        let before = interaction.resolution.as_ref().and_then(|resolution| resolution.key.as_ref());
        before.is_some_and(|before| Some(before.key.as_str()) == key)
    });
    let meant = same_key.or_else(|| table.pending()).or_else(|| table.interactions().last());
    meant.map_or(InteractionId(0), |interaction| interaction.interaction_id)
}

fn damaged(problem: impl std::fmt::Display) -> ServiceError {
    Error::Damaged { problem: problem.to_string() }.into()
}

fn inconsistent(problem: roundtable::Inconsistent) -> ServiceError {
    ServiceError::Internal(problem.to_string())
}

/// Tells a request from another with the same key.
///
/// The form is that of the first version, and what came later is left out where it says nothing: a request that an older
/// version took has the digest that it had then.
fn digest(request: &RoundtableRequest) -> String {
    let asked = &request.roundtable;
    let participants = asked.participants.as_ref().map(|all| {
        let seats = all.iter().map(NewParticipant::seat);
        seats.map(|it| json!([it.role, it.engine, it.memory, it.side])).collect::<Vec<_>>()
    });
    let workflow = asked.workflow.as_ref().map(|workflow| match workflow {
        NewWorkflow::Named(name) => format!("Named({name:?})"),
        NewWorkflow::Given(GivenWorkflow { file, yaml }) => {
            format!("Given {{ file: {:?}, yaml: {yaml:?} }}", file.as_deref().unwrap_or(UNNAMED))
        }
    });
    let pace = if asked.interactive == Some(true) { Pace::Checkpoints } else { Pace::Continuous };
    let NewFacilitator { engine, memory } = asked.facilitator.clone().unwrap_or_default();
    let labels = asked.labels.clone().unwrap_or_default();
    let mut document = json!({
        "subject": asked.subject, "workflow": workflow, "strategy": asked.strategy, "engine": asked.engine,
        "facilitator": engine, "participants": participants, "pace": pace, "context": asked.context,
        "limits": asked.limits, "labels": labels,
    });
    if let Some(engines) = asked.engines.as_ref().filter(|engines| !engines.is_empty()) {
        document["engines"] = json!(engines);
    }
    if let Some(memory) = memory {
        document["facilitator_memory"] = json!(memory);
    }
    sha256(&canonical(&document))
}
