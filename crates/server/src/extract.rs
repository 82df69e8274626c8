//! Readers for the parts of a request: its body, form, query, files and id.

pub(crate) mod body;
pub(crate) mod form;
pub(crate) mod local;
pub(crate) mod query;
pub(crate) mod request_id;
pub(crate) mod uploads;
