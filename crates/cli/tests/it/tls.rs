//! HTTPS, by the client that asks model servers, webhook receivers and servers elsewhere: a proxy with TLS stands in front
//! of a server, as `docs/http.md` advises.
//!
//! `tls/` has the certificate of an authority and one that it signed for `localhost`, valid for a hundred years. The key
//! of the authority was thrown away. Only on Linux, where the system's certificates are files that a variable can replace.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::serving::Serving;
use crate::world::{World, said};

const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tls/authority.pem");

/// Starts a proxy in front of a server, and gives its port.
fn proxy(server: String) -> u16 {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key.pem")).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    let config = Arc::new(config.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(config.clone()).unwrap();
            // A client that does not trust the certificate hangs up.
            let _ = pass_on(StreamOwned::new(connection, stream), &server);
        }
    });
    port
}

/// Passes one request without a body on, and the answer back.
fn pass_on(mut client: StreamOwned<ServerConnection, TcpStream>, server: &str) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let is_kept = |line: &&str| !line.is_empty() && !line.to_ascii_lowercase().starts_with("host:");
    let lines: Vec<_> = head.split("\r\n").filter(is_kept).collect();
    let mut upstream = TcpStream::connect(server)?;
    // A server that ends the connection after its answer says where that ends.
    write!(upstream, "{}\r\nhost: {server}\r\nconnection: close\r\n\r\n", lines.join("\r\n"))?;
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer)?;
    client.write_all(&answer)?;
    client.conn.send_close_notify();
    client.flush()
}

#[test]
fn a_server_behind_tls_is_reached_if_its_certificate_is_trusted() {
    let (there, here) = (World::new(), World::new());
    let run = there.waiting_run();
    let server = Serving::start(&there, "127.0.0.1:0", &[]);
    let port = proxy(server.url().trim_start_matches("http://").to_owned());
    let url = format!("https://localhost:{port}");

    let trusted = said(here.adjourn(&["--server", &url, "show", &run]).env("SSL_CERT_FILE", AUTHORITY));
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    assert!(trusted.stdout.contains("waiting_user"), "{trusted:?}");

    let not_trusted = said(&mut here.adjourn(&["--server", &url, "show", &run]));
    assert_eq!(not_trusted.code, Some(5), "{not_trusted:?}");
    assert!(not_trusted.stderr.contains("invalid peer certificate: UnknownIssuer"), "{not_trusted:?}");

    // The certificate is for another name.
    let elsewhere = url.replace("localhost", "127.0.0.1");
    let wrong_name =
        said(here.adjourn(&["--server", &elsewhere, "show", &run]).env("SSL_CERT_FILE", AUTHORITY));
    assert!(
        wrong_name.stderr.contains("invalid peer certificate: certificate not valid for name"),
        "{wrong_name:?}"
    );
}
