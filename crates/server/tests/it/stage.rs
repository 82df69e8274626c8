//! A server on a data directory of its own, with agents that do what the test tells them and a clock that it sets.

use std::collections::BTreeMap;
use std::fs;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use adjourn_core::Timestamp;
use adjourn_engine::supervisor::Supervisor;
use adjourn_kernel::Threads;
use adjourn_kernel::{Clock, Steady};
use adjourn_runtime::Service;
use adjourn_runtime::config::Config;
use adjourn_server::tokens::Tokens;
use adjourn_server::{Listeners, OtherUsers, serve};
use hyper::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::client::{Answer, Call, Events};

/// How long a test waits for what has to happen. Much longer than it takes: it is only reached by a failure.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often files are looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Where a server listens unless a test says otherwise.
const DOOR: (IpAddr, OtherUsers) = (IpAddr::V4(Ipv4Addr::LOCALHOST), OtherUsers::Refused);

/// Each time it is started it counts its turns, writes its prompt to `prompt.N`, waits for `does.N` and does that.
const AGENT: &str = r#"#!/bin/sh
turn=$(($(cat turns 2>/dev/null || echo 0) + 1))
echo $turn >turns
cat >prompt.part
mv prompt.part prompt.$turn
until [ -e does.$turn ]; do sleep 0.01; done
. ./does.$turn
"#;

const SKILL: &str = "---\nname: survey\ndescription: Asks people.\n---\nAsk, and say what they answered.\n";
const OUTPUT: &str =
    r#"{"type": "object", "required": ["answer"], "properties": {"answer": {"type": "string"}}}"#;

struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn steady(&self) -> Steady {
        Steady::from_millis(self.0.load(Ordering::SeqCst) - 1_700_000_000_000)
    }

    fn boot_id(&self) -> u64 {
        1
    }
}

/// A server at work.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    settings: String,
    pub(crate) address: SocketAddr,
    clock: Arc<HandClock>,
    shutdown: CancellationToken,
    serving: Option<Serving>,
}

/// What is there until the server ends.
struct Serving {
    service: Service,
    task: JoinHandle<()>,
    threads: Threads,
}

/// Waits for what has to happen, or fails the test.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("waited for {PATIENCE:?} in vain"))
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::with("").await
    }

    /// With these settings, besides the engine and the skill of all tests.
    pub(crate) async fn with(settings: &str) -> Self {
        Self::behind(settings, None).await
    }

    /// A server at this address of this machine, and what it does about other users.
    pub(crate) async fn at(ip: IpAddr, other_users: OtherUsers) -> Self {
        Self::set_up("", None, (ip, other_users)).await
    }

    /// A server at whose port these tokens are asked for.
    pub(crate) async fn behind(settings: &str, tokens: Option<Tokens>) -> Self {
        Self::set_up(settings, tokens, DOOR).await
    }

    async fn set_up(settings: &str, tokens: Option<Tokens>, door: (IpAddr, OtherUsers)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = [("agent", AGENT), ("skills/survey/SKILL.md", SKILL)];
        for (path, text) in files.into_iter().chain([("skills/survey/assets/output.schema.json", OUTPUT)]) {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let agent = folder.path().join("agent");
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = format!(
            "skills = [\"skills\"]\n{settings}\n[engines.scripted]\nkind = \"exec\"\npreset = \"command\"\n\
             command = [\"{0}\"]\n[engines.unwalled]\nkind = \"exec\"\npreset = \"command\"\n\
             command = [\"{0}\"]\nsandbox = \"off\"\n",
            agent.display()
        );
        let clock = Arc::new(HandClock(AtomicI64::new(1_700_000_000_000)));
        Self::open(folder, settings, tokens, clock, door).await
    }

    async fn open(
        folder: tempfile::TempDir,
        settings: String,
        tokens: Option<Tokens>,
        clock: Arc<HandClock>,
        (ip, other_users): (IpAddr, OtherUsers),
    ) -> Self {
        let config = Config::parse(&folder.path().join("adjourn.toml"), &settings, &BTreeMap::new()).unwrap();
        let data = folder.path().join("data");
        let supervisor = Supervisor::new(vec![env!("CARGO_BIN_EXE_adjourn-server-supervise").into()]);
        let (service, threads) = Service::open_with(&data, config, supervisor, clock.clone()).unwrap();
        let listeners = Listeners::bind((ip, 0).into(), tokens, &data).await.unwrap();
        let listeners = listeners.other_users(other_users);
        let (address, shutdown) = (listeners.address(), CancellationToken::new());
        let served = serve(service.clone(), listeners, shutdown.clone());
        let task = tokio::spawn(async move { served.await.unwrap() });
        let serving = Some(Serving { service, task, threads });
        Self { folder, settings, address, clock, shutdown, serving }
    }

    /// Ends the server, and begins another one on what it left, which asks nobody for a token.
    pub(crate) async fn restarted(mut self) -> Self {
        self.close().await;
        Self::open(self.folder, self.settings, None, self.clock, DOOR).await
    }

    /// The same, with something done to the data directory in between.
    pub(crate) async fn restarted_after(mut self, change: impl FnOnce(&Path)) -> Self {
        self.close().await;
        change(&self.data());
        Self::open(self.folder, self.settings, None, self.clock, DOOR).await
    }

    /// Ends the server, and returns when nothing of it is left.
    pub(crate) async fn close(&mut self) {
        self.shutdown.cancel();
        let Serving { service, task, threads } = self.serving.take().unwrap();
        drop(service);
        within(task).await.unwrap();
        within(tokio::task::spawn_blocking(|| threads.join())).await.unwrap();
    }

    /// What the server serves, for what no request does.
    pub(crate) fn service(&self) -> &Service {
        &self.serving.as_ref().unwrap().service
    }

    /// Where everything is.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A file beside the data directory.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Lets time pass. Something has to be asked of the service for it to notice at once.
    pub(crate) fn advance(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    pub(crate) fn call(&self, method: Method, path: &str) -> Call {
        Call::new(self.address, method, path)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call(Method::POST, path).json(body).send().await
    }

    /// The body of a request for a run of the skill, with more in it.
    pub(crate) fn request(more: Value) -> Value {
        let mut document =
            json!({ "skill": "survey", "engine": "scripted", "execution_mode": "interactive" });
        for (key, value) in more.as_object().unwrap() {
            document[key] = value.clone();
        }
        document
    }

    /// A run that is there.
    pub(crate) fn actor(&self, id: &str) -> Actor<'_> {
        Actor { stage: self, id: id.to_owned() }
    }

    /// Starts a run of the skill.
    pub(crate) async fn start(&self, more: Value) -> Actor<'_> {
        let run = self.post("/v1/runs", &Self::request(more)).await.is(201);
        Actor { stage: self, id: run["run_id"].as_str().unwrap().to_owned() }
    }
}

/// A run.
pub(crate) struct Actor<'a> {
    stage: &'a Stage,
    pub(crate) id: String,
}

impl Actor<'_> {
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/v1/runs/{}{rest}", self.id)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.stage.data().join("runs").join(&self.id).join("work")
    }

    /// Waits until the agent is at its turn with this number, and lets it do this.
    pub(crate) async fn turn(&self, number: u32, script: &str) {
        self.at_turn(number).await;
        let part = self.work().join("does.part");
        fs::write(&part, script).unwrap();
        fs::rename(part, self.work().join(format!("does.{number}"))).unwrap();
    }

    pub(crate) async fn at_turn(&self, number: u32) {
        exists(&self.work().join(format!("prompt.{number}"))).await;
    }

    pub(crate) async fn says(&self, turn: u32, text: &Value) {
        self.turn(turn, &format!("cat <<'END'\n{text}\nEND\n")).await;
    }

    pub(crate) async fn finishes(&self, turn: u32) {
        self.says(turn, &json!({ "__SKILL_DONE__": true, "answer": "done" })).await;
    }

    /// Lets the agent ask in its turn with this number, and waits until the run waits.
    pub(crate) async fn asks(&self, turn: u32) {
        self.at_turn(turn).await;
        let seq = self.show().await["seq"].as_u64();
        self.says(turn, &json!({ "__SKILL_DONE__": false, "message": "Which database?" })).await;
        self.events(seq).await.until(|frame| frame["data"]["to"] == "waiting_user").await;
    }

    /// Waits until the run has had this status.
    pub(crate) async fn becomes(&self, status: &str) {
        let mut events = self.events(None).await;
        events.until(|frame| frame["data"]["to"] == status).await;
    }

    pub(crate) async fn events(&self, after: Option<u64>) -> Events {
        let call = self.stage.call(Method::GET, &self.path("/events"));
        Events::open(match after {
            Some(after) => call.header("last-event-id", &after.to_string()),
            None => call,
        })
        .await
    }

    pub(crate) async fn show(&self) -> Value {
        self.stage.get(&self.path("")).await.is(200)
    }

    pub(crate) async fn reply(&self, body: Value) -> Answer {
        self.stage.post(&self.path("/reply"), &body).await
    }

    pub(crate) async fn cancel(&self) -> Answer {
        self.stage.call(Method::POST, &self.path("/cancel")).send().await
    }
}

/// Waits for a file, which announces itself to nobody.
pub(crate) async fn exists(file: &Path) {
    within(async {
        while !file.exists() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    })
    .await;
}
