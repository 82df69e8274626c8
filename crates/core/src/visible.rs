//! Text of others made safe to look at: characters that cannot be seen are shown as `\u{…}`.
//!
//! Terminal control sequences, bidirectional controls, zero-width and tag characters let a text look like something else than
//! it is. [`visible`] shows each of them by its number instead of dropping it, so that a person sees that it is there. A
//! backslash stays as it is: a text that spells out `\u{1b}` in plain characters looks the same as one that was escaped, and
//! both are harmless.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with every character that cannot be seen shown as `\u{…}`. Newlines and tabs stay.
///
/// ```
/// assert_eq!(adjourn_core::visible("safe\u{202e}exe.txt"), "safe\\u{202e}exe.txt");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |char| matches!(char, '\n' | '\t'))
}

/// The text as [`visible`] shows it, on one line: newlines and tabs are shown as `\u{…}` too.
#[must_use]
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = hidden_at(text, 0, None, &keep) else {
        return Cow::Borrowed(text);
    };
    let mut shown = String::with_capacity(text.len() + 16);
    let mut from = 0;
    let mut next = Some(first);
    while let Some((at, char)) = next {
        shown.push_str(&text[from..at]);
        write!(shown, "\\u{{{:x}}}", u32::from(char)).expect("a string takes every write");
        from = at + char.len_utf8();
        next = hidden_at(text, from, Some(char), &keep);
    }
    shown.push_str(&text[from..]);
    Cow::Owned(shown)
}

/// The first character at or after `from` that has to be escaped.
fn hidden_at(
    text: &str,
    from: usize,
    mut before: Option<char>,
    keep: &impl Fn(char) -> bool,
) -> Option<(usize, char)> {
    for (at, char) in text[from..].char_indices() {
        let selects_emoji = char == '\u{fe0f}' && before.is_some_and(takes_emoji_selector);
        if is_hidden(char) && !keep(char) && !selects_emoji {
            return Some((from + at, char));
        }
        before = Some(char);
    }
    None
}

/// Whether one emoji selector after this character is ordinary writing, as in a warning sign shown as emoji.
///
/// A second selector in a row, or one after a letter, is escaped: rows of selectors can carry text that nobody sees.
fn takes_emoji_selector(char: char) -> bool {
    matches!(char, '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}') && !is_hidden(char)
}

/// Whether a character is a control or format character, or is drawn as nothing.
#[must_use]
pub fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}'                       // soft hyphen
            | '\u{34f}'                    // combining grapheme joiner
            | '\u{61c}'                    // Arabic letter mark
            | '\u{115f}' | '\u{1160}'      // Hangul fillers
            | '\u{17b4}' | '\u{17b5}'      // Khmer inherent vowels
            | '\u{180b}'..='\u{180f}'      // Mongolian selectors
            | '\u{200b}'..='\u{200f}'      // zero-width characters and direction marks
            | '\u{2028}'..='\u{202e}'      // line and paragraph separators, embeddings and overrides
            | '\u{2060}'..='\u{206f}'      // joiners, invisible operators, isolates
            | '\u{2800}'                   // blank Braille pattern
            | '\u{3164}' | '\u{ffa0}'      // Hangul fillers
            | '\u{fe00}'..='\u{fe0f}'      // variation selectors
            | '\u{feff}'                   // byte order mark
            | '\u{fff0}'..='\u{fffb}'      // unassigned and interlinear annotation
            | '\u{1bca0}'..='\u{1bca3}'    // shorthand format controls
            | '\u{1d173}'..='\u{1d17a}'    // musical format controls
            | '\u{e0000}'..='\u{e0fff}'    // tags and further variation selectors
            | '\u{e000}'..='\u{f8ff}'      // private use: every font draws something else
            | '\u{f0000}'..='\u{10ffff}'   // private use planes
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_can_be_seen_is_borrowed_as_it_is() {
        for text in
            ["", "plain", "Grüße, 東京, नमस्ते", "two\nlines\tand a tab", "⚠\u{fe0f} careful", "a \\u{1b} b"]
        {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn terminal_sequences_are_shown_by_their_numbers() {
        assert_eq!(
            visible("a\u{1b}[31mb\u{7}\rc\u{9b}2Jd\u{7f}"),
            "a\\u{1b}[31mb\\u{7}\\u{d}c\\u{9b}2Jd\\u{7f}"
        );
    }

    #[test]
    fn direction_zero_width_and_tag_characters_are_shown() {
        assert_eq!(
            visible("\u{202e}a\u{2066}b\u{200b}c\u{feff}d\u{e0041}e\u{ad}f\u{2028}g"),
            "\\u{202e}a\\u{2066}b\\u{200b}c\\u{feff}d\\u{e0041}e\\u{ad}f\\u{2028}g"
        );
    }

    #[test]
    fn only_one_emoji_selector_after_a_symbol_is_ordinary() {
        assert_eq!(visible("⚠\u{fe0f}\u{fe0f}"), "⚠\u{fe0f}\\u{fe0f}");
        assert_eq!(visible("a\u{fe0f}"), "a\\u{fe0f}");
        assert_eq!(visible("\u{202e}\u{fe0f}"), "\\u{202e}\\u{fe0f}");
        assert_eq!(visible("⚠\u{fe0e}"), "⚠\\u{fe0e}");
    }

    #[test]
    fn one_line_keeps_no_newline_and_no_tab() {
        assert_eq!(visible_line("a\nb\tc"), "a\\u{a}b\\u{9}c");
        assert!(matches!(visible_line("a b"), Cow::Borrowed("a b")));
    }

    #[test]
    fn nothing_hidden_is_left_of_any_character() {
        for char in (0..=0x0010_ffff).filter_map(char::from_u32) {
            let shown = visible_line(&char.to_string()).into_owned();
            assert!(!shown.chars().any(is_hidden), "{char:?}");
        }
    }
}
