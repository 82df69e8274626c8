//! What a turn said to a person: its text without what it said to Adjourn.

use std::ops::Range;

use crate::excerpt;

/// How long a prompt that is made from a text may be.
///
/// About a screenful: the question is in the last lines, and the whole text is in the stream.
const PROMPT_BYTES_MAX: usize = 4096;

/// The question when there are no words at all.
const NO_WORDS: &str =
    "The agent ended its turn without a result and without a question. How should it go on?";

/// Collects the end of a text while objects are cut out of it.
pub(super) struct Prose<'t> {
    text: &'t str,
    /// Where the part that was not yet taken begins.
    from: usize,
    /// The end of what was taken, never much longer than what is needed of it.
    kept: String,
}

impl<'t> Prose<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, from: 0, kept: String::new() }
    }

    /// Leaves out `object`, with the code fence around it.
    pub(super) fn cut(&mut self, object: Range<usize>) {
        let before = &self.text[self.from..object.start];
        let after = &self.text[object.end..];
        match (fence_opened(before), after.trim_start().strip_prefix(FENCE)) {
            (Some(before), Some(after)) => {
                self.keep(before);
                self.from = self.text.len() - after.len();
            }
            (None, _) | (_, None) => {
                self.keep(before);
                self.from = object.end;
            }
        }
    }

    fn keep(&mut self, part: &str) {
        let start = part.ceil_char_boundary(part.len().saturating_sub(2 * PROMPT_BYTES_MAX));
        self.kept.push_str(&part[start..]);
        // Amortised: each byte is moved once at most.
        if self.kept.len() > 4 * PROMPT_BYTES_MAX {
            let start = self.kept.ceil_char_boundary(self.kept.len() - 2 * PROMPT_BYTES_MAX);
            self.kept.drain(..start);
        }
    }

    /// The end of what is left, or a fixed sentence.
    pub(super) fn finish(mut self) -> String {
        self.keep(&self.text[self.from..]);
        match self.kept.trim() {
            "" => NO_WORDS.to_owned(),
            words => excerpt::tail(words, PROMPT_BYTES_MAX),
        }
    }
}

const FENCE: &str = "```";

/// What stands before the line that opens a code fence, if `before` ends with one.
fn fence_opened(before: &str) -> Option<&str> {
    let before = before.trim_end();
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    before[line..].trim_start().starts_with(FENCE).then(|| &before[..line])
}

#[cfg(test)]
mod tests {
    use super::{NO_WORDS, PROMPT_BYTES_MAX, Prose};

    /// Cuts everything between `<` and `>` out of the text.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut prose = Prose::new(text);
        for (start, _) in text.match_indices('<') {
            let end = start + text[start..].find('>').unwrap() + 1;
            prose.cut(start..end);
            assert!(prose.kept.len() <= 4 * PROMPT_BYTES_MAX, "no more is kept than is needed");
        }
        assert_eq!(prose.finish(), expected);
    }

    #[test]
    fn objects_and_their_fences_are_left_out() {
        check("Which colour?", "Which colour?");
        check("Which colour?\n<x>\n", "Which colour?");
        check("<x> Which colour? <y>", "Which colour?");
        check("Which colour?\n```json\n<x>\n```\n", "Which colour?");
        check("Which colour?\r\n\r\n```\r\n<x>\r\n```\r\nTell me.", "Which colour?\r\n\r\n\r\nTell me.");
        // Not all of the fence's content is cut, so it stays.
        check("```\ncode <x>\n```", "```\ncode \n```");
        check("```json\n<x>\ncode\n```", "```json\n\ncode\n```");
    }

    #[test]
    fn without_words_there_is_still_a_question() {
        check("", NO_WORDS);
        check(" <x> \n", NO_WORDS);
        check("```json\n<x>\n```", NO_WORDS);
    }

    #[test]
    fn of_a_long_text_the_end_is_asked() {
        let long = "é".repeat(PROMPT_BYTES_MAX);
        let expected = format!("…{}Now?", "é".repeat((PROMPT_BYTES_MAX - "…Now?".len()) / 2));
        check(&format!("{long}Now?"), &expected);
        check(&format!("{long}<x>Now?"), &expected);
        check(&format!("{}Now?", format!("{long}<x>").repeat(20)), &expected);
    }
}
