//! The acceptance list, driven through the real service. See `docs/scenarios.md`.

mod il;
mod ip;
mod rt;
mod sm;
mod xx;
