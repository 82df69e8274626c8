//! XX: what users will hit.

mod cancels;
mod failures;
mod kill;
mod replies;
mod secrets;
