//! Keeps web pages of other origins out.
//!
//! Nobody is asked who they are on loopback, so a page in the user's browser must not get through: not with a name of
//! its own that leads to this machine (then `Host` is foreign), and not across origins (then `Origin` is).

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::code::Code;
use crate::problem::Problem;

/// How a client reached the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// By this port of this machine.
    Loopback {
        /// The port.
        port: u16,
    },
    /// By the socket in the data directory, which the file system guards: no browser comes in there.
    Socket,
}

/// The names of this machine.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The port that a client leaves out.
const HTTP_PORT: u16 = 80;

pub(crate) async fn guard(State(door): State<Door>, request: Request, next: Next) -> Response {
    match door.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

impl Door {
    fn check(self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let Self::Loopback { port } = self else { return Ok(()) };
        let text = |name| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
        let mut hosts = text(header::HOST).chain(uri.authority().map(Authority::as_str)).peekable();
        let refused = |detail| Problem::new(Code::ForeignHost, detail);
        if hosts.peek().is_none() {
            return Err(refused(format!("a request names its host: it should be `localhost:{port}`")));
        }
        if let Some(foreign) = hosts.find(|host| !is_here(host, port)) {
            let detail = format!("the host `{foreign}` is not this server: it is `localhost:{port}`");
            return Err(refused(detail));
        }
        let is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(|host| is_here(host, port));
        if let Some(foreign) = text(header::ORIGIN).find(|origin| !is_own(origin)) {
            let detail = format!(
                "pages of `{foreign}` may not use this server, only those of `http://localhost:{port}`"
            );
            return Err(Problem::new(Code::ForeignOrigin, detail));
        }
        Ok(())
    }
}

fn is_here(host: &str, port: u16) -> bool {
    NAMES.iter().any(|name| match host.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)) {
        Some(_) => match &host[name.len()..] {
            "" => port == HTTP_PORT,
            rest => rest.strip_prefix(':').is_some_and(|given| given == port.to_string()),
        },
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::is_here;

    #[test]
    fn only_the_names_of_this_machine_with_the_right_port_are_here() {
        for here in ["localhost:7717", "LocalHost:7717", "127.0.0.1:7717", "[::1]:7717"] {
            assert!(is_here(here, 7717), "{here}");
        }
        for foreign in [
            "",
            "localhost",
            "localhost:80",
            "localhost:77170",
            "localhost.evil.example:7717",
            "evil.example:7717",
            "127.0.0.1.evil.example:7717",
            "127.0.0.2:7717",
            "localhost:7717:7717",
            "ö",
            "user@localhost:7717",
        ] {
            assert!(!is_here(foreign, 7717), "{foreign}");
        }
        assert!(is_here("localhost", 80));
    }
}
