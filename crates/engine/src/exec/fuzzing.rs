//! Fuzzing of what agent programs print.

use super::interpret::Interpreter;
use super::presets::Preset;
use super::used::Used;
use crate::lines::{LINE_BYTES_MAX, Lines};

/// Reads the output of an agent by the profile of every agent that is known.
pub fn exec_output(bytes: &[u8]) {
    for preset in Preset::ALL {
        let mut interpreter = Interpreter::new(preset.profile().output, 1, Used::default());
        let mut lines = Lines::new(0, LINE_BYTES_MAX);
        // In small pieces, as a pipe gives them.
        for chunk in bytes.chunks(64) {
            for line in lines.push(chunk) {
                interpreter.read(&line);
            }
        }
        if let Some(line) = lines.finish() {
            interpreter.read(&line);
        }
        interpreter.finish();
    }
}
