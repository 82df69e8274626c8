//! A folder with a skill and agents that are shell scripts, and what `adjourn` says in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use rustix::fs::FlockOperation;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// How long a test waits for something that is bound to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it looks meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);

const CONFIG: &str = r#"
skills = ["./skills"]

[engines.asks]
kind = "exec"
preset = "command"
command = ["./asks.sh"]

[engines.fails]
kind = "exec"
preset = "command"
command = ["./fails.sh"]

[engines.blocks]
kind = "exec"
preset = "command"
command = ["./blocks.sh"]

[engines.works]
kind = "exec"
preset = "command"
command = ["./works.sh"]

[engines.missing]
kind = "exec"
preset = "command"
command = ["./no-such-agent"]
"#;

const SKILL: &str = "---\nname: deploy\ndescription: Deploys something.\n---\nDeploy it. Ask where first.\n";

/// Asks where, and deploys there.
const ASKS: &str = r#"#!/bin/sh
prompt=$(cat)
if [ -z "$ADJOURN_HANDLE" ]; then
  echo "I looked at the service."
  echo '{"__SKILL_DONE__": false, "message": "Where should it go?", "ui_hints": {"kind": "choose_one",
    "options": [{"value": "staging", "label": "Staging first"}, {"value": "prod", "label": "Production"}]}}'
else
  case "$prompt" in *staging*) where=staging ;; *) where=prod ;; esac
  echo "deployed to $where" > report.txt
  echo "{\"__SKILL_DONE__\": true, \"where\": \"$where\"}"
fi
"#;

const FAILS: &str = "#!/bin/sh\necho 'no disk left' >&2\nexit 3\n";

/// Says that it started and waits until somebody reads that, and then for ever.
const BLOCKS: &str = "#!/bin/sh\necho $$ > \"$(dirname \"$0\")/started\"\nexec sleep 1000\n";

/// Notes that it started, says so and waits until somebody reads that, and ends when it is told to.
const WORKS: &str = r#"#!/bin/sh
here=$(dirname "$0")
cat > /dev/null
echo "$ADJOURN_RUN_ID" >> "$here/starts"
echo $$ > "$here/started"
go="$here/go-$ADJOURN_RUN_ID"
until [ -e "$go" ]; do sleep 0.05; done
told=$(cat "$go")
echo "{\"__SKILL_DONE__\": true, \"told\": \"$told\"}"
"#;

pub(crate) struct World {
    dir: TempDir,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        world.write("adjourn.toml", CONFIG);
        world.write("skills/deploy/SKILL.md", SKILL);
        let agents = [("asks.sh", ASKS), ("fails.sh", FAILS), ("blocks.sh", BLOCKS), ("works.sh", WORKS)];
        for (name, text) in agents {
            let script = world.write(name, text);
            fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        }
        world
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let file = self.dir.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    /// The command, at work in this folder, with nobody at a terminal and nothing on stdin.
    pub(crate) fn adjourn(&self, arguments: &[&str]) -> Command {
        let mut command = crate::adjourn(arguments);
        command.current_dir(self.path());
        command
    }

    pub(crate) fn says(&self, arguments: &[&str]) -> Said {
        said(&mut self.adjourn(arguments))
    }

    /// What a command prints as JSON, once it did what was asked.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let said = self.says(&[&["--json"], arguments].concat());
        assert_eq!(said.code, Some(0), "{said:?}");
        serde_json::from_str(&said.stdout).unwrap()
    }

    /// The items of a list.
    pub(crate) fn items(&self, arguments: &[&str]) -> Vec<Value> {
        let list = self.json(arguments);

        list["items"].as_array().unwrap().clone()
    }

    /// The command at work beside the test, with an open stdin that says nothing.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
            .args(arguments)
            .current_dir(self.path())
            .env_remove("ADJOURN_DATA")
            .env_remove("ADJOURN_SERVER")
            .env_remove("ADJOURN_TOKEN")
            .env("ADJOURN_TRUST_CONFIG", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The ids of the runs that wait, once there are `count`.
    pub(crate) fn until_waiting(&self, count: usize) -> Vec<String> {
        until("runs wait", || {
            let said = self.says(&["ps", "--status", "waiting_user", "--json"]);
            let list: Value = serde_json::from_str(&said.stdout).ok()?;
            let runs = list["items"].as_array()?.iter().filter_map(|run| run["run_id"].as_str());
            let runs: Vec<_> = runs.map(str::to_owned).collect();
            (runs.len() == count).then_some(runs)
        })
    }

    /// A run that waits, and its id.
    pub(crate) fn waiting_run(&self) -> String {
        let said = self.says(&["run", "deploy", "--engine", "asks", "--json"]);
        assert_eq!(said.code, Some(3), "{said:?}");
        let run: Value = serde_json::from_str(&said.stdout).unwrap();
        run["run_id"].as_str().unwrap().to_owned()
    }

    /// A run that succeeded, and its id.
    pub(crate) fn finished_run(&self) -> String {
        let said = self.says(&["run", "deploy", "--engine", "asks", "--answer", "prod", "--json"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let run: Value = serde_json::from_str(&said.stdout).unwrap();
        run["run_id"].as_str().unwrap().to_owned()
    }

    /// Waits until nobody owns the data directory.
    pub(crate) fn until_alone(&self) {
        let data = self.path().join(".adjourn");
        until("nobody owns the data directory", || {
            let is_free = |name: &str| {
                let locked = fs::File::open(data.join(name)).unwrap();
                rustix::fs::flock(&locked, FlockOperation::NonBlockingLockExclusive).is_ok()
            };
            let is_alone = !data.join("adjourn.sock").exists() && is_free("adjourn.lock") && is_free(".");
            is_alone.then_some(())
        });
    }

    /// Where the agents `blocks` and `works` say that they started. Reading from it waits for that.
    pub(crate) fn started(&self) -> PathBuf {
        let pipe = self.path().join("started");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        pipe
    }

    /// Tells the agent `works` of a run to end.
    pub(crate) fn let_go(&self, run: &str) {
        let told = self.write("told", "finish");
        fs::rename(told, self.path().join(format!("go-{run}"))).unwrap();
    }

    /// How often a run's agent `works` started.
    pub(crate) fn starts(&self, run: &str) -> usize {
        let starts = fs::read_to_string(self.path().join("starts")).unwrap_or_default();
        starts.lines().filter(|line| *line == run).count()
    }
}

impl Drop for World {
    /// Ends the owners that commands left in the background: a test may leave them with agents that never end.
    fn drop(&mut self) {
        let folders = fs::read_dir(self.path()).into_iter().flatten().flatten();
        for lock in folders.filter_map(|folder| fs::read_to_string(folder.path().join("adjourn.lock")).ok()) {
            let pid =
                lock.strip_prefix("process ").and_then(|rest| rest.split_once(" (adjourn background) "));
            let pid = pid.and_then(|(pid, _)| Pid::from_raw(pid.parse().ok()?));
            // Another process may have its number by now.
            let is_ours = |pid: &Pid| {
                let name = fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_nonzero()));
                name.is_ok_and(|name| name.trim_end() == "adjourn")
            };
            if let Some(pid) = pid.filter(is_ours) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// What `look` finds, as soon as it finds something.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

pub(crate) fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Compares with a snapshot, without what is different each time.
macro_rules! assert_settled {
    ($world:expr, $text:expr) => {{
        let mut settings = insta::Settings::clone_current();
        let folder = $world.path().canonicalize().unwrap().display().to_string();
        settings.add_filter(&folder, "DIR");
        settings.add_filter(r"run_[0-9a-hjkmnp-tv-z]{26}", "RUN");
        settings.add_filter(r"rt_[0-9a-hjkmnp-tv-z]{26}", "ROUNDTABLE");
        settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "MOMENT");
        settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "TIME");
        settings.add_filter(r"\d\d:\d\d:\d\d\.\d{3}", "CLOCK");
        settings.add_filter(r"\b\d+s\b", "AGE");
        settings.add_filter(r"\(answered, [^,]+, MOMENT\)", "(answered, USER, MOMENT)");
        settings.add_filter(r"(settled as \w+) by [^:]+:", "$1 by USER:");
        settings.bind(|| insta::assert_snapshot!($text));
    }};
}
pub(crate) use assert_settled;
