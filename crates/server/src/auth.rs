//! Authentication and authorization of every request: the caller, the role that its route needs, tokens and rate limits.

mod agent;
pub(crate) mod caller;
pub(crate) mod guard;
pub(crate) mod peer;
mod rate_limit;
pub(crate) mod roles;
pub mod tokens;
mod user_name;
