//! Every fuzzing target of Adjourn in one program, by libFuzzer. `cargo xtask fuzz` builds and runs it.
//!
//! One program and not one for each target: what takes time is linking all of Adjourn. `ADJOURN_FUZZ_TARGET` says which
//! target is run.

#![no_main]

use std::sync::LazyLock;

use adjourn_server::fuzzing::{Target, target};
use libfuzzer_sys::fuzz_target;

/// The target that was asked for.
static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("ADJOURN_FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|| panic!("ADJOURN_FUZZ_TARGET should name a target, not `{name}`"))
});

fuzz_target!(|bytes: &[u8]| TARGET(bytes));
