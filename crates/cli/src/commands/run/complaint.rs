//! What is wrong with a request, in the words of the command line.

use adjourn_core::FieldError;
use anyhow::anyhow;

use crate::client::Refused;

/// Where a request has what an option says.
const OPTIONS: &[(&str, &str)] = &[
    ("/engine", "--engine"),
    ("/prompt", "--prompt"),
    ("/execution_mode", "--mode"),
    ("/input", "--input"),
    ("/parameter", "--param"),
    ("/labels", "--label"),
    ("/files", "--file"),
    ("/workspace", "--workspace"),
    ("/record", "--record"),
    ("/options/session_timeout_sec", "--session-timeout"),
    ("/options/max_attempt", "--max-attempt"),
    ("/options/hard_timeout_sec", "--hard-timeout"),
    ("/options/interactive_profile", "--profile"),
    ("/options/repair_limit", "--repair-limit"),
    ("/options/priority", "--priority"),
];

/// The error of a request that was refused, with the options that it came from.
pub(super) fn complaint(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<Refused>() {
        Some(refused) if refused.is_complaint() => {
            anyhow!("{}", refused.errors.iter().map(line).collect::<Vec<_>>().join("\n"))
        }
        Some(_) | None => error,
    }
}

fn line(FieldError { path, message }: &FieldError) -> String {
    if path.is_empty() {
        return message.clone();
    }
    let named = OPTIONS.iter().find_map(|(pointer, option)| {
        let rest = path.strip_prefix(pointer)?;
        match rest.strip_prefix('/') {
            None if rest.is_empty() => Some((*option).to_owned()),
            Some(below) => Some(format!("{option} {below}")),
            None => None,
        }
    });
    format!("{}: {message}", named.unwrap_or_else(|| path.clone()))
}

#[cfg(test)]
mod tests {
    use adjourn_core::FieldError;

    use super::line;

    #[test]
    fn a_problem_is_told_by_the_option_it_came_from() {
        for (path, expected) in [
            ("", "is wrong"),
            ("/engine", "--engine: is wrong"),
            ("/input/city/name", "--input city/name: is wrong"),
            ("/options/max_attempt", "--max-attempt: is wrong"),
            ("/inputs", "/inputs: is wrong"),
        ] {
            assert_eq!(line(&FieldError::new(path, "is wrong")), expected);
        }
    }
}
