//! Listeners: the TCP port and the socket in the data directory.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, UnixListener};

use crate::auth::guard::{Door, OtherUsers};
use crate::auth::tokens::Tokens;
use crate::serve::error::Error;
use crate::serve::socket_path::bind_socket;

/// Where the server listens unless it is told otherwise.
pub const LISTEN_DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7717);

/// The socket in the data directory.
pub const SOCKET_FILE: &str = "adjourn.sock";

/// A port, and the socket in the data directory.
pub struct Listeners {
    pub(crate) tcp: TcpListener,
    /// What is asked of those who come by the port.
    pub(crate) door: Door,
    pub(crate) socket: Socket,
    address: SocketAddr,
}

impl Listeners {
    /// Listens on `address`, and in `data_dir`, which has to be owned by this process: a socket that is there is a
    /// leftover, and goes. With `tokens`, whoever comes by the address needs one; without, it has to be one that only
    /// this machine can reach. Has to be called within a Tokio runtime.
    pub async fn bind(address: SocketAddr, tokens: Option<Tokens>, data_dir: &Path) -> Result<Self, Error> {
        check(address, tokens.as_ref())?;
        let failed = |source| Error::Address { address, source };
        let tcp = TcpListener::bind(address).await.map_err(failed)?;
        let address = tcp.local_addr().map_err(failed)?;
        let door = tokens
            .map_or(Door::Loopback { port: address.port(), other_users: OtherUsers::Refused }, Door::Tokens);
        Ok(Self { tcp, door, socket: Socket::bind(data_dir)?, address })
    }

    /// With this said about other users of this machine, where nobody needs a token. They are refused unless it is.
    #[must_use]
    pub fn other_users(mut self, said: OtherUsers) -> Self {
        if let Door::Loopback { other_users, .. } = &mut self.door {
            *other_users = said;
        }
        self
    }

    /// The address that is listened on, with the port that was found where none was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Refuses an address that others can reach where nobody would ask them who they are.
pub(crate) fn check(address: SocketAddr, tokens: Option<&Tokens>) -> Result<(), Error> {
    match tokens {
        None if !address.ip().is_loopback() => Err(Error::NoTokens(address)),
        Some(_) | None => Ok(()),
    }
}

/// The socket in a data directory. Whoever owns the directory answers there.
pub struct Socket {
    pub(crate) listener: UnixListener,
    pub(crate) file: SocketFile,
}

impl Socket {
    /// Listens in `data_dir`, which has to be owned by this process: a socket that is there is a leftover, and goes. Has
    /// to be called within a Tokio runtime.
    pub fn bind(data_dir: &Path) -> Result<Self, Error> {
        let path = data_dir.join(SOCKET_FILE);
        let listener = listen_at(&path).map_err(|source| Error::Socket { path: path.clone(), source })?;
        Ok(Self { listener, file: SocketFile(path) })
    }
}

/// The socket gets its name when nobody else can use it any more: there is no moment in which others could.
fn listen_at(path: &Path) -> io::Result<UnixListener> {
    let unnamed = path.with_extension("new");
    for leftover in [&unnamed, path] {
        match fs::remove_file(leftover) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    let socket = bind_socket(&unnamed)?;
    fs::set_permissions(&unnamed, fs::Permissions::from_mode(0o600))?;
    fs::rename(&unnamed, path)?;
    Ok(socket)
}

/// Removes the socket with the server.
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // What stays behind, the next owner removes.
        let _ = fs::remove_file(&self.0);
    }
}
