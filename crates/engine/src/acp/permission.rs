//! Permissions that an agent asks for: the policy that answers them, and the question where it leaves that to a person.

use std::path::{Component, Path, PathBuf};

use adjourn_core::{
    Approval, Choice, IdempotencyKey, PermissionRequest, Question, TooLongToShow, named, visible_line,
};
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    self, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, ToolCallContent,
};
use serde_json::{Value, json};

use super::AcpConfig;
use crate::exec::Permission;
use crate::pattern::Pattern;

named! {
    /// How a request for a permission is answered.
    pub enum PermissionAnswer {
        /// Yes.
        Allow = "allow",
        /// No.
        Deny = "deny",
        /// As a person says.
        Ask = "ask",
    }
}

named! {
    /// What a tool does, in the words of the protocol.
    pub enum ToolKind {
        /// Reads files or data.
        Read = "read",
        /// Changes files.
        Edit = "edit",
        /// Removes files.
        Delete = "delete",
        /// Moves or renames files.
        Move = "move",
        /// Looks for something.
        Search = "search",
        /// Runs commands.
        Execute = "execute",
        /// Thinks or plans.
        Think = "think",
        /// Fetches something from the network.
        Fetch = "fetch",
        /// Changes what the agent itself may do.
        SwitchMode = "switch_mode",
        /// Anything else.
        Other = "other",
    }
}

/// How requests of some kind are answered.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct PermissionRule {
    /// Only for tools of this kind.
    pub kind: Option<ToolKind>,
    /// Only if all files that the request names are like this: relative to the workspace, or absolute outside of it.
    pub path: Option<Pattern>,
    /// The answer.
    pub answer: PermissionAnswer,
}

/// How a request is answered by the configuration of the agent.
pub(super) fn answer_by_policy(
    config: &AcpConfig,
    workspace: &Path,
    request: &RequestPermissionRequest,
) -> PermissionAnswer {
    let kind = kind_of(request);
    let places: Vec<_> = paths(request).iter().map(|path| GatewaySession::of(workspace, path)).collect();
    let fits = |rule: &&PermissionRule| {
        let path_fits = rule.path.as_ref().is_none_or(|pattern| {
            !places.is_empty() && places.iter().all(|place| pattern.matches(place.shown()))
        });
        rule.kind.is_none_or(|wanted| wanted == kind) && path_fits
    };
    match config.rules.iter().find(fits) {
        Some(rule) => rule.answer,
        None => by_default(config.permission, kind, &places),
    }
}

/// What `permission` means for what an agent asks for.
fn by_default(permission: Permission, kind: ToolKind, places: &[GatewaySession]) -> PermissionAnswer {
    let only_looks = matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think);
    let changes_files = matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
    let stays_inside =
        !places.is_empty() && places.iter().all(|place| matches!(place, GatewaySession::Inside(_)));
    match permission {
        Permission::Full => PermissionAnswer::Allow,
        Permission::ReadOnly if only_looks => PermissionAnswer::Allow,
        Permission::ReadOnly => PermissionAnswer::Deny,
        Permission::Workspace if only_looks || (changes_files && stays_inside) => PermissionAnswer::Allow,
        Permission::Workspace => PermissionAnswer::Ask,
    }
}

/// Where a file is that a request names.
#[derive(Debug, PartialEq, Eq)]
enum GatewaySession {
    /// In the workspace, relative to it.
    Inside(String),
    /// Anywhere else.
    Outside(String),
}

impl GatewaySession {
    /// Links are followed as far as there is something: a link may lead out.
    fn of(workspace: &Path, path: &Path) -> Self {
        let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
        let path = without_dots(&workspace.join(path));
        let there = path.ancestors().find_map(|there| Some((there, there.canonicalize().ok()?)));
        let path = match there {
            Some((there, resolved)) => match path.strip_prefix(there) {
                Ok(rest) if rest.as_os_str().is_empty() => resolved,
                Ok(rest) => resolved.join(rest),
                Err(_) => path,
            },
            None => path,
        };
        match path.strip_prefix(&workspace) {
            Ok(inside) => Self::Inside(inside.to_string_lossy().into_owned()),
            Err(_) => Self::Outside(path.to_string_lossy().into_owned()),
        }
    }

    fn shown(&self) -> &str {
        match self {
            Self::Inside(path) | Self::Outside(path) => path,
        }
    }
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    plain
}

fn kind_of(request: &RequestPermissionRequest) -> ToolKind {
    match request.tool_call.fields.kind {
        Some(schema::ToolKind::Read) => ToolKind::Read,
        Some(schema::ToolKind::Edit) => ToolKind::Edit,
        Some(schema::ToolKind::Delete) => ToolKind::Delete,
        Some(schema::ToolKind::Move) => ToolKind::Move,
        Some(schema::ToolKind::Search) => ToolKind::Search,
        Some(schema::ToolKind::Execute) => ToolKind::Execute,
        Some(schema::ToolKind::Think) => ToolKind::Think,
        Some(schema::ToolKind::Fetch) => ToolKind::Fetch,
        Some(schema::ToolKind::SwitchMode) => ToolKind::SwitchMode,
        Some(_) | None => ToolKind::Other,
    }
}

/// The files that a request names.
fn paths(request: &RequestPermissionRequest) -> Vec<&Path> {
    let fields = &request.tool_call.fields;
    let located = fields.locations.iter().flatten().map(|location| location.path.as_path());
    let changed = fields.content.iter().flatten().filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(diff.path.as_path()),
        _ => None,
    });
    located.chain(changed).collect()
}

/// What a request is for: the tool and its arguments, without the number of the call.
pub(super) fn digest(request: &RequestPermissionRequest) -> IdempotencyKey {
    let fields = &request.tool_call.fields;
    let arguments = match &fields.raw_input {
        Some(Value::Null) | None => json!(fields.content),
        Some(input) => input.clone(),
    };
    let arguments = json!({ "title": fields.title, "input": arguments, "paths": paths(request) });
    IdempotencyKey::of("permission", kind_of(request).name(), &arguments)
}

/// What a person is asked: all that the [digest](digest) covers, whole. A request that is too long for that is not asked.
pub(super) fn question(
    agent: &str,
    request: &RequestPermissionRequest,
) -> Result<PermissionRequest, TooLongToShow> {
    let fields = &request.tool_call.fields;
    let title = fields.title.as_deref().or(fields.name.as_deref()).unwrap_or("use a tool");
    let mut content = format!("kind: {}", kind_of(request));
    for path in paths(request) {
        content.push_str(&format!("\nfile: {}", visible_line(&path.to_string_lossy())));
    }
    match (&fields.raw_input, &fields.content) {
        (Some(Value::Null) | None, None) => {}
        (Some(Value::Null) | None, Some(shown)) => {
            content.push_str(&format!("\ncontent: {:#}", json!(shown)));
        }
        (Some(input), _) => content.push_str(&format!("\narguments: {input:#}")),
    }
    let approval = Approval {
        question: format!("{agent} asks for your permission: {}", visible_line(title)),
        remarks: Vec::new(),
        content: &content,
    };
    let options = request.options.iter();
    let options = options
        .map(|option| Choice::new(option.option_id.0.to_string(), visible_line(&option.name)))
        .collect();
    let question = Question::choose_one(approval.text()?, options);
    Ok(PermissionRequest { digest: digest(request), question })
}

/// The answer to a request that a person cannot be shown: it is refused, and the agent is told why.
pub(super) fn unshowable(problem: TooLongToShow) -> Error {
    Error::invalid_params().data(format!("the permission is refused: {problem}"))
}

/// The answer that chooses this option; where the agent does not offer it, and where there is none, a no.
pub(super) fn chosen(request: &RequestPermissionRequest, option: Option<&str>) -> RequestPermissionResponse {
    let offered = request.options.iter().find(|offered| Some(&*offered.option_id.0) == option);
    match offered {
        Some(offered) => selected(offered),
        None => denied(request),
    }
}

/// A yes for this once, where the agent knows one; else a yes.
pub(super) fn allowed(request: &RequestPermissionRequest) -> RequestPermissionResponse {
    first_of(request, &[PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways])
}

/// A no.
pub(super) fn denied(request: &RequestPermissionRequest) -> RequestPermissionResponse {
    first_of(request, &[PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways])
}

/// The turn is over, and so is the request.
pub(super) fn cancelled() -> RequestPermissionResponse {
    RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled)
}

fn first_of(request: &RequestPermissionRequest, kinds: &[PermissionOptionKind]) -> RequestPermissionResponse {
    let offered = kinds.iter().find_map(|kind| request.options.iter().find(|option| option.kind == *kind));
    offered.map_or_else(cancelled, selected)
}

fn selected(option: &schema::PermissionOption) -> RequestPermissionResponse {
    let selected = SelectedPermissionOutcome::new(option.option_id.clone());
    RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use agent_client_protocol::v1::schema::{
        self, PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
        ToolCallLocation, ToolCallUpdate, ToolCallUpdateFields,
    };
    use serde_json::json;

    use super::{
        PermissionAnswer, PermissionRule, ToolKind, allowed, answer_by_policy, chosen, denied, digest,
        question, unshowable,
    };
    use crate::acp::AcpConfig;
    use crate::exec::Permission;
    use crate::pattern::Pattern;

    fn request(kind: schema::ToolKind, path: Option<&str>) -> RequestPermissionRequest {
        let fields = ToolCallUpdateFields::new()
            .title("do it")
            .kind(kind)
            .raw_input(json!({"n": 1}))
            .locations(path.map(|path| vec![ToolCallLocation::new(path)]));
        let options = [
            PermissionOption::new("y", "Yes", PermissionOptionKind::AllowOnce),
            PermissionOption::new("n", "No", PermissionOptionKind::RejectOnce),
        ];
        RequestPermissionRequest::new("session", ToolCallUpdate::new("call", fields), options.to_vec())
    }

    #[test]
    fn without_rules_the_permission_decides() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let workspace = folder.path().join("work");
        symlink("..", workspace.join("up")).unwrap();
        let answer = |permission, kind, path| {
            let config = AcpConfig { permission, ..AcpConfig::new(Vec::new()) };
            answer_by_policy(&config, &workspace, &request(kind, path))
        };
        let inside = workspace.join("a/b").display().to_string();
        use PermissionAnswer::{Allow, Ask, Deny};
        use schema::ToolKind::{Edit, Execute, Read};
        for (permission, kind, path, expected) in [
            (Permission::ReadOnly, Read, Some("/etc/passwd"), Allow),
            (Permission::ReadOnly, Edit, Some("a"), Deny),
            (Permission::Workspace, Edit, Some("a"), Allow),
            (Permission::Workspace, Edit, Some(inside.as_str()), Allow),
            (Permission::Workspace, Edit, Some("../a"), Ask),
            (Permission::Workspace, Edit, Some("up/a"), Ask),
            (Permission::Workspace, Edit, None, Ask),
            (Permission::Workspace, Execute, Some("a"), Ask),
            (Permission::Full, Execute, None, Allow),
        ] {
            assert_eq!(answer(permission, kind, path), expected, "{permission} {kind:?} {path:?}");
        }
    }

    #[test]
    fn the_first_rule_that_fits_counts() {
        let folder = tempfile::tempdir().unwrap();
        let rule =
            |kind, path: Option<&str>, answer| PermissionRule { kind, path: path.map(Pattern::new), answer };
        let config = AcpConfig {
            rules: vec![
                rule(Some(ToolKind::Edit), Some("src/*"), PermissionAnswer::Deny),
                rule(Some(ToolKind::Execute), None, PermissionAnswer::Allow),
                rule(None, Some("docs/*"), PermissionAnswer::Ask),
            ],
            ..AcpConfig::new(Vec::new())
        };
        let answer = |kind, path| answer_by_policy(&config, folder.path(), &request(kind, path));
        assert_eq!(answer(schema::ToolKind::Edit, Some("src/a")), PermissionAnswer::Deny);
        assert_eq!(answer(schema::ToolKind::Edit, Some("docs/a")), PermissionAnswer::Ask);
        assert_eq!(answer(schema::ToolKind::Edit, Some("else")), PermissionAnswer::Allow);
        assert_eq!(answer(schema::ToolKind::Execute, None), PermissionAnswer::Allow);
    }

    #[test]
    fn a_person_is_shown_all_of_it_and_nothing_that_cannot_be_seen() {
        let tail = format!("{}; rm -rf ~", "x".repeat(10_000));
        let mut asked = request(schema::ToolKind::Execute, Some("a\nfile: b"));
        asked.tool_call.fields.title = Some("run\u{202e}it\narguments: none".to_owned());
        asked.tool_call.fields.raw_input = Some(json!({ "command": tail, "credentials": "раypal" }));
        let shown = question("agent", &asked).unwrap().question.prompt;
        assert_eq!(
            shown,
            format!(
                "agent asks for your permission: run\\u{{202e}}it\\u{{a}}arguments: none\n\
                 Note: `раypal` mixes Latin and Cyrillic letters.\n\n\
                 kind: execute\nfile: a\\u{{a}}file: b\n\
                 arguments: {{\n  \"command\": \"{tail}\",\n  \"credentials\": \"раypal\"\n}}"
            )
        );
        asked.tool_call.fields.raw_input = Some(json!("x".repeat(70_000)));
        let refused = question("agent", &asked).unwrap_err();
        assert!(unshowable(refused).to_string().contains("too long to be shown"), "{refused}");
    }

    #[test]
    fn what_a_request_without_arguments_would_do_is_shown_as_well() {
        let mut asked = request(schema::ToolKind::Edit, None);
        asked.tool_call.fields.raw_input = None;
        asked.tool_call.fields.content = Some(vec![schema::Diff::new("a", "new text").into()]);
        let shown = question("agent", &asked).unwrap().question.prompt;
        assert!(shown.contains("new text"), "{shown}");
    }

    #[test]
    fn what_was_not_offered_is_a_no() {
        let request = request(schema::ToolKind::Edit, None);
        let option = |response: schema::RequestPermissionResponse| match response.outcome {
            RequestPermissionOutcome::Selected(selected) => selected.option_id.0.to_string(),
            _ => "cancelled".to_owned(),
        };
        assert_eq!(option(chosen(&request, Some("y"))), "y");
        assert_eq!(option(chosen(&request, Some("other"))), "n");
        assert_eq!(option(chosen(&request, None)), "n");
        assert_eq!(option(allowed(&request)), "y");
        let mute = RequestPermissionRequest::new("session", request.tool_call.clone(), Vec::new());
        assert_eq!((option(allowed(&mute)), option(denied(&mute))), ("cancelled".into(), "cancelled".into()));
    }

    #[test]
    fn the_same_tool_with_the_same_arguments_is_the_same_request() {
        let one = request(schema::ToolKind::Edit, Some("a"));
        let mut again = one.clone();
        again.tool_call.tool_call_id = "another call".into();
        assert_eq!(digest(&one), digest(&again));
        again.tool_call.fields.raw_input = Some(json!({"n": 2}));
        assert_ne!(digest(&one), digest(&again));
        assert_ne!(digest(&one), digest(&request(schema::ToolKind::Edit, Some("b"))));
        assert_ne!(digest(&one), digest(&request(schema::ToolKind::Delete, Some("a"))));
    }
}
