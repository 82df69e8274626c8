//! Roundtables that a seed determines: small agendas and few rounds, so that most of them come to their end.

use adjourn_core::roundtable::{
    Confidence, Criterion, CriterionId, Document, DoneWhen, Limits, Memory, Pace, RoundtableSpec, Seat,
    Strategy, TopicId, TopicSpec,
};
use adjourn_store::conformance::Random;

use super::{BUSY_MS, ENGINES, delay};
use crate::plan::{Agents, Person, RoundtablePlan};

const ROLES: [&str; 3] = ["architect", "tester", "writer"];

/// The roundtables of a seed: at least one.
///
/// They have a sequence of their own, so that what else a seed brings does not depend on them.
pub(super) fn plans(seed: u64) -> Vec<RoundtablePlan> {
    let mut random = Random::new(seed ^ 0x7ab1_e500);
    let random = &mut random;
    (0..1 + random.below(2)).map(|_| plan(random)).collect()
}

fn plan(random: &mut Random) -> RoundtablePlan {
    let at_ms =
        if random.once_in(2) { random.below(1000) } else { random.below(BUSY_MS.cast_unsigned() / 3) };
    let key = random.once_in(2).then(|| format!("open {}", random.below(2)));
    RoundtablePlan {
        at_ms: at_ms.cast_signed(),
        spec: spec(random),
        asks: if key.is_some() && random.once_in(2) { 2 } else { 1 },
        key,
        escalate_after_ms: random.once_in(5).then(|| delay(random)),
        close_after_ms: random.once_in(4).then(|| delay(random)),
        person: *random.one_of(&[Person::Prompt, Person::Anyhow, Person::Anyhow, Person::Absent]),
        agents: if random.once_in(6) { Agents::Reliable } else { Agents::Anyhow },
    }
}

fn spec(random: &mut Random) -> RoundtableSpec {
    let max_rounds = 1 + u32::try_from(random.below(3)).expect("it is small");
    let strategy = random.one_of(Strategy::ALL).name.to_owned();
    let engine = |random: &mut Random| (*random.one_of(&ENGINES)).to_owned();
    // A debate needs two sides.
    let participants = (0..2 + super::small(random, 2)).map(|place| {
        let memory = if random.once_in(3) { Memory::Resume } else { Memory::Fresh };
        Seat { memory, ..Seat::participant(ROLES[place], engine(random)) }
    });
    let participants = participants.collect();
    RoundtableSpec {
        subject: "a shop for bicycles".to_owned(),
        workflow: "specs".to_owned(),
        document: Document::Requirements,
        strategy,
        limits: Limits {
            min_rounds: 1,
            max_rounds,
            max_rounds_per_conflict: 1,
            confidence_below: Confidence::HALF,
            escalation_cooldown_rounds: u32::try_from(random.below(2)).expect("it is small"),
        },
        agenda: (0..1 + random.below(2)).map(|number| topic(number, random.once_in(2))).collect(),
        facilitator: Seat::facilitator(engine(random)),
        participants,
        pace: if random.once_in(3) { Pace::Checkpoints } else { Pace::Continuous },
        context: None,
        labels: Default::default(),
    }
}

fn topic(number: u64, critical: bool) -> TopicSpec {
    let criterion = Criterion { id: CriterionId::new("a"), text: "it is said how".to_owned() };
    TopicSpec {
        topic_id: TopicId::new(format!("topic-{number}")),
        title: "What is in scope".to_owned(),
        critical,
        done_when: DoneWhen { criteria: vec![criterion], min_artifacts: 1, ..DoneWhen::default() },
    }
}
