//! Commands that the agent has Adjourn run: in its workspace, under a supervisor of their own, and where its
//! configuration says so.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adjourn_core::RunId;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalExitStatus, TerminalId, TerminalOutputRequest,
    TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use agent_client_protocol::v1::{Builder, ConnectionTo};
use agent_client_protocol::{
    Agent, Client, Error, HandleConnectionClose, HandleDispatchFrom, RunWithConnectionTo, on_receive_request,
};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::keeper::Kept;
use super::{AcpConfig, Serves};
use crate::agent_processes::AgentProcesses;
use crate::environment::Environment;
use crate::exec::CHUNK_BYTES;
use crate::program;
use crate::sandbox::Sandbox;
use crate::supervisor::{Exit, Program, Supervisor};
use crate::turn::Turn;

/// Commands that an agent may have running, or not released, at once.
const TERMINALS_MAX: usize = 16;

/// What is kept of the output of a command where the agent does not say how much: the end of it.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// The commands of an agent.
pub(super) struct Terminals {
    /// None where the agent may not have any run.
    workplace: Option<Workplace>,
    open: Mutex<HashMap<String, Arc<Terminal>>>,
}

struct Workplace {
    folder: PathBuf,
    environment: Environment,
    supervisor: Supervisor,
    /// The wall around the agent itself.
    sandbox: Option<Sandbox>,
    /// A command is its agent's, whoever starts it.
    run_id: RunId,
    agents: AgentProcesses,
}

/// A command, running or not.
struct Terminal {
    kept: Arc<Kept>,
    output: Mutex<Output>,
}

#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    bytes_max: usize,
    is_cut: bool,
}

impl Output {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let surplus = self.bytes.len().saturating_sub(self.bytes_max);
        self.is_cut |= surplus > 0;
        self.bytes.drain(..surplus);
    }

    /// Whole characters: what was cut may begin within one.
    fn text(&self) -> String {
        let is_inside = |byte: &&u8| (**byte & 0b1100_0000) == 0b1000_0000;
        let cut = if self.is_cut { self.bytes.iter().take_while(is_inside).count() } else { 0 };
        String::from_utf8_lossy(&self.bytes[cut..]).into_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.kept.end_soon();
    }
}

impl Terminals {
    pub(super) fn new(
        config: &AcpConfig,
        turn: &Turn,
        supervisor: &Supervisor,
        agents: &AgentProcesses,
        sandbox: Option<Sandbox>,
    ) -> Self {
        let workplace = config.serves.contains(&Serves::Terminal).then(|| Workplace {
            folder: turn.workspace.clone(),
            environment: Environment::of_run(turn.shell.as_ref(), &config.pass_env, &config.env),
            supervisor: supervisor.clone(),
            sandbox,
            run_id: turn.run_id,
            agents: agents.clone(),
        });
        Self { workplace, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Arc<Terminal>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &TerminalId) -> Result<Arc<Terminal>, Error> {
        self.open().get(&*id.0).cloned().ok_or_else(|| invalid(format!("there is no terminal `{}`", id.0)))
    }

    async fn create(&self, request: CreateTerminalRequest) -> Result<CreateTerminalResponse, Error> {
        let workplace = self.workplace.as_ref().ok_or_else(Error::method_not_found)?;
        if self.open().len() >= TERMINALS_MAX {
            return Err(invalid(format!("{TERMINALS_MAX} terminals are open: release some")));
        }
        let mut supervised = workplace
            .supervisor
            .start(workplace.command(&request)?)
            .await
            .map_err(Error::into_internal_error)?;
        workplace.agents.register(workplace.run_id, supervised.process());
        let (stdout, stderr) = (supervised.stdout.take(), supervised.stderr.take());
        drop(supervised.stdin.take());
        let bytes_max = request.output_byte_limit.and_then(|limit| usize::try_from(limit).ok());
        let bytes_max = bytes_max.unwrap_or(OUTPUT_BYTES_MAX).min(OUTPUT_BYTES_MAX);
        let kept = Kept::keep(supervised);
        let id = format!("terminal-{}", kept.process().pid);
        let output = Mutex::new(Output { bytes_max, ..Output::default() });
        let terminal = Arc::new(Terminal { kept, output });
        if let (Some(stdout), Some(stderr)) = (stdout, stderr) {
            tokio::spawn(read(Arc::downgrade(&terminal), stdout));
            tokio::spawn(read(Arc::downgrade(&terminal), stderr));
        }
        self.open().insert(id.clone(), terminal);
        Ok(CreateTerminalResponse::new(id))
    }

    fn output(&self, request: &TerminalOutputRequest) -> Result<TerminalOutputResponse, Error> {
        let terminal = self.find(&request.terminal_id)?;
        let output = terminal.output.lock().unwrap_or_else(PoisonError::into_inner);
        let status = terminal.kept.exit().map(status);
        Ok(TerminalOutputResponse::new(output.text(), output.is_cut).exit_status(status))
    }

    async fn kill(&self, request: &KillTerminalRequest) -> Result<KillTerminalResponse, Error> {
        self.find(&request.terminal_id)?.kept.end().await;
        Ok(KillTerminalResponse::new())
    }

    async fn release(&self, request: &ReleaseTerminalRequest) -> Result<ReleaseTerminalResponse, Error> {
        let terminal = self.find(&request.terminal_id)?;
        self.open().remove(&*request.terminal_id.0);
        terminal.kept.end().await;
        Ok(ReleaseTerminalResponse::new())
    }

    async fn wait(&self, request: &WaitForTerminalExitRequest) -> Result<WaitForTerminalExitResponse, Error> {
        let terminal = self.find(&request.terminal_id)?;
        terminal.kept.gone().await;
        let exit = terminal.kept.exit().map_or_else(TerminalExitStatus::new, status);
        Ok(WaitForTerminalExitResponse::new(exit))
    }
}

impl Workplace {
    fn command(&self, request: &CreateTerminalRequest) -> Result<Program, Error> {
        let folder = match &request.cwd {
            None => self.folder.clone(),
            Some(folder) => {
                let inside = |folder: &Path| folder.canonicalize().ok();
                let (wanted, workspace) = (inside(&self.folder.join(folder)), inside(&self.folder));
                wanted
                    .filter(|wanted| workspace.is_some_and(|workspace| wanted.starts_with(workspace)))
                    .ok_or_else(|| invalid(format!("{} is not in the workspace", folder.display())))?
            }
        };
        let mut environment = self.environment.clone();
        for variable in &request.env {
            environment.set(&variable.name, &variable.value);
        }
        let program = program::locate(&request.command, environment.get("PATH"))
            .ok_or_else(|| invalid(format!("there is no program `{}`", request.command)))?;
        let mut command = Program::new(program, folder);
        command.sandbox = self.sandbox.clone();
        command.args = request.args.iter().map(Into::into).collect();
        command.env = environment.into_variables();
        Ok(command)
    }
}

async fn read(terminal: std::sync::Weak<Terminal>, mut pipe: impl AsyncRead + Unpin) {
    let mut buffer = vec![0; CHUNK_BYTES];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        let Some(terminal) = terminal.upgrade() else { return };
        terminal.output.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
    }
}

fn status(exit: Exit) -> TerminalExitStatus {
    match exit {
        Exit::Status(status) => TerminalExitStatus::new().exit_code(u32::from(status)),
        Exit::SupervisorLost => TerminalExitStatus::new().signal("SIGKILL".to_owned()),
    }
}

fn invalid(problem: String) -> Error {
    Error::invalid_params().data(problem)
}

/// Adds the requests about commands to what a client answers. What takes its time does not keep other messages waiting.
pub(super) fn serve<H, R, C>(
    client: Builder<Client, H, R, C>,
    terminals: Arc<Terminals>,
) -> Builder<Client, impl HandleDispatchFrom<Agent>, R, C>
where
    H: HandleDispatchFrom<Agent>,
    R: RunWithConnectionTo<Agent>,
    C: HandleConnectionClose<Agent>,
{
    let each = || terminals.clone();
    let (created, shown, killed, released, awaited) = (each(), each(), each(), each(), each());
    client
        .on_receive_request(
            async move |request: CreateTerminalRequest, responder, cx: ConnectionTo<Agent>| {
                let terminals = created.clone();
                cx.spawn(async move { responder.respond_with_result(terminals.create(request).await) })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: TerminalOutputRequest, responder, _cx| {
                responder.respond_with_result(shown.output(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: KillTerminalRequest, responder, cx: ConnectionTo<Agent>| {
                let terminals = killed.clone();
                cx.spawn(async move { responder.respond_with_result(terminals.kill(&request).await) })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReleaseTerminalRequest, responder, cx: ConnectionTo<Agent>| {
                let terminals = released.clone();
                cx.spawn(async move { responder.respond_with_result(terminals.release(&request).await) })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WaitForTerminalExitRequest, responder, cx: ConnectionTo<Agent>| {
                let terminals = awaited.clone();
                cx.spawn(async move { responder.respond_with_result(terminals.wait(&request).await) })
            },
            on_receive_request!(),
        )
}
