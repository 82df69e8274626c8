//! The scripted model alone, and the real agents with it.

mod agents;
mod faults;
mod formats;
mod http;
mod script;
