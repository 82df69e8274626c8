//! Codex 0.166: `codex exec --json`.

use adjourn_core::ErrorCode;

use crate::exec::profile::Arg::{Extra, Gateway, Handle, Is as Arg, Model, Permission};
use crate::exec::profile::Test::Is;
use crate::exec::profile::{Access, Grant, Output, Profile, Rule, Take, on};
use crate::sandbox::state_folders;

pub(super) const PROFILE: Profile = Profile {
    name: "Codex",
    program: "codex",
    install: "npm install -g @openai/codex",
    login: "run `codex login`, or let a key through with pass_env = [\"OPENAI_API_KEY\"]",
    version: Some(&["--version"]),
    start: &[
        Arg("exec"),
        Arg("--json"),
        // A workspace need not be a repository.
        Arg("--skip-git-repo-check"),
        Model,
        Gateway,
        Permission,
        Extra,
        // Read the prompt from stdin.
        Arg("-"),
    ],
    resume: &[
        Arg("exec"),
        Arg("--json"),
        Arg("--skip-git-repo-check"),
        Model,
        Gateway,
        Permission,
        Extra,
        // After the options: it does not know all of them.
        Arg("resume"),
        Handle,
        Arg("-"),
    ],
    model: "--model",
    read_only: Grant::args(&["--sandbox", "read-only"]),
    workspace: Grant::args(&["--sandbox", "workspace-write"]),
    full: Grant::args(&["--sandbox", "danger-full-access"]),
    walled: Some(&["--sandbox", "danger-full-access"]),
    state: state_folders::CODEX,
    gateway: Access {
        args: &[
            "-c",
            r#"mcp_servers.adjourn.url="{url}""#,
            "-c",
            r#"mcp_servers.adjourn.bearer_token_env_var="ADJOURN_MCP_TOKEN""#,
            "-c",
            r#"mcp_servers.adjourn.default_tools_approval_mode="approve""#,
            // How long a call may take is for the tool to say; a minute would be its own answer.
            "-c",
            "mcp_servers.adjourn.tool_timeout_sec=86400",
        ],
        env: &[],
        files: &[],
        unless_of_root: None,
    },
    output: Output::Events(RULES),
    statuses: &[],
    failures: &[
        ("no rollout found", ErrorCode::SessionResumeFailed),
        ("401 unauthorized", ErrorCode::EngineAuthRequired),
        ("403 forbidden", ErrorCode::EngineAuthRequired),
        ("codex login", ErrorCode::EngineAuthRequired),
        ("missing environment variable", ErrorCode::EngineAuthRequired),
        ("stream disconnected", ErrorCode::ModelUnavailable),
        ("stream closed", ErrorCode::ModelUnavailable),
        ("error sending request", ErrorCode::ModelUnavailable),
        ("exceeded retry limit", ErrorCode::ModelUnavailable),
        // What it makes of a status 500.
        ("high demand", ErrorCode::ModelUnavailable),
    ],
};

const RULES: &[Rule] = &[
    on(&[Is("/type", "thread.started")], Take::Handle("/thread_id")),
    on(&[Is("/type", "item.completed"), Is("/item/type", "agent_message")], Take::Message("/item/text")),
    on(&[Is("/type", "item.completed"), Is("/item/type", "reasoning")], Take::Reasoning("/item/text")),
    on(
        &[Is("/type", "item.completed"), Is("/item/type", "command_execution")],
        Take::Command("/item/command"),
    ),
    on(&[Is("/type", "item.completed"), Is("/item/type", "mcp_tool_call")], Take::Tool("/item/tool")),
    on(&[Is("/type", "item.completed"), Is("/item/type", "file_change")], Take::Tool("/item/type")),
    on(&[Is("/type", "item.completed"), Is("/item/type", "web_search")], Take::Tool("/item/type")),
    // Deprecations and second tries come as errors, too; only `turn.failed` is the end.
    on(&[Is("/type", "item.completed"), Is("/item/type", "error")], Take::Complaint(&["/item/message"])),
    on(&[Is("/type", "error")], Take::Complaint(&["/message"])),
    on(
        &[Is("/type", "turn.completed")],
        // Of the whole thread. Cached tokens are part of `input_tokens`.
        Take::UsageSoFar { input: &["/usage/input_tokens"], output: &["/usage/output_tokens"] },
    ),
    on(&[Is("/type", "turn.failed")], Take::Failed(&["/error/message"])),
    on(&[Is("/type", "turn.completed")], Take::Ended),
];
