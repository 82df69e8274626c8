//! Which reply of the script is next.

use super::conversation::{Conversation, squeezed};
use super::script::{Conversations, Fault, Reply, Script};

/// What opencode writes into the conversation in place of the name of a tool that it does not have.
const NO_SUCH_TOOL: &str = "invalid";

/// The shortest text, without white space, that is taken for a reply wherever it stands. Shorter ones are in others by
/// accident.
const TELLING_BYTES_MIN: usize = 16;

/// A script, and how far it got.
#[derive(Debug)]
pub(crate) struct Progress {
    script: Script,
    /// For each reply, how often it went wrong.
    faults: Vec<u32>,
    /// For each reply that was sent in full, what the model had been told last.
    told: Vec<Option<String>>,
}

/// What a request is answered with.
#[derive(Debug, Clone)]
pub(crate) enum Next {
    /// Reply number `index`, or what goes wrong in its place.
    Reply { index: usize, reply: Reply, fault: Option<Fault> },
    /// The script has nothing to say to this, and why.
    Refused(String),
}

impl Progress {
    pub(crate) fn new(script: Script) -> Self {
        let count = script.replies.len();
        Progress { script, faults: vec![0; count], told: vec![None; count] }
    }

    /// What follows on what the request carries: as many replies as it has, so many were said.
    pub(crate) fn next(&mut self, request: &Conversation) -> Next {
        let said = request.said();
        let (index, rest) = match self.script.conversations {
            Conversations::One | Conversations::Many => self.carried(&said, &request.called()),
            Conversations::Each => (self.untold(request), said.as_str()),
        };
        let Some(reply) = self.script.replies.get(index).cloned() else {
            let problem = format!("the script is over: the request carries all of its {index} replies");
            return Next::Refused(problem);
        };
        if self.forgot(index, request) || self.skipped(index, rest) {
            return Next::Refused(format!(
                "earlier messages are missing: reply {index} was given, but the request carries only those before it"
            ));
        }
        let fault = reply.fault.filter(|_| reply.fault_times.is_none_or(|times| self.faults[index] < times));
        self.faults[index] += u32::from(fault.is_some());
        Next::Reply { index, reply, fault }
    }

    /// Notes that a reply was sent in full.
    pub(crate) fn sent(&mut self, index: usize, request: &Conversation) {
        self.told[index] = Some(request.last_told().to_owned());
    }

    /// How many replies, from the first on, were said and called, and what was said after them.
    fn carried<'a>(&self, mut said: &'a str, mut called: &[&str]) -> (usize, &'a str) {
        let replies = self.script.replies.iter();
        let carried =
            replies.take_while(|reply| match (after_text(said, reply), after_calls(called, reply)) {
                // A reply without text and calls leaves no trace, so it cannot have been said.
                _ if reply.text.is_empty() && reply.calls.is_empty() => false,
                (Some(rest_said), Some(rest_called)) => {
                    (said, called) = (rest_said, rest_called);
                    true
                }
                _ => false,
            });
        (carried.count(), said)
    }

    /// The reply that was given to the same request before, else the first that was not given yet.
    fn untold(&self, request: &Conversation) -> usize {
        let given = self.told.iter().position(|told| told.as_deref() == Some(request.last_told()));
        given.unwrap_or_else(|| self.told.iter().filter(|told| told.is_some()).count())
    }

    /// Whether the reply was given before, on something else. Asked the same again, an agent merely tries again.
    fn forgot(&self, index: usize, request: &Conversation) -> bool {
        let told = self.told[index].as_deref();
        self.script.conversations == Conversations::One
            && told.is_some_and(|told| told != request.last_told())
    }

    /// Whether a later reply was said, although this one was not.
    fn skipped(&self, index: usize, rest: &str) -> bool {
        let later = self.script.replies.iter().skip(index + 1);
        let mut later = later.map(|reply| squeezed(&reply.whole_text()));
        later.any(|text| text.len() >= TELLING_BYTES_MIN && rest.contains(&text))
    }
}

/// What was said after the text of `reply`; nothing if it was not said.
fn after_text<'a>(said: &'a str, reply: &Reply) -> Option<&'a str> {
    let text = squeezed(&reply.whole_text());
    said.find(&text).map(|at| &said[at + text.len()..])
}

/// What was called after the calls of `reply`; nothing if they were not made.
fn after_calls<'a, 'b>(mut called: &'a [&'b str], reply: &Reply) -> Option<&'a [&'b str]> {
    for call in &reply.calls {
        let at = called.iter().position(|name| name.ends_with(&call.name) || *name == NO_SUCH_TOOL)?;
        called = &called[at + 1..];
    }
    Some(called)
}
