//! An activation of an agent: the run that plays a role, and what it is told.

use std::collections::BTreeMap;
use std::path::PathBuf;

use adjourn_core::roundtable::{
    Activation, Phase, Purpose, Round, Roundtable, answer_schema, ask_schema, synthesis_schema,
};
use adjourn_core::{ExecutionMode, RoundtableId, RunId};
use serde_json::Value;

use super::library::Library;
use super::prompt::{self, Told};
use super::strategy_text::phase_text;
use super::{LABEL, LABEL_ROLE, LABEL_ROUND, LABEL_STEP};
use crate::request::RunRequest;
use crate::service::{Service, ServiceError};

/// What a run that plays a role has besides its request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// The id under which it was announced.
    pub(crate) run_id: RunId,
    /// The roundtable it belongs to.
    pub(crate) roundtable: RoundtableId,
    /// What it has to print.
    pub(crate) output_schema: Value,
    /// The file that it is recorded into.
    pub(crate) record: Option<PathBuf>,
}

impl Service {
    /// Creates a run that was announced in the journal of its roundtable.
    pub(super) async fn create_activation(
        &self,
        table: &Roundtable,
        run_id: RunId,
    ) -> Result<(), ServiceError> {
        let library = Library::new(&self.turn_setup().config().roles);
        let not_announced = || ServiceError::Internal(format!("{run_id} was not announced"));
        let round = table.current().ok_or_else(not_announced)?;
        let activation = round.activation(run_id).ok_or_else(not_announced)?;
        let mut request = request(table, round, activation, &library).map_err(ServiceError::Internal)?;
        request.shell = self.turn_setup().workspaces().roundtable_shell(table.id());
        let phase = table.strategy().phase(round.number);
        let part = Part {
            run_id,
            roundtable: table.id(),
            output_schema: schema(&activation.purpose, phase),
            record: self.turn_setup().roundtable_tape(&activation.purpose.role()),
        };
        self.create_part(request, part).await
    }
}

fn request(
    table: &Roundtable,
    round: &Round,
    activation: &Activation,
    library: &Library,
) -> Result<RunRequest, String> {
    let role = activation.purpose.role();
    let seat = table.spec().seat(&role).ok_or_else(|| format!("`{role}` does not sit at this table"))?;
    let text = library.role(&role).map_err(|problem| problem.to_string())?;
    let phase = table.strategy().phase(round.number);
    let since = activation.continues.and_then(|continues| {
        table.conversation(&role).filter(|it| it.run_id == continues).map(|it| it.seen_round)
    });
    let told = Told { table, round, role: &text, seat, phase: phase_text(table.strategy(), phase), since };
    let prompt = match &activation.purpose {
        Purpose::Ask => prompt::ask(&told, &|role| library.role(role).ok()),
        Purpose::Answer(_) => prompt::answer(&told),
        Purpose::Synthesis => prompt::synthesis(&told, &|role| library.role(role).ok()),
    };
    Ok(RunRequest {
        prompt: Some(prompt),
        engine: Some(seat.engine.clone()),
        execution_mode: Some(ExecutionMode::Auto),
        labels: BTreeMap::from([
            (LABEL.to_owned(), table.id().to_string()),
            (LABEL_ROUND.to_owned(), round.number.to_string()),
            (LABEL_ROLE.to_owned(), role.to_string()),
            (LABEL_STEP.to_owned(), activation.purpose.step().to_string()),
        ]),
        continues: activation.continues,
        ..RunRequest::default()
    })
}

/// What the run has to print.
fn schema(purpose: &Purpose, phase: &Phase) -> Value {
    match purpose {
        Purpose::Ask => ask_schema(),
        Purpose::Answer(_) => answer_schema(phase.stance),
        Purpose::Synthesis => synthesis_schema(),
    }
}
