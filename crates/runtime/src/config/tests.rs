use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use adjourn_api::read::Place;
use adjourn_core::{KeyScope, NoticeKind, Profile};
use proptest::prelude::{prop_assert, proptest};

use super::SandboxConfig;
use super::{
    Api, Config, ConfigError, EngineConfig, EngineKind, How, Model, Pace, Pattern, Permission, Preset,
    ServerConfig, Slots, ToolConfig, ToolServer, Webhooks, WriteRate,
};
use adjourn_engine::model::Prices;
use adjourn_engine::secrets::Secret;
use adjourn_engine::{PermissionAnswer, PermissionRule, Serves, ToolKind};

fn parse(text: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::parse(Path::new("/etc/adjourn.toml"), text, &variables.collect())
}

/// What is wrong with `text`, without the name of the file.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let problems = match parse(text, &[]) {
        Ok(config) => config.warnings,
        Err(ConfigError::Invalid(problems)) => problems,
        Err(other) => panic!("{other}"),
    };
    let problems: Vec<_> =
        problems.iter().map(|it| it.to_string().replace("/etc/adjourn.toml:", "")).collect();
    assert_eq!(problems, expected, "for\n{text}");
}

const WHOLE: &str = r#"
skills = ["./skills", "/opt/skills"]
roles = ["./roles"]

[slots]
total = 8
queue_max = 0
engine = { claude = 2, gemini = 1 }

[engines.claude]
kind = "acp"
command = ["claude-agent-acp"]
model = "large"
serves = ["fs"]
permissions = [{ kind = "edit", path = "src/*", answer = "allow" }, { answer = "ask" }]
profile = "sticky_process"
permission = "read_only"
env = { IS_SANDBOX = "1", MY_TOKEN = "s3cret-value" }
pass_env = ["ANTHROPIC_API_KEY", "LANG"]

[engines.codex]
kind = "exec"
preset = "codex"

[engines.mine]
kind = "exec"
preset = "command"
command = ["./my-agent", "-v"]

[engines.local]
kind = "reasoning"
api = "openai"
base_url = "http://127.0.0.1:11434/v1"
model = "qwen3"
api_key_env = "LOCAL_KEY"

[engines.cloud]
kind = "reasoning"
api = "anthropic"
model = "m"
output_tokens_max = 32000
prices = { input_usd_per_million = 3, output_usd_per_million = 12.5 }

[engines.tape]
kind = "replay"
recording = "tapes/one.jsonl"
pace = "original"

[tools.mail]
command = ["mcp-mail"]
irreversible = ["send_*"]
approve = ["send_*"]
scope = "skill"
timeout_sec = 5

[tools.web]
url = "https://example.org/mcp"

[server]
disk_reserve_mb = 512
writes_per_second = 20
burst = 30

[webhooks]
url = "http://127.0.0.1:9000/hook"
events = ["waiting_user", "terminal"]
secret_env = "HOOK_SECRET"
"#;

fn engine(how: How) -> EngineConfig {
    EngineConfig {
        how,
        profile: None,
        permission: Permission::Workspace,
        env: BTreeMap::new(),
        pass_env: Vec::new(),
        sandbox: SandboxConfig::default(),
    }
}

fn strings<const N: usize>(strings: [&str; N]) -> Vec<String> {
    strings.map(str::to_owned).to_vec()
}

#[test]
fn the_whole_file_is_read() {
    let model = |api, base_url: &str, model: &str| Model {
        api,
        base_url: base_url.into(),
        model: model.into(),
        api_key_env: None,
        output_tokens_max: None,
        prices: None,
    };
    let expected = Config {
        file: Some("/etc/adjourn.toml".into()),
        skills: vec!["/etc/./skills".into(), "/opt/skills".into()],
        roles: vec!["/etc/./roles".into()],
        slots: Slots { total: 8, queue_max: 0, engine: [("claude".into(), 2), ("gemini".into(), 1)].into() },
        engines: BTreeMap::from([
            (
                "claude".to_owned(),
                EngineConfig {
                    profile: Some(Profile::StickyProcess),
                    permission: Permission::ReadOnly,
                    env: [("IS_SANDBOX", "1"), ("MY_TOKEN", "s3cret-value")]
                        .map(|(name, value)| (name.to_owned(), Secret::new(value)))
                        .into(),
                    pass_env: strings(["ANTHROPIC_API_KEY", "LANG"]),
                    ..engine(How::Acp {
                        command: strings(["claude-agent-acp"]),
                        permissions: vec![
                            PermissionRule {
                                kind: Some(ToolKind::Edit),
                                path: Some(Pattern::new("src/*")),
                                answer: PermissionAnswer::Allow,
                            },
                            PermissionRule { kind: None, path: None, answer: PermissionAnswer::Ask },
                        ],
                        serves: vec![Serves::Files],
                        model: Some("large".to_owned()),
                    })
                },
            ),
            ("codex".to_owned(), engine(How::Exec { preset: Preset::Codex, command: strings(["codex"]) })),
            (
                "mine".to_owned(),
                engine(How::Exec { preset: Preset::Command, command: strings(["/etc/./my-agent", "-v"]) }),
            ),
            (
                "local".to_owned(),
                engine(How::Reasoning(Model {
                    api_key_env: Some("LOCAL_KEY".to_owned()),
                    ..model(Api::Openai, "http://127.0.0.1:11434/v1", "qwen3")
                })),
            ),
            (
                "cloud".to_owned(),
                engine(How::Reasoning(Model {
                    output_tokens_max: Some(32_000),
                    prices: Some(Prices { input_usd_per_million: 3.0, output_usd_per_million: 12.5 }),
                    ..model(Api::Anthropic, "https://api.anthropic.com", "m")
                })),
            ),
            (
                "tape".to_owned(),
                engine(How::Replay { recording: Some("/etc/tapes/one.jsonl".into()), pace: Pace::Original }),
            ),
        ]),
        tools: BTreeMap::from([
            (
                "mail".to_owned(),
                ToolConfig {
                    server: ToolServer::Command {
                        command: strings(["mcp-mail"]),
                        env: BTreeMap::new(),
                        pass_env: Vec::new(),
                        sandbox: SandboxConfig::default(),
                    },
                    irreversible: Some(vec![Pattern::new("send_*")]),
                    approve: vec![Pattern::new("send_*")],
                    scope: KeyScope::Skill,
                    timeout_sec: 5,
                },
            ),
            (
                "web".to_owned(),
                ToolConfig {
                    server: ToolServer::Url("https://example.org/mcp".to_owned()),
                    irreversible: None,
                    approve: Vec::new(),
                    scope: KeyScope::Run,
                    timeout_sec: 60,
                },
            ),
        ]),
        server: ServerConfig {
            writes: Some(WriteRate { per_second: 20, burst: 30 }),
            disk_reserve_mb: Some(512),
        },
        webhooks: Some(Webhooks {
            url: "http://127.0.0.1:9000/hook".to_owned(),
            events: vec![NoticeKind::WaitingUser, NoticeKind::Terminal],
            secret_env: Some("HOOK_SECRET".to_owned()),
        }),
        warnings: Vec::new(),
    };
    assert_eq!(parse(WHOLE, &[]).unwrap(), expected);
    let empty = Config { file: Some("/etc/adjourn.toml".into()), ..Config::default() };
    assert_eq!(parse("", &[]).unwrap(), empty);
}

#[test]
fn all_problems_are_named_at_once_with_place_and_nearest_name() {
    check(
        "[slots]\ntotl = 4\n  queue_max = \"many\"\n\n[engine.x]\n",
        &[
            "2:1: slots.totl: unknown key; did you mean `total`?",
            "3:15: slots.queue_max: should be a whole number from 0 to 10000000, it is a string",
            "5:2: engine: unknown key; did you mean `engines`?",
        ],
    );
    check(
        "[engines.a]\nkind = \"exce\"\n[engines.b]\nkind = \"exec\"\npreset = \"claud\"\n[engines.c]\n",
        &[
            "2:8: engines.a.kind: unknown value `exce`; did you mean `exec`?",
            "5:10: engines.b.preset: unknown value `claud`; did you mean `claude`?",
            "6:1: engines.c.kind: is missing: it is one of `acp`, `exec`, `reasoning`, `replay`",
        ],
    );
}

#[test]
fn each_kind_of_engine_has_its_own_keys() {
    check(
        "[engines.a]\nkind = \"exec\"\n",
        &[
            "1:1: engines.a.preset: is missing: an `exec` engine is one of claude, codex, gemini, opencode, command",
        ],
    );
    check(
        "[engines.a]\nkind = \"exec\"\npreset = \"command\"\n",
        &["1:1: engines.a.command: is missing: preset `command` needs the program to run"],
    );
    check(
        "[engines.a]\nkind = \"acp\"\ncommand = []\n",
        &["3:11: engines.a.command: should name a program, it is empty"],
    );
    check(
        "[engines.a]\nkind = \"replay\"\nmodel = \"m\"\n[engines.b]\nkind = \"reasoning\"\nbase_url = \"host\"\n",
        &[
            "3:1: engines.a.model: does not belong here: it is for engines of kind `acp` or `reasoning`, this one is `replay`",
            "4:1: engines.b.api: is missing: `openai` or `anthropic`",
            "4:1: engines.b.model: is missing: the name of the model to ask",
            "6:12: engines.b.base_url: should be an address that begins with http:// or https://",
        ],
    );
    let model = "[engines.a]\nkind = \"reasoning\"\napi = \"openai\"\nmodel = \"m\"\n";
    check(
        &format!("{model}prices = {{ input_usd_per_million = \"3\" }}\noutput_tokens_max = 0\n"),
        &[
            "5:10: engines.a.prices.output_usd_per_million: is missing",
            "5:36: engines.a.prices.input_usd_per_million: should be a number, it is a string",
            "6:21: engines.a.output_tokens_max: should be a whole number from 1 to 1000000, it is 0",
        ],
    );
    check(
        &format!("{model}prices = {{ input_usd_per_million = -1, output_usd_per_million = 0 }}\n"),
        &["5:36: engines.a.prices.input_usd_per_million: should be a number from 0 on, it is -1"],
    );
    check(
        "[engines.a]\nkind = \"acp\"\ncommand = [\"a\"]\nserves = [\"fz\"]\npermissions = [{ kind = \"edti\" }]\n",
        &[
            "4:11: engines.a.serves[0]: unknown value `fz`; did you mean `fs`?",
            "5:16: engines.a.permissions[0].answer: is missing",
            "5:25: engines.a.permissions[0].kind: unknown value `edti`; did you mean `edit`?",
        ],
    );
    check("engines = 1\n", &["1:11: engines: should be a table, it is a whole number"]);
    check("[engines]\na = 1\n", &["2:5: engines.a: should be a table, it is a whole number"]);
    check(
        "[engines.\"a b\"]\nkind = \"replay\"\n",
        &["1:1: engines.a b: a name has only letters, digits, `-`, `_` and `.`"],
    );
}

#[test]
fn impossible_slots_are_refused_and_useless_ones_warned_of() {
    check(
        "[slots]\ntotal = 0\nqueue_max = -1\n",
        &[
            "2:9: slots.total: should be a whole number from 1 to 10000, it is 0",
            "3:13: slots.queue_max: should be a whole number from 0 to 10000000, it is -1",
        ],
    );
    check(
        "[slots]\ntotal = 2\nengine = { claude = 3, cladue = 1, codex = 0 }\n",
        &[
            "3:21: slots.engine.claude: 3 is more than `slots.total`, so at most 2 will run",
            "3:33: slots.engine.cladue: there is no engine `cladue`; did you mean `claude`?",
            "3:44: slots.engine.codex: should be a whole number from 1 to 10000, it is 0",
        ],
    );
}

#[test]
fn a_tool_is_started_or_there() {
    check(
        "[tools.a]\n[tools.b]\ncommand = [\"x\"]\nurl = \"http://x\"\n[tools.c]\nurl = \"http://x\"\nenv = {}\n",
        &[
            "1:1: tools.a.command: is missing: the MCP server to start, or `url` for one that is there",
            "2:1: tools.b: has both `command` and `url`: a server is either started or already there",
            "7:1: tools.c.env: does not belong here: only a server that is started by `command` has an environment",
        ],
    );
    check(
        "[tools.a]\ncommand = [1]\nscope = \"run\"\n",
        &[
            "2:11: tools.a.command: should name a program, it is empty",
            "2:12: tools.a.command[0]: should be a string, it is a whole number",
        ],
    );
}

#[test]
fn a_limit_on_writing_is_a_rate_with_a_burst() {
    let writes = |text| parse(text, &[]).unwrap().server.writes;
    assert_eq!(writes("[server]\n"), None);
    let of_itself = WriteRate { per_second: 5, burst: 10 };
    assert_eq!(writes("[server]\nwrites_per_second = 5\n"), Some(of_itself));
    check(
        "[server]\nburst = 5\nwrite_per_second = 1\n",
        &[
            "1:1: server.writes_per_second: is missing: a burst needs a rate to come back by",
            "3:1: server.write_per_second: unknown key; did you mean `writes_per_second`?",
        ],
    );
    check(
        "[server]\nwrites_per_second = 0\n",
        &["2:21: server.writes_per_second: should be a whole number from 1 to 1000000, it is 0"],
    );
}

#[test]
fn webhooks_need_an_address() {
    check(
        "[webhooks]\nevents = [\"waiting\"]\n",
        &[
            "1:1: webhooks.url: is missing: where to send what happens",
            "2:11: webhooks.events[0]: unknown value `waiting`; there are `waiting_user`, `terminal`",
        ],
    );
}

#[test]
fn broken_toml_is_placed_and_nothing_else_is_said() {
    let Err(ConfigError::Invalid(problems)) = parse("[slots\ntotal = = 3\n", &[]) else {
        panic!("it is broken")
    };
    assert!(problems.iter().all(|problem| problem.message.starts_with("not valid TOML: ")), "{problems:?}");
    assert_eq!(problems[0].place, Some(Place::Text { line: 1, column: 7 }));
}

#[test]
fn variables_override_single_values() {
    let variables = [
        ("ADJOURN_SLOTS_TOTAL", "16"),
        ("ADJOURN_SLOTS_QUEUE_MAX", "5"),
        ("ADJOURN_ENGINES_LOCAL_MODEL", "other"),
        ("ADJOURN_DATA", "/somewhere"),
    ];
    let config = parse(WHOLE, &variables).unwrap();
    assert_eq!((config.slots.total, config.slots.queue_max), (16, 5));
    let How::Reasoning(model) = &config.engines["local"].how else { panic!("it is a reasoning engine") };
    assert_eq!(model.model, "other");
    assert_eq!(config.warnings, []);
    assert_eq!(parse("", &variables[..1]).unwrap().slots.total, 16, "also without a file");
}

#[test]
fn bad_variables_are_named() {
    let error = parse("", &[("ADJOURN_SLOTS_TOTAL", "lots"), ("ADJOURN_SLOTS_QUEUEMAX", "5")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the configuration cannot be used:\n\
         $ADJOURN_SLOTS_QUEUEMAX: overrides no setting; did you mean `queue_max`?\n\
         $ADJOURN_SLOTS_TOTAL: slots.total: should be a whole number from 1 to 10000, it is a string"
    );
}

#[test]
fn engines_with_a_preset_need_no_configuration() {
    let config = Config::default();
    assert_eq!(config.engine_names(), ["claude", "codex", "gemini", "opencode", "replay"]);
    let gemini = config.engine("gemini").unwrap();
    assert_eq!(gemini, engine(How::Exec { preset: Preset::Gemini, command: strings(["gemini"]) }));
    assert_eq!(gemini.kind(), EngineKind::Exec);
    assert_eq!(config.engine("command"), None);
    assert_eq!(parse(WHOLE, &[]).unwrap().engine("claude").unwrap().kind(), EngineKind::Acp);
}

#[test]
fn secrets_are_known_but_never_shown() {
    let config = parse(WHOLE, &[]).unwrap();
    assert!(!format!("{config:?}").contains("s3cret-value"));
    let variables =
        [("ANTHROPIC_API_KEY", "sk-1"), ("LANG", "C"), ("HOOK_SECRET", "hs"), ("LOCAL_KEY", "lk")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let secrets: Vec<_> = config.secrets(&variables).into_iter().map(|(_, secret)| secret).collect();
    assert_eq!(secrets, ["s3cret-value", "sk-1", "lk", "hs"].map(Secret::new));
}

#[test]
fn a_key_is_looked_up_when_it_is_used() {
    let How::Reasoning(model) = parse(WHOLE, &[]).unwrap().engines["local"].how.clone() else { panic!() };
    let error = model.options(&BTreeMap::new()).unwrap_err();
    assert_eq!(error.to_string(), "api_key_env names the variable `LOCAL_KEY`, which is not set");
    let variables = BTreeMap::from([("LOCAL_KEY".to_owned(), "k".to_owned())]);
    assert_eq!(model.options(&variables).unwrap().api_key, Some(Secret::new("k")));
}

#[test]
fn the_file_is_beside_the_data_directory_unless_named() {
    let folder = tempfile::tempdir().unwrap();
    let (data, none) = (folder.path().join(".adjourn"), BTreeMap::new());
    let file = folder.path().join("adjourn.toml");
    let empty = Config { file: Some(file.clone()), ..Config::default() };
    assert_eq!(Config::load_with(None, &data, &none).unwrap(), empty);
    std::fs::write(&file, "skills = [\"s\"]").unwrap();
    assert_eq!(Config::load_with(None, &data, &none).unwrap().skills, [folder.path().join("s")]);
    assert_eq!(
        Config::load_with(Some(&file), Path::new("/x/y"), &none).unwrap().skills,
        [folder.path().join("s")]
    );
    let missing = folder.path().join("other.toml");
    let error = Config::load_with(Some(&missing), &data, &none).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("the configuration {} cannot be read: ", missing.display())),
        "{error}"
    );
    assert_eq!(PathBuf::from(".adjourn").parent(), Some(Path::new("")), "so a relative one works as well");
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(text in "(\\[(slots|engines|tools|webhooks)(\\.a)?\\]\n|(kind|command|total|env|url) = (1|\"acp\"|\\[\\]|\\{ x = 1 \\}|é)\n|\\PC{0,5}\n){0,8}") {
        if let Err(ConfigError::Invalid(problems)) = parse(&text, &[]) {
            prop_assert!(!problems.is_empty());
        }
    }
}
