//! What the core promises, tested through its public interface, in one binary.

mod case;
mod depth;
mod fcmp;
mod journal_numbers;
mod ledger;
mod machines;
mod properties;
mod roundtable;
mod rules;
mod walk;
mod watch;
mod world;
