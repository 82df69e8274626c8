//! Properties of runs under any sequence of commands.

use adjourn_core::{
    ActionType, Command, ContractReport, ContractStatus, Evidence, Observation, Profile, Run, RunId,
    RunStatus, TurnEnd,
};
use proptest::prelude::{ProptestConfig, proptest};
use serde_json::json;

use crate::walk::{Step, steps};
use crate::watch::{Watch, helpful_reply};
use crate::world::{Sight, World};

/// Walks that are taken, and their greatest length: together a few seconds in a debug build.
const WALKS: u32 = 2000;
const STEPS_MAX: usize = 80;

/// Steps in which a run ends when everybody is helpful. The longest way there settles every contract of a walk in a
/// turn of its own.
const HELPFUL_STEPS_MAX: usize = 6 * STEPS_MAX;

proptest! {
    #![proptest_config(ProptestConfig { cases: WALKS, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_asked_of_runs_their_rules_hold(steps in steps(STEPS_MAX)) {
        let (mut world, mut watch) = (World::new(), Watch::default());
        for step in steps {
            take(&mut world, &mut watch, step);
        }
        let ids: Vec<RunId> = world.runs.keys().copied().collect();
        for id in ids {
            help_to_the_end(&mut world, &mut watch, id);
        }
        watch.check_streams(&world);
    }
}

fn take(world: &mut World, watch: &mut Watch, step: Step) {
    world.wait(step.wait_seconds());
    let (id, command) = step.command(world);
    let sight = if step.is_blind() { Sight::Blind } else { Sight::Full };
    let before = world.journal.position;
    match world.command(id, &command, sight) {
        Ok(accepted) => watch.check(world, &command, &accepted),
        Err(_) => assert_eq!(world.journal.position, before, "a refusal changes nothing"),
    }
}

/// Answers everything, makes every call, ends every turn with a result: then the run ends.
fn help_to_the_end(world: &mut World, watch: &mut Watch, id: RunId) {
    for _ in 0..HELPFUL_STEPS_MAX {
        let Some(command) = helpful(world.run(id)) else { return };
        let accepted = world
            .command(id, &command, Sight::Full)
            .unwrap_or_else(|refused| panic!("{command:?} should help: {refused:?}"));
        watch.check(world, &command, &accepted);
    }
    panic!("the run does not end: {:#?}", world.run(id));
}

/// What brings a run nearer to its end; nothing when it is there.
fn helpful(run: &Run) -> Option<Command> {
    let turn = run.turn();
    match run.status() {
        RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled => None,
        _ if run.ending().is_some()
            && run.profile() == Profile::StickyProcess
            && let Some(process) = run.process() =>
        {
            Some(Command::ReportProcessEnded { process, loadable: true })
        }
        RunStatus::Queued => Some(Command::StartTurn),
        RunStatus::WaitingUser => {
            let id = run.open_interactions().next().expect("a run waits for something").interaction_id;
            Some(helpful_reply(run, id))
        }
        RunStatus::Running if run.handle().is_none() => {
            Some(Command::Observe { turn, observations: vec![Observation::Handle("handle".to_owned())] })
        }
        RunStatus::Running if run.ending().is_none() => Some(next_call(run).unwrap_or(Command::EndTurn {
            turn,
            observations: Vec::new(),
            end: helpful_end(run),
        })),
        RunStatus::Running => {
            Some(Command::EndTurn { turn, observations: Vec::new(), end: TurnEnd::Suspended })
        }
    }
}

/// A call that can be made, or that was made and has a result.
fn next_call(run: &Run) -> Option<Command> {
    run.contracts().find_map(|contract| {
        let id = contract.spec.execution_id;
        match contract.status {
            // A question that came too late is nothing that could be done.
            ContractStatus::Pending if contract.spec.action.kind() == ActionType::EcsRequest => None,
            ContractStatus::Pending => Some(Command::DispatchContract(id)),
            ContractStatus::Waiting if contract.is_cleared() => Some(Command::DispatchContract(id)),
            ContractStatus::Running => {
                Some(Command::ReportContract { id, report: ContractReport::Succeeded(json!("done")) })
            }
            ContractStatus::Waiting
            | ContractStatus::Completed
            | ContractStatus::Failed
            | ContractStatus::Rejected
            | ContractStatus::Cancelled => None,
        }
    })
}

fn helpful_end(run: &Run) -> TurnEnd {
    if run.open_interactions().next().is_some() {
        return TurnEnd::Suspended;
    }
    TurnEnd::Completed(Box::new(Evidence::read(r#"{"__SKILL_DONE__": true, "n": 1}"#, None)))
}
