//! APIs of other projects, served so that their clients work unchanged.

pub(crate) mod jobs;
