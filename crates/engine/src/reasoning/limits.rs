//! What one turn may cost.

/// Replies of the model in one turn.
///
/// Long pieces of work take fifty to a hundred. Each sends the whole conversation again, so a model that finds no end is
/// stopped before it has cost much more than they do.
pub(super) const REPLIES_MAX: u32 = 200;

/// Replies in a row that make the same calls with the same arguments. Waiting for something by asking again and again is
/// done a few times; what was not there after as many will not be there at the next.
pub(super) const SAME_REPLIES_MAX: usize = 20;

/// How often a reply that broke off is asked for again. What was shown of it was never written down, so it may be; but a
/// line that breaks so often breaks every time.
pub(super) const BROKE_OFF_MAX: u32 = 2;

/// Pieces of text that were received and not shown yet. The model waits for whoever is slow.
pub(super) const DELTAS_MAX: usize = 64;

/// Bytes of a model's own words in one of our messages.
pub(super) const WORDS_BYTES_MAX: usize = 200;
