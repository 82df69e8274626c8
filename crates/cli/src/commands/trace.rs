//! `adjourn trace`: the contracts of a run, and every step that each of them took.

use adjourn_core::{ContractStatus, ContractView, InteractionView, RefusedCall, StepMetadata, TraceStep};
use clap::Args;

use crate::client::{Client, Role};
use crate::contract::{count, headline, is_unknown, standing};
use crate::data::Global;
use crate::exit::Exit;
use crate::find::find;
use crate::output::{print, print_json};
use crate::question::{OpenQuestion, reply_commands};
use crate::style::{self, styled};
use crate::text::{clean, indented, moment, one_line, quoted};

/// Characters of a refused call that are shown: what it was, not all that was in it.
const CALL_CHARS_MAX: usize = 160;

/// Show what a run did to the world: its contracts, and every step that each of them took
#[derive(Debug, Args)]
pub(super) struct Trace {
    /// The run: its id, or an end of it that no other run has
    #[arg(value_name = "RUN")]
    run: String,
}

impl Trace {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let mut client = Client::connect(global, Role::Reads).await?;
        let run = find(&mut client, &self.run).await?;
        let trace = client.trace(run.run_id).await?;
        if global.json {
            print_json(&trace)?;
            return Ok(Exit::Done);
        }
        let contracts = client.contracts(run.run_id).await?;
        let refused: Vec<_> = trace.items.iter().filter_map(refused_text).collect();
        let count = match count(&contracts) {
            Some(count) => count,
            None if refused.is_empty() => {
                let nothing = "has no contracts: nothing was called or asked through adjourn";
                anstream::eprintln!("{} {nothing}", run.run_id);
                return Ok(Exit::Done);
            }
            None => "none".to_owned(),
        };
        let open = client.interactions(run.run_id).await?;
        let open: Vec<_> = open.into_iter().filter(InteractionView::is_open).collect();
        let status = styled(style::status(run.status), run.status);
        let mut text = format!("{}  {status}  contracts: {count}\n", styled(style::BOLD, run.run_id));
        for contract in &contracts {
            let block = Block { global, contract, steps: &trace.items, open: &open };
            text.push_str(&format!("\n{}\n", block.text()));
        }
        if !refused.is_empty() {
            let heading = styled(style::BOLD, "calls that were refused");
            text.push_str(&format!("\n{heading}\n{}\n", refused.join("\n")));
        }
        print(&text)?;
        Ok(Exit::Done)
    }
}

/// One contract: what it is for, how it stands, what a person can do about it, and its way.
struct Block<'a> {
    global: &'a Global,
    contract: &'a ContractView,
    steps: &'a [TraceStep],
    open: &'a [InteractionView],
}

impl Block<'_> {
    fn text(&self) -> String {
        let contract = self.contract;
        let irreversible =
            if contract.irreversible { styled(style::ODD, "  irreversible") } else { String::new() };
        let mut lines = vec![
            format!("{}{irreversible}", styled(style::BOLD, headline(contract))),
            format!("  {}", standing(contract)),
        ];
        lines.extend(self.what_to_do());
        let (id, attempt) = (contract.execution_id, contract.attempt_number);
        let asked_for = format!("{id}, asked for in attempt {attempt}");
        lines.push(format!(
            "  {}",
            styled(style::DIM, format!("{}  {asked_for}", moment(contract.created_at)))
        ));
        let steps = self.steps.iter().filter(|step| step.metadata.execution_id == Some(id));
        lines.extend(steps.map(|step| format!("  {}", step_text(step))));
        lines.join("\n")
    }

    /// The commands with which a person helps it on, if one has to.
    fn what_to_do(&self) -> Vec<String> {
        let contract = self.contract;
        let asks = self.open.iter().find(|open| open.execution_id == Some(contract.execution_id));
        if let Some(asks) = asks {
            let question = OpenQuestion::one_of(asks, self.open.len());
            let commands = reply_commands(self.global, contract.run_id, question);
            return told("it waits for a person:", &commands);
        }
        if is_unknown(contract) {
            let settle = |rest: &str| {
                self.global.command(&format!("settle {} {rest}", quoted(&contract.execution_id.to_string())))
            };
            let commands = [settle("happened --note 'WHAT CAME OF IT'"), settle("did_not_happen")];
            return told(
                "it may have happened, and is not done again before you say whether it did:",
                &commands,
            );
        }
        Vec::new()
    }
}

fn told(why: &str, commands: &[String]) -> Vec<String> {
    let commands = indented(&commands.join("\n"), "    ");
    vec![format!("  {}", styled(style::ODD, why)), styled(style::DIM, commands)]
}

fn step_text(step: &TraceStep) -> String {
    let StepMetadata { from, to, trigger, settlement, .. } = &step.metadata;
    let (at, node) = (styled(style::DIM, moment(step.timestamp)), step.node_id);
    let status =
        |status: &Option<ContractStatus>| status.map(|status| format!("{status} ")).unwrap_or_default();
    match settlement {
        Some(said) => {
            let who = said.by.name.as_deref().map(|name| format!(" by {name}")).unwrap_or_default();
            let note = said.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            let settled = clean(&format!("settled as {}{who}{note}", said.outcome));
            format!("{at}  {node:<14}  {settled}")
        }
        None => format!("{at}  {node:<14}  {}-> {}({trigger})", status(from), status(to)),
    }
}

/// A call for which there is no contract, and why; none for every other step.
fn refused_text(step: &TraceStep) -> Option<String> {
    let RefusedCall { tool, arguments, reason, same_as } = step.metadata.refused.as_ref()?;
    let call = one_line(&format!("{tool}({arguments})"), CALL_CHARS_MAX);
    let same = same_as.map(|id| format!(" ({id})")).unwrap_or_default();
    let at = styled(style::DIM, moment(step.timestamp));
    Some(format!("  {at}  {:<14}  {call}: {}{same}", step.node_id, clean(reason)))
}
