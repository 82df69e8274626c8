//! The tools for roundtables. The comments on the functions are what a model reads.

use adjourn_core::InteractionId;
use adjourn_runtime::roundtable::RoundtableReply;
use rmcp::handler::server::tool::Extension;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{tool, tool_router};

use super::answers::{Exported, RoundtableState};
use super::arguments::{ExportFormat, ExportRoundtable, OneRoundtable, ReplyRoundtable, StartRoundtable};
use super::handler::Handler;
use crate::auth::caller::Caller;
use crate::problem::Problem;

#[tool_router(router = roundtable_tools, vis = "pub(super)")]
impl Handler {
    /// Opens a roundtable: several agents discuss a subject in rounds and write down what they agree on, possibly for a long
    /// time. The answer comes at once, with its id; the work goes on after it. Look at it again with get_roundtable.
    #[tool(annotations(
        title = "Start a roundtable",
        read_only_hint = false,
        destructive_hint = true,
        idempotent_hint = false,
        open_world_hint = true
    ))]
    async fn start_roundtable(
        &self,
        Parameters(wanted): Parameters<StartRoundtable>,
    ) -> Result<Json<RoundtableState>, Problem> {
        let (roundtable, key) = wanted.read()?;
        let opened = self.server.service.open_roundtable(roundtable.into(), key).await?;
        Ok(Json(RoundtableState::of(&opened.table)))
    }

    /// Reads a roundtable: how far it got, what it asks, and what is written down.
    #[tool(annotations(title = "Read a roundtable", read_only_hint = true, open_world_hint = false))]
    async fn get_roundtable(
        &self,
        Parameters(wanted): Parameters<OneRoundtable>,
    ) -> Result<Json<RoundtableState>, Problem> {
        let id = wanted.id()?;
        self.server.blocking(move |service| Ok(Json(RoundtableState::of(&service.roundtable(id)?)))).await
    }

    /// Answers what a roundtable asks, and it goes on. Questions are meant for a person: pass on what your user says, and do
    /// not make an answer up unless you were told to decide. An answer cannot be taken back.
    #[tool(annotations(
        title = "Reply to a roundtable",
        read_only_hint = false,
        destructive_hint = true,
        idempotent_hint = false,
        open_world_hint = true
    ))]
    async fn reply_roundtable(
        &self,
        Extension(caller): Extension<Caller>,
        Parameters(reply): Parameters<ReplyRoundtable>,
    ) -> Result<Json<RoundtableState>, Problem> {
        let (id, key) = (reply.id()?, reply.key()?);
        let interaction_id = reply.interaction_id.map(InteractionId);
        let answer = RoundtableReply { interaction_id, response: reply.response, by: caller.by(), key };
        let roundtable = self.server.service.reply_to_roundtable(id, answer).await?;
        Ok(Json(RoundtableState::of(&roundtable)))
    }

    /// Reads the document that came out of a roundtable, also while it goes on.
    #[tool(annotations(title = "Export a roundtable", read_only_hint = true, open_world_hint = false))]
    async fn export_roundtable(
        &self,
        Parameters(wanted): Parameters<ExportRoundtable>,
    ) -> Result<Json<Exported>, Problem> {
        let (id, format) = (wanted.id()?, wanted.format);
        let export = self.server.blocking(move |service| {
            Ok(match format {
                ExportFormat::Md => service.export_roundtable_markdown(id)?,
                ExportFormat::Json => service.export_roundtable_json(id)?.to_string(),
            })
        });
        Ok(Json(Exported { roundtable_id: id.to_string(), document: export.await? }))
    }
}
