//! OpenCode 1.18: `opencode run --format json`.

use adjourn_core::ErrorCode;

use crate::exec::profile::Arg::{Extra, Handle, Is as Arg, Model, Permission};
use crate::exec::profile::Test::{Is, Not};
use crate::exec::profile::{Grant, Output, Profile, Rule, Take, on};

pub(super) const PROFILE: Profile = Profile {
    name: "OpenCode",
    program: "opencode",
    install: "npm install -g opencode-ai",
    login: "run `opencode auth login`, or let a key through with pass_env",
    version: Some(&["--version"]),
    start: &[Arg("run"), Arg("--format"), Arg("json"), Model, Permission, Extra],
    resume: &[Arg("run"), Arg("--format"), Arg("json"), Model, Permission, Extra, Arg("--session"), Handle],
    model: "-m",
    // It takes permissions from its configuration only; this variable is laid over it. What would ask is rejected.
    read_only: Grant::env(&[("OPENCODE_PERMISSION", r#"{"edit":"deny","bash":"deny"}"#)]),
    workspace: Grant::env(&[(
        "OPENCODE_PERMISSION",
        r#"{"edit":"allow","bash":"allow","external_directory":"deny"}"#,
    )]),
    full: Grant::env(&[(
        "OPENCODE_PERMISSION",
        r#"{"edit":"allow","bash":"allow","webfetch":"allow","external_directory":"allow"}"#,
    )]),
    output: Output::Events(RULES),
    failures: &[
        ("session not found", ErrorCode::SessionResumeFailed),
        ("notfounderror", ErrorCode::SessionResumeFailed),
        ("providerautherror", ErrorCode::EngineAuthRequired),
        ("api key", ErrorCode::EngineAuthRequired),
        ("unauthorized", ErrorCode::EngineAuthRequired),
        ("unable to connect", ErrorCode::ModelUnavailable),
        ("cannot connect to api", ErrorCode::ModelUnavailable),
        ("econnrefused", ErrorCode::ModelUnavailable),
    ],
};

const RULES: &[Rule] = &[
    // On every line, but a handle is shown only once.
    on(&[], Take::Handle("/sessionID")),
    on(&[Is("/type", "text")], Take::Message("/part/text")),
    on(&[Is("/type", "reasoning")], Take::Reasoning("/part/text")),
    on(&[Is("/type", "tool_use"), Is("/part/tool", "bash")], Take::Command("/part/state/input/command")),
    on(&[Is("/type", "tool_use"), Not("/part/tool", "bash")], Take::Tool("/part/tool")),
    on(
        &[Is("/type", "step_finish")],
        Take::Usage {
            input: &["/part/tokens/input", "/part/tokens/cache/read", "/part/tokens/cache/write"],
            output: &["/part/tokens/output", "/part/tokens/reasoning"],
            cost: Some("/part/cost"),
        },
    ),
    on(&[Is("/type", "error")], Take::Failed(&["/error/data/message", "/error/message", "/error/name"])),
    // A step that ends with calls of tools is followed by another.
    on(&[Is("/type", "step_finish"), Not("/part/reason", "tool-calls")], Take::Ended),
];
