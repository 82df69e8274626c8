//! Text of others, made fit for a terminal; and times, as people say them.

use adjourn_core::{Timestamp, visible};

/// `text` with everything that could move the cursor, change the colour, rename the window or hide something shown as
/// `\u{…}`: agents print what they read, and skills say what their authors like. Line ends of Windows are line ends.
pub(crate) fn clean(text: &str) -> String {
    if text.contains('\r') {
        return visible(&text.replace("\r\n", "\n")).into_owned();
    }
    visible(text).into_owned()
}

/// `text` in one line of at most `chars_max` characters.
pub(crate) fn one_line(text: &str, chars_max: usize) -> String {
    let cleaned = clean(text);
    // Longer than what is shown, so that it is seen to be cut, and never much longer: a message can have megabytes.
    let mut line = String::new();
    for word in cleaned.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.chars().count() > chars_max {
            break;
        }
    }
    if line.chars().count() <= chars_max {
        return line;
    }
    let kept: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// `text` with every line moved to the right.
pub(crate) fn indented(text: &str, by: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("{by}{line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// How long ago `then` was: `8s`, `5m`, `3h`, `12d`.
pub(crate) fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.millis().saturating_sub(then.millis()).max(0) / 1000;
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// How long it is until `then`, or that it is over.
pub(crate) fn until(then: Timestamp, now: Timestamp) -> String {
    if then <= now { "now".to_owned() } else { format!("in {}", age(now, then)) }
}

/// A moment as a person reads it: to the second, in UTC.
pub(crate) fn moment(at: Timestamp) -> String {
    let written = at.to_string();
    match (written.get(..10), written.get(11..19)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => written,
    }
}

/// A word as a POSIX shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./:=@,+".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use adjourn_core::Timestamp;

    use super::{age, clean, indented, moment, one_line, quoted, until};

    #[test]
    fn what_cannot_be_seen_in_a_text_is_shown_by_its_number() {
        assert_eq!(
            clean("a\u{1b}[31mb\u{7}c\r\nd\u{9b}e\u{202e}f\tg\rh"),
            "a\\u{1b}[31mb\\u{7}c\nd\\u{9b}e\\u{202e}f\tg\\u{d}h"
        );
    }

    #[test]
    fn a_line_is_cut_where_it_is_too_long() {
        assert_eq!(one_line(" two\n words ", 9), "two words");
        assert_eq!(one_line("two words", 8), "two wor…");
        assert_eq!(one_line("two words", 5), "two…");
        assert_eq!(one_line("äöü", 3), "äöü");
    }

    #[test]
    fn times_are_said_shortly() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1000);
        for (seconds, said) in
            [(-5, "0s"), (59, "59s"), (60, "1m"), (7199, "1h"), (86_399, "23h"), (864_000, "10d")]
        {
            assert_eq!(age(at(100), at(100 + seconds)), said);
        }
        assert_eq!(until(at(5), at(5)), "now");
        assert_eq!(until(at(125), at(5)), "in 2m");
        assert_eq!(moment(at(1_700_000_000)), "2023-11-14 22:13:20 UTC");
    }

    #[test]
    fn words_are_quoted_for_a_shell_where_they_have_to_be() {
        assert_eq!(quoted("run_01"), "run_01");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(indented("a\n\nb", "  "), "  a\n\n  b");
    }
}
