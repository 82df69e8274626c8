//! `adjourn reply`: answers a question, and stays with the run until it waits again or ends.

use adjourn_api::Answer;
use adjourn_core::{Action, InteractionId, InteractionView};
use anyhow::anyhow;
use clap::Args;
use serde_json::Value;

use crate::answer::{Given, problem_text};
use crate::attach::{Answers, stay};
use crate::client::{Client, Close, Role, new_key};
use crate::data::Global;
use crate::exit::{Exit, wrong_use};
use crate::find::find;
use crate::question::question_text;
use crate::tail::Tail;

/// Answer what a run asks, and stay with it
#[derive(Debug, Args)]
pub(super) struct Reply {
    /// The run: its id, or an end of it that no other run has
    #[arg(value_name = "RUN")]
    run: String,

    /// The answer; choices by value or label, several separated by commas; with --action reject, why
    #[arg(value_name = "TEXT", conflicts_with = "data")]
    text: Option<String>,

    /// Which question [default: the oldest that is open]
    #[arg(long, value_name = "ID")]
    interaction: Option<u32>,

    /// The answer as JSON; with --action edit, all arguments of the call
    #[arg(long = "data", id = "data", value_name = "JSON")]
    data: Option<String>,

    /// The same key again is the same answer again, and answers nothing twice
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// What to do with a call that needs approval: approve, edit or reject
    #[arg(long, value_name = "ACTION")]
    action: Option<Action>,
}

impl Reply {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let data = self.data.as_deref().map(json).transpose()?;
        global.check_there()?;
        let mut client = Client::connect(global, Role::Works).await?;
        match self.reply(&mut client, data).await {
            Ok(tail) => stay(client, tail, Answers::new(Vec::new())).await,
            Err(error) => {
                client.close(Close::CutOff).await?;
                Err(error)
            }
        }
    }

    /// Answers, and gives back the run from there on.
    async fn reply(self, client: &mut Client<'_>, data: Option<Value>) -> anyhow::Result<Tail> {
        let run = find(client, &self.run).await?;
        let asked = client.interactions(run.run_id).await?;
        // The same key again means the question that it answered, whatever was asked since.
        let same_key = |it: &&InteractionView| self.key.is_some() && it.idempotency_key == self.key;
        let answered = asked.iter().find(same_key).map(|it| it.interaction_id);
        let wanted = self.interaction.map(InteractionId).or(answered);
        // What is not open is refused by the rules, which know best what to say about it.
        let open = asked.iter().find(|it| {
            let can_be_meant = it.is_open() || answered == Some(it.interaction_id);
            can_be_meant && wanted.is_none_or(|wanted| wanted == it.interaction_id)
        });
        // With none open, the last one: refused with what there is, or known as the same reply by its key.
        let last = asked.last().map_or(InteractionId(0), |last| last.interaction_id);
        let interaction_id = wanted.or(open.map(|open| open.interaction_id)).unwrap_or(last);
        let Given { response, action } = self.given(open, data)?;
        let key = self.key.unwrap_or_else(new_key);
        let answer = Answer { interaction_id: Some(interaction_id), response: Some(response), action };
        let mut tail = Tail::from_now(run);
        tail.saw(client.reply(tail.id(), &answer, &key).await?);
        Ok(tail)
    }

    fn given(&self, open: Option<&InteractionView>, data: Option<Value>) -> anyhow::Result<Given> {
        match (data, &self.text, self.action) {
            (Some(response), _, action) => Ok(Given { response, action }),
            (None, text, Some(action)) => {
                let rest = text.as_deref().unwrap_or_default();
                Given::acting(action, rest).map_err(|problem| {
                    wrong_use(format!(
                        "what should be in place of the arguments {problem}: give it with --data"
                    ))
                })
            }
            (None, Some(text), None) => match open {
                Some(open) => Given::read(open, text).map_err(|errors| {
                    anyhow!("`{text}` is no answer: {}\n{}", problem_text(&errors), question_text(open))
                }),
                None => Ok(Given::plain(Value::from(text.as_str()))),
            },
            (None, None, None) => {
                let asked = open.map(|open| format!("\n{}", question_text(open))).unwrap_or_default();
                let missing = "there is no answer: give it as text, or with --data as JSON";
                Err(wrong_use(format!("{missing}{asked}")))
            }
        }
    }
}

fn json(text: &str) -> anyhow::Result<Value> {
    serde_json::from_str(text).map_err(|error| {
        wrong_use(format!(
            "--data is not JSON: {error}\nbehind `reply` it is the answer; the data directory is named in front: \
             adjourn --data DIR reply …"
        ))
    })
}
