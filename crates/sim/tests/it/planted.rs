//! Bugs that are planted around the kernel are found: a simulator that finds nothing proves nothing.

use adjourn_sim::{Bug, Plan, simulate};

/// Seeds within which each bug has to be found.
const SEEDS_MAX: u64 = 60;

/// The rules that planted bugs break first, and the seed that shows it.
fn found(bug: Bug) -> Option<(u64, &'static str)> {
    (0..SEEDS_MAX).find_map(|seed| {
        let failure = simulate(&Plan { bug: Some(bug), ..Plan::seeded(seed) }).err()?;
        Some((seed, failure.violation.rule))
    })
}

#[test]
fn every_planted_bug_is_found() {
    let mut missed = Vec::new();
    for &bug in Bug::ALL {
        match found(bug) {
            Some((seed, rule)) => println!("{bug:?}: seed {seed} finds that it should hold that {rule}"),
            None => missed.push(bug),
        }
    }
    assert!(missed.is_empty(), "not found within {SEEDS_MAX} seeds: {missed:?}");
}

#[test]
fn the_same_seeds_find_nothing_without_the_bugs() {
    for seed in 0..SEEDS_MAX {
        if let Err(failure) = simulate(&Plan::seeded(seed)) {
            panic!("seed {seed}\n{failure}");
        }
    }
}
