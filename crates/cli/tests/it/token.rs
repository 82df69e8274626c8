//! Tokens for the server.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::world::World;

#[test]
fn a_token_is_shown_once_and_its_file_keeps_only_the_hash() {
    let world = World::new();
    let said = world.says(&["token", "ci", "--role", "reply", "--file", "tokens"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let secret = said.stdout.trim_end();
    // 32 bytes are 43 characters of Base64.
    assert!(secret.starts_with("adj_") && secret.len() == 47, "{secret}");
    assert!(
        !said.stderr.contains(secret) && said.stderr.contains("ADJOURN_TOKENS=tokens"),
        "{}",
        said.stderr
    );
    let text = fs::read_to_string(world.path().join("tokens")).unwrap();
    assert!(text.starts_with("ci reply sha256:") && !text.contains(secret), "{text}");
    let mode = fs::metadata(world.path().join("tokens")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let mut second = world.adjourn(&["--json", "token", "ada", "--role", "admin"]);
    second.env("ADJOURN_TOKENS", "tokens").assert().success();
    assert_eq!(fs::read_to_string(world.path().join("tokens")).unwrap().lines().count(), 2);
    assert!(!world.path().join(".adjourn").exists());
}

#[test]
fn what_cannot_be_a_token_is_refused() {
    let world = World::new();
    world.says(&["token", "ci", "--role", "read", "--file", "tokens"]);
    for (arguments, code, expected) in [
        (&["token", "ci", "--role", "admin", "--file", "tokens"][..], 5, "tokens has a token `ci`"),
        (&["token", "c i", "--role", "read", "--file", "tokens"], 5, "`c i` cannot be the name of a token"),
        (&["token", "x", "--role", "root", "--file", "tokens"], 2, "[possible values: read, reply, admin]"),
        (&["token", "x", "--role", "read"], 2, "--file <FILE>"),
        (&["token", "x", "--role", "read", "--file", "no/where"], 5, "the tokens in no/where cannot be used"),
    ] {
        let said = world.says(arguments);
        assert_eq!((said.code, said.stdout.as_str()), (Some(code), ""), "{arguments:?}: {}", said.stderr);
        assert!(said.stderr.contains(expected), "{arguments:?}: {}", said.stderr);
    }
}

#[test]
fn a_server_that_others_can_reach_does_not_start_without_tokens() {
    let world = World::new();
    let said = world.says(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(said.stderr.contains("whoever comes needs a token"), "{}", said.stderr);
    assert!(!world.path().join(".adjourn").exists(), "nothing was made for it");
    world.write("tokens", "ci reply\n");
    let said = world.says(&["serve", "--listen", "0.0.0.0:0", "--tokens", "tokens"]);
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(
        said.stderr.contains("tokens:1: should be `NAME ROLE sha256:HEX`, it has 2 words"),
        "{}",
        said.stderr
    );
}
