//! Who gets in.
//!
//! Nobody is asked who they are on loopback, so a page in the user's browser must not get through: not with a name of
//! its own that leads to this machine (then `Host` is foreign), and not across origins (then `Origin` is). Where tokens
//! are asked for, neither is looked at: no page has a token that it was not given, and what the server is called there
//! only its proxy knows.

use adjourn_runtime::config::Config;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, future};

use crate::access::{Caller, admit};
use crate::code::Code;
use crate::limit::{RATE_DEFAULT, WriteLimit};
use crate::problem::Problem;
use crate::tokens::{Holder, Tokens};

/// How a client reached the server.
#[derive(Debug, Clone)]
pub enum Door {
    /// By this port of this machine, where nobody is asked who they are.
    Loopback {
        /// The port.
        port: u16,
    },
    /// By an address at which everybody needs one of these tokens.
    Tokens(Tokens),
    /// By the socket in the data directory, which the file system guards: no browser comes in there.
    Socket,
}

/// A door, and how much may go through it.
#[derive(Clone)]
pub(crate) struct Gate {
    door: Door,
    limit: Option<WriteLimit>,
}

impl Gate {
    /// On loopback a loop of the user's own is the user's own affair, and a benchmark is one: there is a limit only where
    /// one is set. By the socket comes the owner of the data, who is not kept from it.
    pub(crate) fn new(door: Door, config: &Config) -> Self {
        let rate = match door {
            Door::Loopback { .. } => config.server.writes,
            Door::Tokens(_) => Some(config.server.writes.unwrap_or(RATE_DEFAULT)),
            Door::Socket => None,
        };
        Self { door, limit: rate.map(WriteLimit::new) }
    }

    /// Lets a request in or says why not; whose token it has, where it has one.
    fn check(&self, request: &mut Request) -> Result<Option<Holder>, Problem> {
        let holder = match &self.door {
            Door::Loopback { port } => {
                is_from_here(*port, request.uri(), request.headers()).map(|()| None)?
            }
            Door::Tokens(tokens) => admit(tokens, request)?,
            Door::Socket => None,
        };
        let caller = holder
            .as_ref()
            .map_or(Caller::Local, |holder| Caller::Token { name: holder.name.clone(), role: holder.role });
        if let Some(limit) = &self.limit {
            limit.count(&caller, request.method())?;
        }
        request.extensions_mut().insert(caller);
        Ok(holder)
    }
}

pub(crate) async fn guard(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    match gate.check(&mut request) {
        Ok(holder) => {
            let response = next.run(request).await;
            match (gate.door, holder) {
                (Door::Tokens(tokens), Some(holder)) => while_it_counts(response, tokens, holder),
                (Door::Tokens(_) | Door::Loopback { .. } | Door::Socket, _) => response,
            }
        }
        Err(problem) => problem.into_response(),
    }
}

/// A stream ends with the token it was opened with: whoever is sent away must not read on for as long as they like.
fn while_it_counts(response: Response, tokens: Tokens, holder: Holder) -> Response {
    let is_stream =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    if !is_stream {
        return response;
    }
    response.map(|body| {
        let parts = body.into_data_stream();
        Body::from_stream(parts.take_while(move |_| future::ready(tokens.still_counts(&holder))))
    })
}

/// The names of this machine.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The port that a client leaves out.
const HTTP_PORT: u16 = 80;

fn is_from_here(port: u16, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
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
        let detail =
            format!("pages of `{foreign}` may not use this server, only those of `http://localhost:{port}`");
        return Err(Problem::new(Code::ForeignOrigin, detail));
    }
    Ok(())
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
