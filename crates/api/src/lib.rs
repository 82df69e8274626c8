//! What goes over a wire of Adjourn, declared once.
//!
//! Requests and codes are types here, which the server, the command line, the MCP server, the job API and the runtime
//! share. [`read`] turns a text in JSON, TOML or YAML into one of them and reports everything that is wrong with it.
//!
//! This crate does no I/O and decides nothing: whether a request can be met is for the runtime to say.

pub mod nearest;
pub mod read;
