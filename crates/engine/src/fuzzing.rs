//! Entry points for fuzzing: each function reads arbitrary bytes the way a turn reads them from agents, models, tool
//! servers and recordings.
//!
//! A function may panic only if something is wrong. It checks what has to hold for every input besides. Each module has
//! its part in a file `fuzzing.rs` of its own, beside what it calls.

pub use crate::acp::fuzzing::acp_frames;
pub use crate::exec::fuzzing::exec_output;
pub use crate::model::fuzzing::{model_stream, model_whole};
pub use crate::recording::fuzzing::recording;
pub use crate::tools::fuzzing::mcp_results;

use crate::secrets::{Masker, Secret};

/// A value that fuzzed outputs may hold, so that masking is part of what is tried.
const SECRET: &str = "hunter2!";

/// Masks a secret in a stream of bytes that is cut anywhere. It is never shown, wherever the cuts are.
pub fn masking(bytes: &[u8]) {
    let masker = masker();
    let (cut, bytes) = bytes.split_first().map_or((0, bytes), |(cut, rest)| (usize::from(*cut), rest));
    let mut stream = masker.stream();
    let mut masked = Vec::new();
    for chunk in bytes.chunks(cut + 1) {
        masked.extend(stream.push(chunk));
    }
    masked.extend(stream.finish());
    let shown = masked.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    assert!(!shown, "a secret is shown");
    assert_eq!(masked, masker.bytes(bytes), "the cuts of a stream change what is masked");
}

/// A masker that knows one secret.
pub(crate) fn masker() -> Masker {
    Masker::new([Secret::new(SECRET)]).expect("one short value can be masked")
}
