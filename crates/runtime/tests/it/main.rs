//! Tests of the crate as a whole: a real journal, real threads, and agents that are small scripts in real processes.

// Whoever calls a function of a test wants it to fail right there.
#![allow(clippy::unwrap_used)]

mod acp_agents;
mod agents;
mod clock;
mod example_skills;
mod examples;
mod faults;
mod foreign_tools;
mod gateway;
mod killed;
mod lost_task;
mod path_of_a_run;
mod powercut;
mod queue;
mod recorded;
mod scenarios;
mod skill_stage;
mod stage;
mod table_of_agents;
mod without_folder;
