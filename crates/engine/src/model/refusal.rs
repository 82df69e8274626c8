//! What a server's refusal means, from its status and its words.

use serde_json::Value;

use super::error::ModelError;
use super::limits::WORDS_BYTES_MAX;

/// What is done about a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It may pass: ask again. These are the server's words.
    Passing(String),
    /// It will not.
    Lasting(ModelError),
}

/// Kinds of errors that pass, in the words of both interfaces. They come in the middle of a stream, where there is no
/// status any more.
const PASSING: &[&str] = &[
    "overloaded_error",
    "rate_limit_error",
    "rate_limit_exceeded",
    "api_error",
    "timeout_error",
    "server_error",
    "internal_server_error",
    "service_unavailable",
];

/// Kinds that come with the status of a passing error, and do not pass until somebody pays.
const UNPAID: &[&str] = &["insufficient_quota", "billing_hard_limit_reached", "billing_error"];

/// How servers say that a conversation is too long: OpenAI has a code for it, and the others have these words.
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "prompt is too long",
    "maximum context length",
    "context length",
    "context window",
    "exceed_context_size",
    "exceeds the available context size",
    "input length and `max_tokens` exceed",
    "request_too_large",
];

/// How servers say that they do not have a model, where the status alone could also mean a wrong address.
const NO_MODEL: &[&str] = &["model_not_found", "model"];

impl Refusal {
    /// What a response other than success means. `body` is as much of it as was read.
    pub(super) fn of_status(status: u16, body: &str, model: &str) -> Self {
        let problem = Problem::read(body);
        let said = format!("status {status}, {}", problem.words);
        let lasting = |error: fn(String) -> ModelError| Self::Lasting(error(said.clone()));
        match status {
            _ if problem.is_one_of(UNPAID) => lasting(unauthorized),
            401 | 403 => lasting(unauthorized),
            400 | 413 | 422 if problem.is_about(TOO_LONG) => Self::Lasting(too_long(model, said)),
            400 | 404 if problem.is_one_of(&["model_not_found"]) => Self::Lasting(no_model(model, said)),
            404 if problem.is_about(NO_MODEL) => Self::Lasting(no_model(model, said)),
            408 | 409 | 425 | 429 | 500.. => Self::Passing(said),
            _ => lasting(|problem| ModelError::Refused { problem }),
        }
    }

    /// What an error in the middle of a stream means.
    pub(super) fn of_event(event: &Value, model: &str) -> Self {
        let problem = Problem::of(event);
        let said = problem.words.clone();
        if problem.is_one_of(UNPAID) {
            Self::Lasting(unauthorized(said))
        } else if problem.is_about(TOO_LONG) {
            Self::Lasting(too_long(model, said))
        } else if problem.is_one_of(PASSING)
            || problem.status.is_some_and(|status| status == 429 || status >= 500)
        {
            Self::Passing(said)
        } else {
            Self::Lasting(ModelError::Refused { problem: said })
        }
    }
}

fn unauthorized(problem: String) -> ModelError {
    ModelError::Unauthorized { problem }
}

fn too_long(model: &str, problem: String) -> ModelError {
    ModelError::ConversationTooLong { model: model.to_owned(), problem }
}

fn no_model(model: &str, problem: String) -> ModelError {
    ModelError::UnknownModel { model: model.to_owned(), problem }
}

/// A server's own account of what is wrong.
struct Problem {
    /// What people are told.
    words: String,
    /// Its type and its code, where it has them.
    kinds: Vec<String>,
    /// The status that it would have had.
    status: Option<u64>,
}

impl Problem {
    /// Reads the body of an error: JSON of one of several shapes, or the page of some proxy.
    fn read(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::of(&value),
            Err(_) => Self { words: shortened(body), kinds: Vec::new(), status: None },
        }
    }

    fn of(value: &Value) -> Self {
        let error = match &value["error"] {
            Value::Null => value,
            error => error,
        };
        let message =
            error.as_str().or_else(|| error["message"].as_str()).or_else(|| error["detail"].as_str());
        let words = message.map_or_else(|| error.to_string(), ToOwned::to_owned);
        let kinds = [&error["type"], &error["code"]].into_iter().filter_map(Value::as_str);
        Self {
            words: shortened(&words),
            kinds: kinds.map(str::to_lowercase).collect(),
            status: error["code"].as_u64(),
        }
    }

    fn is_one_of(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    fn is_about(&self, signs: &[&str]) -> bool {
        let words = self.words.to_lowercase();
        self.is_one_of(signs) || signs.iter().any(|sign| words.contains(sign))
    }
}

/// The beginning of a text, in one line.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.as_str() {
        "" => "without a word".to_owned(),
        line if line.len() > WORDS_BYTES_MAX => {
            format!("{}…", &line[..line.floor_char_boundary(WORDS_BYTES_MAX)])
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Refusal;
    use crate::model::ModelError;
    use crate::model::limits::WORDS_BYTES_MAX;

    /// What becomes of a status and a body, in one word.
    fn means(status: u16, body: &str) -> &'static str {
        match Refusal::of_status(status, body, "m") {
            Refusal::Passing(_) => "passing",
            Refusal::Lasting(ModelError::Unauthorized { .. }) => "unauthorized",
            Refusal::Lasting(ModelError::ConversationTooLong { .. }) => "too long",
            Refusal::Lasting(ModelError::UnknownModel { .. }) => "no model",
            Refusal::Lasting(ModelError::Refused { .. }) => "refused",
            Refusal::Lasting(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_refusal_is_told_by_its_status_and_the_words_of_each_server() {
        let openai = |kind: &str, code: &str, message: &str| {
            json!({"error": {"message": message, "type": kind, "code": code, "param": null}}).to_string()
        };
        let anthropic = |kind: &str, message: &str| {
            json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
        };
        let long = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
        for (status, body, expected) in [
            (
                401,
                openai("invalid_request_error", "invalid_api_key", "Incorrect API key provided"),
                "unauthorized",
            ),
            (403, anthropic("permission_error", "no access"), "unauthorized"),
            (400, openai("invalid_request_error", "context_length_exceeded", long), "too long"),
            (400, openai("BadRequestError", "", long), "too long"),
            (
                400,
                anthropic("invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum"),
                "too long",
            ),
            (413, anthropic("request_too_large", "Request exceeds the maximum size"), "too long"),
            (
                400,
                json!({"error": {"code": 400, "message": "the request exceeds the available context size"}})
                    .to_string(),
                "too long",
            ),
            (
                404,
                openai("invalid_request_error", "model_not_found", "The model `m` does not exist"),
                "no model",
            ),
            (404, anthropic("not_found_error", "model: m"), "no model"),
            (404, r#"{"error":"model 'm' not found, try pulling it first"}"#.to_owned(), "no model"),
            (404, "<html>404 page not found</html>".to_owned(), "refused"),
            (400, anthropic("invalid_request_error", "messages: roles must alternate"), "refused"),
            (
                429,
                openai("insufficient_quota", "insufficient_quota", "You exceeded your current quota"),
                "unauthorized",
            ),
            (429, openai("requests", "rate_limit_exceeded", "Slow down"), "passing"),
            (500, String::new(), "passing"),
            (503, "<html>".to_owned(), "passing"),
            (529, anthropic("overloaded_error", "Overloaded"), "passing"),
            (301, String::new(), "refused"),
        ] {
            assert_eq!(means(status, &body), expected, "{status} {body}");
        }
    }

    #[test]
    fn an_error_in_a_stream_is_told_by_its_kind() {
        let of = |event| Refusal::of_event(&event, "m");
        let overloaded =
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
        assert_eq!(of(overloaded), Refusal::Passing("Overloaded".to_owned()));
        let router = json!({"error": {"code": 502, "message": "Provider returned error"}});
        assert_eq!(of(router), Refusal::Passing("Provider returned error".to_owned()));
        let broken = json!({"error": {"type": "invalid_request_error", "message": "no"}});
        assert_eq!(of(broken), Refusal::Lasting(ModelError::Refused { problem: "no".to_owned() }));
    }

    #[test]
    fn a_servers_words_are_cut_short() {
        let Refusal::Passing(words) = Refusal::of_status(500, &"é\n".repeat(9999), "m") else { panic!() };
        assert!(words.starts_with("status 500, é é") && words.len() < WORDS_BYTES_MAX + 20, "{words}");
    }
}
