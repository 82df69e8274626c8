//! Messages between Adjourn and the launcher: a program to start goes in, statuses come back.
//!
//! A [`Launch`] is sent over a socket as its length and its JSON, with five descriptors: the program's stdin, stdout and
//! stderr, the read end of the *control pipe* and the write end of the *status pipe*. Closing the other end of the control
//! pipe ends the program. The status pipe carries [`Status`] messages, one JSON document per line.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::sandbox::Sandbox;

/// The largest message. Arguments and environment of a Linux program are limited to 6 MiB by the kernel's defaults.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// A closed socket is an error and no signal. Where the system has no flag for it, the standard library has set the socket so.
#[cfg(not(target_vendor = "apple"))]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_vendor = "apple")]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// Descriptors that come with a [`Launch`].
const DESCRIPTORS: usize = 5;

/// A program to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsText>,
    pub(super) folder: PathBuf,
    /// The whole environment: nothing is inherited.
    pub(super) env: Vec<(OsText, OsText)>,
    /// The wall around it; none for a program that runs with everything its user may do.
    pub(super) sandbox: Option<Sandbox>,
}

/// The launcher's ends of the pipes of one program.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) control: OwnedFd,
    pub(super) status: PipeWriter,
}

/// What is reported about a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// The number of the process that supervises it.
    Supervisor(u32),
    /// It runs.
    Started,
    /// The wall around it could not be built, so it was not started.
    NoSandbox(String),
    /// It could not be started for another reason.
    NotStarted(String),
    /// It ended with this exit status, and everything that it had started is gone.
    Ended(u8),
}

impl Status {
    /// Writes it to a status pipe. Nobody may listen any more, which is no reason to stop.
    pub(super) fn send(&self, mut pipe: &PipeWriter) {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        let _ = pipe.write_all(&line);
    }
}

/// Text of the operating system, which need not be UTF-8: a string where it is, else its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OsText(pub(super) OsString);

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrBytes {
    Text(String),
    Bytes(Vec<u8>),
}

impl Serialize for OsText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_seq(self.0.as_bytes()),
        }
    }
}

impl<'de> Deserialize<'de> for OsText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match TextOrBytes::deserialize(deserializer)? {
            TextOrBytes::Text(text) => text.into(),
            TextOrBytes::Bytes(bytes) => OsString::from_vec(bytes),
        }))
    }
}

impl AsRef<OsStr> for OsText {
    fn as_ref(&self) -> &OsStr {
        &self.0
    }
}

/// Sends a program to the launcher.
pub(super) fn send(socket: &UnixStream, launch: &Launch, ends: &Ends) -> io::Result<()> {
    let body = serde_json::to_vec(launch)?;
    if body.len() > MESSAGE_BYTES_MAX {
        return Err(io::Error::other(format!(
            "arguments and environment have {} bytes, at most {MESSAGE_BYTES_MAX} can be passed",
            body.len()
        )));
    }
    let length = u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes();
    let descriptors = [
        ends.stdin.as_fd(),
        ends.stdout.as_fd(),
        ends.stderr.as_fd(),
        ends.control.as_fd(),
        ends.status.as_fd(),
    ];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("no space for the descriptors"));
    }
    let sent = rustix::net::sendmsg(socket, &[IoSlice::new(&length)], &mut ancillary, NO_SIGNAL)?;
    let mut socket: &UnixStream = socket;
    socket.write_all(&length[sent..])?;
    socket.write_all(&body)
}

/// Receives a program; none when the other end is closed.
pub(super) fn receive(socket: &UnixStream) -> io::Result<Option<(Launch, Ends)>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received =
        rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut length)], &mut ancillary, CLOSE_ON_EXEC)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(these) = message {
            descriptors.extend(these);
        }
    }
    for descriptor in &descriptors {
        close_on_exec(descriptor.as_fd())?;
    }
    let mut socket: &UnixStream = socket;
    socket.read_exact(&mut length[received.bytes..])?;
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?;
    if length > MESSAGE_BYTES_MAX {
        return Err(io::Error::other("a message is too long"));
    }
    let mut body = vec![0; length];
    socket.read_exact(&mut body)?;
    let [stdin, stdout, stderr, control, status] = <[OwnedFd; DESCRIPTORS]>::try_from(descriptors)
        .map_err(|_| io::Error::other("a message came without its descriptors"))?;
    let ends = Ends { stdin, stdout, stderr, control, status: status.into() };
    Ok(Some((serde_json::from_slice(&body)?, ends)))
}

#[cfg(target_os = "linux")]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;

#[cfg(not(target_os = "linux"))]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::empty();

/// Where the flag of `recvmsg` does not exist, the launcher has one thread and starts nothing in between.
fn close_on_exec(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?)
}
