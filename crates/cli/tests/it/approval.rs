//! A call that needs a person's yes, where no person is there.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::world::{World, said};

const CONFIG: &str = r#"
skills = ["./skills"]

[engines.sends]
kind = "exec"
preset = "command"
command = ["./sends.sh"]

[tools.post]
command = ["./post.sh"]
irreversible = ["send"]
approve = ["send"]
"#;

/// Calls the tool in its first turn, and goes on working for a while.
const SENDS: &str = r#"#!/bin/sh
cat > /dev/null
if [ -n "$ADJOURN_HANDLE" ]; then
  echo '{"__SKILL_DONE__": true, "sent": true}'
  exit
fi
call='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"post__send","arguments":{"to":"ann"}}}'
curl -s "$ADJOURN_MCP_URL" -H "Authorization: Bearer $ADJOURN_MCP_TOKEN" -H 'Content-Type: application/json' \
  -H 'Accept: application/json, text/event-stream' -d "$call" > told.txt
sleep 1
echo ended > ended.txt
echo 'I wait for the approval.'
"#;

/// A tool server that speaks as much MCP as it is asked.
const POST: &str = r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},
      "serverInfo":{"name":"post","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"send","inputSchema":{"type":"object",
      "properties":{"to":{"type":"string"}}}}]}' ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"sent"}]}' ;;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id"; continue ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}' "$id" "$result" | tr -d '\n'
  echo
done
"#;

#[test]
fn without_a_terminal_the_turn_ends_by_itself_and_the_command_that_approves_is_shown() {
    let world = World::new();
    world.write("adjourn.toml", CONFIG);
    world.write("skills/deploy/assets/runner.json", r#"{"id": "deploy", "tools": ["post"]}"#);
    for (name, text) in [("sends.sh", SENDS), ("post.sh", POST)] {
        fs::set_permissions(world.write(name, text), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let run = ["--data", "elsewhere", "run", "deploy", "--engine", "sends", "--json"];
    let left = said(&mut world.adjourn(&run));
    assert_eq!(left.code, Some(3), "{left:?}");
    let run: Value = serde_json::from_str(&left.stdout).unwrap();
    assert_eq!((&run["status"], &run["restarts"]), (&"waiting_user".into(), &0.into()), "{left:?}");
    let id = run["run_id"].as_str().unwrap();
    let approve = format!("adjourn --data elsewhere reply {id} --action approve");
    assert!(left.stderr.contains(&approve), "{}", left.stderr);
    let work = world.path().join("elsewhere/runs").join(id).join("work");
    assert!(fs::read_to_string(work.join("told.txt")).unwrap().contains("End your turn now"));
    assert!(work.join("ended.txt").exists(), "nobody cut it off");

    let said = world.says(&["--data", "elsewhere", "reply", id, "--action", "approve"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "{\n  \"sent\": true\n}\n"), "{said:?}");
}
