//! Event streams: their format on the wire, the cache that all readers of a stream share, and one reader.

pub(crate) mod cache;
pub(crate) mod follower;
pub(crate) mod registry;
pub(crate) mod sse;
