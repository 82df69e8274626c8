//! The tools. The comments on the functions are what a model reads.

use adjourn_api::Page;
use adjourn_core::{InteractionId, StreamId};
use adjourn_runtime::{ReplyRequest, Service};
use adjourn_store::OpenCursor;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::Extension;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{tool, tool_router};

use super::answers::{Changes, Question, Questions, RunState, SkillState, Skills};
use super::arguments::{Inbox, OneRun, ReplyToRun, StartRun, WaitForChange};
use super::changes;
use super::handler::Handler;
use crate::api::pages::limit;
use crate::api::{inbox, runs};
use crate::auth::caller::Caller;
use crate::problem::Problem;

impl Handler {
    pub(super) fn tools() -> ToolRouter<Self> {
        Self::tool_router() + Self::roundtable_tools()
    }
}

#[tool_router]
impl Handler {
    /// Lists the skills that can be run: prepared pieces of agent work, with what each takes as input.
    #[tool(annotations(title = "List skills", read_only_hint = true, open_world_hint = false))]
    async fn list_skills(&self) -> Result<Json<Skills>, Problem> {
        let list = |service: &Service| {
            Ok(Json(Skills { skills: service.skills().iter().map(SkillState::of).collect() }))
        };
        self.server.blocking(list).await
    }

    /// Starts a run: an agent that works on a skill or a prompt, by itself, possibly for a long time. The answer comes at
    /// once, with the run's id; the work goes on after it. Follow it with wait_for_change.
    #[tool(annotations(
        title = "Start a run",
        read_only_hint = false,
        destructive_hint = true,
        idempotent_hint = false,
        open_world_hint = true
    ))]
    async fn start_run(&self, Parameters(wanted): Parameters<StartRun>) -> Result<Json<RunState>, Problem> {
        let (request, key) = wanted.read()?;
        let created = runs::start(&self.server, request, key).await?;
        Ok(Json(RunState::of(&created.run)))
    }

    /// Reads a run: its status, what it asks, and what came out. The whole conversation is the resource
    /// `adjourn://runs/{run_id}/transcript`.
    #[tool(annotations(title = "Read a run", read_only_hint = true, open_world_hint = false))]
    async fn read_run(&self, Parameters(wanted): Parameters<OneRun>) -> Result<Json<RunState>, Problem> {
        let id = wanted.id()?;
        self.server.blocking(move |service| Ok(Json(RunState::of(&service.run(id)?)))).await
    }

    /// Lists every question that waits for a person, of all runs and roundtables, the oldest first.
    #[tool(annotations(title = "List the inbox", read_only_hint = true, open_world_hint = false))]
    async fn list_inbox(&self, Parameters(wanted): Parameters<Inbox>) -> Result<Json<Questions>, Problem> {
        let limit = limit(wanted.limit)?;
        let after = wanted.cursor.as_deref().map(inbox::read_cursor).transpose()?;
        let list = move |service: &Service| {
            let open = service.journal().open_interactions(after, limit + 1)?;
            let page = Page::cut(open, limit, |open| inbox::write_cursor(OpenCursor::after(open)));
            let Page { items: open, next_cursor } = page;
            // One that was answered meanwhile is left out.
            let questions = open.iter().filter_map(|open| match open.stream {
                StreamId::Run(id) => {
                    let run = service.run(id).ok()?;
                    let interaction = run.interaction(open.interaction_id).filter(|it| it.is_open())?;
                    Some(Question::of(&run, interaction))
                }
                StreamId::Roundtable(id) => {
                    let roundtable = service.roundtable(id).ok()?;
                    let pending =
                        roundtable.pending().filter(|it| it.interaction_id == open.interaction_id)?;
                    Some(Question::of_roundtable(id, pending))
                }
            });
            Ok(Json(Questions { questions: questions.collect(), next_cursor }))
        };
        self.server.blocking(list).await
    }

    /// Answers a question of a run, and the run goes on. Questions are meant for a person: pass on what your user says,
    /// and do not make an answer up unless you were told to decide. An answer cannot be taken back.
    #[tool(annotations(
        title = "Reply to a run",
        read_only_hint = false,
        destructive_hint = true,
        idempotent_hint = false,
        open_world_hint = true
    ))]
    async fn reply_to_run(
        &self,
        Extension(caller): Extension<Caller>,
        Parameters(reply): Parameters<ReplyToRun>,
    ) -> Result<Json<RunState>, Problem> {
        let answer = ReplyRequest {
            interaction_id: reply.interaction_id.map(InteractionId),
            action: reply.action,
            by: caller.by(),
            key: reply.key()?,
            response: reply.response.clone(),
        };
        let run = self.server.service.reply(reply.id()?, answer).await?;
        Ok(Json(RunState::of(&run)))
    }

    /// Cancels a run for good. Its agent and everything that it started are ended; a run that has succeeded or failed
    /// cannot be canceled.
    #[tool(annotations(
        title = "Cancel a run",
        read_only_hint = false,
        destructive_hint = true,
        idempotent_hint = true,
        open_world_hint = false
    ))]
    async fn cancel_run(
        &self,
        Extension(caller): Extension<Caller>,
        Parameters(wanted): Parameters<OneRun>,
    ) -> Result<Json<RunState>, Problem> {
        let run = self.server.service.cancel(wanted.id()?, caller.by()).await?;
        Ok(Json(RunState::of(&run)))
    }

    /// Waits until something happens to a run, or to any run, and says what. Returns at once with what happened since
    /// `cursor`, else when something does, else with `changed: false` when the time is up: then call again with the
    /// `cursor` of the answer. Nothing is missed between two calls.
    #[tool(annotations(title = "Wait for a change", read_only_hint = true, open_world_hint = false))]
    async fn wait_for_change(
        &self,
        Parameters(wanted): Parameters<WaitForChange>,
    ) -> Result<Json<Changes>, Problem> {
        let time = changes::time(wanted.timeout_sec)?;
        let changes = match wanted.id()? {
            Some(id) => changes::of_run(&self.server, id, wanted.cursor, time).await?,
            None => changes::of_all(&self.server, wanted.cursor, time).await?,
        };
        Ok(Json(changes))
    }
}
