//! Agents of a roundtable, prepared and created as the kernel asks for it.
//!
//! The kernel decides what comes next. Here it is found out whether an agent can be asked now and what it remembers, and its
//! run is created once the roundtable's journal has announced it.

use std::sync::Arc;

use adjourn_core::roundtable::{Memory, Purpose, Roundtable, Start};
use adjourn_core::{ResumesBy, Run, RunId, successor_key};
use adjourn_kernel::{Denied, Effect, NotCreated, Preparation};
use adjourn_store::Error;
use tokio::sync::mpsc;

use crate::service::{Service, ServiceError, WeakService};
use crate::turn_inputs::PrepareTurns;

/// Carries out what the kernel wants done for roundtables, until nothing can ask for it any more.
pub(crate) async fn carry_out(service: WeakService, mut effects: mpsc::UnboundedReceiver<Effect>) {
    while let Some(effect) = effects.recv().await {
        let Some(service) = service.upgrade() else { return };
        match effect {
            Effect::PrepareActivation { roundtable, purpose } => {
                tokio::spawn(async move {
                    let found = prepare(&service, roundtable.clone(), purpose.clone()).await;
                    service.runtime().activation_prepared(roundtable.id(), purpose, found);
                });
            }
            Effect::CreateActivation { roundtable, run_id } => {
                tokio::spawn(async move {
                    let created = create(&service, &roundtable, run_id).await;
                    service.runtime().activation_created(run_id, created);
                });
            }
            Effect::ForgetRoundtable(id) => {
                let workspaces = service.turn_setup().workspaces().clone();
                // What cannot be removed now, the next start finds.
                tokio::task::spawn_blocking(move || workspaces.forget_roundtable_shell(id));
            }
            Effect::StartTurn(_) | Effect::StopTurn { .. } | Effect::Survey(_) | Effect::ForgetCall(..) => {}
        }
    }
}

/// Finds out whether an agent can be asked now, and what it remembers.
async fn prepare(service: &Service, roundtable: Arc<Roundtable>, purpose: Purpose) -> Preparation {
    let service = service.clone();
    let found = tokio::task::spawn_blocking(move || {
        if misses_engine(&service, &roundtable, &purpose) {
            return Ok(Preparation::NotNow);
        }
        let start = start(&service, &roundtable, &purpose)?;
        let run_id = RunId::from_bits(uuid::Uuid::now_v7().as_u128());
        Ok::<_, Error>(Preparation::Ready { run_id, start })
    });
    match found.await {
        Ok(Ok(found)) => found,
        Ok(Err(_)) | Err(_) => Preparation::NotNow,
    }
}

/// Whether somebody cannot be asked now because their engine is not there. Nobody is lost for that who was at the table
/// before; in the first round the person who opened it is told by its failure.
fn misses_engine(service: &Service, roundtable: &Roundtable, purpose: &Purpose) -> bool {
    let is_first = roundtable.current().is_none_or(|round| round.number <= 1);
    let seat = roundtable.spec().seat(&purpose.role()).filter(|_| !is_first);
    seat.is_some_and(|seat| {
        let shell = service.turn_setup().workspaces().roundtable_shell(roundtable.id());
        service.turn_setup().lacks(&seat.engine, shell.as_ref())
    })
}

/// Creates a run that was announced. One that cannot be created now is tried again; any other failure loses it.
async fn create(service: &Service, roundtable: &Roundtable, run_id: RunId) -> Result<(), NotCreated> {
    match service.create_activation(roundtable, run_id).await {
        Ok(()) => Ok(()),
        Err(ServiceError::Denied(Denied::QueueFull { .. } | Denied::DiskReserve { .. })) => {
            Err(NotCreated::NoRoom)
        }
        Err(
            ServiceError::Denied(Denied::Failed(_))
            | ServiceError::Store(Error::Failed { .. } | Error::Unresolved { .. }),
        ) => Err(NotCreated::NotNow),
        Err(error) => Err(NotCreated::Lost(error.to_string())),
    }
}

/// What an agent remembers when it is activated.
fn start(service: &Service, roundtable: &Roundtable, purpose: &Purpose) -> Result<Start, Error> {
    let role = purpose.role();
    let Some(seat) = roundtable.spec().seat(&role) else { return Ok(Start::Fresh) };
    let conversation = match seat.memory {
        Memory::Fresh => None,
        Memory::Resume => roundtable.conversation(&role),
    };
    let Some(conversation) = conversation else { return Ok(Start::Fresh) };
    let lost = conversation.run_id;
    Ok(match taken_up(service, lost, &seat.engine)? {
        Ok(()) => Start::Resume(lost),
        Err(reason) => Start::Fallback { lost, reason },
    })
}

/// A run, if there is one.
fn found(run: Result<Run, ServiceError>) -> Result<Option<Run>, Error> {
    match run {
        Ok(run) => Ok(Some(run)),
        Err(ServiceError::Store(error)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Whether the conversation of a run can be taken up by `engine`, or why it is lost.
fn taken_up(service: &Service, run_id: RunId, engine: &str) -> Result<Result<(), String>, Error> {
    let Some(run) = found(service.run(run_id))? else { return Ok(Err("its run was removed".to_owned())) };
    if let Some(holder) = service.store().holder(&successor_key(run_id))? {
        let problem = match holder.stream.run().map(|successor| service.run(successor)) {
            Some(Ok(successor)) => {
                successor.error().map(|error| format!(": {}: {}", error.code, error.message))
            }
            Some(Err(_)) | None => None,
        };
        return Ok(Err(format!("{} took it up in vain{}", holder.stream, problem.unwrap_or_default())));
    }
    if run.spec().engine != engine {
        return Ok(Err(format!("it was with `{}`", run.spec().engine)));
    }
    // The conversation of the others is in the journal.
    let needs_handle = run.spec().resumes_by == ResumesBy::Handle;
    if needs_handle && run.handle().is_none() {
        return Ok(Err("its agent left no handle to go on by".to_owned()));
    }
    let survey = service.turn_setup().survey(&run);
    Ok(match (survey.engine, survey.workspace, survey.handle || !needs_handle) {
        (false, _, _) => Err(format!("the engine `{engine}` is gone")),
        (_, false, _) => Err("its workspace is gone".to_owned()),
        (_, _, false) => Err("its agent does not know it any more".to_owned()),
        (true, true, true) => Ok(()),
    })
}
