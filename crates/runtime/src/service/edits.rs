//! Approvals that are answered with other arguments.
//!
//! What a person writes is treated like what an agent asks for: it has to fit the tool's schema, and secrets in it are
//! masked in the journal and kept where only the owner of the data directory can read them.

use adjourn_core::{
    ContractAction, ExecutionId, FieldError, IdempotencyKey, InteractionId, Run, RunId, Subject, ToolCall,
};
use adjourn_engine::secrets::{MASK, Masker};
use adjourn_engine::tools::ToolError;
use serde_json::Value;

use super::{Service, ServiceError};

/// The arguments of an edited call, ready for the journal.
pub(super) struct Edit {
    /// The arguments with their secrets masked.
    pub(super) shown: Value,
    /// The key of the call with the arguments as they were given.
    pub(super) key: IdempotencyKey,
}

impl Service {
    /// Checks the arguments that a person gives a call, and keeps those with secrets privately under the id that the edited
    /// call gets. None where the question is no open approval: the rules know best what to say about that.
    pub(super) async fn edit(
        &self,
        run_id: RunId,
        question: InteractionId,
        arguments: Value,
        edited_id: ExecutionId,
    ) -> Result<Option<Edit>, ServiceError> {
        if arguments.to_string().contains(MASK) {
            // What stands behind the mask is not known here, and a call with the mask in it is not what anybody wants.
            let problem = format!("has {MASK} in it: write the value itself, or approve the call as it is");
            return Err(invalid("", problem));
        }
        let prepared = self.off_thread(move |service| {
            let run = service.run(run_id)?;
            let Some(asked_for) = awaiting_approval(&run, question) else { return Ok(None) };
            let call = ToolCall { arguments, ..asked_for.clone() };
            let shell = service.turn_setup.workspaces().shell(run.id());
            let masker = service.turn_setup.masker(&service.turn_setup.asked(&run)?, shell.as_ref());
            let masker = masker.map_err(ServiceError::Internal)?;
            Ok(Some((call, masker)))
        });
        let Some((call, masker)) = prepared.await? else { return Ok(None) };
        self.turn_setup.contracts().check(&call).await.map_err(refused)?;
        self.off_thread(move |service| service.keep_edit(run_id, edited_id, &call, &masker).map(Some)).await
    }

    fn keep_edit(
        &self,
        run_id: RunId,
        edited_id: ExecutionId,
        call: &ToolCall,
        masker: &Masker,
    ) -> Result<Edit, ServiceError> {
        let shown = masker.known_in_json(&call.arguments);
        if shown != call.arguments {
            self.turn_setup.workspaces().keep_call(run_id, edited_id, &call.arguments)?;
        }
        Ok(Edit { shown, key: IdempotencyKey::of(&call.service, &call.method, &call.arguments) })
    }

    /// Removes what was kept for an edited call that was not recorded.
    pub(super) async fn forget_edit(&self, run_id: RunId, edited_id: ExecutionId) {
        let forgotten = self.off_thread(move |service| {
            service.turn_setup.workspaces().forget_call(run_id, edited_id);
            Ok(())
        });
        // What cannot be removed now, a start after the end of the run removes.
        let _ = forgotten.await;
    }
}

/// The call that a question asks about, while it waits for a yes.
fn awaiting_approval(run: &Run, question: InteractionId) -> Option<&ToolCall> {
    let interaction = run.interaction(question).filter(|interaction| interaction.is_open())?;
    let Subject::Approval(id) = interaction.subject else { return None };
    match &run.contract(id)?.spec.action {
        ContractAction::ToolCall(call) => Some(call),
        ContractAction::EcsRequest(_) => None,
    }
}

fn invalid(path: &str, message: impl Into<String>) -> ServiceError {
    ServiceError::Invalid(vec![FieldError::new(format!("/response{path}"), message)])
}

fn refused(error: ToolError) -> ServiceError {
    let message = error.to_string();
    match error {
        ToolError::Arguments { errors, .. } => {
            let errors = errors.into_iter();
            let in_body = |FieldError { path, message }| FieldError::new(format!("/response{path}"), message);
            ServiceError::Invalid(errors.map(in_body).collect())
        }
        ToolError::ArgumentsTooLong { .. }
        | ToolError::UnknownServer { .. }
        | ToolError::UnknownTool { .. }
        | ToolError::Changed { .. } => invalid("", message),
        ToolError::Unavailable { .. } | ToolError::Stopped => ServiceError::ToolServerUnavailable(message),
    }
}
