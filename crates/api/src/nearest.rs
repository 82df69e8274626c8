//! The nearest right name to a wrong one.

use strsim::osa_distance;

/// The name among `known` that `given` was most likely meant to be.
///
/// Up to a third of the letters may be wrong, and always one: `tota1` is `total`, but `x` is nothing in particular.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(given);
    let limit = (folded.chars().count() / 3).max(1);
    known
        .into_iter()
        // A name that differs by more letters in length cannot be near, and a long text is not worth a comparison.
        .filter(|name| name.len().abs_diff(folded.len()) <= 4 * limit)
        .map(|name| (osa_distance(&folded, &fold(name)), name))
        .filter(|(distance, name)| *distance <= limit && *distance < name.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The end of a message about a wrong name: the nearest right one, else all there are.
pub fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(name) = nearest(given, known.clone()) {
        return format!("; did you mean `{name}`?");
    }
    let known: Vec<_> = known.into_iter().map(|name| format!("`{name}`")).collect();
    match known.as_slice() {
        [] => String::new(),
        [only] => format!("; there is only {only}"),
        names => format!("; there are {}", names.join(", ")),
    }
}

/// Case and the kind of dash are slips that need no further resemblance.
fn fold(name: &str) -> String {
    name.chars().map(|char| if char == '-' { '_' } else { char.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::{hint, nearest};

    #[test]
    fn slips_are_understood_and_other_words_are_not() {
        let known = ["total", "queue_max", "engine"];
        for (given, expected) in [
            ("totl", Some("total")),
            ("toatl", Some("total")),
            ("Total", Some("total")),
            ("queue-max", Some("queue_max")),
            ("queue_maxx", Some("queue_max")),
            ("engines", Some("engine")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, known), expected, "{given}");
        }
        assert_eq!(nearest("a", ["b"]), None, "one letter resembles every other");
    }

    #[test]
    fn a_hint_names_the_nearest_or_all() {
        assert_eq!(hint("comand", ["command", "url"]), "; did you mean `command`?");
        assert_eq!(hint("x", ["command", "url"]), "; there are `command`, `url`");
        assert_eq!(hint("x", ["command"]), "; there is only `command`");
        assert_eq!(hint("x", []), "");
    }
}
