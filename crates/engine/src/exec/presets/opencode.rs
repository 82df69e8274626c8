//! OpenCode 1.18: `opencode run --format json`.

use adjourn_core::ErrorCode;

use crate::exec::profile::Arg::{Extra, Handle, Is as Arg, Model, Permission};
use crate::exec::profile::Test::{Is, Not};
use crate::exec::profile::{Access, Grant, Output, Profile, Rule, Take, on};

const PERMISSION: &str = "OPENCODE_PERMISSION";
use crate::sandbox::state_folders;

pub(super) const PROFILE: Profile = Profile {
    name: "OpenCode",
    program: "opencode",
    install: "npm install -g opencode-ai",
    login: "run `opencode auth login`, or let a key through with pass_env",
    version: Some(&["--version"]),
    start: &[Arg("run"), Arg("--format"), Arg("json"), Model, Permission, Extra],
    resume: &[Arg("run"), Arg("--format"), Arg("json"), Model, Permission, Extra, Arg("--session"), Handle],
    model: "-m",
    // It takes permissions from its configuration only; this variable is laid over it. None may be left to ask: what is
    // asked for is rejected, and the turn ends with status 0 and without a text.
    read_only: Grant::env(&[(
        PERMISSION,
        r#"{"edit":"deny","bash":"deny","task":"deny","webfetch":"deny","external_directory":"deny"}"#,
    )]),
    workspace: Grant::env(&[(PERMISSION, r#"{"edit":"allow","bash":"allow","external_directory":"deny"}"#)]),
    full: Grant::env(&[(PERMISSION, r#"{"*":"allow"}"#)]),
    walled: None,
    state: state_folders::OPENCODE,
    gateway: Access {
        args: &[],
        env: &[(
            "OPENCODE_CONFIG_CONTENT",
            r#"{"mcp":{"adjourn":{"type":"remote","url":"{url}","headers":{"Authorization":"Bearer {env:ADJOURN_MCP_TOKEN}"},"enabled":true,"oauth":false,"timeout":86400000}}}"#,
        )],
        files: &[],
        unless_of_root: None,
    },
    output: Output::Events(RULES),
    statuses: &[],
    failures: &[
        ("session not found", ErrorCode::SessionResumeFailed),
        ("providerautherror", ErrorCode::EngineAuthRequired),
        ("cannot connect to api", ErrorCode::ModelUnavailable),
        ("json parsing failed", ErrorCode::ModelUnavailable),
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
    on(&[Is("/type", "error")], Take::Complaint(&["/error/name"])),
    on(&[Is("/type", "error")], Take::HttpStatus("/error/data/statusCode")),
    on(&[Is("/type", "error")], Take::Failed(&["/error/data/message", "/error/message", "/error/name"])),
    // A step that ends with calls of tools is followed by another.
    on(&[Is("/type", "step_finish"), Not("/part/reason", "tool-calls")], Take::Ended),
];
