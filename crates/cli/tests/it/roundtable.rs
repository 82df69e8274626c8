//! `adjourn roundtable`, with an agent that is a shell script.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::world::{Said, World, assert_settled, said, until};

/// One slot, so that answers come in the order in which people sit.
const CONFIG: &str = "
[slots]
total = 1

[engines.table]
kind = \"exec\"
preset = \"command\"
command = [\"./table.sh\"]

[engines.other]
kind = \"exec\"
preset = \"command\"
command = [\"./table.sh\"]
";

const WORKFLOW: &str = "name: shop
limits: {min_rounds: 1, max_rounds: 4, max_rounds_per_conflict: 1}
participants: [product, qa]
agenda:
  - topic_id: payment
    title: How people pay
    critical: true
    done_when: {criteria: [{id: how, text: It is said what is taken}]}
";

/// Plays every role: in the first two rounds the table cannot agree, in the third it writes down what was decided.
const AGENT: &str = r#"#!/bin/sh
prompt=$(cat)
case "$prompt" in
*'# Your task: open round'*)
  echo '{"focus": {"kind": "topic", "id": "payment"}, "question": "How do people pay?"}' ;;
*'# Your task: close round 1'*)
  cat <<'END'
{"summary": "They cannot agree.", "proposals": [
  {"action": "open_conflict", "title": "Cash or card", "positions": [
    {"held_by": ["product"], "position": "Cash too.", "rationale": "People have it."},
    {"held_by": ["qa"], "position": "Card only."}]},
  {"action": "open_question", "text": "Who counts the till?", "asked_by": "qa"},
  {"action": "withdraw_artifact", "artifact": "REQ-009", "reason": "There is none."}]}
END
  ;;
*'# Your task: close round 2'*)
  echo '{"summary": "They still cannot agree.", "recommendation": "Take cards only.", "next": "continue"}' ;;
*'# Your task: close round'*)
  cat <<'END'
{"summary": "It is decided.", "proposals": [{"action": "create_artifact", "kind": "requirement",
  "title": "Cards are taken", "body": "Nothing else is.", "agreement": "consensus", "covers": ["how"],
  "proposed_by": "qa", "supported_by": ["product"]}]}
END
  ;;
*'as `qa`'*) echo '{"position": "Card only.", "rationale": "A till has to be counted.", "confidence": 0.75}' ;;
*) echo '{"position": "Cash too.", "confidence": 0.5}' ;;
esac
"#;

pub(crate) fn world() -> World {
    let world = World::new();
    world.write("adjourn.toml", CONFIG);
    world.write("shop.yaml", WORKFLOW);
    let script = world.write("table.sh", AGENT);
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    world
}

/// What starts a roundtable here.
pub(crate) const START: [&str; 7] =
    ["roundtable", "start", "a shop for bicycles", "--workflow", "shop.yaml", "--engine", "table"];

fn starts(world: &World, more: &[&str]) -> Said {
    world.says(&[&START[..], more].concat())
}

/// A roundtable that waits, and its id.
fn waiting(world: &World, more: &[&str]) -> String {
    let said = starts(world, &[&["--json"], more].concat());
    assert_eq!(said.code, Some(3), "{said:?}");
    let table: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(table["pending"].is_object(), "{table}");
    table["roundtable_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_roundtable_is_watched_answered_and_comes_to_a_document() {
    let world = world();
    let said = said(world.adjourn(&START).write_stdin("\nCards, for now.\n"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_settled!(world, said.stderr);
    assert!(said.stdout.starts_with("# Requirements: a shop for bicycles\n"), "{}", said.stdout);
    assert!(said.stdout.contains("### REQ-001 Cards are taken"), "{}", said.stdout);
    let id = world.items(&["roundtable", "list"])[0]["roundtable_id"].as_str().unwrap().to_owned();
    let exported = world.says(&["roundtable", "export", &id]);
    assert_eq!((exported.code, exported.stdout), (Some(0), said.stdout));
}

#[test]
fn one_that_is_left_waiting_says_how_it_is_answered_and_goes_on_when_it_is() {
    let world = world();
    let left = starts(&world, &[]);
    assert_eq!((left.code, left.stdout.as_str()), (Some(3), ""), "{left:?}");
    let id = world.items(&["roundtable", "list"])[0]["roundtable_id"].as_str().unwrap().to_owned();
    let command = format!("adjourn roundtable reply {id} accept");
    assert!(left.stderr.ends_with(&format!("answer it with: {command}\n")), "{}", left.stderr);

    assert_settled!(world, world.says(&["inbox"]).stdout);
    let asked = &world.items(&["inbox"])[0];
    assert_eq!((&asked["roundtable_id"], &asked["source"]), (&json!(id), &json!("escalation")));
    assert_settled!(world, world.says(&["roundtable", "show", &id]).stdout);
    assert_eq!(world.items(&["ps", "--limit", "1"])[0]["status"], "succeeded", "its runs are runs");

    let end = &id[id.len() - 6..];
    let replied = world.says(&["roundtable", "reply", end, "accept", "--json"]);
    assert_eq!(replied.code, Some(0), "{replied:?}");
    let table: Value = serde_json::from_str(&replied.stdout).unwrap();
    assert_eq!(table["close_reason"], "concluded");
    assert_eq!(table["conflicts"][0]["resolution"]["text"], "Take cards only.");
    let export = world.json(&["roundtable", "export", &id]);
    assert_eq!(export["roundtable"], table);
    assert_settled!(world, world.says(&["roundtable", "list"]).stdout);
}

#[test]
fn one_that_was_left_is_followed_again_asks_again_and_comes_to_its_document() {
    let world = world();
    let id = waiting(&world, &[]);
    let unanswered = world.says(&["roundtable", "attach", &id]);
    assert_eq!(unanswered.code, Some(3), "{unanswered:?}");
    assert!(unanswered.stderr.contains("Take cards only."), "the question: {}", unanswered.stderr);
    let answered =
        said(world.adjourn(&["roundtable", "attach", &id[id.len() - 6..]]).write_stdin("accept\n"));
    assert_eq!(answered.code, Some(0), "{answered:?}");
    assert!(answered.stdout.contains("### REQ-001 Cards are taken"), "{}", answered.stdout);
    let closed = world.says(&["roundtable", "attach", &id]);
    assert_eq!((closed.code, &closed.stdout), (Some(0), &answered.stdout), "{closed:?}");
    let unknown = world.says(&["roundtable", "attach", "nothing-like-it"]);
    assert_eq!(unknown.code, Some(5), "{unknown:?}");
}

#[test]
fn a_document_is_written_into_a_file() {
    let world = world();
    let id = waiting(&world, &[]);
    let said = world.says(&["roundtable", "export", &id, "--format", "md", "-o", "shop.md"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{said:?}");
    assert_eq!(said.stderr, "written to shop.md\n");
    let text = fs::read_to_string(world.path().join("shop.md")).unwrap();
    assert!(text.contains("CONF-001 Cash or card"), "what is open is in it: {text}");
    let nowhere = world.says(&["roundtable", "export", &id, "-o", "nowhere/shop.md"]);
    assert_eq!(nowhere.code, Some(5));
    assert!(nowhere.stderr.starts_with("error: nowhere/shop.md cannot be written: "), "{nowhere:?}");
}

#[test]
fn a_person_pauses_it_has_a_say_and_breaks_it_off() {
    let world = world();
    let id = waiting(&world, &["--interactive"]);
    let wish = world.says(&["roundtable", "escalate", &id, "payment is mine", "--json"]);
    assert_eq!(wish.code, Some(3), "{wish:?}");
    let table: Value = serde_json::from_str(&wish.stdout).unwrap();
    assert_eq!(table["pending"]["source"], "escalation");
    assert!(wish.stderr.contains("A person asked to have a say: payment is mine"), "{}", wish.stderr);

    let closed = world.says(&["roundtable", "close", &id, "--json"]);
    assert_eq!(closed.code, Some(0), "{closed:?}");
    let again = world.says(&["roundtable", "close", &id, "--json"]);
    assert_eq!((again.code, again.stdout), (Some(0), closed.stdout));
    let late = world.says(&["roundtable", "reply", &id, "--interaction", "2", "discuss"]);
    assert_eq!(late.code, Some(5), "{late:?}");
    assert!(late.stderr.contains("question 2 is withdrawn"), "{}", late.stderr);
    let late = world.says(&["roundtable", "escalate", &id]);
    assert!(late.stderr.contains("the roundtable is closed (user_closed)"), "{late:?}");
}

#[test]
fn one_that_a_person_closes_while_watching_it_is_canceled() {
    let world = world();
    let said = said(world.adjourn(&[&START[..], &["--interactive"]].concat()).write_stdin("close\n"));
    assert_eq!((said.code, said.stdout.as_str()), (Some(4), ""), "{said:?}");
    assert!(said.stderr.contains("closed: user_closed"), "{}", said.stderr);
    assert!(said.stderr.contains("still open: CONF-001 Cash or card"), "{}", said.stderr);
}

#[test]
fn an_answer_that_does_not_fit_is_refused_and_the_next_line_counts() {
    let world = world();
    let lines = "{\"decision\": \"own_decision\"}\n{\"decision\": \"accept\"}\n";
    let said = said(world.adjourn(&START).write_stdin(lines));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stderr.contains("this is no answer: /text: is missing"), "{}", said.stderr);
}

#[test]
fn one_that_fails_says_why() {
    let world = world();
    world.write("table.sh", "#!/bin/sh\necho 'no model here' >&2\nexit 1\n");
    let said = starts(&world, &[]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said:?}");
    assert!(said.stderr.contains("closed: error"), "{}", said.stderr);
    assert!(said.stderr.contains("facilitator"), "{}", said.stderr);
}

#[test]
fn one_that_is_detached_goes_on_in_the_background() {
    let world = world();
    let said = starts(&world, &["--detach"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    let id = said.stdout.trim();
    assert!(said.stderr.contains(&format!("to see how: adjourn roundtable show {id}")), "{}", said.stderr);
    until("it waits", || {
        let table = world.json(&["roundtable", "show", id]);
        table["pending"].is_object().then_some(())
    });
    let replied = world.says(&["roundtable", "reply", id, "accept"]);
    assert_eq!(replied.code, Some(0), "{replied:?}");
}

#[test]
fn the_recorded_one_is_played_without_an_agent() {
    let world = World::new();
    let said = world.says(&["roundtable", "start", "a booking page", "--engine", "replay"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stderr.starts_with("note: a recorded roundtable is played"), "{}", said.stderr);
    assert!(said.stdout.contains("## Requirements"), "{}", said.stdout);
}

#[test]
fn without_an_agent_a_roundtable_is_refused_and_no_recording_stands_in() {
    let world = World::new();
    world.write("adjourn.toml", "");
    let said = said(world.adjourn(&["roundtable", "start", "a booking page"]).env("PATH", "/usr/bin:/bin"));
    assert_eq!((said.code, said.stdout.as_str()), (Some(5), ""), "{said:?}");
    assert!(said.stderr.contains("--engine: no engine is installed here"), "{}", said.stderr);
    assert!(said.stderr.contains("`engine: replay`"), "{}", said.stderr);
    assert!(!world.path().join(".adjourn").exists(), "nothing was opened");
}

#[test]
fn rounds_engines_of_roles_and_the_memory_of_the_facilitator_are_chosen_at_the_start() {
    let world = world();
    let more = ["--engine", "qa=other", "--engine", "facilitator=other", "--facilitator-memory", "fresh"];
    let rounds = ["--min-rounds", "1", "--max-rounds", "1"];
    let said = starts(&world, &[&more[..], &rounds[..], &["--json"]].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    let table: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(table["close_reason"], "max_rounds");
    assert_eq!(
        (&table["facilitator"]["engine"], &table["facilitator"]["memory"]),
        (&json!("other"), &json!("fresh"))
    );
    let engines: Vec<_> = table["participants"].as_array().unwrap().iter().map(|it| &it["engine"]).collect();
    assert_eq!(engines, ["table", "other"]);
}

/// A roundtable that waits after each round, and whose topic one requirement does not close.
fn open_ended(world: &World) -> String {
    world.write("shop.yaml", &WORKFLOW.replace("criteria:", "min_artifacts: 3, criteria:"));
    waiting(world, &["--interactive"])
}

/// A roundtable with one requirement that waits after its third round, and its id.
fn after_three_rounds(world: &World) -> String {
    let id = open_ended(world);
    for word in ["continue", "accept"] {
        let said = world.says(&["roundtable", "reply", &id, word]);
        assert_eq!(said.code, Some(3), "{said:?}");
    }
    id
}

#[test]
fn a_person_changes_what_was_written_down_and_is_told_what_the_artifact_takes() {
    let world = world();
    let id = after_three_rounds(&world);
    let artifact = |action: &str, more: &[&str]| {
        world.says(&[&["roundtable", "artifact", action, &id, "REQ-001"], more].concat())
    };
    let reason = ["--reason", "the owner wants both"];
    let amended =
        artifact("amend", &[&["--body", "Cards and cash.", "--covers", "how"], &reason[..]].concat());
    assert_eq!(amended.code, Some(0), "{amended:?}");
    assert!(amended.stderr.contains("REQ-001  amended  Cards are taken"), "{}", amended.stderr);
    let reverted = artifact("revert", &[&["--json"], &reason[..]].concat());
    let view: Value = serde_json::from_str(&reverted.stdout).unwrap();
    assert_eq!((&view["status"], &view["body"]), (&json!("active"), &json!("Nothing else is.")));
    assert_eq!(artifact("withdraw", &reason).code, Some(0));
    let late = artifact("amend", &[&["--body", "x"], &reason[..]].concat());
    assert_eq!(late.code, Some(5), "{late:?}");
    assert!(late.stderr.contains("withdrawn"), "{}", late.stderr);
    assert_eq!(artifact("withdraw", &[]).code, Some(2), "a reason is needed");
    let shown = world.says(&["roundtable", "show", &id]).stdout;
    for part in [
        "proposal 3 refused: there is no artifact `REQ-009`",
        "Came before a person\n  after round 2: The conflict CONF-001",
        "after round 2: accept: Take cards only.",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    let document = world.says(&["roundtable", "export", &id]).stdout;
    assert!(document.contains("withdrawn by a person"), "{document}");
}

#[test]
fn the_session_file_is_kept_current_until_the_roundtable_closes() {
    let world = world();
    let id = open_ended(&world);
    let mut follower = world.spawn(&["roundtable", "export", &id, "--follow", "notes/session"]);
    let folder = world.path().join("notes/session");
    let session = |what: &str, is_so: &dyn Fn(&Value) -> bool| {
        until(what, || {
            let text = fs::read_to_string(folder.join("session.json")).ok()?;
            // However often it is written meanwhile, it is never half there.
            let session: Value = serde_json::from_str(&text).unwrap();
            is_so(&session["roundtable"]).then_some(session)
        })
    };
    session("the first round is there", &|table| table["rounds"].as_array().unwrap().len() == 1);
    // Each of these is an owner that comes and goes.
    for (word, rounds) in [("continue", 2), ("accept", 3)] {
        assert_eq!(world.says(&["roundtable", "reply", &id, word]).code, Some(3));
        session("the round is there", &|table| table["rounds"].as_array().unwrap().len() == rounds);
    }
    let reason = ["--reason", "not now"];
    world.says(&[&["roundtable", "artifact", "withdraw", &id, "REQ-001"], &reason[..]].concat());
    session("the change is there", &|table| table["artifacts"][0]["status"] == "withdrawn");
    assert_eq!(world.says(&["roundtable", "close", &id]).code, Some(0));
    assert_eq!(follower.wait().unwrap().code(), Some(0), "it ends with the roundtable");
    let last = session("the end is there", &|table| table["status"] == "closed");
    assert_eq!(last["roundtable"]["close_reason"], "user_closed");
    let document = fs::read_to_string(folder.join("session.md")).unwrap();
    assert_eq!(document, world.says(&["roundtable", "export", &id]).stdout);
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["session.json", "session.md"], "nothing else is left");
}

#[test]
fn whoever_ends_the_follower_leaves_whole_files_and_the_roundtable_alone() {
    let world = world();
    let id = waiting(&world, &[]);
    let mut follower = world.spawn(&["roundtable", "export", &id, "--follow", "notes"]);
    let file = world.path().join("notes/session.md");
    until("the document is there", || file.exists().then_some(()));
    let pid = rustix::process::Pid::from_raw(follower.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(follower.wait().unwrap().code(), Some(3));
    assert_eq!(fs::read_to_string(file).unwrap(), world.says(&["roundtable", "export", &id]).stdout);
    assert!(world.json(&["roundtable", "show", &id])["pending"].is_object(), "it still waits");
}

#[test]
fn what_is_typed_wrongly_is_told_with_the_nearest_right_name_and_nothing_is_made() {
    let world = world();
    world.write("empty.yaml", "name: x\nparticipants: [qa]\nlimits: {min_rounds: 9, max_rounds: 2}\n");
    world.write("bad.yaml", "name: x\nagend: []\n");
    for (more, code, expected) in [
        (
            &["x", "--workflow", "spec"][..],
            5,
            "--workflow: there is no workflow `spec`; did you mean `specs`?",
        ),
        (
            &["x", "--strategy", "debat"],
            5,
            "--strategy: there is no strategy `debat`; did you mean `debate`?",
        ),
        (
            &["x", "--participants", "archtect,qa"],
            5,
            "--participants: there is no role `archtect`; did you mean",
        ),
        (&["x", "--engine", "tabel"], 5, "--engine: there is no engine `tabel`; did you mean `table`?"),
        (
            &["x", "--engine", "qaa=table"],
            5,
            "--engine qaa=…: nobody at this table plays `qaa`; did you mean `qa`?",
        ),
        (
            &["x", "--engine", "qa=tabel"],
            5,
            "--engine qa=…: there is no engine `tabel`; did you mean `table`?",
        ),
        (&["x", "--engine", "qa=a", "--engine", "qa=b"], 2, "--engine: `qa` has two engines"),
        (
            &["x", "--engine", "table", "--min-rounds", "4", "--max-rounds", "3"],
            5,
            "--min-rounds is 4, more than max_rounds, which is 3",
        ),
        (&["x", "--facilitator-memory", "short"], 2, "`short` is not one of resume, fresh"),
        (
            &["x", "--workflow", "empty.yaml"],
            5,
            "--workflow: agenda has no topic, a roundtable needs at least one",
        ),
        (&["x", "--workflow", "empty.yaml"], 5, "limits/min_rounds is 9, more than max_rounds, which is 2"),
        (&["x", "--workflow", "bad.yaml"], 5, "bad.yaml:2:1: agend: unknown key; did you mean `agenda`?"),
        (&["x", "--workflow", "nope.yaml"], 2, "--workflow: nope.yaml cannot be read: No such file"),
        (&["x", "--context", "nope.md"], 2, "--context: nope.md cannot be read: No such file"),
        (&[" "], 5, "SUBJECT is blank"),
        (&[], 2, "<SUBJECT>"),
    ] {
        let said = world.says(&[&["roundtable", "start"], more].concat());
        assert_eq!((said.code, said.stdout.as_str()), (Some(code), ""), "{more:?}: {said:?}");
        assert!(said.stderr.contains(expected), "{more:?}: {}", said.stderr);
    }
    for command in ["show", "reply", "escalate", "close", "export", "list"] {
        let id: &[&str] = if command == "list" { &[] } else { &["abcdef"] };
        let text: &[&str] = if command == "reply" { &["x"] } else { &[] };
        let said = world.says(&[&["roundtable", command], id, text].concat());
        assert_eq!(said.code, Some(5), "{command}: {said:?}");
        assert!(said.stderr.contains("there is no data directory .adjourn"), "{command}: {}", said.stderr);
    }
    assert!(!world.path().join(".adjourn").exists(), "nothing was opened");
}

#[test]
fn one_that_is_not_there_is_not_found() {
    let world = world();
    let id = waiting(&world, &[]);
    for (given, expected) in [
        ("zzzz", "there is no roundtable `zzzz`: `adjourn roundtable list` lists those there are"),
        ("rt_00000000000000000000000000", "there is no roundtable rt_00000000000000000000000000"),
        ("abc", "`abc` is too short for a roundtable"),
    ] {
        for command in ["show", "escalate", "close", "export"] {
            let said = world.says(&["roundtable", command, given]);
            assert_eq!(said.code, Some(5), "{command} {given}: {said:?}");
            assert!(said.stderr.contains(expected), "{command} {given}: {}", said.stderr);
        }
    }
    let empty = world.says(&["roundtable", "reply", &id]);
    assert_eq!(empty.code, Some(2), "{empty:?}");
    assert!(empty.stderr.contains("there is no answer") && empty.stderr.contains("- accept: Accept the"));
    let behind = world.says(&["roundtable", "list", "--data", "nowhere"]);
    assert!(behind.stderr.contains("there is no data directory nowhere"), "{behind:?}");
}
