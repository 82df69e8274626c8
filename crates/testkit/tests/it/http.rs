//! As much of an HTTP client as these tests need.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use adjourn_testkit::model::ModelServer;
use serde_json::Value;

/// Far above what any answer takes here; only a stalled one gets there.
const PATIENCE: Duration = Duration::from_secs(20);

/// What came back: as much of it as did, and whether the other side ended it as it should.
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
    pub(crate) end: io::Result<()>,
}

impl Answer {
    /// The header of this name, in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The data of each event of a stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| data.into())).collect()
    }
}

/// Posts JSON and reads the answer to its end.
pub(crate) fn post(server: &ModelServer, path: &str, body: &Value) -> Answer {
    request(server, "POST", path, &body.to_string(), PATIENCE)
}

/// Sends a request and reads for so long at most.
///
/// HTTP/1.0, because its answers end with the connection and need no decoding.
pub(crate) fn request(
    server: &ModelServer,
    method: &str,
    path: &str,
    body: &str,
    patience: Duration,
) -> Answer {
    let mut connection = TcpStream::connect(server.address()).expect("the server listens");
    connection.set_read_timeout(Some(patience)).expect("it is not zero");
    let length = body.len();
    write!(connection, "{method} {path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}")
        .expect("the server reads");
    let mut bytes = Vec::new();
    let end = connection.read_to_end(&mut bytes).map(|_| ());
    let text = String::from_utf8(bytes).expect("the server writes text");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}, {end:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a head has a status");
    Answer { status, head: head.to_owned(), body: body.to_owned(), end }
}
