//! Fuzzing of recordings.

use std::path::Path;

use super::Recording;

/// Reads a recording, and finds its conversations.
pub fn recording(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(recording) = Recording::parse(Path::new("fuzz.jsonl"), &text) else { return };
    let mut turn = recording.first("").or_else(|| recording.conversation(1));
    let mut seen = 0;
    while let Some(recorded) = turn.and_then(|turn| recording.turn(turn)) {
        seen += 1;
        assert!(seen <= recording.turns.len(), "a conversation leads in a circle");
        turn = recorded.next;
    }
}
