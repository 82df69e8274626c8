//! Two thousand seeds with runs and roundtables, and whether they were worth it.

use adjourn_sim::{Counts, Medium, Plan, simulate, trace};

fn run(seeds: std::ops::Range<u64>, medium: Medium) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        match simulate(&Plan { medium, ..Plan::seeded(seed) }) {
            Ok(outcome) => counts.merge(&outcome.counts),
            Err(failure) => panic!("seed {seed}\n{failure}"),
        }
    }
    counts
}

/// A thousand seeds that let nothing go wrong, or nothing go right, show nothing. Each floor is about half of what
/// the first thousand reached.
fn assert_worth_it(counts: &Counts) {
    let floors = FLOORS.iter().filter(|(what, least)| counts.get(what) < *least);
    let missed: Vec<_> =
        floors.map(|(what, least)| format!("{what}: {} < {least}", counts.get(what))).collect();
    assert!(missed.is_empty(), "{missed:#?}\n{counts}");
}

const FLOORS: &[(&str, u64)] = &[
    ("commits", 25_000),
    ("crash after an answer", 200),
    ("crash after an effect", 100),
    ("crash before a batch is taken", 200),
    ("crash before a batch is written", 200),
    ("crash before anybody is told", 200),
    ("crash between a call and its result", 8),
    ("crash between sync and settle", 200),
    ("crash between write and sync", 200),
    ("creations refused for a full disk", 2000),
    ("creations refused for a full queue", 250),
    ("deadlines that moved", 250),
    ("fault: a commit fails at once", 600),
    ("fault: a process that stays dies", 50),
    ("fault: a restart finds something missing", 100),
    ("fault: a sync fails", 600),
    ("fault: a turn vanishes", 250),
    ("fault: reads fail", 700),
    ("fault: the clock is set back", 400),
    ("fault: the clock is set forward", 400),
    ("fault: the disk falls below its reserve", 400),
    ("fault: the disk is full", 200),
    ("irreversible effects", 500),
    ("permissions that are asked for", 100),
    ("questions by tool", 400),
    ("questions that are printed", 700),
    ("questions that expired", 250),
    ("prunes", 100),
    ("repairs", 500),
    ("replies accepted", 1500),
    ("replies refused", 900),
    ("runs that a prune kept for their successor", 1),
    ("runs that a prune removed", 100),
    ("runs that failed", 1000),
    ("runs that succeeded", 1200),
    ("runs that were canceled", 400),
    ("stops of runs that have to end", 600),
    ("stops of turns that took too long", 600),
    // Roundtables come to every end, with everything that can happen on the way.
    ("agents that lost their conversation", 400),
    ("agents that were announced", 4000),
    ("answers at roundtables", 1300),
    ("artifacts", 400),
    ("artifacts that a facilitator changed", 30),
    ("artifacts that a person changed", 8),
    ("checkpoints", 60),
    ("conflicts", 100),
    ("crash before a creation is reported", 150),
    ("crash before a run of a roundtable is created", 170),
    ("crash before an agent is announced", 40),
    ("escalations", 150),
    ("facilitators that got lost", 700),
    ("fault: a run of a roundtable cannot be created", 200),
    ("fault: an agent cannot be asked now", 150),
    ("open questions", 60),
    ("participants that got lost", 600),
    ("replies to roundtables accepted", 200),
    ("replies to roundtables refused", 60),
    ("rounds", 1000),
    ("rounds that were recorded", 680),
    ("roundtables that a person closed", 170),
    ("roundtables that concluded", 170),
    ("roundtables that failed", 150),
    ("roundtables without a round left", 220),
    ("runs of roundtables without room", 10_000),
    // Every edge of the run's table is taken.
    ("interaction.auto_decide.timeout", 500),
    ("interaction.reply.accepted", 1200),
    ("interaction.wait.timeout", 8),
    ("process.lost", 4),
    ("restart.needs_input", 40),
    ("restart.preserve_waiting", 400),
    ("restart.reconcile_failed", 200),
    ("restart.requeued", 1200),
    ("turn.needs_input", 1500),
    ("turn.started", 6000),
];

#[test]
fn the_first_thousand_seeds_find_nothing_and_try_everything() {
    assert_worth_it(&run(0..1000, Medium::Memory));
}

#[test]
fn the_second_thousand_seeds_find_nothing_and_try_everything() {
    assert_worth_it(&run(1000..2000, Medium::Memory));
}

#[test]
fn forty_seeds_find_nothing_on_sqlite() {
    let counts = run(0..40, Medium::Sqlite);
    assert!(counts.get("crashes") > 40, "{counts}");
}

#[test]
fn the_store_makes_no_difference_to_what_happens() {
    for seed in 0..10 {
        let memory = trace(&Plan::seeded(seed));
        let sqlite = trace(&Plan { medium: Medium::Sqlite, ..Plan::seeded(seed) });
        assert_eq!(memory.1, sqlite.1, "seed {seed}");
    }
}

#[test]
fn the_same_seed_does_the_same_thing_twice() {
    for seed in 0..100 {
        assert_eq!(trace(&Plan::seeded(seed)).1, trace(&Plan::seeded(seed)).1, "seed {seed}");
    }
}

/// Seeds with roundtables that found something once: an agent that was prepared a second time when the closing of its
/// roundtable could not be committed, and two orders of the queue that the simulator itself took for wrong.
#[test]
fn what_was_found_once_at_roundtables_is_not_found_again() {
    for seed in [395, 676, 13613, 14137] {
        if let Err(failure) = simulate(&Plan::seeded(seed)) {
            panic!("seed {seed}\n{failure}");
        }
    }
}

/// Seeds that found something before there were roundtables here: an expiry that was refused while its deadline moved and
/// never tried again, a run that ended before the turn that had taken another process, and a slot that was kept while
/// somebody looked twice.
#[test]
fn what_was_found_once_is_not_found_again() {
    for seed in [2630, 6706, 7605, 8076, 9584] {
        if let Err(failure) = simulate(&Plan { roundtables: Vec::new(), ..Plan::seeded(seed) }) {
            panic!("seed {seed}\n{failure}");
        }
    }
}
