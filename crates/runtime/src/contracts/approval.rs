//! The question that a person is asked before a call is made.

use adjourn_core::{Approval, Question, TooLongToShow, ToolCall, visible_line};
use adjourn_engine::secrets::MASK;

/// What a person is told about a call besides its arguments.
#[derive(Debug, Clone)]
pub(super) struct About<'a> {
    pub(super) irreversible: Irreversible,
    pub(super) standing: Standing,
    /// The names of the known secrets whose values are masked in what is shown.
    pub(super) secrets: Vec<&'a str>,
}

/// Whether a call can be undone, or done again without harm.
#[derive(Debug, Clone, Copy)]
pub(super) enum Irreversible {
    Yes,
    No,
}

impl Irreversible {
    pub(super) const fn of(is_irreversible: bool) -> Self {
        if is_irreversible { Self::Yes } else { Self::No }
    }
}

/// How a tool stands to what it was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is what it was when the tools of the run were first listed.
    Known,
    /// It was not there then.
    New,
    /// It was there, with another definition.
    Changed,
    /// It changed after a person had allowed this call, or after the call was recorded.
    ChangedSinceAsked,
}

/// Asks whether a call may be made. Its arguments are shown whole, or it is not asked: a yes is a yes to exactly these.
pub(super) fn question(call: &ToolCall, about: &About<'_>) -> Result<Question, TooLongToShow> {
    let ToolCall { service, method, arguments } = call;
    let name = visible_line(&format!("{service}.{method}")).into_owned();
    let warning = match about.irreversible {
        Irreversible::Yes => " It cannot be undone.",
        Irreversible::No => "",
    };
    let mut remarks: Vec<String> = about.standing.remark().into_iter().map(str::to_owned).collect();
    if !about.secrets.is_empty() {
        let names: Vec<_> = about.secrets.iter().map(|name| format!("`{}`", visible_line(name))).collect();
        remarks
            .push(format!("{MASK} stands for a known secret, which is sent as it is: {}", names.join(", ")));
    }
    let content = format!("{arguments:#}");
    let approval =
        Approval { question: format!("May `{name}` be called?{warning}"), remarks, content: &content };
    Ok(Question::confirm(approval.text()?))
}

impl Standing {
    fn remark(self) -> Option<&'static str> {
        match self {
            Self::Known => None,
            Self::New => Some("this tool is new: the server did not have it when the run began"),
            Self::Changed => {
                Some("this tool changed: the server described it differently when the run began")
            }
            Self::ChangedSinceAsked => {
                Some("this tool changed after the call was asked for, so an earlier yes does not count")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use adjourn_core::{QuestionKind, ToolCall};
    use serde_json::{Value, json};

    use super::{About, Irreversible, Standing, question};

    const ABOUT: About<'static> =
        About { irreversible: Irreversible::Yes, standing: Standing::Known, secrets: Vec::new() };

    fn call(arguments: Value) -> ToolCall {
        ToolCall { service: "mail".to_owned(), method: "send".to_owned(), arguments }
    }

    #[test]
    fn a_person_sees_exactly_what_will_be_done() {
        let call = call(json!({ "to": "ann", "credentials": { "drop": "all tables" } }));
        let asked = question(&call, &ABOUT).unwrap();
        assert_eq!(asked.kind, QuestionKind::Confirm);
        let words = "May `mail.send` be called? It cannot be undone.\n\n\
                     {\n  \"to\": \"ann\",\n  \"credentials\": {\n    \"drop\": \"all tables\"\n  }\n}";
        assert_eq!(asked.prompt, words);
        let reversible = question(&call, &About { irreversible: Irreversible::No, ..ABOUT }).unwrap();
        assert!(reversible.prompt.starts_with("May `mail.send` be called?\n"));
    }

    #[test]
    fn what_a_person_has_to_know_comes_before_the_arguments() {
        let about = About { standing: Standing::New, secrets: vec!["GH_PAT"], ..ABOUT };
        let asked = question(&call(json!({ "to": "аnn" })), &about).unwrap();
        let (told, _) = asked.prompt.split_once("\n\n").unwrap();
        assert_eq!(
            told,
            "May `mail.send` be called? It cannot be undone.\n\
             Note: this tool is new: the server did not have it when the run began.\n\
             Note: ⟦masked⟧ stands for a known secret, which is sent as it is: `GH_PAT`.\n\
             Note: `аnn` mixes Latin and Cyrillic letters."
        );
    }

    #[test]
    fn arguments_that_are_too_long_to_be_shown_are_not_asked_about() {
        assert!(question(&call(json!({ "text": "x".repeat(70_000) })), &ABOUT).is_err());
    }
}
