//! Who gets in.

use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;

use adjourn_runtime::config::Config;
use adjourn_server::{Ending, Error, GRACE_DEFAULT, Listeners, Options, OtherUsers, run};
use hyper::Method;
use serde_json::json;

use crate::client::{Call, by_socket};
use crate::stage::{Stage, within};

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_host_or_origin_is_refused() {
    let stage = Stage::new().await;
    let port = stage.address.port();
    let get = |name: &str, value: &str| stage.call(Method::GET, "/v1/runs").header(name, value).send();
    for foreign in ["evil.example", "localhost", "localhost:1", "localhost.evil.example:80"] {
        get("host", foreign).await.is_problem(403, "FOREIGN_HOST");
    }
    for foreign in ["http://evil.example", "null", "http://localhost:1", "https://localhost"] {
        get("origin", foreign).await.is_problem(403, "FOREIGN_ORIGIN");
    }
    for own in ["localhost", "127.0.0.1", "[::1]"] {
        get("host", &format!("{own}:{port}")).await.is(200);
        get("origin", &format!("http://{own}:{port}")).await.is(200);
    }
    let create = stage.call(Method::POST, "/v1/runs").header("origin", "http://evil.example");
    create.json(&Stage::request(json!({}))).send().await.is_problem(403, "FOREIGN_ORIGIN");
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_is_for_its_owner_only_and_has_the_same_routes() {
    let stage = Stage::new().await;
    let socket = stage.data().join("adjourn.sock");
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(by_socket(&socket, "/healthz").await.is(200), json!({ "status": "ok" }));
    assert_eq!(by_socket(&socket, "/v1/runs").await.is(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leftover_socket_is_replaced_and_other_machines_are_not_listened_to_without_tokens() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("adjourn.sock"), "left over").unwrap();
    Listeners::bind((Ipv4Addr::LOCALHOST, 0).into(), None, folder.path()).await.map(drop).unwrap();
    let open = Listeners::bind((Ipv4Addr::UNSPECIFIED, 0).into(), None, folder.path()).await;
    assert!(matches!(open.map(drop), Err(Error::NoTokens(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_ended_leaves_its_data_directory_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let options = Options {
            data_dir: folder.path().join("data"),
            config: Config::load(None, folder.path()).unwrap(),
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            tokens: None,
            other_users: OtherUsers::Refused,
            grace: GRACE_DEFAULT,
        };
        let (ending, (ready, address)) = (Ending::default(), tokio::sync::oneshot::channel());
        let server = tokio::spawn(run(options, ending.clone(), |address| ready.send(address).unwrap()));
        let address = within(address).await.unwrap();
        Call::new(address, Method::GET, "/readyz").send().await.is(200);
        // A stream that nobody reads does not keep it from ending.
        let _open = Call::new(address, Method::GET, "/v1/events").open().await;
        ending.soon.cancel();
        within(server).await.unwrap().unwrap();
    }
}
