//! XX: what users will hit.

mod approvals;
mod asking;
mod calls;
mod cancels;
mod chains;
mod edits;
mod elicitation;
mod failures;
mod kill;
mod replies;
mod secrets;
mod skill_version;
