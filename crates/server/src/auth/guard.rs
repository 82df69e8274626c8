//! Host, Origin, user and token checks for every request.
//!
//! On loopback the user is looked up, not asked, so a page in the user's browser must not get through: not with a name of
//! its own that leads to this machine (then `Host` is foreign), and not across origins (then `Origin` is). Where tokens
//! are asked for, neither is looked at: no page has a token that it was not given, and what the server is called there
//! only its proxy knows.

use adjourn_api::Code;
use adjourn_core::{RunId, visible_line};
use adjourn_engine::agent_processes::{AgentProcesses, RefusedAttempt};
use adjourn_runtime::config::Config;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, future};
use tracing::warn;

use crate::auth::agent::agent_may;
use crate::auth::caller::{Caller, admit};
use crate::auth::peer::{Doubt, Peer};
use crate::auth::rate_limit::{RATE_DEFAULT, WriteLimit};
use crate::auth::tokens::{Holder, Tokens};
use crate::auth::user_name::user_name;
use crate::problem::Problem;

/// How a client reached the server.
#[derive(Debug, Clone)]
pub enum Door {
    /// By this port of this machine, where the user of the process at the other end is looked up.
    Loopback {
        /// The port.
        port: u16,
        /// What is done about users other than the one that the server runs as.
        other_users: OtherUsers,
    },
    /// By an address at which everybody needs one of these tokens.
    Tokens(Tokens),
    /// By the socket in the data directory, which the file system guards: no browser comes in there.
    Socket,
}

/// What is done about users of this machine other than the one that the server runs as, and root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherUsers {
    /// They do not get in.
    Refused,
    /// They get in like the owner. Agents still do not.
    LetIn,
}

/// A door, and how much may go through it.
#[derive(Clone)]
pub(crate) struct Gate {
    door: Door,
    agents: AgentProcesses,
    limit: Option<WriteLimit>,
}

/// Who a request comes from.
enum Entered {
    User {
        uid: Option<u32>,
    },
    Token(Holder),
    /// Nobody was asked, because the route is open to everybody.
    Anybody,
    Agent,
}

impl Gate {
    /// On loopback a loop of the user's own is the user's own affair, and a benchmark is one: there is a limit only where
    /// one is set. By the socket comes the owner of the data, who is not kept from it.
    pub(crate) fn new(door: Door, config: &Config, agents: AgentProcesses) -> Self {
        let rate = match door {
            Door::Loopback { .. } => config.server.writes,
            Door::Tokens(_) => Some(config.server.writes.unwrap_or(RATE_DEFAULT)),
            Door::Socket => None,
        };
        Self { door, agents, limit: rate.map(WriteLimit::new) }
    }

    /// Lets a request in or says why not; whose token it has, where it has one.
    fn check(&self, request: &mut Request) -> Result<Option<Holder>, Problem> {
        let peer = request.extensions().get::<Peer>().copied();
        let (caller, holder) = match self.enter(peer, request)? {
            Entered::User { uid } => (Caller::User { uid }, None),
            Entered::Anybody => (Caller::User { uid: None }, None),
            Entered::Token(holder) => {
                (Caller::Token { name: holder.name.clone(), role: holder.role }, Some(holder))
            }
            // No caller is passed on: whatever a route does in somebody's name, it does not do for an agent.
            Entered::Agent => return Ok(None),
        };
        if let Some(limit) = &self.limit {
            limit.count(&caller, request.method())?;
        }
        request.extensions_mut().insert(caller);
        Ok(holder)
    }

    fn enter(&self, peer: Option<Peer>, request: &Request) -> Result<Entered, Problem> {
        match peer {
            Some(Peer::Agent(run_id)) => return self.agent(run_id, request).map(|()| Entered::Agent),
            Some(Peer::Doubtful(doubt)) => return Err(doubtful(doubt, request)),
            Some(Peer::User(_) | Peer::Untold | Peer::Elsewhere) | None => {}
        }
        match &self.door {
            Door::Loopback { port, other_users } => {
                is_from_here(*port, request.uri(), request.headers())?;
                user(peer, *other_users)
            }
            Door::Tokens(tokens) => Ok(admit(tokens, request)?.map_or(Entered::Anybody, Entered::Token)),
            Door::Socket => user(peer, OtherUsers::Refused),
        }
    }

    /// Lets an agent read its own run. Whatever else it tries is written down.
    fn agent(&self, run_id: RunId, request: &Request) -> Result<(), Problem> {
        let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        let (method, path) = (request.method(), request.uri().path());
        if agent_may(run_id, method, route, path) {
            return Ok(());
        }
        let tried = format!("{method} {}", visible_line(first_line(path, PATH_CHARS_MAX)));
        warn!(%run_id, tried, "an agent was refused");
        let what = format!("asked its own server for `{tried}`, which was refused");
        self.agents.report(RefusedAttempt { run_id, what });
        let detail = format!(
            "this process belongs to the agent of {run_id}, which may read its own run here and nothing else: \
             what only a person may do is not done for an agent"
        );
        Err(Problem::new(Code::AgentRefused, detail))
    }
}

/// Bytes of a path that are written down of a refused request.
const PATH_CHARS_MAX: usize = 200;

/// The beginning of a text.
fn first_line(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn doubtful(doubt: Doubt, request: &Request) -> Problem {
    warn!(reason = %doubt, method = %request.method(), "a request of an unknown process was refused");
    let detail = format!(
        "this request may come from an agent, and is refused: {doubt}. A person uses the command line, or a process whose \
         open files this server may see"
    );
    Problem::new(Code::PeerUnknown, detail)
}

/// Lets the user in that the server runs as, and root; and others where that is wanted.
fn user(peer: Option<Peer>, other_users: OtherUsers) -> Result<Entered, Problem> {
    let own = rustix::process::geteuid().as_raw();
    match (peer, other_users) {
        // This process calls its own routes.
        (None, _) => Ok(Entered::User { uid: Some(own) }),
        (Some(Peer::User(uid)), _) if uid == own || uid == 0 => Ok(Entered::User { uid: Some(uid) }),
        (Some(Peer::User(uid)), OtherUsers::LetIn) => Ok(Entered::User { uid: Some(uid) }),
        (Some(Peer::User(uid)), OtherUsers::Refused) => {
            let (caller, owner) = (user_name(uid), user_name(own));
            let detail = format!(
                "this server belongs to `{owner}`, and you are `{caller}`: ask for a token of a server that was started \
                 with `--tokens`; `adjourn serve --open` lets all users of this machine in"
            );
            Err(Problem::new(Code::OtherUser, detail))
        }
        (Some(Peer::Untold | Peer::Elsewhere), OtherUsers::LetIn) => Ok(Entered::User { uid: None }),
        (
            Some(Peer::Untold | Peer::Elsewhere | Peer::Agent(_) | Peer::Doubtful(_)),
            OtherUsers::Refused | OtherUsers::LetIn,
        ) => {
            let detail = "whose process this is cannot be found out here: start the server with `--tokens` and use a token, \
                 or with `--open` to let all users of this machine in";
            Err(Problem::new(Code::PeerUnknown, detail))
        }
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
