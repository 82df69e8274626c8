//! A call that waits for an answer, as data.

use adjourn_core::Question;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest, InputRequiredResult};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::limits::QUESTIONS_MAX;
use super::question::question;

/// A call that waits for an answer: what was asked, what was answered, and what the server wants back.
///
/// Plain data, to be kept in a journal. A call that is made again with it goes on where it stopped, whichever process makes
/// it and however long that took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unfinished {
    /// How the server asked, and so how it is answered.
    way: Way,
    /// What the server wants back, as it was; only it knows what that means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_state: Option<String>,
    /// In the order in which they are to be answered.
    asked: Vec<Asked>,
}

/// How a server asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Way {
    /// Instead of a result; answers come with the next call.
    InsteadOfResult,
    /// In the middle of a call, which is ended; answers are given when the next call asks the same.
    MidCall,
}

/// One question of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    /// What the server calls it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    key: String,
    message: String,
    /// What the server takes for an answer.
    schema: Value,
    /// The names of what is to be filled in, in the server's order, which JSON does not keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    order: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Accepted(Value),
    Declined,
}

/// Why a server cannot be given what it wants.
pub(super) type CannotAsk = String;

impl Asked {
    /// The question of a server that wants a form filled in.
    pub(super) fn of(key: &str, params: ElicitRequestParams) -> Result<Self, CannotAsk> {
        match params {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let order = requested_schema.property_order.clone().unwrap_or_default();
                let schema = serde_json::to_value(requested_schema)
                    .map_err(|error| format!("the tool's question cannot be kept: {error}"))?;
                Ok(Self { key: key.to_owned(), message, schema, order, answer: None })
            }
            _ => Err("the tool asks for something other than a form, which it was not offered".to_owned()),
        }
    }

    fn is_the_same_as(&self, other: &Self) -> bool {
        self.message == other.message && self.schema == other.schema
    }
}

impl Unfinished {
    /// What is asked next; none if all is answered and the call can be made again.
    pub fn question(&self) -> Option<Question> {
        self.open().map(|asked| question(&asked.message, &asked.schema, &asked.order))
    }

    /// The same call after the next question was answered with `answer`, in the normal form that
    /// [`adjourn_core::reply::check`] gives it. A no to a question of yes or no is a refusal.
    #[must_use]
    pub fn answered(self, answer: Value) -> Self {
        match answer {
            Value::Bool(true) => self.with(Answer::Accepted(json!({}))),
            Value::Bool(false) => self.with(Answer::Declined),
            answer => self.with(Answer::Accepted(answer)),
        }
    }

    /// The same call after the person would not answer the next question. The tool is told, and decides what that means.
    #[must_use]
    pub fn declined(self) -> Self {
        self.with(Answer::Declined)
    }

    fn with(mut self, answer: Answer) -> Self {
        if let Some(open) = self.asked.iter_mut().find(|asked| asked.answer.is_none()) {
            open.answer = Some(answer);
        }
        self
    }

    fn open(&self) -> Option<&Asked> {
        self.asked.iter().find(|asked| asked.answer.is_none())
    }

    pub(super) fn way(&self) -> Way {
        self.way
    }

    /// What a server that asked instead of answering wants to know.
    pub(super) fn instead_of_result(wants: InputRequiredResult) -> Result<Self, CannotAsk> {
        let mut asked = Vec::new();
        for (key, request) in wants.input_requests.unwrap_or_default() {
            match request {
                InputRequest::Elicitation(request) => asked.push(Asked::of(&key, request.params)?),
                _ => return Err("the tool wants something of the client that it was not offered".to_owned()),
            }
        }
        if asked.len() > QUESTIONS_MAX {
            return Err(format!(
                "the tool asks {} questions at once, at most {QUESTIONS_MAX} are",
                asked.len()
            ));
        }
        Ok(Self { way: Way::InsteadOfResult, request_state: wants.request_state, asked })
    }

    /// What a server asked in the middle of a call, after the questions that were answered before.
    pub(super) fn mid_call(before: Option<&Self>, asked: Asked) -> Result<Self, CannotAsk> {
        let mut all = before.map(|before| before.asked.clone()).unwrap_or_default();
        all.push(asked);
        if all.len() > QUESTIONS_MAX {
            return Err(format!("the tool has asked {QUESTIONS_MAX} questions and is still not done"));
        }
        Ok(Self { way: Way::MidCall, request_state: None, asked: all })
    }

    /// The answers for a server that asked instead of answering, by its own names for the questions.
    pub(super) fn responses(&self) -> impl Iterator<Item = (String, Value)> {
        self.asked.iter().filter_map(|asked| {
            let result = serde_json::to_value(result(asked.answer.as_ref()?)).ok()?;
            Some((asked.key.clone(), result))
        })
    }

    pub(super) fn request_state(&self) -> Option<&str> {
        self.request_state.as_deref()
    }

    /// The answer to a question that was asked before in the middle of a call, if it was answered.
    pub(super) fn answer_to(&self, question: &Asked) -> Option<ElicitResult> {
        let asked = self.asked.iter().find(|asked| asked.is_the_same_as(question))?;
        asked.answer.as_ref().map(result)
    }
}

fn result(answer: &Answer) -> ElicitResult {
    match answer {
        Answer::Accepted(content) => {
            ElicitResult::new(ElicitationAction::Accept).with_content(content.clone())
        }
        Answer::Declined => ElicitResult::new(ElicitationAction::Decline),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::InputRequiredResult;
    use serde_json::{Value, json};

    use super::Unfinished;

    fn elicit(message: &str, properties: Value) -> Value {
        let schema = json!({"type": "object", "properties": properties});
        json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}})
    }

    fn wants(requests: Value) -> Result<Unfinished, String> {
        let wants =
            json!({"resultType": "input_required", "inputRequests": requests, "requestState": "st.ate\n"});
        Unfinished::instead_of_result(serde_json::from_value::<InputRequiredResult>(wants).unwrap())
    }

    #[test]
    fn several_questions_are_asked_one_after_the_other_also_across_a_journal() {
        let name = json!({"name": {"type": "string"}});
        let requests = json!({"a": elicit("Name?", name), "b": elicit("Sure?", json!({})), "c": elicit("Really?", json!({}))});
        let mut unfinished = wants(requests).unwrap();
        let mut prompts = Vec::new();
        for answer in [json!({"name": "Ada"}), json!(true), json!(false)] {
            prompts.push(unfinished.question().unwrap().prompt);
            unfinished =
                serde_json::from_str(&serde_json::to_string(&unfinished.answered(answer)).unwrap()).unwrap();
        }
        assert_eq!(prompts, ["Name?", "Sure?", "Really?"]);
        assert_eq!(unfinished.question(), None);
        assert_eq!(unfinished.request_state(), Some("st.ate\n"));
        let responses: Value = unfinished.responses().collect();
        assert_eq!(
            responses,
            json!({
                "a": {"action": "accept", "content": {"name": "Ada"}},
                "b": {"action": "accept", "content": {}},
                "c": {"action": "decline"},
            })
        );
    }

    #[test]
    fn what_was_not_offered_is_not_asked() {
        let sampling =
            json!({"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}});
        assert!(wants(json!({"a": sampling})).is_err());
        let url = json!({"method": "elicitation/create", "params": {
            "mode": "url", "message": "Log in", "url": "https://example.com", "elicitationId": "1",
        }});
        assert!(wants(json!({"a": url})).is_err());
    }
}
