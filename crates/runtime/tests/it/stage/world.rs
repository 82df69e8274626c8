//! Tools that count what they do to the world, and a model that calls them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adjourn_core::{Action, By, Contract, ContractAction, ExecutionId, InteractionId, Run, ToolCall};
use adjourn_runtime::{ReplyRequest, ServiceError};
use adjourn_testkit::mcp::DESCRIPTIONS;
use adjourn_testkit::model::{ModelServer, Outcome, Reply};
use serde_json::{Value, json};

use super::{Actor, Stage, agent};

/// The tool server of all tests.
pub(crate) const WORLD: &str = "world";

/// What the reply of a model is that is done.
pub(crate) fn says_done(answer: &str) -> Reply {
    Reply::text(agent::done(answer))
}

/// What the reply of a model is that calls several tools at once.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Reply {
    let calls = calls.iter().map(|(name, arguments)| adjourn_testkit::model::Call {
        name: (*name).to_owned(),
        arguments: arguments.clone(),
    });
    Reply { calls: calls.collect(), ..Reply::default() }
}

impl Stage {
    /// With the reasoning engine over `model`, and tools of which this is declared.
    pub(crate) fn reasoning(model: &ModelServer, of_tools: &str) -> Self {
        let stage = Self::closed("");
        stage.give_tools(&model.url(), of_tools);
        stage.open();
        stage
    }

    /// With an agent that tests steer and a skill that declares these tools of a server of which `of_tools` is said, and nobody
    /// at work yet.
    pub(crate) fn closed_with_tools(declared: &[&str], of_tools: &str) -> Self {
        let stage = Self::closed(agent::STEERED);
        let runner = json!({
            "id": agent::SKILL, "execution_modes": ["interactive", "auto"], "tools": declared,
        });
        fs::write(stage.path().join("skills/survey/assets/runner.json"), runner.to_string()).unwrap();
        let command = json!([server_program(), stage.path()]);
        let tools = format!("[tools.{WORLD}]\ncommand = {command}\n{of_tools}\n");
        stage.configure(&agent::settings(stage.path(), &tools, ""));
        stage
    }

    /// Lets the skill use tools, and the engine be the reasoning one.
    pub(crate) fn give_tools(&self, model: &str, of_tools: &str) {
        let runner = json!({
            "id": agent::SKILL, "execution_modes": ["interactive", "auto"], "tools": [WORLD],
        });
        fs::write(self.path().join("skills/survey/assets/runner.json"), runner.to_string()).unwrap();
        self.configure(&settings(self.path(), model, of_tools));
    }

    /// Has the tools describe themselves like this from the next start of their server on. One that there is not is added.
    pub(crate) fn describe_tools(&self, descriptions: &Value) {
        fs::write(self.path().join(DESCRIPTIONS), descriptions.to_string()).unwrap();
    }

    /// What the tools did, in order.
    pub(crate) fn effects(&self) -> Vec<String> {
        let effects = fs::read_to_string(self.path().join("effects")).unwrap_or_default();
        effects.lines().map(str::to_owned).collect()
    }
}

/// The configuration of a stage in `folder` whose engine thinks for itself.
pub(crate) fn settings(folder: &Path, model: &str, of_tools: &str) -> String {
    let (engine, folder) = (agent::ENGINE, folder.display());
    let server = server_program();
    let server = server.display();
    format!(
        "skills = [\"skills\"]\n\
         [engines.{engine}]\nkind = \"reasoning\"\napi = \"openai\"\nbase_url = \"{model}/v1\"\nmodel = \"scripted\"\n\
         [tools.{WORLD}]\ncommand = [\"{server}\", \"{folder}\"]\n{of_tools}\n"
    )
}

/// Cargo builds examples with the tests, and puts them here.
pub(crate) fn server_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples/runtime_mcp_server")
}

/// What an agent without a protocol does to call a tool, in the words of a shell. The file `answer` has what it was told.
pub(crate) fn calls_by_curl(name: &str, arguments: &Value) -> String {
    let params = json!({ "name": name, "arguments": arguments });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    format!(
        "curl --silent --max-time 20 --output answer.part --header \"authorization: Bearer $ADJOURN_MCP_TOKEN\" \
         --header 'content-type: application/json' --header 'accept: application/json, text/event-stream' \
         --data '{request}' \"$ADJOURN_MCP_URL\"\nmv answer.part answer\n"
    )
}

impl Actor<'_> {
    /// Its calls, in the order in which they were asked for.
    pub(crate) fn contracts(&self) -> Vec<Contract> {
        self.state().contracts().cloned().collect()
    }

    /// The only call that it made.
    pub(crate) fn contract(&self) -> Contract {
        let contracts = self.contracts();
        assert_eq!(contracts.len(), 1, "{contracts:#?}");
        contracts.into_iter().next().unwrap()
    }

    /// Says what to do with a call that needs approval.
    pub(crate) fn decide(
        &self,
        id: InteractionId,
        action: Action,
        response: Value,
    ) -> Result<Arc<Run>, ServiceError> {
        let request = ReplyRequest {
            interaction_id: Some(id),
            response,
            action: Some(action),
            by: By::USER,
            key: None,
        };
        let service = self.stage.service();
        self.stage.wait(service.reply(self.id, request))
    }
}

/// A contract's way, in short: `PENDING → RUNNING: start by tool_node`.
pub(crate) fn way(contract: &Contract) -> Vec<String> {
    let steps = contract.transitions.iter();
    steps.map(|step| format!("{} → {}: {} by {}", step.from, step.to, step.trigger, step.actor)).collect()
}

/// What a contract is about, if that is a call.
pub(crate) fn call_of(contract: &Contract) -> &ToolCall {
    match &contract.spec.action {
        ContractAction::ToolCall(call) => call,
        ContractAction::EcsRequest(question) => panic!("this is a question: {}", question.prompt),
    }
}

/// What the model was told about the calls of the conversation, when it was asked for its reply with this number.
pub(crate) fn told(model: &ModelServer, reply: usize) -> Vec<Value> {
    let asked = model.requests().into_iter().rfind(|asked| asked.outcome == Outcome::Reply(reply));
    let body = asked.unwrap_or_else(|| panic!("reply {reply} was never asked for")).body;
    let messages = body["messages"].as_array().unwrap().clone();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| serde_json::from_str(message["content"].as_str().unwrap()).unwrap()).collect()
}

/// The name of a contract, on the wire.
pub(crate) fn named(id: ExecutionId) -> Value {
    json!(id)
}
