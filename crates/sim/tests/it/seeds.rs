//! Two thousand seeds, and whether they were worth it.

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

const FLOORS: &[(&str, u64)] = &[("crashes", 1)];

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
