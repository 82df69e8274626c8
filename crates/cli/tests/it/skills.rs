//! `adjourn skills check`.

use serde_json::json;

use crate::world::World;

#[test]
fn a_good_skill_has_nothing_wrong() {
    let world = World::new();
    let said = world.says(&["skills", "check", "skills/deploy"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""));
    assert_eq!(said.stderr, "skills/deploy: nothing is wrong\n");
    assert_eq!(world.json(&["skills", "check", "skills/deploy"]), json!([]));
}

#[test]
fn problems_are_told_with_file_and_line() {
    let world = World::new();
    world.write("bad/SKILL.md", "---\nname: bad\n---\nDo it.\n");
    world.write("bad/assets/runner.json", "{\n  \"id\": \"bad\",\n  \"engines\": [\"codx\"]\n}\n");
    let said = world.says(&["skills", "check", "bad"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let expected = "bad/SKILL.md:1: error: `description` is missing in the front matter\n\
                    bad/assets/runner.json:3: warning: unknown engine `codx`; did you mean `codex`?\n";
    assert_eq!(said.stdout, expected);
    assert_eq!(said.stderr, "bad: it cannot be used; errors: 1\n");
}

#[test]
fn there_has_to_be_a_folder() {
    let world = World::new();
    let said = world.says(&["skills", "check", "nowhere"]);
    assert_eq!(said.code, Some(5));
    assert_eq!(said.stderr, "error: there is no folder nowhere: a skill is a folder with a SKILL.md\n");
}
