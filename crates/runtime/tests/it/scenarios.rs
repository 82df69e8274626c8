//! The acceptance list, driven through the real service. See `docs/scenarios.md`.

mod ex;
mod il;
mod ip;
mod rt;
mod sm;
mod xx;
