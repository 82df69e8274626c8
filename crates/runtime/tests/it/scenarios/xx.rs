//! XX: what users will hit.

mod calls;
mod cancels;
mod elicitation;
mod failures;
mod kill;
mod replies;
mod secrets;
