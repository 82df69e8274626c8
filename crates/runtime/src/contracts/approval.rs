//! What a person is shown before a call is made.

use adjourn_core::{Question, ToolCall};

/// Asks whether a call may be made. Its arguments are shown whole: a yes is a yes to exactly these.
pub(super) fn question(call: &ToolCall, irreversible: Irreversible) -> Question {
    let ToolCall { service, method, arguments } = call;
    let warning = match irreversible {
        Irreversible::Yes => " It cannot be undone.",
        Irreversible::No => "",
    };
    Question::confirm(format!("May `{service}.{method}` be called?{warning}\n\n{arguments:#}"))
}

/// Whether a call can be undone, or done again without harm.
#[derive(Clone, Copy)]
pub(super) enum Irreversible {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use adjourn_core::{QuestionKind, ToolCall};
    use serde_json::json;

    use super::{Irreversible, question};

    #[test]
    fn a_person_sees_exactly_what_will_be_done() {
        let call = ToolCall {
            service: "mail".to_owned(),
            method: "send".to_owned(),
            arguments: json!({ "to": "ann", "text": "hi" }),
        };
        let asked = question(&call, Irreversible::Yes);
        assert_eq!(asked.kind, QuestionKind::Confirm);
        let words =
            "May `mail.send` be called? It cannot be undone.\n\n{\n  \"to\": \"ann\",\n  \"text\": \"hi\"\n}";
        assert_eq!(asked.prompt, words);
        assert!(question(&call, Irreversible::No).prompt.starts_with("May `mail.send` be called?\n"));
    }
}
