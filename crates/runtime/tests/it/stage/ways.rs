//! The ways in which an agent asks: one body of a test plays on all of them.

use std::fs;
use std::path::Path;

use adjourn_testkit::acp::{Act, TakesUp};
use adjourn_testkit::model::{ModelServer, Outcome, Reply, Script};
use serde_json::{Value, json};

use super::world::{WORLD, calls_by_curl, server_program};
use super::{Actor, Stage, agent};

/// A way in which an agent asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It prints the question and ends.
    Printed,
    /// It says the question over ACP and ends its turn.
    SaidOnAcp,
    /// It calls `ask_user` through the gateway, from a command line.
    ToolOnExec,
    /// It calls `ask_user` through the gateway, over ACP.
    ToolOnAcp,
    /// The model of the reasoning engine calls `ask_user`.
    ToolOfReasoning,
}

/// Makes a test of each way out of one body: `…::printed`, `…::tool_on_exec`, `…::tool_on_acp`, `…::tool_of_reasoning`.
macro_rules! every_way {
    ($($tests:tt)+) => {
        $crate::stage::ways::tests_of_ways! {
            [
                printed = Printed,
                tool_on_exec = ToolOnExec,
                tool_on_acp = ToolOnAcp,
                tool_of_reasoning = ToolOfReasoning
            ]
            $($tests)+
        }
    };
}
pub(crate) use every_way;

/// Makes a test of each way that is a call.
macro_rules! every_way_by_tool {
    ($($tests:tt)+) => {
        $crate::stage::ways::tests_of_ways! {
            [tool_on_exec = ToolOnExec, tool_on_acp = ToolOnAcp, tool_of_reasoning = ToolOfReasoning]
            $($tests)+
        }
    };
}
pub(crate) use every_way_by_tool;

/// Makes a test of each way to ask from a process that can stay.
macro_rules! every_way_of_staying {
    ($($tests:tt)+) => {
        $crate::stage::ways::tests_of_ways! { [said_on_acp = SaidOnAcp, tool_on_acp = ToolOnAcp] $($tests)+ }
    };
}
pub(crate) use every_way_of_staying;

macro_rules! tests_of_ways {
    ($ways:tt $(#[test] fn $name:ident($way:ident: Way) $body:block)+) => {
        $($crate::stage::ways::test_of_ways! { $ways $name $way $body })+
    };
}
pub(crate) use tests_of_ways;

macro_rules! test_of_ways {
    ([$($case:ident = $variant:ident),+] $name:ident $way:ident $body:block) => {
        mod $name {
            #[allow(unused_imports, reason = "the body may need none of it")]
            use super::*;

            fn body($way: Way) $body

            $(#[test]
            fn $case() {
                body(Way::$variant);
            })+
        }
    };
}
pub(crate) use test_of_ways;

/// What the agent does in one of its turns.
#[derive(Debug, Clone)]
pub(crate) enum Does {
    /// Asks this, as the arguments of `ask_user` say it.
    Asks(Value),
    /// Asks in a way that cannot be read, and ends with these words.
    AsksBadly(&'static str),
    /// Is done with this answer.
    Finishes(&'static str),
    /// Ends with these words.
    Says(&'static str),
    /// Calls the tool that counts, which needs a yes, with this text.
    Counts(&'static str),
    /// Calls a tool twice, and is done.
    CallsTwice(&'static str),
}

/// A stage on which every run does the same, turn by turn, and asks in one way.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    way: Way,
    plan: Vec<Does>,
    model: Option<ModelServer>,
}

/// The engine whose runs only hold a slot.
const HOLDER: &str = "holder";

impl Way {
    /// A stage for runs that do this, one after the other.
    pub(crate) fn scene(self, plan: &[Does]) -> Scene {
        self.scene_with("", plan)
    }

    /// The same with these settings, which are whole tables.
    pub(crate) fn scene_with(self, tables: &str, plan: &[Does]) -> Scene {
        self.scene_of_engine("", tables, plan)
    }

    /// The same with these settings of the engine.
    pub(crate) fn scene_of_engine(self, of_engine: &str, tables: &str, plan: &[Does]) -> Scene {
        let scene = self.closed_scene(of_engine, tables, plan);
        scene.stage.open();
        scene
    }

    /// The same with nobody at work yet.
    pub(crate) fn closed_scene(self, of_engine: &str, tables: &str, plan: &[Does]) -> Scene {
        let stage = Stage::closed(agent::STEERED);
        let runner = json!({
            "id": agent::SKILL, "execution_modes": ["interactive", "auto"], "tools": [WORLD],
        });
        fs::write(stage.path().join("skills/survey/assets/runner.json"), runner.to_string()).unwrap();
        let mut model = None;
        let engine = match self {
            Self::Printed | Self::ToolOnExec => agent::settings(stage.path(), "", of_engine),
            Self::SaidOnAcp | Self::ToolOnAcp => {
                agent::install_acp(stage.path(), TakesUp::Resume);
                agent::acp_settings(stage.path(), "", of_engine)
            }
            Self::ToolOfReasoning => {
                let replies = plan.iter().flat_map(replies);
                let server = ModelServer::start(Script::new(replies).for_many()).unwrap();
                let url = server.url();
                model = Some(server);
                format!(
                    "skills = [\"skills\"]\n[engines.{}]\nkind = \"reasoning\"\napi = \"openai\"\n\
                     base_url = \"{url}/v1\"\nmodel = \"scripted\"\n{of_engine}\n",
                    agent::ENGINE
                )
            }
        };
        let tools = json!([server_program(), stage.path()]);
        let holder = stage.path().join("agent");
        stage.configure(&format!(
            "{engine}\n[engines.{HOLDER}]\nkind = \"exec\"\npreset = \"command\"\ncommand = [{holder:?}]\n\
             [tools.{WORLD}]\ncommand = {tools}\nirreversible = [\"*\"]\napprove = [\"count\"]\n{tables}\n"
        ));
        Scene { stage, way: self, plan: plan.to_vec(), model }
    }

    /// The scene that another process has built in `folder`, with these settings.
    pub(crate) fn scene_at(self, folder: &Path, settings: &str, plan: &[Does]) -> Scene {
        let stage = Stage::at(folder);
        stage.configure(settings);
        stage.open();
        Scene { stage, way: self, plan: plan.to_vec(), model: None }
    }

    /// The way with this name.
    pub(crate) fn named(name: &str) -> Self {
        let all = [Self::Printed, Self::SaidOnAcp, Self::ToolOnExec, Self::ToolOnAcp, Self::ToolOfReasoning];
        all.into_iter().find(|way| format!("{way:?}") == name).unwrap()
    }

    /// Whether the question is a contract.
    pub(crate) fn is_by_tool(self) -> bool {
        match self {
            Self::Printed | Self::SaidOnAcp => false,
            Self::ToolOnExec | Self::ToolOnAcp | Self::ToolOfReasoning => true,
        }
    }
}

impl Scene {
    /// Plays the run's turn with this number as planned. A model plays its turns by itself.
    pub(crate) fn plays(&self, run: &Actor<'_>, turn: u32) {
        let does = &self.plan[usize::try_from(turn).unwrap() - 1];
        match self.way {
            Way::ToolOfReasoning => {}
            Way::Printed | Way::ToolOnExec => run.turn(turn).does(&shell(self.way, does)),
            Way::SaidOnAcp | Way::ToolOnAcp => run.turn(turn).acts(&acts(self.way, does)),
        }
    }

    /// A run whose first turn is played, and which waits then.
    pub(crate) fn waiting(&self, more: Value) -> Actor<'_> {
        let run = self.stage.start(more);
        self.plays(&run, 1);
        run.waits();
        run
    }

    /// What the agent of the only run was told at the beginning of this turn, which has to be planned.
    pub(crate) fn heard(&self, run: &Actor<'_>, turn: u32) -> String {
        let Some(model) = &self.model else { return run.turn(turn).prompt };
        let reply = usize::try_from(turn).unwrap() - 1;
        let find = || model.requests().into_iter().rfind(|asked| asked.outcome == Outcome::Reply(reply));
        super::until("the request of the model", find).body.to_string()
    }

    /// A run that holds a slot until it is canceled.
    pub(crate) fn holds_a_slot(&self) -> Actor<'_> {
        let run = self.stage.start(json!({ "engine": HOLDER }));
        run.turn(1);
        run
    }
}

/// What the model says for a turn.
fn replies(does: &Does) -> Vec<Reply> {
    match does {
        Does::Asks(question) => vec![Reply::call("ask_user", question.clone())],
        Does::AsksBadly(words) => vec![Reply::call("ask_user", unreadable()), Reply::text(*words)],
        Does::Finishes(answer) => vec![Reply::text(agent::done(answer))],
        Does::Says(words) => vec![Reply::text(*words)],
        Does::Counts(text) => vec![Reply::call("count", json!({ "text": text }))],
        Does::CallsTwice(tool) => {
            vec![
                Reply::call(*tool, json!({})),
                Reply::call(*tool, json!({})),
                Reply::text(agent::done("done")),
            ]
        }
    }
}

/// What an agent that is a shell script does in a turn.
fn shell(way: Way, does: &Does) -> String {
    let says = |text: &str| format!("cat <<'END'\n{text}\nEND\n");
    match does {
        Does::Asks(question) if way.is_by_tool() => {
            calls_by_curl("ask_user", question) + &says("I have asked you, and wait for your answer.")
        }
        Does::Asks(question) => says(&json!({ "ask_user": question }).to_string()),
        Does::AsksBadly(words) if way.is_by_tool() => calls_by_curl("ask_user", &unreadable()) + &says(words),
        Does::AsksBadly(words) => says(&format!("{words} {}", json!({ "ask_user": unreadable() }))),
        Does::Finishes(answer) => says(&agent::done(answer)),
        Does::Says(words) => says(words),
        Does::Counts(text) => {
            calls_by_curl(&format!("{WORLD}__count"), &json!({ "text": text })) + &says("I counted it.")
        }
        Does::CallsTwice(tool) => {
            let call = calls_by_curl(&format!("{WORLD}__{tool}"), &json!({}));
            format!("{call}{call}{}", says(&agent::done("done")))
        }
    }
}

/// What an agent that speaks ACP does in a turn.
fn acts(way: Way, does: &Does) -> Vec<Act> {
    let ask = |question| Act::UseTool("ask_user".to_owned(), question);
    let call = |tool: &str| Act::UseTool(format!("{WORLD}__{tool}"), json!({}));
    match does {
        Does::Asks(question) if way.is_by_tool() => vec![ask(question.clone())],
        Does::Asks(question) => vec![Act::Say(json!({ "ask_user": question }).to_string())],
        Does::AsksBadly(words) => vec![ask(unreadable()), Act::Say((*words).to_owned())],
        Does::Finishes(answer) => vec![Act::Say(agent::done(answer))],
        Does::Says(words) => vec![Act::Say((*words).to_owned())],
        Does::Counts(text) => {
            vec![Act::UseTool(format!("{WORLD}__count"), json!({ "text": text }))]
        }
        Does::CallsTwice(tool) => vec![call(tool), call(tool), Act::Say(agent::done("done"))],
    }
}

/// A question that has no words.
fn unreadable() -> Value {
    json!({ "kind": "choose_one", "options": "all of them" })
}
