//! Everything that reads foreign bytes, given samples that are right and thousands that are nearly right.
//!
//! The short form of `cargo xtask fuzz`: the same targets and the same samples, without libFuzzer, whose instrumented
//! build takes too long for every change. It tries the same inputs each time.

use std::panic::{AssertUnwindSafe, catch_unwind};

use adjourn_server::fuzzing::TARGETS;
use adjourn_testkit::fuzz_seeds;

/// Changed inputs for each target: a few seconds for all of them without optimization.
const INPUTS: u32 = 1_000;

/// Bytes of an input.
const INPUT_BYTES_MAX: usize = 16 << 10;

/// What parsers are known to stumble over, besides what is in the samples.
const WORDS: &[&str] = &[
    "18446744073709551615",
    "-9223372036854775808",
    "4294967296",
    "1e308",
    "-0",
    "0.1",
    "null",
    "true",
    "\"\"",
    "{}",
    "[]",
    "\\u0000",
    "\\ud800",
    "\u{202e}",
    "\u{feff}",
    "\0",
    "\r\n",
    "\n\n",
    "---\n",
    "$ref",
    "#",
    "..",
    "~",
    "{{",
    "%}",
    "⟦",
];

/// Numbers that look random and are the same each time: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or_default() % limit.max(1)
    }
}

/// The input with one to four changes, some of which come from another sample.
fn changed(random: &mut Random, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let mut input = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(input.len() + 1);
        let end = (at + random.below(16)).min(input.len());
        match random.below(6) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 if at < input.len() => input[at] ^= 1 << random.below(8),
            3 => {
                let copy = input[at..end].repeat(1 + random.below(40));
                input.splice(at..at, copy);
            }
            4 => {
                let from = random.below(other.len() + 1);
                let to = (from + random.below(64)).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
            _ => drop(input.splice(at..end, WORDS[random.below(WORDS.len())].bytes())),
        }
    }
    input.truncate(INPUT_BYTES_MAX);
    input
}

#[test]
fn everything_that_reads_foreign_bytes_takes_samples_and_changed_samples() {
    for (name, target) in TARGETS {
        let seeds = fuzz_seeds::of(name).unwrap();
        assert!(!seeds.is_empty(), "there is no sample for `{name}` in fuzz/seeds");
        let run = |input: &[u8], what: &str| {
            if catch_unwind(AssertUnwindSafe(|| target(input))).is_err() {
                panic!("`{name}` fails on {what}: {}", input.escape_ascii());
            }
        };
        for (file, seed) in &seeds {
            run(seed, file);
        }
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for number in 0..INPUTS {
            let seed = &seeds[random.below(seeds.len())].1;
            let other = &seeds[random.below(seeds.len())].1;
            run(&changed(&mut random, seed, other), &format!("changed sample {number}"));
        }
    }
}
