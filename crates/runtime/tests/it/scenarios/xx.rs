//! XX: what users will hit.

mod cancels;
mod failures;
mod replies;
mod secrets;
