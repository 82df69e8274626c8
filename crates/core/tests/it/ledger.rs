//! The machines against what was asked for, written down a second time by hand.

use adjourn_core::machine::{Machine, State, Trigger, Why};
use adjourn_core::machines::{ArtifactMachine, ArtifactStatus, ArtifactTrigger};
use adjourn_core::{Actor, ContractMachine, ContractStatus, RunMachine, RunStatus};

/// The run machine, row by row, independent of its table.
const RUN: &[(&[&str], &str, &str)] = &[
    (&["queued"], "turn.started", "running"),
    (&["running"], "turn.needs_input", "waiting_user"),
    (&["waiting_user"], "interaction.reply.accepted", "queued"),
    (&["waiting_user"], "interaction.auto_decide.timeout", "queued"),
    (&["waiting_user"], "interaction.wait.timeout", "failed"),
    (&["waiting_user", "queued"], "process.lost", "failed"),
    (&["running"], "turn.succeeded", "succeeded"),
    (&["running"], "turn.failed", "failed"),
    (&["queued", "running", "waiting_user"], "run.canceled", "canceled"),
    (&["waiting_user"], "restart.preserve_waiting", "waiting_user"),
    (&["waiting_user"], "restart.reconcile_failed", "failed"),
    (&["running"], "restart.requeued", "queued"),
    (&["running"], "restart.needs_input", "waiting_user"),
    (&["running", "queued"], "restart.reconcile_failed", "failed"),
];

/// The contract machine, row by row, independent of its table.
const CONTRACT: &[(&[&str], &str, &str)] = &[
    (&["PENDING"], "start", "RUNNING"),
    (&["RUNNING"], "succeed", "COMPLETED"),
    (&["RUNNING"], "fail", "FAILED"),
    (&["RUNNING"], "reject", "REJECTED"),
    (&["RUNNING"], "suspend", "WAITING"),
    (&["RUNNING"], "cancel", "CANCELLED"),
    (&["WAITING"], "resume", "RUNNING"),
    (&["WAITING"], "cancel", "CANCELLED"),
    (&["WAITING"], "timeout", "CANCELLED"),
];

#[test]
fn rt_02_the_state_set_is_exact_and_every_pair_is_a_row_or_refused() {
    assert_eq!(
        names(RunStatus::ALL),
        ["queued", "running", "waiting_user", "succeeded", "failed", "canceled"]
    );
    assert_takes_exactly::<RunMachine>(RUN);
}

#[test]
fn ex_03_the_contract_states_are_exact_terminal_and_stable() {
    assert_eq!(
        names(ContractStatus::ALL),
        ["PENDING", "RUNNING", "WAITING", "COMPLETED", "FAILED", "REJECTED", "CANCELLED"]
    );
    let with = |is: fn(ContractStatus) -> bool| {
        names(&ContractStatus::ALL.iter().copied().filter(|&status| is(status)).collect::<Vec<_>>())
    };
    assert_eq!(with(|status| status.traits().initial), ["PENDING"]);
    assert_eq!(with(ContractStatus::is_terminal), ["COMPLETED", "FAILED", "REJECTED", "CANCELLED"]);
    assert_eq!(with(|status| status.traits().stable), ["WAITING"]);
}

#[test]
fn ex_04_each_contract_state_takes_exactly_its_triggers() {
    assert_takes_exactly::<ContractMachine>(CONTRACT);
}

#[test]
fn sm_09_superseded_and_withdrawn_are_terminal() {
    for status in [ArtifactStatus::Superseded, ArtifactStatus::Withdrawn] {
        assert!(status.is_terminal());
        for &trigger in ArtifactTrigger::ALL {
            for &actor in Actor::ALL {
                let refused = ArtifactMachine::step(status, trigger, actor).unwrap_err();
                assert_eq!(refused.why, Why::Terminal, "{status}, {trigger}, by {actor}");
            }
        }
    }
    // No other state is: an artifact that was amended must not become immortal.
    for status in [ArtifactStatus::Active, ArtifactStatus::Amended] {
        let ended = |trigger| ArtifactMachine::step(status, trigger, Actor::Facilitator);
        assert_eq!(ended(ArtifactTrigger::Supersede), Ok(ArtifactStatus::Superseded));
        assert_eq!(ended(ArtifactTrigger::Withdraw), Ok(ArtifactStatus::Withdrawn));
    }
}

/// Every pair of state and trigger leads where `rows` say when somebody fires it who may, and is refused to everybody
/// where they say nothing.
fn assert_takes_exactly<M: Machine>(rows: &[(&[&str], &str, &str)]) {
    for &state in M::State::ALL {
        for &trigger in M::Trigger::ALL {
            let row = rows.iter().find(|(from, by, _)| from.contains(&state.name()) && *by == trigger.name());
            let mut leads_to: Vec<_> = Actor::ALL
                .iter()
                .filter_map(|&actor| M::step(state, trigger, actor).ok())
                .map(State::name)
                .collect();
            leads_to.dedup();
            let expected: Vec<_> = row.iter().map(|(_, _, to)| *to).collect();
            assert_eq!(leads_to, expected, "{}: {state}, {trigger}", M::NAME);
        }
    }
    let triggers = names_of_triggers::<M>();
    let unknown = rows.iter().find(|(_, trigger, _)| !triggers.contains(trigger));
    assert_eq!(unknown, None, "{} has no such trigger", M::NAME);
}

fn names<S: State>(states: &[S]) -> Vec<&'static str> {
    states.iter().map(|state| state.name()).collect()
}

fn names_of_triggers<M: Machine>() -> Vec<&'static str> {
    M::Trigger::ALL.iter().map(|trigger| trigger.name()).collect()
}
