//! Long lines, broken between words for a terminal.

/// What the second and every further line of one line is moved to the right by, besides what the first one is.
const HANGING: usize = 4;

/// Columns below which nothing is gained by breaking lines ourselves.
const COLUMNS_MIN: usize = 40;

/// `text` with lines of at most `columns` characters. Colours take no room.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    if columns < COLUMNS_MIN {
        return text.to_owned();
    }
    text.split('\n').map(|line| wrapped_line(line, columns)).collect::<Vec<_>>().join("\n")
}

fn wrapped_line(line: &str, columns: usize) -> String {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let mut lines = " ".repeat(indent);
    let mut used = indent;
    for (place, word) in line[indent..].split(' ').enumerate() {
        let width = visible(word);
        if place > 0 && used + 1 + width > columns {
            used = indent + HANGING;
            lines.push('\n');
            lines.push_str(&" ".repeat(used));
        } else if place > 0 {
            used += 1;
            lines.push(' ');
        }
        used += width;
        lines.push_str(word);
    }
    lines
}

/// Characters that are seen: an escape sequence goes up to its first letter.
fn visible(word: &str) -> usize {
    let (mut count, mut is_escaped) = (0, false);
    for char in word.chars() {
        match (is_escaped, char) {
            (false, '\u{1b}') => is_escaped = true,
            (true, char) => is_escaped = !char.is_ascii_alphabetic(),
            (false, _) => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_are_broken_between_words_and_hang() {
        let text = "  one two three four five six seven eight nine\nshort";
        let expected = "  one two three four five six seven\n      eight nine\nshort";
        assert_eq!(wrapped(text, 40), expected);
        assert_eq!(wrapped(text, 10), text, "a terminal that narrow breaks lines as it can");
        let long = "x".repeat(50);
        assert_eq!(wrapped(&format!("a {long}"), 40), format!("a\n    {long}"));
    }

    #[test]
    fn colours_take_no_room() {
        let word = "\u{1b}[1mword\u{1b}[0m";
        let text = [word; 8].join(" ");
        assert_eq!(wrapped(&text, 40), text, "8 words of 4 letters and the spaces between are 39 columns");
        assert_eq!(wrapped(&format!("{text} x"), 40).lines().count(), 2);
    }
}
