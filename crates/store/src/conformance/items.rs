//! Items as the runtime writes them, for tests and benchmarks.

use std::collections::BTreeMap;

use adjourn_core::{
    Change, Choice, Claim, ClaimKey, ContractRow, ContractStatus, ExecutionId, Holder, InteractionId, Item,
    OpenInteraction, Question, RoundtableId, RunId, RunRow, RunStatus, StreamId, Timestamp,
};

/// When everything in here begins: 2026-01-01.
const EPOCH_MILLIS: i64 = 1_767_225_600_000;

/// The moment `n` milliseconds after the beginning.
pub fn at(n: u64) -> Timestamp {
    Timestamp::from_millis(EPOCH_MILLIS + i64::try_from(n).expect("small in tests"))
}

/// The bits of the `n`th UUIDv7: one per millisecond, with something that looks random below.
fn uuid_bits(n: u64) -> u128 {
    let millis = u128::from(at(n).millis().cast_unsigned());
    let random = u128::from(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2);
    millis << 80 | 7 << 76 | 0b10 << 62 | random
}

/// The `n`th run; a larger `n` is a newer run.
pub fn run_id(n: u64) -> RunId {
    RunId::from_bits(uuid_bits(n))
}

/// The `n`th contract.
pub fn execution_id(n: u64) -> ExecutionId {
    ExecutionId::from_bits(uuid_bits(n))
}

/// The `n`th roundtable.
pub fn roundtable_id(n: u64) -> RoundtableId {
    RoundtableId::from_bits(uuid_bits(n))
}

/// A stream that grows, one item after the other.
#[derive(Debug, Clone)]
pub struct Script {
    /// The stream.
    pub stream: StreamId,
    /// The place of its last event.
    pub seq: u64,
    /// Its last frame.
    pub frame: u64,
    /// The row of its run, as the next item writes it; a roundtable has none.
    pub row: Option<RunRow>,
}

impl Script {
    /// The `n`th run, without skill and labels, before its first item.
    pub fn run(n: u64) -> Self {
        let row = RunRow {
            run_id: run_id(n),
            status: RunStatus::Queued,
            skill: None,
            engine: "claude".to_owned(),
            attempt_number: 0,
            priority: 0,
            error_code: None,
            seq: 0,
            created_at: at(n),
            updated_at: at(n),
            labels: BTreeMap::new(),
        };
        Self { stream: StreamId::Run(row.run_id), seq: 0, frame: 0, row: Some(row) }
    }

    /// The `n`th roundtable, before its first item.
    pub fn roundtable(n: u64) -> Self {
        Self { stream: StreamId::Roundtable(roundtable_id(n)), seq: 0, frame: 0, row: None }
    }

    /// The run of this script.
    ///
    /// # Panics
    ///
    /// If it is a roundtable.
    pub fn run_id(&self) -> RunId {
        self.row.as_ref().expect("it is a run").run_id
    }

    /// With a skill.
    #[must_use]
    pub fn skill(mut self, skill: &str) -> Self {
        if let Some(row) = &mut self.row {
            row.skill = Some(skill.to_owned());
        }
        self
    }

    /// With a label.
    #[must_use]
    pub fn label(mut self, key: &str, value: &str) -> Self {
        if let Some(row) = &mut self.row {
            row.labels.insert(key.to_owned(), value.to_owned());
        }
        self
    }

    /// The next item that leaves the status as it is.
    pub fn next(&mut self, events: u32, frames: u64, payload: impl Into<Vec<u8>>) -> Item {
        let expected_seq = self.seq;
        self.seq += u64::from(events);
        self.frame += frames;
        let updated_at = at(self.seq);
        let changes = self.row.iter_mut().map(|row| {
            row.seq = self.frame;
            row.updated_at = updated_at;
            Change::Run(row.clone())
        });
        Item {
            stream: self.stream,
            expected_seq,
            at: updated_at,
            events,
            last_frame: self.frame,
            changes: changes.collect(),
            payload: payload.into(),
        }
    }

    /// The next item, with which the run has `status`.
    pub fn moves(
        &mut self,
        status: RunStatus,
        events: u32,
        frames: u64,
        payload: impl Into<Vec<u8>>,
    ) -> Item {
        if let Some(row) = &mut self.row {
            row.status = status;
        }
        self.next(events, frames, payload)
    }
}

/// An item with one more change.
#[must_use]
pub fn with(mut item: Item, change: Change) -> Item {
    item.changes.push(change);
    item
}

/// A held key.
pub fn claim(scope: &str, key: &str, holder: &Holder) -> Change {
    Change::Claimed(Claim { key: claim_key(scope, key), holder: holder.clone() })
}

/// A key.
pub fn claim_key(scope: &str, key: &str) -> ClaimKey {
    ClaimKey { scope: scope.to_owned(), key: key.to_owned() }
}

/// The `n`th run as a holder.
pub fn holder(n: u64) -> Holder {
    Holder { stream: run_id(n).into(), execution_id: None, digest: None }
}

/// The `n`th contract, of the `n`th run.
pub fn contract(n: u64, status: ContractStatus) -> ContractRow {
    ContractRow { execution_id: execution_id(n), run_id: run_id(n), status, unknown: false }
}

/// A question of a run, asked at millisecond `asked`.
pub fn question(run_id: RunId, number: u32, asked: u64, deadline: Option<u64>) -> OpenInteraction {
    let options =
        vec![Choice::new("staging", "Staging first"), Choice::new("production", "Straight to production")];
    OpenInteraction {
        stream: run_id.into(),
        interaction_id: InteractionId(number),
        question: Question::choose_one("Where should the change be deployed?", options),
        created_at: at(asked),
        deadline_at: deadline.map(at),
    }
}

/// The skills of [`paused_run`]: most runs are of the first.
pub const SKILLS: [&str; 8] = [
    "code-review",
    "code-review",
    "code-review",
    "code-review",
    "release-notes",
    "release-notes",
    "triage",
    "deploy-preview",
];

/// A run that pauses once and ends: created and started, asks, is answered, succeeds.
///
/// Four items, ten events and about 1.3 kB of payload: what the journal of such a run looks like, field by field.
pub fn paused_run(n: u64) -> [Item; 4] {
    let skill = SKILLS[(n % 8) as usize];
    let team = ["core", "web", "data", "infra"][(n / 8 % 4) as usize];
    let mut run = Script::run(n).skill(skill).label("team", team).label("source", "ci");
    let question = question(run.run_id(), 1, n, Some(n + 86_400_000));
    let asked = serde_json::json!(question.question);
    if let Some(row) = &mut run.row {
        row.attempt_number = 1;
    }
    let created = run.moves(RunStatus::Running, 2, 1, format!(
        r#"[{{"type":"run.created","skill":"{skill}","engine":"claude","mode":"interactive","profile":"resumable","input":{{"repository":"github.com/example/service","change":"{n}","instructions":"Review the change and deploy it when the checks are green."}},"labels":{{"team":"{team}","source":"ci"}},"workspace":"runs/{n:012}"}},{{"type":"turn.started","attempt":1,"frame":1}}]"#
    ));
    let asks = run.moves(RunStatus::WaitingUser, 4, 3, format!(
        r#"[{{"type":"handle.known","handle":"7b1d0f3c-5a52-4f0e-9d55-{n:012x}"}},{{"type":"message","frame":2,"text":"The change looks good: all 214 checks are green and the migration is reversible."}},{{"type":"question.opened","frame":3,"interaction":1,"question":{asked},"deadline_at":{n}}},{{"type":"turn.needs_input","frame":4}}]"#
    ));
    let answered = run.moves(RunStatus::Running, 2, 3, format!(
        r#"[{{"type":"reply.accepted","frame":5,"interaction":1,"answer":"staging","by":"user:{team}"}},{{"type":"turn.started","attempt":2,"frame":7}}]"#
    ));
    let done = run.moves(RunStatus::Succeeded, 2, 2, format!(
        r#"[{{"type":"message","frame":8,"text":"Deployed to staging. Nothing in the logs after five minutes."}},{{"type":"turn.succeeded","frame":9,"output":{{"approved":true,"environment":"staging","url":"https://staging.example.com/{n}"}}}}]"#
    ));
    let stream = question.stream;
    [
        created,
        with(asks, Change::InteractionOpened(question)),
        with(answered, Change::InteractionClosed(stream, InteractionId(1))),
        done,
    ]
}

#[cfg(test)]
mod tests {
    use super::{paused_run, run_id};

    #[test]
    fn newer_runs_have_larger_ids() {
        assert!((1..1000).all(|n| run_id(n) > run_id(n - 1)));
    }

    #[test]
    fn the_paused_run_has_the_size_that_it_is_measured_for() {
        let items = paused_run(123_456);
        let events: u32 = items.iter().map(|item| item.events).sum();
        let bytes: usize = items.iter().map(|item| item.payload.len()).sum();
        assert_eq!(events, 10);
        assert!((1200..1400).contains(&bytes), "{bytes}");
        for item in items {
            let payload: serde_json::Value = serde_json::from_slice(&item.payload).unwrap();
            assert_eq!(payload.as_array().unwrap().len(), item.events as usize);
        }
    }
}
