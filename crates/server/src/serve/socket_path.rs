//! The path of the socket in a data directory, however long that is.
//!
//! An address of a socket holds about a hundred bytes. A longer path is reached through its folder: the folder is opened,
//! and the kernel has a short name for what a process has open.

use std::io;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// Bytes of a path that fit into an address on every system, with the zero byte at its end.
const PATH_BYTES_MAX: usize = 103;

/// Connects to the socket at `path`.
pub async fn connect_socket(path: &Path) -> io::Result<UnixStream> {
    let short = ShortPath::of(path)?;
    UnixStream::connect(&short.path).await
}

/// Listens at `path`. Has to be called within a Tokio runtime.
pub(crate) fn bind_socket(path: &Path) -> io::Result<UnixListener> {
    let short = ShortPath::of(path)?;
    UnixListener::bind(&short.path)
}

/// A path that fits into an address.
struct ShortPath {
    path: PathBuf,
    /// The folder that the path leads through, for as long as it is used.
    #[cfg(target_os = "linux")]
    _folder: Option<std::os::fd::OwnedFd>,
}

impl ShortPath {
    #[cfg(target_os = "linux")]
    fn of(path: &Path) -> io::Result<Self> {
        use std::os::fd::AsRawFd;

        use rustix::fs::{Mode, OFlags};

        let (folder, name) = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) if path.as_os_str().len() > PATH_BYTES_MAX => (folder, name),
            _ => return Ok(Self { path: path.to_owned(), _folder: None }),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(folder, flags, Mode::empty())?;
        let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }

    #[cfg(not(target_os = "linux"))]
    fn of(path: &Path) -> io::Result<Self> {
        let bytes = path.as_os_str().len();
        if bytes > PATH_BYTES_MAX {
            let problem = format!(
                "its path has {bytes} bytes, and a socket here may have {PATH_BYTES_MAX}: use a data directory with a shorter path"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        Ok(Self { path: path.to_owned() })
    }
}
