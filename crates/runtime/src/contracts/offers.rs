//! Which tools a run may call, and under which names.

use adjourn_core::{ErrorCode, RunError, ToolDigests};
use adjourn_engine::Pattern;
use adjourn_engine::model::ToolOffer;
use adjourn_engine::tools::{Tool, ToolError};
use tokio_util::sync::CancellationToken;

use super::Contracts;

/// What stands between a server and its tool in the name that a tool is offered under. Models take letters, digits, `_` and
/// `-` in names, and servers use single ones.
const BETWEEN: &str = "__";

/// Tools that a skill declares: all of a server, or those whose names match.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    server: String,
    methods: Pattern,
}

impl Wanted {
    /// What a skill writes: `mail` for the server, `mail.send_*` for some of its tools.
    pub(super) fn read(declared: &str) -> Self {
        let (server, methods) = declared.split_once('.').unwrap_or((declared, "*"));
        Self { server: server.to_owned(), methods: Pattern::new(methods) }
    }
}

/// A tool that may be called.
#[derive(Debug, Clone)]
pub(super) struct Offered {
    /// The server.
    pub(super) service: String,
    /// The tool.
    pub(super) tool: Tool,
}

impl Offered {
    /// The name it is offered under.
    pub(super) fn name(&self) -> String {
        offered_name(&self.service, &self.tool.name)
    }

    fn offer(&self) -> ToolOffer {
        ToolOffer {
            name: self.name(),
            description: self.tool.description.clone(),
            input_schema: self.tool.input_schema.clone(),
        }
    }
}

fn offered_name(service: &str, method: &str) -> String {
    let plain = |name: &str| name.replace(|char: char| !char.is_ascii_alphanumeric() && char != '-', "_");
    format!("{}{BETWEEN}{}", plain(service), plain(method))
}

/// All that may be called, as it is now.
pub(super) async fn all(
    contracts: &Contracts,
    wanted: &[Wanted],
    stop: &CancellationToken,
) -> Result<Vec<Offered>, ToolError> {
    let mut offered: Vec<Offered> = Vec::new();
    for Wanted { server, methods } in wanted {
        for tool in contracts.servers.tools(server, stop).await? {
            let is_new = || offered.iter().all(|one| one.service != *server || one.tool.name != tool.name);
            if methods.matches(&tool.name) && is_new() {
                offered.push(Offered { service: server.clone(), tool });
            }
        }
    }
    Ok(offered)
}

/// The digests of the definitions of all that may be called.
pub(super) fn digests(offered: &[Offered]) -> ToolDigests {
    let mut digests = ToolDigests::new();
    for Offered { service, tool } in offered {
        digests.entry(service.clone()).or_default().insert(tool.name.clone(), tool.digest.clone());
    }
    digests
}

/// The offers as an agent gets them. Two tools that would have one name cannot be told apart, so that is an error.
pub(super) fn listed(offered: &[Offered], asks: Option<ToolOffer>) -> Result<Vec<ToolOffer>, RunError> {
    let mut offers: Vec<ToolOffer> = offered.iter().map(Offered::offer).collect();
    offers.extend(asks);
    for (index, offer) in offers.iter().enumerate() {
        if offers[..index].iter().any(|before| before.name == offer.name) {
            let message = format!("two tools of this skill would both be called `{}`", offer.name);
            return Err(RunError { code: ErrorCode::ToolServerUnavailable, message });
        }
    }
    Ok(offers)
}

/// Why tools cannot be offered, as the end of the run that needs them.
pub(super) fn failure(error: &ToolError) -> RunError {
    RunError { code: error.code().unwrap_or(ErrorCode::ToolServerUnavailable), message: error.to_string() }
}

/// What an agent is told that calls what is not there.
pub(super) fn unknown(name: &str, offered: &[Offered], asks: Option<&str>) -> String {
    let names: Vec<String> = offered.iter().map(Offered::name).chain(asks.map(str::to_owned)).collect();
    format!("there is no tool `{name}`{}", adjourn_api::nearest::hint(name, names.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::{Wanted, offered_name};

    #[test]
    fn a_skill_names_a_server_or_some_of_its_tools() {
        let all = Wanted::read("mail");
        assert!(all.server == "mail" && all.methods.matches("anything"));
        let some = Wanted::read("mail.send_*");
        assert!(some.server == "mail" && some.methods.matches("send_mail") && !some.methods.matches("list"));
    }

    #[test]
    fn a_tool_is_offered_under_a_name_that_every_model_takes() {
        assert_eq!(offered_name("mail", "send_mail"), "mail__send_mail");
        assert_eq!(offered_name("my.files", "read/é"), "my_files__read__");
    }
}
