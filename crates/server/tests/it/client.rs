//! A client that has a connection of its own for each request, and so can cut one.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpStream, UnixStream};

use crate::stage::within;

/// Builds one request.
pub(crate) struct Call {
    request: hyper::http::request::Builder,
    body: Bytes,
    address: SocketAddr,
}

/// An answer that has come completely.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: hyper::HeaderMap,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn new(address: SocketAddr, method: Method, path: &str) -> Self {
        let request = Request::builder().method(method).uri(path);
        Self { request, body: Bytes::new(), address }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body(body.to_string())
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The head of the answer; the body comes as it is sent.
    pub(crate) async fn open(mut self) -> Response<Incoming> {
        if self.request.headers_ref().is_some_and(|headers| !headers.contains_key("host")) {
            self.request = self.request.header("host", self.address.to_string());
        }
        let request = self.request.body(Full::new(self.body)).unwrap();
        let io = TokioIo::new(within(TcpStream::connect(self.address)).await.unwrap());
        send(io, request).await
    }

    pub(crate) async fn send(self) -> Answer {
        whole(self.open().await).await
    }
}

/// The answer to a GET by the socket.
pub(crate) async fn by_socket(socket: &std::path::Path, path: &str) -> Answer {
    by_socket_with(socket, Method::GET, path, "").await
}

/// The answer to a request by the socket.
pub(crate) async fn by_socket_with(
    socket: &std::path::Path,
    method: Method,
    path: &str,
    body: &str,
) -> Answer {
    let request = Request::builder().method(method).uri(path).header("host", "whatever");
    let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
    let io = TokioIo::new(within(UnixStream::connect(socket)).await.unwrap());
    whole(send(io, request).await).await
}

async fn send<I>(io: I, request: Request<Full<Bytes>>) -> Response<Incoming>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let (mut sender, connection) = within(http1::handshake(io)).await.unwrap();
    tokio::spawn(connection);
    within(sender.send_request(request)).await.unwrap()
}

async fn whole(response: Response<Incoming>) -> Answer {
    let (head, body) = response.into_parts();
    let body = within(body.collect()).await.unwrap().to_bytes();
    Answer { status: head.status, headers: head.headers, body }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The body, of an answer with this status.
    pub(crate) fn is(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// The body, of an answer that is this problem.
    pub(crate) fn is_problem(&self, status: u16, code: &str) -> Value {
        let problem = self.is(status);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!((&problem["status"], &problem["code"]), (&status.into(), &code.into()), "{problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
        problem
    }
}

/// A message of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: u64,
    pub(crate) data: Value,
}

/// A stream that is being read.
pub(crate) struct Events {
    body: Incoming,
    text: String,
    /// What agents were seen writing: it comes when it comes.
    pub(crate) deltas: String,
    /// Comments, line by line.
    pub(crate) comments: Vec<String>,
}

impl Events {
    pub(crate) async fn open(call: Call) -> Self {
        let response = call.header("accept", "text/event-stream").open().await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body(), text: String::new(), deltas: String::new(), comments: Vec::new() }
    }

    /// The next message; none at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field =
                    |name: &str| event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                let comments = event.lines().filter_map(|line| line.strip_prefix(": ")).map(str::to_owned);
                self.comments.extend(comments);
                let data: Option<Value> = field("data").map(|data| serde_json::from_str(data).unwrap());
                match (data, field("event"), field("id")) {
                    (Some(data), None, Some(id)) => return Some(Event { id: id.parse().unwrap(), data }),
                    (Some(data), Some("delta"), None) => self.deltas.push_str(data["text"].as_str().unwrap()),
                    (Some(_), _, _) => panic!("this is no event: {event}"),
                    // A comment, or where the stream begins.
                    (None, _, _) => {}
                }
            }
            let frame = within(self.body.frame()).await?.unwrap();
            self.text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    /// Events up to one whose data is as wanted.
    pub(crate) async fn until(&mut self, mut wanted: impl FnMut(&Value) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("the stream ended after {events:#?}"));
            let found = wanted(&event.data);
            events.push(event);
            if found {
                return events;
            }
        }
    }

    /// All events to the end of the stream.
    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// Streams in short: `from → to: trigger` for changes of the status, else the type.
pub(crate) fn in_short(events: &[Event]) -> Vec<String> {
    let word = |event: &Event, key: &str| event.data["data"][key].as_str().unwrap_or_default().to_owned();
    let short = |event: &Event| match event.data["type"].as_str() {
        Some("conversation.state.changed") => {
            format!("{} → {}: {}", word(event, "from"), word(event, "to"), word(event, "trigger"))
        }
        other => other.unwrap_or("?").to_owned(),
    };
    events.iter().map(short).collect()
}
