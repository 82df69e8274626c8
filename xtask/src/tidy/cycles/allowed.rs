//! Cycles of imports that there still are.

/// Modules that may import each other, because they still do. This list only ever becomes shorter: an entry with a module
/// that is in no cycle any more is an error, too.
pub(super) struct Allowed {
    /// The folder of the modules.
    pub(super) folder: &'static str,
    pub(super) modules: &'static [&'static str],
    /// What keeps them together.
    pub(super) reason: &'static str,
}

#[rustfmt::skip]
pub(super) const ALLOWED: &[Allowed] = &[
    Allowed {
        folder: "crates/core/src",
        modules: &[
            "actor", "code", "completion", "contract", "fcmp", "interaction", "journal", "key", "machine", "machines",
            "mode", "names", "notice", "openapi", "permission", "question", "recovery", "reply", "roundtable", "run",
            "settlement", "stream", "view",
        ],
        reason: "these files import each other through the names that the root of the crate re-exports, in no order yet",
    },
    Allowed {
        folder: "crates/core/src/roundtable",
        modules: &[
            "escalation", "export", "interaction", "next", "proposal", "reconciliation", "round", "spec", "strategy",
            "view",
        ],
        reason: "the parts of a roundtable import each other through the names that `roundtable` re-exports, in no order yet",
    },
    Allowed {
        folder: "crates/store/src/sqlite",
        modules: &["examine", "write"],
        reason: "`Writing` hands the connection to `examine`, whose function is written as a method of it",
    },
    Allowed {
        folder: "crates/engine/src",
        modules: &["exec", "gateway", "log", "sandbox", "supervisor", "tools", "turn"],
        reason: "`turn` has the errors of `log` and `supervisor`; a sandbox has a permission of `exec` and tries itself out with the supervisor",
    },
    Allowed {
        folder: "crates/engine/src",
        modules: &["acp", "fuzzing"],
        reason: "`fuzzing` lists the targets, and the target of `acp` uses its masker",
    },
    Allowed {
        folder: "crates/engine/src/acp",
        modules: &["failure", "live", "session"],
        reason: "`failure` is written as methods of the live conversation, which reports failures",
    },
    Allowed {
        folder: "crates/engine/src/model",
        modules: &["anthropic", "chat", "wire"],
        reason: "`wire` has the trait and the choice between the two formats that implement it",
    },
    Allowed {
        folder: "crates/engine/src/recording",
        modules: &["notes", "recorder"],
        reason: "the toolbox that takes notes writes with the recorder's pen, and the recorder hands it out",
    },
    Allowed {
        folder: "crates/runtime/src",
        modules: &[
            "config", "contracts", "delta_hub", "driver", "folder", "protected", "request", "roundtable", "service",
            "skill", "skill_cache", "turn_inputs", "turn_setup", "workspace",
        ],
        reason: "the rooms of the runtime are not built yet",
    },
    Allowed {
        folder: "crates/runtime/src/contracts",
        modules: &["refused", "turn"],
        reason: "`refused` is written as methods of the turn's inner state",
    },
    Allowed {
        folder: "crates/runtime/src/request",
        modules: &["check", "engine"],
        reason: "`engine` is written as methods of the check",
    },
    Allowed {
        folder: "crates/runtime/src/skill",
        modules: &["manifest", "schemas"],
        reason: "`schemas` reports problems in the manifest's file, and `manifest` checks the names of uses that `schemas` has",
    },
    Allowed {
        folder: "crates/cli/src",
        modules: &["background", "client", "data", "make_room"],
        reason: "whoever opens a data directory may have to start its owner, and that asks whether it answers as a client does",
    },
    Allowed {
        folder: "crates/cli/src",
        modules: &["commands", "prompt", "attach", "without_walls"],
        reason: "a question asked by a process of its own is put by the command of roundtables, and prompts take signals as `stay` does",
    },
    Allowed {
        folder: "crates/cli/src/commands/roundtable",
        modules: &["export", "session"],
        reason: "`export` can keep a session's files current, and a session fetches its document with `export`",
    },
    Allowed {
        folder: "crates/sim/src",
        modules: &["client", "engine", "roundtable", "simulation", "watch"],
        reason: "clients, engines and the watch are written as parts of the simulation that owns them",
    },
    Allowed {
        folder: "crates/sim/src/simulation",
        modules: &["disk_state", "todo"],
        reason: "a full disk is put on the list of what happens next, whose entries name the state of the disk",
    },
    Allowed {
        folder: "crates/powercut/src",
        modules: &["disk", "tape"],
        reason: "a tape is played on a disk, and a disk is changed by what is on the tape",
    },
    Allowed {
        folder: "crates/powercut/src",
        modules: &["observer", "recording", "vfs"],
        reason: "a recording installs its observer and its file system, which report to its watch",
    },
    Allowed {
        folder: "crates/testkit/src/acp",
        modules: &["act", "agent"],
        reason: "`act` is written as methods of the scripted agent",
    },
    Allowed {
        folder: "crates/testkit/src/mcp",
        modules: &["handler", "tools"],
        reason: "the tools use the state that the handler shares",
    },
    Allowed {
        folder: "xtask/src",
        modules: &["docs", "ledger"],
        reason: "the ledger is one of the documents that are written, and is handed what they are written with",
    },
];
