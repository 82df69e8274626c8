//! Words that mix scripts: a Cyrillic `а` looks like a Latin one, and `раypal` like the name of a bank.
//!
//! A table of our own instead of Unicode's: only the scripts whose letters are mistaken for Latin ones are told apart, and
//! accents, digits and signs belong to every script.

use std::collections::BTreeSet;

/// A script whose letters are mistaken for those of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Script {
    /// a to z, with or without accents.
    Latin,
    /// Greek and Coptic.
    Greek,
    Cyrillic,
    Armenian,
    Cherokee,
    /// Latin letters as wide as Chinese characters.
    Fullwidth,
    /// Latin and Greek letters of formulas: bold, italic, script and so on.
    Mathematical,
}

impl Script {
    const fn name(self) -> &'static str {
        match self {
            Self::Latin => "Latin",
            Self::Greek => "Greek",
            Self::Cyrillic => "Cyrillic",
            Self::Armenian => "Armenian",
            Self::Cherokee => "Cherokee",
            Self::Fullwidth => "fullwidth",
            Self::Mathematical => "mathematical",
        }
    }
}

/// Words that are named at most: the first ones are enough to look closely.
const WORDS_MAX: usize = 8;

/// Characters of a word that are shown.
const WORD_CHARS_MAX: usize = 40;

/// A remark on each word of `text` that mixes scripts, each word once.
///
/// ```
/// let remarks = adjourn_core::mixed_scripts("pay раypal, not paypal");
/// assert_eq!(remarks, ["`раypal` mixes Latin and Cyrillic letters"]);
/// ```
#[must_use]
pub fn mixed_scripts(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut remarks = Vec::new();
    for word in text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_ascii()) {
        let scripts: BTreeSet<Script> = word.chars().filter_map(script).collect();
        if scripts.len() < 2 || !seen.insert(word) {
            continue;
        }
        let names: Vec<_> = scripts.into_iter().map(Script::name).collect();
        let shown: String = word.chars().take(WORD_CHARS_MAX).collect();
        remarks.push(format!("`{shown}` mixes {} letters", names.join(" and ")));
        if remarks.len() == WORDS_MAX {
            remarks.push("there may be more words that mix scripts".to_owned());
            break;
        }
    }
    remarks
}

/// The script of a letter; none where the character is no letter of these scripts.
fn script(char: char) -> Option<Script> {
    if !char.is_alphabetic() {
        return None;
    }
    match char {
        'a'..='z'
        | 'A'..='Z'
        | '\u{aa}'
        | '\u{ba}'
        | '\u{c0}'..='\u{2af}'
        | '\u{1d00}'..='\u{1d25}'
        | '\u{1e00}'..='\u{1eff}'
        | '\u{2c60}'..='\u{2c7f}'
        | '\u{a722}'..='\u{a7ff}' => Some(Script::Latin),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Script::Greek),
        '\u{400}'..='\u{52f}'
        | '\u{1c80}'..='\u{1c8f}'
        | '\u{2de0}'..='\u{2dff}'
        | '\u{a640}'..='\u{a69f}' => Some(Script::Cyrillic),
        '\u{531}'..='\u{58f}' => Some(Script::Armenian),
        '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => Some(Script::Cherokee),
        '\u{ff21}'..='\u{ff5a}' => Some(Script::Fullwidth),
        '\u{1d400}'..='\u{1d7ff}' => Some(Script::Mathematical),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::mixed_scripts;

    #[test]
    fn words_of_one_script_are_ordinary() {
        for text in [
            "",
            "paypal",
            "Grüße an Łódź",
            "Привет, мир",
            "Ελλάδα και 3",
            "東京 Tokyo",
            "x_значение",
            "µm 5Ω R2",
        ] {
            assert_eq!(mixed_scripts(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn each_word_that_mixes_scripts_is_named_once() {
        assert_eq!(
            mixed_scripts("раypal раypal gοοgle аррӏе1 Հello p\u{ff41}y"),
            [
                "`раypal` mixes Latin and Cyrillic letters",
                "`gοοgle` mixes Latin and Greek letters",
                "`Հello` mixes Latin and Armenian letters",
                "`p\u{ff41}y` mixes Latin and fullwidth letters",
            ]
        );
    }

    #[test]
    fn a_flood_of_such_words_is_cut_and_said_to_be() {
        let flood: Vec<_> = (0..20).map(|number| format!("раypal{number}")).collect();
        let remarks = mixed_scripts(&flood.join(" "));
        assert_eq!(remarks.len(), 9);
        assert!(remarks[8].contains("more words"), "{remarks:?}");
    }
}
