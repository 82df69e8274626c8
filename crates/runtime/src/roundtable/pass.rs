//! One pass over a roundtable: everything that can be done for it now, and no waiting.

use adjourn_core::roundtable::{
    Ask, Command, Memory, Position, Purpose, Refusal, Roundtable, Start, Synthesis, Todo,
};
use adjourn_core::{
    By, Command as RunCommand, ResumesBy, RoundtableId, Run, RunId, RunStatus, successor_key,
};
use adjourn_store::{Error, RunFilter, TableDenied, load_roundtable};
use serde::de::DeserializeOwned;

use super::LABEL;
use crate::brief::Briefs;
use crate::kernel::Denied;
use crate::service::{Service, ServiceError};

/// Runs of a closed roundtable that are looked at in one step.
const PAGE: usize = 64;

/// How a pass ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// All is done that can be: the bell rings when there is more.
    Done,
    /// Something could not be done that may be later.
    Blocked,
}

/// Why a pass stops before it is through.
enum Stop {
    /// The journal or the queue has no room, or an engine is not there: later.
    Blocked,
    /// The roundtable is not what it was when this was decided.
    Moved(Refusal),
    /// It cannot be read. Nothing is done to what is not understood.
    Unreadable,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::Failed { .. } | Error::Unresolved { .. } => Self::Blocked,
            _ => Self::Unreadable,
        }
    }
}

impl From<TableDenied> for Stop {
    fn from(denied: TableDenied) -> Self {
        match denied {
            TableDenied::Refused(refusal) => Self::Moved(refusal),
            _ => Self::Blocked,
        }
    }
}

/// Does all that can be done for a roundtable now.
pub(super) async fn see_to(service: &Service, id: RoundtableId) -> Rest {
    let pass = Pass { service, id };
    // The state on which something was refused: a second time on the same one is a mistake of ours.
    let mut refused_at = None;
    loop {
        match pass.step().await {
            Ok(Step::GoOn) => {}
            Ok(Step::Rest) => return Rest::Done,
            Err(Stop::Blocked) => return Rest::Blocked,
            Err(Stop::Unreadable) => return pass.end_unreadable().await,
            Err(Stop::Moved(refusal)) => {
                let Ok(Some(table)) = pass.table().await else { return Rest::Blocked };
                if refused_at.replace(table.seq()) == Some(table.seq()) {
                    let problem = format!("what it needs next is refused: {refusal}");
                    match pass.ask(Command::Fail { problem }).await {
                        Ok(()) | Err(Stop::Moved(_) | Stop::Unreadable) => {}
                        Err(Stop::Blocked) => return Rest::Blocked,
                    }
                }
            }
        }
    }
}

/// What a step led to.
enum Step {
    /// Something changed.
    GoOn,
    /// There is nothing more to do now.
    Rest,
}

struct Pass<'a> {
    service: &'a Service,
    id: RoundtableId,
}

impl Pass<'_> {
    async fn step(&self) -> Result<Step, Stop> {
        let Some(table) = self.table().await? else { return Ok(Step::Rest) };
        match table.todo() {
            Todo::OpenRound => self.ask(Command::OpenRound).await?,
            Todo::RecordRound => self.ask(Command::RecordRound).await?,
            Todo::Agents { to_start, at_work } => return self.agents(&table, &to_start, &at_work).await,
            Todo::Wait(_) => return Ok(Step::Rest),
            Todo::Nothing => {
                self.cancel_runs().await?;
                self.service.desk().workspaces().forget_roundtable_shell(self.id);
                return Ok(Step::Rest);
            }
        }
        Ok(Step::GoOn)
    }

    async fn table(&self) -> Result<Option<Roundtable>, Stop> {
        let id = self.id;
        self.reading(move |service| Ok(load_roundtable(service.store().as_ref(), id)?)).await
    }

    async fn ask(&self, command: Command) -> Result<(), Stop> {
        self.service.runtime().ask_table(self.id, command).await?;
        Ok(())
    }

    /// Ends a roundtable whose journal cannot be read, so that only this one is harmed.
    async fn end_unreadable(&self) -> Rest {
        let problem = "its journal cannot be read".to_owned();
        match self.ask(Command::Fail { problem }).await {
            Ok(()) | Err(Stop::Moved(_) | Stop::Unreadable) => Rest::Done,
            Err(Stop::Blocked) => Rest::Blocked,
        }
    }

    /// Hears those who are done, and starts those who are not at work yet.
    async fn agents(
        &self,
        table: &Roundtable,
        to_start: &[Purpose],
        at_work: &[RunId],
    ) -> Result<Step, Stop> {
        let (mut step, mut is_blocked) = (Step::Rest, false);
        for &run_id in at_work {
            let run = self.reading(move |service| found(service.run(run_id))).await?;
            match run {
                Some(run) if run.status().is_terminal() => {
                    self.hear(table, &run).await?;
                    step = Step::GoOn;
                }
                Some(_) => {}
                None => self.create(table, run_id).await?,
            }
        }
        for purpose in to_start {
            if self.misses_engine(table, purpose).await? {
                is_blocked = true;
                continue;
            }
            let run_id = RunId::from_bits(uuid::Uuid::now_v7().as_u128());
            let start = self.start(table, purpose).await?;
            self.ask(Command::StartActivation { purpose: purpose.clone(), run_id, start }).await?;
            let Some(table) = self.table().await? else { return Ok(Step::Rest) };
            self.create(&table, run_id).await?;
        }
        if is_blocked { Err(Stop::Blocked) } else { Ok(step) }
    }

    /// Whether somebody cannot be asked now because their engine is not there. Nobody is lost for that who was at the table
    /// before; in the first round the person who opened it is told by its failure.
    async fn misses_engine(&self, table: &Roundtable, purpose: &Purpose) -> Result<bool, Stop> {
        let is_first = table.current().is_none_or(|round| round.number <= 1);
        let seat = table.spec().seat(&purpose.role()).filter(|_| !is_first);
        let Some(engine) = seat.map(|seat| seat.engine.clone()) else { return Ok(false) };
        let id = self.id;
        self.reading(move |service| {
            let shell = service.desk().workspaces().roundtable_shell(id);
            Ok(service.desk().lacks(&engine, shell.as_ref()))
        })
        .await
    }

    /// Creates a run that was announced. One that cannot be is lost.
    async fn create(&self, table: &Roundtable, run_id: RunId) -> Result<(), Stop> {
        let created = self.service.create_activation(table, run_id).await;
        match created {
            Ok(()) => Ok(()),
            Err(ServiceError::Denied(
                Denied::QueueFull { .. } | Denied::DiskReserve { .. } | Denied::Failed(_),
            )) => Err(Stop::Blocked),
            Err(ServiceError::Store(error)) => Err(error.into()),
            Err(error) => self.ask(Command::ReportLost { run_id, reason: error.to_string() }).await,
        }
    }

    /// Writes down what a run said that has ended.
    async fn hear(&self, table: &Roundtable, run: &Run) -> Result<(), Stop> {
        let purpose =
            table.current().and_then(|round| round.activation(run.id())).map(|it| it.purpose.clone());
        let Some(purpose) = purpose else { return Ok(()) };
        let run_id = run.id();
        let said = match purpose {
            Purpose::Ask => said::<Ask>(run).map(|ask| Command::RecordFocus { run_id, ask }),
            Purpose::Answer(_) => said::<Position>(run).map(|said| Command::RecordAnswer { run_id, said }),
            Purpose::Synthesis => {
                said::<Synthesis>(run).map(|synthesis| Command::RecordSynthesis { run_id, synthesis })
            }
        };
        let reason = match said {
            Ok(command) => match self.ask(command).await {
                Err(Stop::Moved(refusal @ Refusal::Invalid(_))) => refusal.to_string(),
                other => return other,
            },
            Err(reason) => reason,
        };
        self.ask(Command::ReportLost { run_id, reason }).await
    }

    /// What an agent remembers when it is activated.
    async fn start(&self, table: &Roundtable, purpose: &Purpose) -> Result<Start, Stop> {
        let role = purpose.role();
        let Some(seat) = table.spec().seat(&role) else { return Ok(Start::Fresh) };
        let conversation = match seat.memory {
            Memory::Fresh => None,
            Memory::Resume => table.conversation(&role),
        };
        let Some(conversation) = conversation else { return Ok(Start::Fresh) };
        let (run_id, engine) = (conversation.run_id, seat.engine.clone());
        self.reading(move |service| {
            Ok(match taken_up(service, run_id, &engine)? {
                Ok(()) => Start::Resume(run_id),
                Err(reason) => Start::Fallback { lost: run_id, reason },
            })
        })
        .await
    }

    /// Cancels what still runs for a roundtable that is closed.
    async fn cancel_runs(&self) -> Result<(), Stop> {
        let mut before = None;
        loop {
            let label = Some((LABEL.to_owned(), self.id.to_string()));
            let filter = RunFilter { label, before, ..RunFilter::default() };
            let page = self.reading(move |service| Ok(service.store().runs(&filter, PAGE)?)).await?;
            for row in page.iter().filter(|row| !row.status.is_terminal()) {
                self.cancel(row.run_id).await?;
            }
            before = page.last().map(|row| row.run_id);
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }

    async fn cancel(&self, run_id: RunId) -> Result<(), Stop> {
        // Anybody can write a label; only the roundtable's own runs end with it.
        let run = self.reading(move |service| found(service.run(run_id))).await?;
        if run.is_none_or(|run| run.spec().roundtable != Some(self.id)) {
            return Ok(());
        }
        match self.service.runtime().ask(run_id, RunCommand::Cancel(By::SYSTEM)).await {
            // It ended meanwhile, or is ending.
            Ok(_) | Err(Denied::Refused(_)) => Ok(()),
            Err(_) => Err(Stop::Blocked),
        }
    }

    /// Reads where that keeps nobody else waiting.
    async fn reading<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Service) -> Result<T, Stop> + Send + 'static,
    ) -> Result<T, Stop> {
        let service = self.service.clone();
        tokio::task::spawn_blocking(move || read(&service)).await.unwrap_or(Err(Stop::Blocked))
    }
}

/// A run, if there is one.
fn found(run: Result<Run, ServiceError>) -> Result<Option<Run>, Stop> {
    match run {
        Ok(run) => Ok(Some(run)),
        Err(ServiceError::UnknownRun(_)) => Ok(None),
        Err(ServiceError::Store(error)) => Err(error.into()),
        Err(_) => Err(Stop::Unreadable),
    }
}

/// What a run said, or why it said nothing.
fn said<T: DeserializeOwned>(run: &Run) -> Result<T, String> {
    match (run.status(), run.error(), run.result()) {
        (RunStatus::Succeeded, _, Some(result)) => {
            serde_path_to_error::deserialize(result).map_err(|error| {
                format!("what it printed cannot be used: `{}`: {}", error.path(), error.inner())
            })
        }
        (RunStatus::Succeeded, _, None) => Err("it printed nothing".to_owned()),
        (RunStatus::Canceled, _, _) => Err("its run was canceled".to_owned()),
        (_, Some(error), _) => Err(format!("{}: {}", error.code, error.message)),
        (status, None, _) => Err(format!("its run is {status}")),
    }
}

/// Whether the conversation of a run can be taken up by `engine`, or why it is lost.
fn taken_up(service: &Service, run_id: RunId, engine: &str) -> Result<Result<(), String>, Stop> {
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
    let survey = service.desk().survey(&run);
    Ok(match (survey.engine, survey.workspace, survey.handle || !needs_handle) {
        (false, _, _) => Err(format!("the engine `{engine}` is gone")),
        (_, false, _) => Err("its workspace is gone".to_owned()),
        (_, _, false) => Err("its agent does not know it any more".to_owned()),
        (true, true, true) => Ok(()),
    })
}
