//! Claude Code 2.1: `claude -p --output-format stream-json --verbose`.

use adjourn_core::ErrorCode;

use crate::exec::profile::Arg::{Extra, Gateway, Handle, Is as Arg, Model, Permission};
use crate::exec::profile::Test::{Is, Not, NotTrue, True};
use crate::exec::profile::{Access, Grant, Output, Profile, Rule, Take, Test, on, on_each};
use crate::sandbox::state_folders;

pub(super) const PROFILE: Profile = Profile {
    name: "Claude Code",
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    login: "run `claude` once and log in, or let a key through with pass_env = [\"ANTHROPIC_API_KEY\"]",
    version: Some(&["--version"]),
    start: &[
        Arg("-p"),
        Arg("--output-format"),
        Arg("stream-json"),
        // Without it, stream-json is refused.
        Arg("--verbose"),
        Model,
        Gateway,
        Permission,
        Extra,
    ],
    resume: &[
        Arg("-p"),
        Arg("--output-format"),
        Arg("stream-json"),
        Arg("--verbose"),
        Model,
        Gateway,
        Permission,
        Extra,
        Arg("--resume"),
        Handle,
    ],
    model: "--model",
    // Without a terminal nobody can be asked, so what is not allowed is denied. As root, it refuses to bypass permissions
    // unless IS_SANDBOX=1 says that this is meant.
    read_only: Grant::args(&["--permission-mode", "dontAsk", "--tools", "Read,Glob,Grep"]),
    workspace: Grant::args(&["--permission-mode", "acceptEdits"]),
    full: Grant::args(&["--permission-mode", "bypassPermissions"]),
    walled: None,
    state: state_folders::CLAUDE,
    gateway: Access {
        // Strict: by its name alone, a server that the workspace brings along could not be told from ours.
        args: &[
            "--strict-mcp-config",
            "--mcp-config",
            r#"{"mcpServers":{"adjourn":{"type":"http","url":"{url}","headers":{"Authorization":"Bearer ${ADJOURN_MCP_TOKEN}"}}}}"#,
            "--allowedTools",
            "mcp__adjourn",
        ],
        // Else it may ask its model before the tools are there.
        env: &[("MCP_CONNECTION_NONBLOCKING", "false")],
        files: &[],
        unless_of_root: None,
    },
    output: Output::Events(RULES),
    statuses: &[],
    failures: &[
        // On stderr; the event is an `error_during_execution` without a word.
        ("no conversation found with session id", ErrorCode::SessionResumeFailed),
        ("not logged in", ErrorCode::EngineAuthRequired),
        ("invalid api key", ErrorCode::EngineAuthRequired),
        ("failed to authenticate", ErrorCode::EngineAuthRequired),
        ("/login", ErrorCode::EngineAuthRequired),
        ("unable to connect to api", ErrorCode::ModelUnavailable),
        ("connection to the api was lost", ErrorCode::ModelUnavailable),
        ("failed to parse json", ErrorCode::ModelUnavailable),
        ("overloaded", ErrorCode::ModelUnavailable),
    ],
};

const CONTENT: &str = "/message/content";

/// What the model says, as opposed to what the agent says in its stead about a failure.
const ASSISTANT: &[Test] = &[Is("/type", "assistant"), Not("/message/model", "<synthetic>")];

const RULES: &[Rule] = &[
    on(&[Is("/type", "system"), Is("/subtype", "init")], Take::Handle("/session_id")),
    on_each(ASSISTANT, CONTENT, &[Is("/type", "thinking")], Take::Reasoning("/thinking")),
    on_each(ASSISTANT, CONTENT, &[Is("/type", "text")], Take::Message("/text")),
    on_each(
        ASSISTANT,
        CONTENT,
        &[Is("/type", "tool_use"), Is("/name", "Bash")],
        Take::Command("/input/command"),
    ),
    on_each(ASSISTANT, CONTENT, &[Is("/type", "tool_use"), Not("/name", "Bash")], Take::Tool("/name")),
    on(
        &[Is("/type", "result")],
        Take::Usage {
            input: &[
                "/usage/input_tokens",
                "/usage/cache_creation_input_tokens",
                "/usage/cache_read_input_tokens",
            ],
            output: &["/usage/output_tokens"],
            cost: Some("/total_cost_usd"),
        },
    ),
    on(&[Is("/type", "system"), Is("/subtype", "api_retry")], Take::Complaint(&["/error"])),
    on(&[Is("/type", "result")], Take::HttpStatus("/api_error_status")),
    // Its `subtype` may be `success` all the same.
    on(&[Is("/type", "result"), True("/is_error")], Take::Failed(&["/result", "/errors/0", "/subtype"])),
    on(&[Is("/type", "result"), NotTrue("/is_error")], Take::Ended),
];
