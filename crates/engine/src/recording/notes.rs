//! What a turn has written down, for the tape: engines that resume by the journal show their facts to nobody else.

use std::sync::Arc;

use adjourn_core::{Observation, RunError};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::recorder::Pen;
use crate::detail::shortened;
use crate::model::ToolOffer;
use crate::secrets::Masker;
use crate::toolbox::{Call, History, Stale, Told, Toolbox};
use crate::turn::Seen;

/// A toolbox that does what another does, and puts it on the tape.
#[derive(Debug)]
pub(super) struct NotingToolbox {
    pub(super) tools: Arc<dyn Toolbox>,
    pub(super) pen: Arc<Pen>,
    /// Covers what the journal covers by itself.
    pub(super) masker: Masker,
    /// Where the turn shows what it does, which comes first on the tape if it came first.
    pub(super) shown: mpsc::WeakSender<Seen>,
}

impl NotingToolbox {
    async fn note(&self, fact: Observation) {
        // What was shown is on the tape as soon as there is room for more.
        if let Some(shown) = self.shown.upgrade() {
            let _ = shown.reserve().await;
        }
        self.pen.seen(&Seen::Fact(fact));
    }

    async fn note_all(&self, facts: Vec<Observation>) {
        for fact in facts {
            let text = |text: String| self.masker.text(&text).into_owned();
            match fact {
                Observation::Message { text: said, .. } => {
                    self.note(Observation::Message { text: text(said), raw: None }).await;
                }
                Observation::Reasoning { text: thought, .. } => {
                    self.note(Observation::Reasoning { text: text(thought), raw: None }).await;
                }
                Observation::Usage(_) => self.note(fact).await,
                // The engine's own words, and nothing that an engine without a process has.
                Observation::Step(_)
                | Observation::Handle(_)
                | Observation::Process(_)
                | Observation::Sandbox(_)
                | Observation::ToolCall { .. }
                | Observation::CommandExecution { .. } => {}
            }
        }
    }
}

/// What a call came to, for those who watch the recording.
fn result(told: &Told) -> Option<Value> {
    match told {
        Told::Over(consequence) | Told::Before(consequence) => Some(json!(consequence)),
        Told::WithUser(_) => Some(json!("with the user")),
        Told::NoAttemptLeft(_) => Some(json!("no attempt left")),
        Told::Refused(why) => Some(json!({ "refused": why })),
        Told::Stale(_) => None,
    }
}

impl Toolbox for NotingToolbox {
    fn offers(&self) -> BoxFuture<'_, Result<Vec<ToolOffer>, RunError>> {
        self.tools.offers()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Told> {
        Box::pin(async move {
            let (name, arguments) = (call.name.clone(), call.arguments.clone());
            let told = self.tools.call(call).await;
            if let Some(result) = result(&told) {
                let detail = self.masker.json(&json!({"arguments": arguments, "result": result}));
                self.note(Observation::ToolCall { name, detail: shortened(&detail), raw: None }).await;
            }
            told
        })
    }

    fn refused(&self, call: Call, reason: String) -> BoxFuture<'_, ()> {
        self.tools.refused(call, reason)
    }

    fn checkpoint(&self, facts: Vec<Observation>) -> BoxFuture<'_, Result<(), Stale>> {
        Box::pin(async move {
            self.tools.checkpoint(facts.clone()).await?;
            self.note_all(facts).await;
            Ok(())
        })
    }

    fn history(&self) -> BoxFuture<'_, Result<History, RunError>> {
        self.tools.history()
    }
}
