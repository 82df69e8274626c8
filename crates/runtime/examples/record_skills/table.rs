//! Records the roundtable that is built in: `xtask/recordings/roundtable.json` says what everybody says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adjourn_api::{NewParticipant, NewRoundtable, NewSeat};
use adjourn_core::StreamId;
use adjourn_core::machines::RoundtableStatus;
use adjourn_engine::secrets::Secret;
use adjourn_engine::supervisor::Supervisor;
use adjourn_kernel::SystemClock;
use adjourn_runtime::Service;
use adjourn_runtime::config::{Config, EngineConfig, How, Slots};
use adjourn_testkit::agents;
use adjourn_testkit::model::{Conversations, ModelServer, Reply, Script};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Result, play};

/// What the play is called.
pub(crate) const NAME: &str = "roundtable";

/// Letters that are shown at once, and how long that takes: an agent that writes for people to read along.
const PIECE_CHARS: usize = 48;
const PIECE_MS: u64 = 40;

/// A roundtable to be recorded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Play {
    /// The agent that everybody is.
    engine: String,
    subject: String,
    /// What the facilitator says, in order.
    facilitator: Vec<Value>,
    /// What each participant says, round by round.
    participants: BTreeMap<String, Vec<Value>>,
}

/// Records it, and gives back where the recordings are.
pub(crate) async fn record() -> Result<PathBuf> {
    let file = play::repository().join("xtask/recordings").join(NAME).with_extension("json");
    let play: Play = serde_json::from_slice(&fs::read(file)?)?;
    let folder = tempfile::tempdir()?;
    let mut servers = Vec::new();
    let mut engines = BTreeMap::new();
    let leads = ("facilitator", &play.facilitator, Conversations::One);
    let answer = play.participants.iter().map(|(role, said)| (role.as_str(), said, Conversations::Each));
    for (role, said, conversations) in std::iter::once(leads).chain(answer) {
        let script = Script { replies: said.iter().map(reply).collect(), conversations };
        let server = ModelServer::start(script)?;
        engines.insert(engine_of(role), engine(&play.engine, &folder.path().join(role), &server.url())?);
        servers.push(server);
    }
    // One at a time, so that they are recorded in order.
    let config = Config { engines, slots: Slots { total: 1, ..Slots::default() }, ..Config::default() };
    let data = folder.path().join("data");
    let (service, threads) =
        Service::open_with(&data, config, Supervisor::current_exe()?, Arc::new(SystemClock))?;
    let tapes = folder.path().join("tapes");
    fs::create_dir(&tapes)?;
    service.turn_setup().record_roundtables(tapes.clone());
    let workflow = service.library().workflow("specs")?;
    let seat = |it: &NewParticipant| {
        let seat = it.seat();
        NewParticipant::Seat(NewSeat { engine: Some(engine_of(&seat.role)), ..seat })
    };
    let request = NewRoundtable {
        engine: Some(engine_of("facilitator")),
        participants: Some(workflow.participants.iter().map(seat).collect()),
        ..NewRoundtable::new(&play.subject)
    };
    let id = service.open_roundtable(request.into(), None).await?.table.id();
    let mut changes = service.store().watch_stream(StreamId::Roundtable(id));
    let closed = loop {
        changes.mark_unchanged();
        let table = service.roundtable(id)?;
        if table.status() == RoundtableStatus::Closed {
            break table;
        }
        eprintln!("  round {}, {} events", table.recorded_rounds() + 1, table.seq());
        changes.changed().await?;
    };
    drop(service);
    threads.join();
    let closing = closed.closing().ok_or("it is closed")?;
    if closing.reason.name() != "concluded" {
        return Err(format!("it ended as {}: {closing:?}", closing.reason).into());
    }
    let refused: Vec<_> = closed.rounds().iter().flat_map(|round| &round.refused).collect();
    let missing: Vec<_> = closed.rounds().iter().flat_map(|round| &round.missing).collect();
    if !refused.is_empty() || !missing.is_empty() {
        return Err(format!("not everything counts: {refused:?} {missing:?}").into());
    }
    keep(&tapes)
}

/// Puts the recordings where they are built in from.
fn keep(tapes: &Path) -> Result<PathBuf> {
    let target = play::repository().join("crates/runtime/roundtable/recording");
    for entry in fs::read_dir(tapes)? {
        let entry = entry?;
        fs::copy(entry.path(), target.join(entry.file_name()))?;
    }
    Ok(target)
}

fn engine_of(role: &str) -> String {
    format!("as-{role}")
}

/// The agent, talking to the model at `url`.
fn engine(name: &str, home: &Path, url: &str) -> Result<EngineConfig> {
    let program = agents::binary(name)
        .ok_or_else(|| format!("{name} is not installed: `cargo xtask agents {name}`"))?;
    let mut engine = EngineConfig::built_in(name).ok_or("there is no such engine")?;
    if let How::Exec { command, .. } = &mut engine.how {
        *command = vec![program.display().to_string()];
    }
    fs::create_dir(home)?;
    let environment = agents::point(name, home, url)?;
    engine.env.extend(environment.into_iter().map(|(name, value)| (name, Secret::new(value))));
    Ok(engine)
}

/// What the model says, in the pieces in which it is written.
fn reply(said: &Value) -> Reply {
    let mut said = said.clone();
    said["__SKILL_DONE__"] = json!(true);
    let text: Vec<char> = said.to_string().chars().collect();
    let pieces = text.chunks(PIECE_CHARS).map(|piece| piece.iter().collect::<String>());
    Reply { delay_ms: PIECE_MS, ..Reply::chunks(pieces) }
}
