//! A disk that fails: the process goes on, nothing is half there, and later it works again.

use adjourn_store::conformance::items::{Script, paused_run};
use adjourn_store::{Error, RunFilter, SqliteStore, Store};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::child;

/// Files may grow to this size in the child: a little more than an empty journal with its log.
const FILE_BYTES_MAX: u64 = 400_000;

#[test]
fn writes_that_fail_are_refused_whole_and_work_again_later() {
    let dir = tempfile::tempdir().unwrap();
    let output = child::command("faults::child_that_meets_its_limit", dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));

    let store = SqliteStore::open(dir.path()).unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let told: u64 = told
        .lines()
        .find_map(|line| line.strip_prefix("head "))
        .unwrap_or_else(|| panic!("{told}"))
        .parse()
        .unwrap();
    assert_eq!(store.head().unwrap(), told);
}

#[test]
#[ignore = "a process that another test starts"]
fn child_that_meets_its_limit() {
    let Some(dir) = child::directory() else { return };
    let store = SqliteStore::open(&dir).unwrap();
    let before = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(FILE_BYTES_MAX), ..before }).unwrap();

    let mut runs = 0;
    let error = loop {
        match store.commit(&paused_run(runs)) {
            Ok(_) => runs += 1,
            Err(error) => break error,
        }
    };
    assert!(runs > 0, "the limit is too small");
    let message = error.to_string();
    assert!(matches!(error, Error::Failed { .. }), "{message}");
    assert!(message.starts_with("the journal cannot commit: disk I/O error (SQLite code "), "{message}");

    // It fails again and again, and each time nothing is there.
    let watch = store.watch();
    for _ in 0..3 {
        let large = Script::run(runs).next(1, 1, vec![0; 1 << 20]);
        assert!(matches!(store.commit(&[large]), Err(Error::Failed { .. })));
        assert_eq!(store.head().unwrap(), runs * 10);
        assert_eq!(store.runs(&RunFilter::default(), usize::MAX).unwrap().len() as u64, runs);
        assert!(!watch.has_changed().unwrap());
    }

    setrlimit(Resource::Fsize, before).unwrap();
    store.commit(&paused_run(runs)).unwrap();
    assert_eq!(store.head().unwrap(), (runs + 1) * 10);
    assert!(watch.has_changed().unwrap());
    println!("\nhead {}", store.head().unwrap());
}
