//! What one reply may cost, whatever a model or a server that claims to be one sends.

/// Bytes of one reply on the wire.
///
/// The longest outputs on offer are 128 k tokens, half a megabyte of text; each token comes in an event of some 200 bytes,
/// which makes 25 MiB. More than that is not a reply.
pub const REPLY_BYTES_MAX: usize = 32 << 20;

/// Bytes of the arguments of one call. Agents write whole files in one; what is longer belongs into several.
pub const ARGUMENTS_BYTES_MAX: usize = 1 << 20;

/// Calls in one reply. Models make up to a dozen; more than this many is a model that has lost its way.
pub const CALLS_MAX: usize = 64;

/// Bytes of an error's body that are read. The message is in the first few hundred.
pub(super) const PROBLEM_BYTES_MAX: usize = 64 << 10;

/// Bytes of a server's own words in one of our messages.
pub(super) const WORDS_BYTES_MAX: usize = 500;
