//! Whose socket is at the other end of a TCP connection within this machine.
//!
//! The kernel is asked for that one socket by its addresses (`sock_diag(7)`), which takes some ten microseconds however many
//! connections there are. Where that is not to be had, the table in `/proc/net` is read, which takes longer the more there are.

use std::io;
use std::net::SocketAddr;

/// The socket at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerSocket {
    /// The user whose process opened it.
    pub uid: u32,
    /// Its number, as in the lists of open files.
    pub inode: u64,
}

/// The socket from which a connection from `peer` to our `local` address comes; none if it is on another machine, or was
/// closed already.
///
/// A socket that its process closed is listed with the user root and without a number until the connection has ended: such a
/// one is not returned, because its user is not known any more.
pub fn find_peer_socket(peer: SocketAddr, local: SocketAddr) -> io::Result<Option<PeerSocket>> {
    let ends = Ends::of(peer, local);
    #[cfg(target_os = "linux")]
    let found = diag::find(&ends).or_else(|error| match diag::has_answered() {
        // It knows no such socket.
        true if error.kind() == io::ErrorKind::NotFound => Ok(None),
        true | false => table::find(&ends),
    })?;
    #[cfg(not(target_os = "linux"))]
    let found = table::find(&ends)?;
    Ok(found.filter(|found| found.inode != 0))
}

/// Both ends of a connection, as the peer's socket sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ends {
    from: SocketAddr,
    to: SocketAddr,
}

impl Ends {
    /// IPv4 in the clothes of IPv6 is IPv4: a client's socket is listed as such.
    fn of(peer: SocketAddr, local: SocketAddr) -> Self {
        let plain = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
        Self { from: plain(peer), to: plain(local) }
    }
}

#[cfg(target_os = "linux")]
mod diag {
    //! One question to the kernel, and its answer: the layouts are those of `linux/netlink.h` and `linux/inet_diag.h`.

    use std::io;
    use std::net::{IpAddr, SocketAddr};
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    };

    use super::{Ends, PeerSocket};

    const NLMSG_ERROR: u16 = 2;
    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const NLM_F_REQUEST: u16 = 1;
    const IPPROTO_TCP: u8 = 6;
    const AF_INET: u8 = 2;
    const AF_INET6: u8 = 10;
    /// Any state of the connection, and any cookie.
    const ANY: u32 = u32::MAX;
    const HEADER_BYTES: usize = 16;
    const REQUEST_BYTES: usize = HEADER_BYTES + 56;
    /// Where an answer has the user and the inode.
    const UID_AT: usize = HEADER_BYTES + 4 + 48 + 12;
    const INODE_AT: usize = UID_AT + 4;

    /// Whether the kernel ever found a socket. One without this part says the same of every socket as one that does not know
    /// a particular one.
    static HAS_ANSWERED: AtomicBool = AtomicBool::new(false);

    pub(super) fn has_answered() -> bool {
        HAS_ANSWERED.load(Ordering::Relaxed)
    }

    pub(super) fn find(ends: &Ends) -> io::Result<Option<PeerSocket>> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::SOCK_DIAG))?;
        send(&kernel, &request(ends), SendFlags::empty())?;
        let mut answer = [0; 1024];
        // The kernel answers within the call that asks.
        let (bytes, _) = recv(&kernel, &mut answer[..], RecvFlags::empty())?;
        read(&answer[..bytes])
    }

    fn request(ends: &Ends) -> Vec<u8> {
        let family = if ends.from.is_ipv4() { AF_INET } else { AF_INET6 };
        let mut request = Vec::with_capacity(REQUEST_BYTES);
        request.extend((REQUEST_BYTES as u32).to_ne_bytes());
        request.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        request.extend(NLM_F_REQUEST.to_ne_bytes());
        request.extend([0; 8]);
        request.extend([family, IPPROTO_TCP, 0, 0]);
        request.extend(ANY.to_ne_bytes());
        request.extend(ends.from.port().to_be_bytes());
        request.extend(ends.to.port().to_be_bytes());
        request.extend(address(ends.from));
        request.extend(address(ends.to));
        request.extend(0_u32.to_ne_bytes());
        request.extend(ANY.to_ne_bytes());
        request.extend(ANY.to_ne_bytes());
        request
    }

    fn address(of: SocketAddr) -> [u8; 16] {
        match of.ip() {
            IpAddr::V6(ip) => ip.octets(),
            IpAddr::V4(ip) => {
                let mut bytes = [0; 16];
                bytes[..4].copy_from_slice(&ip.octets());
                bytes
            }
        }
    }

    fn read(answer: &[u8]) -> io::Result<Option<PeerSocket>> {
        let cut =
            || io::Error::new(io::ErrorKind::UnexpectedEof, "the kernel's answer about a socket is cut off");
        let number = |at: usize| {
            let bytes = answer.get(at..at + 4).ok_or_else(cut)?;
            Ok::<_, io::Error>(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        let kind = answer.get(4..6).map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]])).ok_or_else(cut)?;
        match kind {
            SOCK_DIAG_BY_FAMILY => {
                HAS_ANSWERED.store(true, Ordering::Relaxed);
                Ok(Some(PeerSocket { uid: number(UID_AT)?, inode: u64::from(number(INODE_AT)?) }))
            }
            NLMSG_ERROR => {
                Err(io::Error::from_raw_os_error(number(HEADER_BYTES)?.cast_signed().saturating_neg()))
            }
            other => Err(io::Error::other(format!("the kernel answers with a message of kind {other}"))),
        }
    }
}

mod table {
    //! The tables of TCP sockets in `/proc/net`.

    use std::io::{self, BufRead, BufReader};
    use std::net::{IpAddr, SocketAddr};

    use super::{Ends, PeerSocket};

    pub(super) fn find(ends: &Ends) -> io::Result<Option<PeerSocket>> {
        // A socket of the newer kind that connected to an address of the older one is in the second, in its own spelling.
        let mut found = None;
        for (file, is_wide) in [("/proc/net/tcp", false), ("/proc/net/tcp6", true)] {
            let wanted = format!("{} {}", spelled(ends.from, is_wide), spelled(ends.to, is_wide));
            if ends.from.is_ipv6() && !is_wide {
                continue;
            }
            let lines = match std::fs::File::open(file) {
                Ok(file) => BufReader::new(file).lines(),
                Err(error) if is_wide && ends.from.is_ipv4() && error.kind() == io::ErrorKind::NotFound => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            for line in lines {
                found = found.or(socket_in(&line?, &wanted));
            }
        }
        Ok(found)
    }

    /// The socket of a line, if it is the one with these ends: `N: FROM TO STATE QUEUES TIMER RETRIES UID TIMEOUT INODE …`.
    pub(super) fn socket_in(line: &str, wanted: &str) -> Option<PeerSocket> {
        let (_, rest) = line.split_once(": ")?;
        let rest = rest.strip_prefix(wanted)?;
        let mut fields = rest.split_whitespace();
        let uid = fields.nth(4)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        Some(PeerSocket { uid, inode })
    }

    /// An address as the table spells it: each four bytes as a number of this machine.
    pub(super) fn spelled(address: SocketAddr, is_wide: bool) -> String {
        let octets = match address.ip() {
            IpAddr::V4(ip) if is_wide => ip.to_ipv6_mapped().octets().to_vec(),
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let words: String = octets
            .chunks_exact(4)
            .map(|word| format!("{:08X}", u32::from_ne_bytes([word[0], word[1], word[2], word[3]])))
            .collect();
        format!("{words}:{:04X}", address.port())
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::{Ends, diag, find_peer_socket, table};

    fn inode_of(stream: &TcpStream) -> u64 {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", stream.as_raw_fd())).unwrap();
        let link = link.to_str().unwrap().to_owned();
        link.trim_start_matches("socket:[").trim_end_matches(']').parse().unwrap()
    }

    #[test]
    fn both_ways_find_the_socket_at_the_other_end() {
        for (bound, called) in [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1"), ("[::]:0", "127.0.0.1")] {
            let listener = TcpListener::bind(bound).unwrap();
            let client = TcpStream::connect((called, listener.local_addr().unwrap().port())).unwrap();
            let (server, peer) = listener.accept().unwrap();
            let ends = Ends::of(peer, server.local_addr().unwrap());
            for found in [diag::find(&ends).unwrap(), table::find(&ends).unwrap()] {
                let found = found.unwrap_or_else(|| panic!("{bound}"));
                assert_eq!(found.inode, inode_of(&client), "{bound}");
                assert_eq!(found.uid, rustix::process::geteuid().as_raw(), "{bound}");
            }
        }
    }

    #[test]
    fn a_socket_that_was_closed_is_nobodys() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, peer) = listener.accept().unwrap();
        drop(client);
        let (local, ends) = (server.local_addr().unwrap(), Ends::of(peer, server.local_addr().unwrap()));
        // What the kernel says of it is root's: that must not be believed.
        assert_eq!(diag::find(&ends).unwrap().map(|found| (found.uid, found.inode)), Some((0, 0)));
        assert_eq!(find_peer_socket(peer, local).unwrap(), None);
    }

    #[test]
    fn a_connection_that_there_is_not_is_nobodys() {
        let found = find_peer_socket("127.0.0.1:9".parse().unwrap(), "127.0.0.1:1".parse().unwrap());
        assert_eq!(found.unwrap(), None);
    }

    #[test]
    #[ignore = "measures what a lookup costs among 2,000 connections"]
    fn measure_a_lookup_among_many_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections: Vec<_> =
            (0..2000).map(|_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap())).collect();
        type Find = fn(&Ends) -> std::io::Result<Option<super::PeerSocket>>;
        for (name, find, every) in [("sock_diag", diag::find as Find, 1), ("/proc/net/tcp", table::find, 40)]
        {
            let asked: Vec<_> = connections.iter().step_by(every).collect();
            let began = std::time::Instant::now();
            for (_, (_, peer)) in &asked {
                assert!(find(&Ends::of(*peer, address)).unwrap().is_some());
            }
            eprintln!("{name}: {:?} for each of {}", began.elapsed() / asked.len() as u32, asked.len());
        }
    }

    #[test]
    fn addresses_are_spelled_like_the_kernel_does() {
        let plain = "127.0.0.1:80".parse().unwrap();
        assert_eq!(table::spelled(plain, false), "0100007F:0050");
        assert_eq!(table::spelled(plain, true), "0000000000000000FFFF00000100007F:0050");
        assert_eq!(
            table::spelled("[::1]:7717".parse().unwrap(), true),
            "00000000000000000000000001000000:1E25"
        );
        let line = "   3: 0100007F:0050 0100007F:1E25 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1";
        let found = table::socket_in(line, "0100007F:0050 0100007F:1E25").unwrap();
        assert_eq!((found.uid, found.inode), (1000, 4711));
    }
}
