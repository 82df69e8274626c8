//! Claude Code 2.1: `claude -p --output-format stream-json --verbose`.

use adjourn_core::ErrorCode;

use crate::exec::profile::Arg::{Extra, Handle, Is as Arg, Model, Permission};
use crate::exec::profile::Test::{Is, Not, NotTrue, True};
use crate::exec::profile::{Grant, Output, Profile, Rule, Take, on, on_each};

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
        Permission,
        Extra,
    ],
    resume: &[
        Arg("-p"),
        Arg("--output-format"),
        Arg("stream-json"),
        Arg("--verbose"),
        Model,
        Permission,
        Extra,
        Arg("--resume"),
        Handle,
    ],
    model: "--model",
    // Without a terminal nobody can be asked, so what is not allowed is denied.
    read_only: Grant::args(&[
        "--permission-mode",
        "default",
        "--disallowedTools",
        "Bash,Edit,Write,NotebookEdit",
    ]),
    workspace: Grant::args(&["--permission-mode", "acceptEdits"]),
    full: Grant::args(&["--permission-mode", "bypassPermissions"]),
    output: Output::Events(RULES),
    failures: &[
        ("no conversation found with session id", ErrorCode::SessionResumeFailed),
        ("invalid api key", ErrorCode::EngineAuthRequired),
        ("/login", ErrorCode::EngineAuthRequired),
        ("authentication_error", ErrorCode::EngineAuthRequired),
        ("oauth token", ErrorCode::EngineAuthRequired),
        ("unable to connect to api", ErrorCode::ModelUnavailable),
        ("connection error", ErrorCode::ModelUnavailable),
        ("overloaded", ErrorCode::ModelUnavailable),
        ("api error: 5", ErrorCode::ModelUnavailable),
    ],
};

const CONTENT: &str = "/message/content";

const RULES: &[Rule] = &[
    on(&[Is("/type", "system"), Is("/subtype", "init")], Take::Handle("/session_id")),
    on_each(&[Is("/type", "assistant")], CONTENT, &[Is("/type", "thinking")], Take::Reasoning("/thinking")),
    on_each(&[Is("/type", "assistant")], CONTENT, &[Is("/type", "text")], Take::Message("/text")),
    on_each(
        &[Is("/type", "assistant")],
        CONTENT,
        &[Is("/type", "tool_use"), Is("/name", "Bash")],
        Take::Command("/input/command"),
    ),
    on_each(
        &[Is("/type", "assistant")],
        CONTENT,
        &[Is("/type", "tool_use"), Not("/name", "Bash")],
        Take::Tool("/name"),
    ),
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
    on(&[Is("/type", "result"), True("/is_error")], Take::Failed(&["/result", "/errors/0", "/subtype"])),
    on(&[Is("/type", "result"), NotTrue("/is_error")], Take::Ended),
];
