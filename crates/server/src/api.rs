//! The routes of `/v1`, one file per resource, and the OpenAPI document that describes them.

pub(crate) mod all_events;
pub(crate) mod contracts;
pub(crate) mod docs;
pub(crate) mod dry_run;
pub(crate) mod engines;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod health;
pub(crate) mod inbox;
mod log_body;
pub(crate) mod logs;
pub(crate) mod metrics;
mod new_run;
pub(crate) mod openapi;
pub(crate) mod pages;
pub(crate) mod replies;
pub(crate) mod roundtables;
pub(crate) mod runs;
pub(crate) mod skills;
pub(crate) mod slots;
pub(crate) mod statecharts;
