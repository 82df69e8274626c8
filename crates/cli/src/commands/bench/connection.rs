//! A connection to a server that stays open: what it costs to make one is not what is measured.

use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address(String);

impl FromStr for Address {
    type Err = anyhow::Error;

    fn from_str(url: &str) -> Result<Self> {
        let uri: Uri = url.parse().with_context(|| format!("`{url}` is no URL"))?;
        match (uri.scheme_str(), uri.authority(), uri.path()) {
            (Some("http"), Some(authority), "/") if authority.port().is_some() => {
                Ok(Self(authority.to_string()))
            }
            _ => bail!("`{url}` should be like http://127.0.0.1:7717"),
        }
    }
}

/// One connection, for one request at a time.
pub(super) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    address: Address,
}

impl Connection {
    pub(super) async fn open(address: &Address) -> Result<Self> {
        let stream = TcpStream::connect(&address.0).await.with_context(|| {
            format!("nobody answers at {}: start a server with `adjourn serve`", address.0)
        })?;
        stream.set_nodelay(true)?;
        let (requests, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { requests, address: address.clone() })
    }

    /// The body of the answer to a GET.
    pub(super) async fn get(&mut self, path: &str) -> Result<Bytes> {
        self.whole(Method::GET, path, Bytes::new()).await
    }

    /// The body of the answer to a POST of this JSON.
    pub(super) async fn post(&mut self, path: &str, json: impl Into<Bytes>) -> Result<Bytes> {
        self.whole(Method::POST, path, json.into()).await
    }

    /// The event stream at `path`, which takes the connection.
    pub(super) async fn stream(mut self, path: &str) -> Result<Incoming> {
        let answer = self.send(Method::GET, path, Bytes::new()).await?;
        ensure!(answer.status() == StatusCode::OK, "{path} is answered with {}", answer.status());
        Ok(answer.into_body())
    }

    async fn whole(&mut self, method: Method, path: &str, body: Bytes) -> Result<Bytes> {
        let answer = self.send(method, path, body).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "{path} is answered with {status}: {}", String::from_utf8_lossy(&body));
        Ok(body)
    }

    async fn send(&mut self, method: Method, path: &str, body: Bytes) -> Result<Response<Incoming>> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.address.0)
            .header("content-type", "application/json")
            .body(Full::new(body))?;
        self.requests.ready().await?;
        Ok(self.requests.send_request(request).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn an_address_has_a_host_and_a_port_and_nothing_else() {
        let good: Address = "http://127.0.0.1:7717".parse().unwrap();
        assert_eq!(good, Address("127.0.0.1:7717".to_owned()));
        assert_eq!(good, "http://127.0.0.1:7717/".parse().unwrap());
        for bad in
            ["127.0.0.1:7717", "https://127.0.0.1:7717", "http://127.0.0.1:7717/v1", "http://localhost", "?"]
        {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
    }
}
