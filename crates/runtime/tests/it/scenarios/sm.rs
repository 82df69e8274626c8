//! SM: a roundtable, from its opening to its end.

mod artifacts;
mod endings;
mod facilitator;
mod next;
mod opening;
mod participants;
mod recorded;
mod restarts;
mod strategies;
mod topics;
