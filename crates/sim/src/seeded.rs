//! Plans that a seed determines.

mod roundtables;

use std::collections::BTreeMap;

use adjourn_core::{ExecutionMode, Profile, ResumesBy, RunSpec, Strict};
use adjourn_kernel::Slots;
use adjourn_store::conformance::Random;

use crate::plan::{Act, Call, Crashes, End, Faults, Goes, Medium, Person, Plan, RunPlan};

const ENGINES: [&str; 3] = ["acp", "exec", "reasoning"];
const SKILLS: [Option<&str>; 4] = [None, Some("review"), Some("deploy"), Some("triage")];

/// Virtual time in which a seed's runs are created and its faults happen: ten minutes.
const BUSY_MS: i64 = 600_000;

impl Plan {
    /// The plan that belongs to `seed`.
    pub fn seeded(seed: u64) -> Self {
        // Not the sequence that the simulation itself draws from.
        let mut random = Random::new(seed ^ 0xad10_0124);
        let random = &mut random;
        let engine =
            ENGINES.iter().filter(|_| random.once_in(4)).map(|name| ((*name).to_owned(), 1)).collect();
        let total = 1 + small(random, 3);
        let queue_max = if random.once_in(4) { small(random, 3) } else { 100 };
        let slots = Slots { total, engine, queue_max };
        let runs = (0..3 + random.below(8)).map(|_| run_plan(random)).collect();
        Self {
            seed,
            slots,
            warm_max: if random.once_in(3) { small(random, 3) } else { 2048 },
            runs,
            roundtables: roundtables::plans(seed),
            faults: faults(random),
            crashes: Crashes::default(),
            calm_at_ms: BUSY_MS,
            medium: Medium::Memory,
            bug: None,
        }
    }

    /// Whether the seed alone says what happens.
    pub(crate) fn is_seeded(&self) -> bool {
        let has_roundtables = !self.roundtables.is_empty();
        self.crashes.0.is_empty() && self.bug.is_none() && self.calm_at_ms == BUSY_MS && has_roundtables
    }
}

fn small(random: &mut Random, end: u64) -> usize {
    usize::try_from(random.below(end)).expect("it is small")
}

/// Every seventh seed has no faults at all: what goes wrong there goes wrong anywhere.
fn faults(random: &mut Random) -> Faults {
    if random.once_in(7) {
        return Faults::default();
    }
    let mut often = |most: u64| if random.once_in(3) { 0 } else { most + random.below(3 * most) };
    Faults {
        crash: often(30),
        commit: often(6),
        read: often(30),
        clock: often(30),
        slow: often(15),
        survey: often(6),
        prune: often(2),
        disk: often(60),
        agent: often(8),
    }
}

fn run_plan(random: &mut Random) -> RunPlan {
    let mode = if random.once_in(3) { ExecutionMode::Auto } else { ExecutionMode::Interactive };
    let engine = *random.one_of(&ENGINES);
    let mut labels = BTreeMap::new();
    if random.once_in(3) {
        labels.insert("team".to_owned(), "core".to_owned());
    }
    let spec = RunSpec {
        skill: random.one_of(&SKILLS).map(str::to_owned),
        resumes_by: if engine == "reasoning" { ResumesBy::Journal } else { ResumesBy::Handle },
        profile: if random.once_in(4) { Profile::StickyProcess } else { Profile::Resumable },
        strict: if random.once_in(2) { Strict::Off } else { Strict::On },
        session_timeout_sec: *random.one_of(&[5, 60, 1200]),
        max_attempt: *random.one_of(&[None, None, None, Some(1), Some(2)]),
        hard_timeout_sec: *random.one_of(&[None, Some(2), Some(30), Some(300)]),
        repair_limit: *random.one_of(&[0, 1, 3]),
        priority: *random.one_of(&[0, 0, 0, 5, -1]),
        labels,
        ..RunSpec::new(engine, mode)
    };
    // Half of all runs come in the first second: a queue needs a crowd.
    let at_ms =
        if random.once_in(2) { random.below(1000) } else { random.below(BUSY_MS.cast_unsigned() / 2) };
    let key = random.once_in(3).then(|| format!("create {}", random.below(4)));
    RunPlan {
        at_ms: at_ms.cast_signed(),
        spec,
        continues: random.once_in(5).then(|| small(random, 4)),
        asks: if key.is_some() && random.once_in(2) { 2 } else { 1 },
        asks_every_ms: 0,
        key,
        cancel_after_ms: random.once_in(6).then(|| delay(random)),
        attempts: (0..1 + random.below(3)).map(|_| attempt(random)).chain([done()]).collect(),
        person: *random.one_of(&[Person::Prompt, Person::Anyhow, Person::Anyhow, Person::Absent]),
    }
}

/// Mostly moments, sometimes minutes.
pub(crate) fn delay(random: &mut Random) -> i64 {
    let most = *random.one_of(&[3, 50, 50, 1000, 10_000, 120_000]);
    random.below(most).cast_signed()
}

fn done() -> Vec<Act> {
    vec![Act::Handle, Act::Work(20), Act::End(End::Done)]
}

fn attempt(random: &mut Random) -> Vec<Act> {
    let mut acts = Vec::new();
    // The handle comes at once, late, or never.
    let handle = random.below(8);
    if handle < 5 {
        acts.push(Act::Handle);
    }
    for _ in 0..random.below(4) {
        let act = match random.below(9) {
            0..=2 => Act::Work(delay(random)),
            3 => Act::Say,
            4..=6 => Act::Call(call(random)),
            7 => Act::Form,
            _ => Act::Permissions(1 + u8::try_from(random.below(3)).expect("it is small")),
        };
        acts.push(act);
    }
    if handle == 5 || handle == 6 {
        acts.push(Act::Handle);
    }
    let ends = [
        End::Ask,
        End::Ask,
        End::Ask,
        End::Ask,
        End::AskBadly,
        End::Done,
        End::Done,
        End::DoneWrong,
        End::DoneWrong,
        End::DoneWrongAlways,
        End::Prose,
        End::Fail,
        End::Hang,
        End::Vanish,
    ];
    acts.push(Act::Say);
    acts.push(Act::End(*random.one_of(&ends)));
    acts
}

fn call(random: &mut Random) -> Call {
    Call {
        number: u8::try_from(random.below(3)).expect("it is small"),
        irreversible: !random.once_in(3),
        everywhere: random.once_in(3),
        approval: random.once_in(2),
        goes: *random.one_of(&[
            Goes::Well,
            Goes::Well,
            Goes::Well,
            Goes::Badly,
            Goes::Unheard,
            Goes::Nowhere,
            Goes::Asks,
            Goes::Asks,
            Goes::Slowly,
            Goes::Hangs,
        ]),
    }
}
