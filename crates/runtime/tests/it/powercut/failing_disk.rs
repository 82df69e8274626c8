//! A disk that fails in the middle of what a user asks for, and then the process is killed: refused means refused.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use adjourn_core::{RunId, RunStatus};
use adjourn_kernel::Denied;
use adjourn_powercut::{Call, Failure, Fault, On};
use adjourn_runtime::ServiceError;
use adjourn_store::Error;
use adjourn_testkit::model::ModelServer;

use super::story::{approve, create, finish, is_sound, model, record, run_in, stage};
use crate::stage::{Actor, Stage, until};

/// More calls than any commit of these tests has.
const CALLS_MAX: usize = 200;

/// How much time passes at most: less than any deadline of a run.
const SECONDS_MAX: u32 = 60;

/// What a user asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Create,
    Reply,
    Approve,
    Cancel,
}

impl Asked {
    /// Brings a run to where this can be asked.
    fn prepare(self, stage: &Stage) -> Option<RunId> {
        let run_id = match self {
            Self::Create => return None,
            Self::Reply | Self::Approve | Self::Cancel => create(stage).unwrap(),
        };
        let run = stage.actor(run_id);
        run.waits();
        if self == Self::Approve {
            run.reply("alpha").unwrap();
            run.until("the approval", |run| (run.interactions().len() == 2).then_some(()));
            run.waits();
        }
        Some(run_id)
    }

    fn ask(self, stage: &Stage, run_id: Option<RunId>) -> Result<(), ServiceError> {
        let run = run_id.map(|run_id| stage.actor(run_id));
        match (self, run) {
            (Self::Reply, Some(run)) => run.reply("alpha").map(drop),
            (Self::Approve, Some(run)) => approve(&run),
            (Self::Cancel, Some(run)) => run.cancel().map(drop),
            (Self::Create, _) | (_, None) => create(stage).map(drop),
        }
    }
}

/// What the next process finds when this one is killed now.
fn killed(stage: &Stage, model: &ModelServer) -> Stage {
    let next = super::story::stage(model);
    copy(&stage.data(), &next.data());
    let effects = stage.path().join("effects");
    if effects.exists() {
        fs::copy(effects, next.path().join("effects")).unwrap();
    }
    next
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (name, kind) = (entry.file_name(), entry.file_type().unwrap());
        let is_memory = name.to_string_lossy().ends_with("-shm") || name == "adjourn.lock";
        if kind.is_dir() {
            copy(&entry.path(), &to.join(name));
        } else if kind.is_file() && !is_memory {
            fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}

/// Lets time pass until the runtime has tried again what it could not write down itself.
fn gets_over_it(stage: &Stage, run: &Actor<'_>) {
    let mut passed = 0;
    until("the run goes on", || {
        if passed < SECONDS_MAX {
            stage.advance(1);
            passed += 1;
        }
        let status = run.status();
        (status.is_terminal() || status == RunStatus::WaitingUser).then_some(())
    });
}

fn is_unresolved(error: &ServiceError) -> bool {
    let of = |error: &Arc<Error>| matches!(**error, Error::Unresolved { .. });
    matches!(error, ServiceError::Denied(Denied::Failed(error)) if of(error))
}

/// Has the calls of what is asked fail one after the other, and kills the process after each refusal. How many there were.
fn check(asked: Asked, on: On, calls: &'static [Call], how: Failure, times: usize) -> usize {
    let model = model();
    let stage = stage(&model);
    let recording = record(&stage);
    stage.open();
    let run_id = asked.prepare(&stage);
    for spared in 0..CALLS_MAX {
        recording.fail(Fault { on, calls, spared, times, how });
        let outcome = asked.ask(&stage, run_id);
        let context = format!("{asked:?} {on:?} {calls:?} {how:?}, {spared} spared: {outcome:?}");
        let Err(error) = outcome else {
            recording.fail_no_more();
            let run = stage.actor(run_in(&stage).unwrap());
            if asked != Asked::Cancel {
                gets_over_it(&stage, &run);
                let (ended, _) = finish(&run, &context);
                assert_eq!((ended.status(), stage.effects().len()), (RunStatus::Succeeded, 1), "{context}");
            }
            drop(model);
            return spared;
        };
        // Where files cannot be cut off either, the answer is that it is not known.
        let is_known = !is_unresolved(&error) || !calls.contains(&Call::Truncate);
        let next = killed(&stage, &model);
        recording.fail_no_more();
        next.open();
        if is_known {
            assert_eq!(run_in(&next), run_id, "{context}");
            match run_id {
                None => assert_eq!(next.run_folders(), [""; 0], "{context}"),
                Some(run_id) => {
                    let run = next.actor(run_id).state();
                    let waits = (run.status(), run.open_interactions().count());
                    assert_eq!(waits, (RunStatus::WaitingUser, 1), "{context}");
                    assert_eq!(next.effects().len(), 0, "{context}");
                }
            }
        }
        next.close();
        is_sound(&next, &context);
    }
    panic!("{asked:?} has more than {CALLS_MAX} calls");
}

#[test]
fn what_is_refused_because_a_sync_failed_does_not_happen_after_a_kill() {
    for asked in [Asked::Create, Asked::Reply, Asked::Approve, Asked::Cancel] {
        assert!(check(asked, On::Log, &[Call::Sync], Failure::Io, 1) > 0, "{asked:?}");
        assert!(check(asked, On::Log, &[Call::Sync], Failure::Io, usize::MAX) > 0, "{asked:?}");
    }
}

#[test]
fn what_is_refused_because_a_write_failed_does_not_happen_after_a_kill() {
    for (asked, how) in [(Asked::Approve, Failure::Full), (Asked::Cancel, Failure::Io)] {
        assert!(check(asked, On::Log, &[Call::Write], how, 1) > 2, "{asked:?}");
    }
}

#[test]
fn a_run_whose_files_cannot_be_written_is_refused_and_leaves_nothing() {
    for how in [Failure::Full, Failure::Io] {
        assert!(check(Asked::Create, On::Files, &Call::ALL, how, 1) > 5, "{how:?}");
    }
}
