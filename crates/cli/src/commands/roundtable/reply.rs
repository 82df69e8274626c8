//! `adjourn roundtable reply`: answers what a roundtable asks, and stays with it.

use adjourn_api::RoundtableAnswer;
use adjourn_core::InteractionId;
use adjourn_core::roundtable::RoundtableView;
use clap::Args;
use serde_json::Value;

use super::question::question_text;
use super::watch::watch;
use crate::client::{Client, Close, Role, new_key};
use crate::data::Global;
use crate::exit::{Exit, wrong_use};
use crate::find::find_roundtable;
use crate::tail::Tail;

/// Answer what a roundtable asks, and stay with it
#[derive(Debug, Args)]
pub(super) struct Reply {
    /// The roundtable: its id, or an end of it that no other has
    #[arg(value_name = "ROUNDTABLE")]
    roundtable: String,

    /// One of the words of the question, else a remark or a decision of your own
    #[arg(value_name = "TEXT", conflicts_with = "data")]
    text: Option<String>,

    /// Which question [default: the one that is open]
    #[arg(long, value_name = "ID")]
    interaction: Option<u32>,

    /// The answer as JSON: {"decision": WORD, "text": TEXT}
    #[arg(long = "data", id = "data", value_name = "JSON")]
    data: Option<String>,

    /// The same key again is the same answer again, and answers nothing twice
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

impl Reply {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let data = self.data.as_deref().map(json).transpose()?;
        global.check_there()?;
        let mut client = Client::connect(global, Role::Works).await?;
        match self.reply(&mut client, data).await {
            Ok(tail) => watch(client, tail).await,
            Err(error) => {
                client.close(Close::AtRest).await?;
                Err(error)
            }
        }
    }

    /// Answers, and gives back the roundtable from there on.
    async fn reply(
        self,
        client: &mut Client<'_>,
        data: Option<Value>,
    ) -> anyhow::Result<Tail<RoundtableView>> {
        let table = find_roundtable(client, &self.roundtable).await?;
        let open = table.pending.as_ref();
        let Some(response) = data.or(self.text.map(Value::from)) else {
            let asked = open.map(|open| format!("\n{}", question_text(open))).unwrap_or_default();
            return Err(wrong_use(format!(
                "there is no answer: give it as text, or with --data as JSON{asked}"
            )));
        };
        let open = open.map(|open| open.interaction_id);
        let interaction_id = match (self.interaction, &self.key) {
            (Some(id), _) => Some(InteractionId(id)),
            // The same key again means the question that it answered, whatever was asked since.
            (None, Some(_)) => None,
            // What is not open is refused by the rules, which know best what to say about it.
            (None, None) => Some(open.unwrap_or(InteractionId(0))),
        };
        let key = self.key.unwrap_or_else(new_key);
        let answer = RoundtableAnswer { interaction_id, response };
        let mut tail = Tail::from_now(table);
        tail.saw(client.reply_to_roundtable(tail.id(), &answer, &key).await?);
        Ok(tail)
    }
}

fn json(text: &str) -> anyhow::Result<Value> {
    serde_json::from_str(text).map_err(|error| {
        wrong_use(format!(
            "--data is not JSON: {error}\nbehind `reply` it is the answer; the data directory is named in front: \
             adjourn --data DIR roundtable reply …"
        ))
    })
}
