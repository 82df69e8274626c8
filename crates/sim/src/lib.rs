//! The deterministic simulator.
//!
//! It runs the real kernel, decider and journal on virtual time, with engines, people and disks that a seed determines,
//! and crashes them wherever a crash can come. Runs and roundtables are in it, and so are the handlers that prepare the
//! agents of a roundtable and create their runs. After every step it checks what has to hold whatever happens. It is
//! **not** a model: nothing of the runtime is written a second time here, only the world around it.
//!
//! # Invariants
//!
//! - The same [`Plan`] does the same thing every time: no clock, no thread and no order of a hash map is involved.
//! - It finds every [`Bug`] that is planted in what it puts around the kernel; a test says within how many seeds.

mod bug;
mod client;
mod disk;
mod engine;
mod flaky;
mod memory;
mod mirror;
mod plan;
mod report;
mod roundtable;
mod scenario;
mod seeded;
mod simulation;
mod watch;

pub use bug::Bug;
pub use flaky::FlakyStore;
pub use memory::{MemoryStore, Unsynced};
pub use plan::{
    Act, Agents, Call, Crashes, End, Faults, Goes, Medium, Person, Plan, RoundtablePlan, RunPlan,
};
pub use report::{Counts, Failure, Violation};
pub use scenario::Scenario;

use simulation::Simulation;

/// What a simulation came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What happened how often.
    pub counts: Counts,
    /// Places at which a crash could have come.
    pub boundaries: u64,
}

/// Runs a plan to its end, or to the first thing that is broken.
pub fn simulate(plan: &Plan) -> Result<Outcome, Box<Failure>> {
    match attempt(plan, false) {
        (Ok(outcome), _) => Ok(outcome),
        // The same again, and this time somebody takes notes.
        (Err(_), _) => attempt(plan, true).0.and_then(|_| {
            let violation =
                Violation::new("the same plan does the same thing", "the second time nothing was found");
            Err(failure(plan, 0, violation, Vec::new()))
        }),
    }
}

/// Runs a plan and gives everything that happened, line by line.
pub fn trace(plan: &Plan) -> (Result<Outcome, Box<Failure>>, Vec<String>) {
    attempt(plan, true)
}

fn attempt(plan: &Plan, is_logged: bool) -> (Result<Outcome, Box<Failure>>, Vec<String>) {
    let mut simulation = match Simulation::new(plan.clone(), is_logged) {
        Ok(simulation) => simulation,
        Err(error) => {
            let violation = Violation::new("a simulation can begin", error.to_string());
            return (Err(failure(plan, 0, violation, Vec::new())), Vec::new());
        }
    };
    // A broken assertion of the kernel is a finding like any other.
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| simulation.run()));
    let result = run.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Violation::new("nothing panics", text.unwrap_or_default()))
    });
    let log = simulation.take_log();
    let result = match result {
        Ok(()) => Ok(Outcome { counts: simulation.counts.clone(), boundaries: simulation.boundaries() }),
        Err(violation) => Err(failure(plan, simulation.steps, violation, log.clone())),
    };
    (result, log)
}

fn failure(plan: &Plan, step: u64, violation: Violation, log: Vec<String>) -> Box<Failure> {
    let medium = if plan.medium == Medium::Sqlite { " --sqlite" } else { "" };
    let replay = if plan.is_seeded() {
        format!("cargo run -p adjourn-sim -- --seed {}{medium} --trace", plan.seed)
    } else {
        "the test that made this plan".to_owned()
    };
    Box::new(Failure { replay, step, violation, log })
}
