//! Gemini CLI 0.61: `gemini -o stream-json`.

use adjourn_core::ErrorCode;

use crate::exec::profile::Arg::{Extra, Gateway, Handle, Is as Arg, Model, Permission};
use crate::exec::profile::Test::{Is, Not};
use crate::exec::profile::{Access, Grant, Output, Profile, Rule, Take, on};
use crate::sandbox::state_folders;

pub(super) const PROFILE: Profile = Profile {
    name: "Gemini CLI",
    program: "gemini",
    install: "npm install -g @google/gemini-cli",
    login: "run `gemini` once and log in, or let a key through with pass_env = [\"GEMINI_API_KEY\"]",
    version: Some(&["--version"]),
    // Without `--skip-trust` it refuses to work in a folder that nobody has trusted at a terminal.
    start: &[
        Arg("--skip-trust"),
        Arg("--output-format"),
        Arg("stream-json"),
        Model,
        Gateway,
        Permission,
        Extra,
    ],
    resume: &[
        Arg("--skip-trust"),
        Arg("--output-format"),
        Arg("stream-json"),
        Model,
        Gateway,
        Permission,
        Extra,
        Arg("--resume"),
        Handle,
    ],
    model: "-m",
    // Without a terminal nobody can be asked, and tools that would ask are left out.
    read_only: Grant::args(&["--approval-mode", "plan"]),
    workspace: Grant::args(&["--approval-mode", "auto_edit"]),
    full: Grant::args(&["--approval-mode", "yolo"]),
    walled: None,
    state: state_folders::GEMINI,
    gateway: Access {
        // What `plan` does not allow has to be allowed by a policy.
        args: &["--policy", "{file:policy.toml}"],
        // The lowest layer of its settings, so that nothing which the user or an administrator has set is lost.
        env: &[("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "{file:settings.json}")],
        files: &[("settings.json", SETTINGS), ("policy.toml", POLICY)],
        unless_of_root: Some(
            "use it over ACP: kind = \"acp\", command = [\"gemini\", \"--acp\", \"--skip-trust\"], profile = \"sticky_process\"",
        ),
    },
    output: Output::Events(RULES),
    statuses: &[
        // No login; and what it got from the model's server, modulo 256: 401, 403, 429, 500, 503.
        (41, ErrorCode::EngineAuthRequired),
        (145, ErrorCode::EngineAuthRequired),
        (147, ErrorCode::EngineAuthRequired),
        (173, ErrorCode::ModelUnavailable),
        (244, ErrorCode::ModelUnavailable),
        (247, ErrorCode::ModelUnavailable),
    ],
    failures: &[
        ("error resuming session", ErrorCode::SessionResumeFailed),
        ("auth method", ErrorCode::EngineAuthRequired),
        ("api key not valid", ErrorCode::EngineAuthRequired),
        (r#""code":401"#, ErrorCode::EngineAuthRequired),
        (r#""code":403"#, ErrorCode::EngineAuthRequired),
        (r#""code":429"#, ErrorCode::ModelUnavailable),
        (r#""code":5"#, ErrorCode::ModelUnavailable),
        ("fetch failed", ErrorCode::ModelUnavailable),
        // What it says of a stream that was cut off.
        ("terminated", ErrorCode::ModelUnavailable),
    ],
};

/// How long a call may take is for the tool to say, so here it is a day.
const SETTINGS: &str = r#"{"mcpServers":{"adjourn":{
    "httpUrl": "{url}",
    "headers": {"Authorization": "Bearer ${ADJOURN_MCP_TOKEN}"},
    "timeout": 86400000,
    "trust": true
}}}"#;

const POLICY: &str = r#"[[rule]]
toolName = "*"
mcpName = "adjourn"
decision = "allow"
priority = 900
"#;

const SHELL: &str = "run_shell_command";

const RULES: &[Rule] = &[
    on(&[Is("/type", "init")], Take::Handle("/session_id")),
    // The prompt is echoed, with the role of the user.
    on(&[Is("/type", "message"), Is("/role", "assistant")], Take::Delta("/content")),
    on(&[Is("/type", "tool_use"), Is("/tool_name", SHELL)], Take::Command("/parameters/command")),
    on(&[Is("/type", "tool_use"), Not("/tool_name", SHELL)], Take::Tool("/tool_name")),
    on(&[Is("/type", "error")], Take::Complaint(&["/message"])),
    on(
        &[Is("/type", "result")],
        Take::Usage { input: &["/stats/input_tokens"], output: &["/stats/output_tokens"], cost: None },
    ),
    on(&[Is("/type", "result"), Is("/status", "error")], Take::Failed(&["/error/message", "/error/type"])),
    on(&[Is("/type", "result"), Not("/status", "error")], Take::Ended),
];
