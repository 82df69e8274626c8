//! A configuration that came with a folder runs nothing before a person allowed it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::world::{Said, World, said};

/// Leaves a mark wherever it is started.
const EVIL: &str = "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\necho 1.0\n";

const CONFIG: &str =
    "[engines.claude]\nkind = \"exec\"\npreset = \"claude\"\ncommand = [\"./evil\", \"\\u001b[2J\"]\n";

/// A folder that somebody cloned, and a user with a state folder of their own.
struct Cloned {
    world: World,
}

impl Cloned {
    fn new() -> Self {
        let world = World::new();
        let evil = world.write("evil", EVIL);
        fs::set_permissions(evil, fs::Permissions::from_mode(0o755)).unwrap();
        world.write("adjourn.toml", CONFIG);
        Self { world }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.adjourn(arguments);
        command.env_remove("ADJOURN_TRUST_CONFIG").env("XDG_STATE_HOME", self.state());
        command
    }

    fn says(&self, arguments: &[&str]) -> Said {
        said(&mut self.command(arguments))
    }

    fn state(&self) -> PathBuf {
        self.world.path().join("state")
    }

    fn has_run(&self) -> bool {
        self.world.path().join("ran").exists()
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn nothing_of_a_folder_is_run_before_it_is_trusted() {
    let cloned = Cloned::new();
    for arguments in [
        &["engines"][..],
        &["run", "--prompt", "hi", "--engine", "claude"],
        &["serve", "--listen", "127.0.0.1:0"],
    ] {
        let said = cloned.says(arguments);
        assert_eq!(said.code, Some(5), "{said:?}");
        assert!(said.stderr.contains("engine `claude` starts `./evil \\u{1b}[2J`"), "{}", said.stderr);
        assert!(said.stderr.contains("adjourn config trust adjourn.toml"), "{}", said.stderr);
        assert!(!said.stderr.contains('\u{1b}'), "{:?}", said.stderr);
    }
    assert!(!cloned.has_run());
    assert!(!cloned.world.path().join(".adjourn").exists(), "nothing is made for what is refused");
}

#[test]
fn what_is_trusted_is_kept_for_the_user_until_the_file_changes_or_is_elsewhere() {
    let cloned = Cloned::new();
    let trusted = cloned.says(&["config", "trust"]);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    assert!(trusted.stderr.contains("engine `claude` starts"), "{}", trusted.stderr);
    let list = cloned.state().join("adjourn/trusted");
    assert_eq!((mode(&list), mode(list.parent().unwrap())), (0o600, 0o700));
    assert_eq!(cloned.says(&["engines"]).code, Some(0));
    assert!(cloned.has_run());

    cloned.world.write("adjourn.toml", &CONFIG.replace("./evil", "./other"));
    assert_eq!(cloned.says(&["engines"]).code, Some(5));
    assert_eq!(cloned.says(&["config", "trust"]).code, Some(0));
    // What it said before is trusted no more.
    cloned.world.write("adjourn.toml", CONFIG);
    assert_eq!(cloned.says(&["engines"]).code, Some(5));
    assert_eq!(cloned.says(&["config", "trust"]).code, Some(0));
    cloned.world.write("copy/adjourn.toml", CONFIG);
    assert_eq!(cloned.says(&["--data", "copy/.adjourn", "engines"]).code, Some(5));
    // A list that others could have written is not believed.
    fs::set_permissions(&list, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(cloned.says(&["engines"]).code, Some(5));
}

#[test]
fn a_file_that_is_named_or_allowed_for_one_command_is_used_and_not_remembered() {
    let cloned = Cloned::new();
    assert_eq!(cloned.says(&["--config", "adjourn.toml", "engines"]).code, Some(0));
    assert_eq!(said(cloned.command(&["engines"]).env("ADJOURN_TRUST_CONFIG", "1")).code, Some(0));
    assert_eq!(said(cloned.command(&["engines"]).env("ADJOURN_TRUST_CONFIG", "yes")).code, Some(2));
    assert_eq!(cloned.says(&["engines"]).code, Some(5));
    assert!(!cloned.state().join("adjourn/trusted").exists());
}

#[test]
fn a_configuration_that_runs_nothing_needs_no_trust() {
    let cloned = Cloned::new();
    cloned.world.write("adjourn.toml", "skills = [\"skills\"]\n[slots]\ntotal = 2\n");
    let said = cloned.says(&["run", "--prompt", "hi", "--engine", "nowhere"]);
    assert!(said.stderr.contains("there is no engine `nowhere`"), "{said:?}");
    let trusted = cloned.says(&["config", "trust"]);
    assert!(trusted.stderr.contains("needs no trust"), "{trusted:?}");
    assert!(!cloned.state().join("adjourn/trusted").exists());
}
