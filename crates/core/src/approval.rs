//! The text that a person reads before something is done: whole, and with nothing in it that cannot be seen.

use crate::scripts::mixed_scripts;
use crate::visible::visible;

/// Bytes of what a person is asked to allow.
///
/// Twenty pages: more than anybody reads before a yes, and so what is longer is refused instead of cut. A mail or a file that
/// a tool is given has a few kilobytes.
pub const APPROVAL_BYTES_MAX: usize = 64 * 1024;

/// Something that is too long for a person to be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is too long to be shown to a person, who has to allow it: {bytes} bytes, at most {APPROVAL_BYTES_MAX}"
)]
pub struct TooLongToShow {
    /// How long it is as it would be shown.
    pub bytes: usize,
}

/// What a person is asked to allow.
#[derive(Debug, Clone)]
pub struct Approval<'a> {
    /// The question, in a line.
    pub question: String,
    /// What the person should know before they answer, a line each.
    pub remarks: Vec<String>,
    /// What will be done, whole.
    pub content: &'a str,
}

impl Approval<'_> {
    /// The text to show: the question with the remarks, an empty line, and the content. Characters that cannot be seen are
    /// shown as `\u{…}`, and words that mix scripts are remarked on.
    pub fn text(&self) -> Result<String, TooLongToShow> {
        let question = visible(&self.question);
        let content = visible(self.content);
        let mixed = mixed_scripts(&format!("{question}\n{content}"));
        let mut text = question.into_owned();
        for remark in self.remarks.iter().chain(&mixed) {
            text.push_str(&format!("\nNote: {}.", visible(remark)));
        }
        text.push_str("\n\n");
        text.push_str(&content);
        if text.len() > APPROVAL_BYTES_MAX {
            return Err(TooLongToShow { bytes: text.len() });
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::{APPROVAL_BYTES_MAX, Approval};

    #[test]
    fn nothing_is_hidden_and_look_alikes_are_remarked_on() {
        let approval = Approval {
            question: "May `mail.send` be called?".to_owned(),
            remarks: vec!["the tool is new".to_owned()],
            content: "to: раypal\u{202e}moc\u{e0041}",
        };
        assert_eq!(
            approval.text().unwrap(),
            "May `mail.send` be called?\nNote: the tool is new.\n\
             Note: `раypal` mixes Latin and Cyrillic letters.\n\nto: раypal\\u{202e}moc\\u{e0041}"
        );
    }

    #[test]
    fn what_is_too_long_is_refused_and_not_cut() {
        let question = || "?".to_owned();
        let content = "x".repeat(APPROVAL_BYTES_MAX - 3);
        let fits = Approval { question: question(), remarks: Vec::new(), content: &content };
        assert_eq!(fits.text().unwrap().len(), APPROVAL_BYTES_MAX);
        let content = format!("{content}x");
        let refused = Approval { question: question(), remarks: Vec::new(), content: &content }.text();
        assert_eq!(refused.unwrap_err().bytes, APPROVAL_BYTES_MAX + 1);
        // What is shown counts, not what was sent: escapes make it longer.
        let content = "\u{202e}".repeat(APPROVAL_BYTES_MAX / 4);
        assert!(Approval { question: question(), remarks: Vec::new(), content: &content }.text().is_err());
    }
}
