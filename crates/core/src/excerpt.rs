//! Long texts, cut to what a person or a log line can take.

/// Stands for what was left out.
const ELLIPSIS: &str = "…";

/// The beginning of `text`, at most `bytes_max` long with the ellipsis that then ends it.
pub(crate) fn head(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes_max.saturating_sub(ELLIPSIS.len()));
    format!("{}{ELLIPSIS}", text[..end].trim_end())
}

/// The end of `text`, at most `bytes_max` long with the ellipsis that then begins it.
pub(crate) fn tail(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let start = text.ceil_char_boundary(text.len() - bytes_max.saturating_sub(ELLIPSIS.len()));
    format!("{ELLIPSIS}{}", text[start..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::{head, tail};

    #[test]
    fn a_long_text_is_cut_on_a_char_boundary_and_says_so() {
        assert_eq!(head("short", 5), "short");
        assert_eq!(tail("short", 5), "short");
        assert_eq!(head("longer text", 9), "longer…");
        assert_eq!(tail("longer text", 9), "…r text");
        assert_eq!(head("ééééé", 8), "éé…");
        assert_eq!(tail("ééééé", 8), "…éé");
        assert_eq!(head("too long", 0), "…");
        assert_eq!(tail("too long", 0), "…");
    }
}
