//! The runner of the graph: from one node to the next, with a checkpoint in between.

use adjourn_core::{ErrorCode, Observation};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::limits::{SAME_REPLIES_MAX, WORDS_BYTES_MAX};
use super::reasoning_node::{ReasoningNode, unusable};
use super::state::{Next, State, Whose};
use super::step::Step;
use super::tool_node;
use crate::model::{HttpModel, Reply, ToolUse};
use crate::toolbox::Call;
use crate::turn::{Finished, Seen, Turn, failed};

/// Runs a turn from where its conversation is to where it ends, or waits.
pub(super) async fn run(
    model: &HttpModel,
    turn: &Turn,
    seen: &mpsc::Sender<Seen>,
    stop: &CancellationToken,
) -> Finished {
    let node = ReasoningNode::new(model, turn, seen, stop);
    match go(turn, node).await {
        Ok(finished) | Err(finished) => finished,
    }
}

async fn go(turn: &Turn, mut reasoning: ReasoningNode<'_>) -> Result<Finished, Finished> {
    let mut graph = Graph::load(turn).await?;
    if let Some(heard) = graph.state.hears(turn) {
        graph.checkpoint([heard], []).await?;
    }
    loop {
        match graph.state.next() {
            Next::Ask => {
                let reply = reasoning.ask(graph.state.messages()).await?;
                graph.take(&reply).await?;
            }
            Next::Call(calls) => {
                if graph.call(calls).await? == Left::Waiting {
                    return Ok(Finished::Suspended);
                }
            }
            Next::End(text) => return Ok(Finished::Completed { text }),
        }
    }
}

/// What is left of the calls of a reply.
#[derive(Debug, PartialEq, Eq)]
enum Left {
    Nothing,
    /// A person has to say something.
    Waiting,
}

/// A conversation that goes on, and where it is written down.
struct Graph<'a> {
    turn: &'a Turn,
    state: State,
}

impl<'a> Graph<'a> {
    async fn load(turn: &'a Turn) -> Result<Self, Finished> {
        let history = turn.tools.history().await.map_err(Finished::Failed)?;
        Ok(Self { turn, state: State::of(history, turn).map_err(Finished::Failed)? })
    }

    /// Makes steps durable, with what others are to see of them, and then part of the state.
    async fn checkpoint(
        &mut self,
        steps: impl IntoIterator<Item = Step>,
        shown: impl IntoIterator<Item = Observation>,
    ) -> Result<(), Finished> {
        let steps: Vec<_> = steps.into_iter().collect();
        let facts = steps.iter().map(Step::fact).chain(shown).collect();
        self.turn.tools.checkpoint(facts).await.map_err(|_| Finished::Stopped)?;
        for step in steps {
            self.state.apply(step, Whose::Own);
        }
        Ok(())
    }

    async fn take(&mut self, reply: &Reply) -> Result<(), Finished> {
        if let Some(end) = unusable(reply) {
            // What it cost and what it said counts all the same; but nobody goes on from it.
            self.checkpoint([], shown(reply)).await?;
            return Err(end);
        }
        let replied = Step::replied(self.turn.run_id, reply, self.state.next_reply());
        self.checkpoint([replied], shown(reply)).await
    }

    async fn call(&mut self, calls: Vec<(String, Call)>) -> Result<Left, Finished> {
        let (count, same) = self.state.in_a_row();
        if count > SAME_REPLIES_MAX {
            return Err(going_in_circles(same));
        }
        let called = tool_node::call(&*self.turn.tools, calls).await?;
        for (call_ref, outcome) in called.over {
            self.state.settle(call_ref, outcome);
        }
        if !called.told.is_empty() {
            self.checkpoint(called.told, []).await?;
        }
        Ok(if called.waiting > 0 { Left::Waiting } else { Left::Nothing })
    }
}

/// What others see of a reply.
fn shown(reply: &Reply) -> Vec<Observation> {
    let text = |text: &String| (!text.is_empty()).then(|| text.clone());
    let reasoning = text(&reply.reasoning).map(|text| Observation::Reasoning { text, raw: None });
    let message = text(&reply.text).map(|text| Observation::Message { text, raw: None });
    [reasoning, message, reply.usage.map(Observation::Usage)].into_iter().flatten().collect()
}

fn going_in_circles(calls: &[ToolUse]) -> Finished {
    let calls: Vec<_> = calls.iter().map(|call| format!("`{}` with {}", call.name, call.arguments)).collect();
    let calls = calls.join(", ");
    let calls = &calls[..calls.floor_char_boundary(WORDS_BYTES_MAX)];
    failed(
        ErrorCode::EngineOutputLimit,
        format!("the model goes in circles: more than {SAME_REPLIES_MAX} times in a row it called {calls}"),
    )
}
