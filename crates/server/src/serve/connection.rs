//! Connections that cost a bounded amount, for a bounded time.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

use crate::auth::peer::{HasOrigin, Origin};

/// Connections to the port. Whoever comes then waits in the queue of the system.
///
/// One that follows a stream and waits costs about 25 kB (`xtask bench http`), so these are 400 MB.
const CONNECTIONS_MAX: usize = 16_384;

/// Connections to the socket in the data directory, apart from those to the port: whoever owns the directory gets in
/// also when the port is full.
const SOCKET_CONNECTIONS_MAX: usize = 1024;

/// How long a client may take nothing of what it is sent before it is let go. A stream can be taken up again where it
/// was cut, so this costs nobody more than a new connection.
const WRITE_WITHIN: Duration = Duration::from_secs(30);

/// A listener that accepts no more connections than may be.
pub(crate) struct Bounded<L> {
    listener: L,
    places: Arc<Semaphore>,
    connections_max: usize,
}

/// How many connections a door may have, in a process that may have so many descriptors: half of these for the port
/// and an eighth for the socket, so that there are always some left for agents, files and the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) port: usize,
    pub(crate) socket: usize,
}

impl Limits {
    pub(crate) fn of(descriptors: u64) -> Self {
        let part = |of: u64| usize::try_from(descriptors / of).unwrap_or(usize::MAX).max(1);
        Self { port: CONNECTIONS_MAX.min(part(2)), socket: SOCKET_CONNECTIONS_MAX.min(part(8)) }
    }
}

impl<L> Bounded<L> {
    pub(crate) fn new(listener: L, connections_max: usize) -> Self {
        Self { listener, places: Arc::new(Semaphore::new(connections_max)), connections_max }
    }

    /// Tells whether somebody is connected.
    pub(crate) fn connections(&self) -> Connections {
        Connections { places: self.places.clone(), most: self.connections_max }
    }
}

/// The connections of a door.
pub(crate) struct Connections {
    places: Arc<Semaphore>,
    most: usize,
}

impl Connections {
    /// Whether there are any.
    pub(crate) fn are_open(&self) -> bool {
        // One place is kept for whoever comes next.
        self.places.available_permits() + 1 < self.most
    }
}

impl<L: Listener> Listener for Bounded<L> {
    type Io = Connection<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let place = self.places.clone().acquire_owned().await.ok();
        let (io, address) = self.listener.accept().await;
        (Connection { io, write_within: WRITE_WITHIN, blocked: None, _place: place }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection that fails when its client takes nothing for too long.
pub(crate) struct Connection<S> {
    io: S,
    write_within: Duration,
    /// Since the client stopped to take anything.
    blocked: Option<Pin<Box<Sleep>>>,
    /// Given back with the end of the connection.
    _place: Option<OwnedSemaphorePermit>,
}

impl<S: HasOrigin> HasOrigin for Connection<S> {
    fn origin(&self) -> io::Result<Origin> {
        self.io.origin()
    }
}

impl<S> Connection<S> {
    /// What a write came to, unless the client has been taking nothing for too long.
    fn within(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.blocked = None;
            return written;
        }
        let write_within = self.write_within;
        let blocked = self.blocked.get_or_insert_with(|| Box::pin(sleep(write_within)));
        ready!(blocked.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.within(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, parts);
        self.within(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::{Connection, Limits};

    #[test]
    fn connections_leave_descriptors_for_everything_else() {
        assert_eq!(Limits::of(65_536), Limits { port: 16_384, socket: 1024 });
        assert_eq!(Limits::of(1024), Limits { port: 512, socket: 128 });
        assert_eq!(Limits::of(0), Limits { port: 1, socket: 1 });
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_let_go_and_a_slow_one_is_not() {
        let (io, mut client) = duplex(8);
        let write_within = Duration::from_millis(200);
        let mut connection = Connection { io, write_within, blocked: None, _place: None };
        let slow = async {
            let mut byte = [0];
            for _ in 0..20 {
                client.read_exact(&mut byte).await.unwrap();
                tokio::time::sleep(write_within / 10).await;
            }
        };
        let (written, ()) = tokio::join!(connection.write_all(&[7; 28]), slow);
        written.unwrap();
        assert_eq!(connection.write_all(b"more").await.unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
