//! Event streams: readers of the journal, the cache that all clients of a stream share, and the format on the wire.

pub(crate) mod all_events;
pub(crate) mod cache;
pub(crate) mod follower;
pub(crate) mod registry;
pub(crate) mod roundtable_reader;
pub(crate) mod run_reader;
pub(crate) mod sse;
