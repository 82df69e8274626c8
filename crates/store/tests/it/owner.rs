//! Two processes and one data directory.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use adjourn_store::conformance::items::paused_run;
use adjourn_store::{Error, SqliteStore, Store};

use super::child;

#[test]
fn a_second_process_is_kept_out_when_the_lock_file_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let lock = dir.path().join("adjourn.lock");
    let mut owner =
        child::command("owner::child_that_owns", dir.path()).stdin(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(owner.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(told.any(|line| line == "owned"));

    fs::remove_file(&lock).unwrap();
    assert!(matches!(SqliteStore::open(dir.path()), Err(Error::Owned { .. })));
    // The owner works on, and says again who it is.
    fs::remove_file(&lock).unwrap();
    writeln!(owner.stdin.as_mut().unwrap(), "commit").unwrap();
    assert!(told.any(|line| line == "committed"));
    let refused = SqliteStore::open(dir.path()).unwrap_err().to_string();
    // Its parent is the shell that became it.
    assert!(refused.contains(&format!("process {} ", owner.id())), "{refused}");

    drop(owner.stdin.take());
    owner.wait().unwrap();
    assert_eq!(SqliteStore::open(dir.path()).unwrap().head().unwrap(), 10);
}

#[test]
#[ignore = "a process that another test starts"]
fn child_that_owns() {
    let Some(dir) = child::directory() else { return };
    let store = SqliteStore::open(&dir).unwrap();
    println!("\nowned");
    for _ in std::io::stdin().lines().map_while(Result::ok) {
        store.commit(&paused_run(0)).unwrap();
        println!("\ncommitted");
    }
}
