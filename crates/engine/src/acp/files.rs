//! Files that the agent has Adjourn read and write: in its workspace, and where its configuration says so.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_client_protocol::v1::Builder;
use agent_client_protocol::v1::schema::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use agent_client_protocol::{
    Agent, Client, Error, HandleConnectionClose, HandleDispatchFrom, RunWithConnectionTo, on_receive_request,
};

use super::{AcpConfig, Serves};
use crate::beneath;
use crate::lines::LINE_BYTES_MAX;

/// The largest file that is read for an agent: it has to fit into a message, in which every byte may need several.
const FILE_BYTES_MAX: u64 = LINE_BYTES_MAX as u64 / 4;

/// The files of a workspace.
pub(super) struct Files {
    /// None where the agent may not have them served.
    workspace: Option<PathBuf>,
}

impl Files {
    pub(super) fn new(config: &AcpConfig, workspace: &Path) -> Self {
        let is_served = config.serves.contains(&Serves::Files);
        Self { workspace: is_served.then(|| workspace.to_owned()) }
    }

    /// The workspace, and `path` relative to it. That it leads nowhere else is seen to when it is opened.
    fn locate<'a>(&'a self, path: &'a Path) -> Result<(&'a Path, &'a str), Error> {
        let workspace = self.workspace.as_deref().ok_or_else(Error::method_not_found)?;
        let inside = path.strip_prefix(workspace).unwrap_or(path);
        let inside = inside.to_str().ok_or_else(|| invalid(path, "is not text"))?;
        Ok((workspace, inside))
    }

    fn read(&self, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, Error> {
        let path = &request.path;
        let (workspace, inside) = self.locate(path)?;
        let file = beneath::open(workspace, inside).map_err(|problem| invalid(path, &problem))?;
        let mut text = String::new();
        let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
        read.map_err(|error| invalid(path, &format!("cannot be read: {error}")))?;
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(invalid(path, &format!("is larger than {} MiB", FILE_BYTES_MAX >> 20)));
        }
        let from = request.line.unwrap_or(1).saturating_sub(1) as usize;
        let count = request.limit.map_or(usize::MAX, |limit| limit as usize);
        if from == 0 && count == usize::MAX {
            return Ok(ReadTextFileResponse::new(text));
        }
        let part: String = text.split_inclusive('\n').skip(from).take(count).collect();
        Ok(ReadTextFileResponse::new(part))
    }

    fn write(&self, request: &WriteTextFileRequest) -> Result<WriteTextFileResponse, Error> {
        let path = &request.path;
        let (workspace, inside) = self.locate(path)?;
        let mut file = beneath::create(workspace, inside).map_err(|problem| invalid(path, &problem))?;
        file.write_all(request.content.as_bytes())
            .map_err(|error| invalid(path, &format!("cannot be written: {error}")))?;
        Ok(WriteTextFileResponse::new())
    }
}

fn invalid(path: &Path, problem: &str) -> Error {
    Error::invalid_params().data(format!("{} {problem}", path.display()))
}

/// Adds the requests about files to what a client answers.
pub(super) fn serve<H, R, C>(
    client: Builder<Client, H, R, C>,
    files: Arc<Files>,
) -> Builder<Client, impl HandleDispatchFrom<Agent>, R, C>
where
    H: HandleDispatchFrom<Agent>,
    R: RunWithConnectionTo<Agent>,
    C: HandleConnectionClose<Agent>,
{
    let (reading, writing) = (files.clone(), files);
    client
        .on_receive_request(
            async move |request: ReadTextFileRequest, responder, _cx| {
                responder.respond_with_result(reading.read(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, responder, _cx| {
                responder.respond_with_result(writing.write(&request))
            },
            on_receive_request!(),
        )
}
