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
        let index = self.said(request);
        if let Some(problem) = self.missing(index, request) {
            return Next::Refused(problem);
        }
        let Some(reply) = self.script.replies.get(index).cloned() else {
            return Next::Refused(format!(
                "the script is over: the request carries all of its {index} replies"
            ));
        };
        let fault = reply.fault.filter(|_| reply.fault_times.is_none_or(|times| self.faults[index] < times));
        self.faults[index] += u32::from(fault.is_some());
        Next::Reply { index, reply, fault }
    }

    /// Notes that a reply was sent in full.
    pub(crate) fn sent(&mut self, index: usize, request: &Conversation) {
        self.told[index] = Some(request.last_told().to_owned());
    }

    /// How many replies, from the first on, are in the request.
    fn said(&self, request: &Conversation) -> usize {
        let (said, called) = (request.said(), request.called());
        let (mut said, mut called) = (said.as_str(), called.as_slice());
        self.script
            .replies
            .iter()
            .take_while(|reply| match (after_text(said, reply), after_calls(called, reply)) {
                // A reply without text and calls leaves no trace, so it cannot have been said.
                _ if reply.text.is_empty() && reply.calls.is_empty() => false,
                (Some(rest_said), Some(rest_called)) => {
                    (said, called) = (rest_said, rest_called);
                    true
                }
                _ => false,
            })
            .count()
    }

    /// What is wrong with a request that carries the first `index` replies, but should carry more.
    fn missing(&self, index: usize, request: &Conversation) -> Option<String> {
        let said = request.said();
        let mut later = self.script.replies.iter().skip(index + 1);
        let out_of_order = later.any(|reply| is_in(&said, reply));
        // Asked the same again, an agent tries again. Asked something else, it forgot what it was told.
        let forgot = self.script.conversations == Conversations::One
            && self.told.get(index)?.as_ref().is_some_and(|told| told != request.last_told());
        (out_of_order || forgot).then(|| {
            format!("earlier messages are missing: the request carries {index} replies, but reply {index} was given too")
        })
    }
}

fn is_in(said: &str, reply: &Reply) -> bool {
    let text = squeezed(&reply.whole_text());
    text.len() >= TELLING_BYTES_MIN && said.contains(&text)
}

/// What was said after the text of `reply`; nothing if it was not said.
fn after_text<'a>(said: &'a str, reply: &Reply) -> Option<&'a str> {
    let text = squeezed(&reply.whole_text());
    said.find(&text).map(|at| &said[at + text.len()..])
}

/// What was called after the calls of `reply`; nothing if they were not made.
fn after_calls<'a>(mut called: &'a [&'a str], reply: &Reply) -> Option<&'a [&'a str]> {
    for call in &reply.calls {
        let at = called.iter().position(|name| name.ends_with(&call.name) || *name == NO_SUCH_TOOL)?;
        called = &called[at + 1..];
    }
    Some(called)
}
