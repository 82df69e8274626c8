//! Which tools a server has.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use adjourn_core::{FieldError, Schema, ToolDigest, check_depth};
use rmcp::model::PaginatedRequestParams;
use rmcp::service::ServiceError;
use rmcp::{Peer, RoleClient};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::error::ToolError;
use super::limits::{
    ARGUMENTS_BYTES_MAX, DESCRIPTION_BYTES_MAX, NAME_BYTES_MAX, PAGES_MAX, SCHEMA_BYTES_MAX, TOOLS_MAX,
    shortened,
};
use super::policy::Hints;

/// Steps of one check of arguments, which is made while others wait: about 10 ms. Arguments are far smaller than results.
const CHECK_STEPS_MAX: u64 = 200_000;

/// A tool of a server.
#[derive(Debug, Clone)]
pub struct Tool {
    /// What it is called by.
    pub name: String,
    /// What it does, for a model; cut off if it is too long.
    pub description: String,
    /// A JSON schema of what it takes.
    pub input_schema: Value,
    /// What the server says about its calls.
    pub hints: Hints,
    /// The digest of all that the server says of it: name, title, description, schemas and annotations, none of it cut.
    pub digest: ToolDigest,
    /// None if the schema cannot be used. Then the server alone says what is wrong with arguments.
    schema: Option<Schema>,
}

impl Tool {
    /// Whether it takes these arguments, as far as its schema says it.
    pub fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        let wrong = |errors| ToolError::Arguments { tool: self.name.clone(), errors };
        let bytes = arguments.to_string().len();
        if bytes > ARGUMENTS_BYTES_MAX {
            return Err(ToolError::ArgumentsTooLong { tool: self.name.clone(), bytes });
        }
        if let Err(too_big) = check_depth(arguments) {
            return Err(wrong(vec![FieldError::new("", too_big.to_string())]));
        }
        if !arguments.is_object() {
            return Err(wrong(vec![FieldError::new("", "is not a JSON object")]));
        }
        let check = |schema: &Schema| schema.check_within(arguments, CHECK_STEPS_MAX);
        self.schema.as_ref().map_or(Ok(()), check).map_err(wrong)
    }

    pub(super) fn of(tool: rmcp::model::Tool) -> Result<Self, String> {
        let digest = ToolDigest::of(&json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations,
        }));
        let name = tool.name.into_owned();
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            let name = shortened(&name, NAME_BYTES_MAX);
            return Err(format!("the name `{name}` of a tool should have 1 to {NAME_BYTES_MAX} bytes"));
        }
        let input_schema = Value::Object((*tool.input_schema).clone());
        check_depth(&input_schema)
            .map_err(|too_big| format!("the schema of `{name}` cannot be used: {too_big}"))?;
        let bytes = input_schema.to_string().len();
        if bytes > SCHEMA_BYTES_MAX {
            return Err(format!(
                "the schema of `{name}` has {bytes} bytes, at most {SCHEMA_BYTES_MAX} are read"
            ));
        }
        let said = tool.annotations.unwrap_or_default();
        Ok(Self {
            name,
            description: shortened(tool.description.as_deref().unwrap_or_default(), DESCRIPTION_BYTES_MAX),
            schema: Schema::compile(&input_schema).ok(),
            input_schema,
            digest,
            hints: Hints {
                read_only: said.read_only_hint,
                destructive: said.destructive_hint,
                idempotent: said.idempotent_hint,
            },
        })
    }
}

/// Whether a list of tools is still right.
#[derive(Debug)]
pub(super) struct Changes {
    count: AtomicU64,
    /// The server tells when its list changes, or says that it never does.
    are_told: AtomicBool,
}

impl Changes {
    pub(super) fn new() -> Self {
        Self { count: AtomicU64::new(0), are_told: AtomicBool::new(true) }
    }

    /// The list has changed.
    pub(super) fn note(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    /// From now on the list may change without a word.
    pub(super) fn are_no_longer_told(&self) {
        self.are_told.store(false, Ordering::SeqCst);
    }
}

/// Tools by name.
pub(super) type Tools = Arc<BTreeMap<String, Tool>>;

/// The tools of one connection: asked for once, and again when they change.
#[derive(Debug)]
pub(super) struct Catalogue {
    changes: Arc<Changes>,
    /// The list, and how many changes it knows of.
    known: Mutex<Option<(u64, Tools)>>,
}

impl Catalogue {
    pub(super) fn new(changes: Arc<Changes>) -> Self {
        Self { changes, known: Mutex::new(None) }
    }

    /// All tools by name. A problem is what is wrong with the server's list.
    pub(super) async fn tools(&self, peer: &Peer<RoleClient>) -> Result<Tools, String> {
        let mut known = self.known.lock().await;
        // Before the list is asked for: a change that comes meanwhile may or may not be in it.
        let changes = self.changes.count.load(Ordering::SeqCst);
        match &*known {
            Some((at, tools)) if *at == changes && self.changes.are_told.load(Ordering::SeqCst) => {
                Ok(Arc::clone(tools))
            }
            _ => {
                let tools = Arc::new(fetch(peer).await?);
                *known = Some((changes, Arc::clone(&tools)));
                Ok(tools)
            }
        }
    }
}

async fn fetch(peer: &Peer<RoleClient>) -> Result<BTreeMap<String, Tool>, String> {
    let mut tools = BTreeMap::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let page = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let page = peer.list_tools(page).await.map_err(|error| problem(&error))?;
        let next_cursor = page.next_cursor.clone();
        // Compiling the schemas of a hundred tools takes longer than others should wait for.
        let read = tokio::task::spawn_blocking(move || {
            page.tools.into_iter().map(Tool::of).collect::<Result<Vec<_>, _>>()
        });
        let read = read.await.map_err(|_| "reading its list of tools stopped halfway".to_owned())??;
        tools.extend(read.into_iter().map(|tool| (tool.name.clone(), tool)));
        if tools.len() > TOOLS_MAX {
            return Err(format!("it has more than {TOOLS_MAX} tools"));
        }
        cursor = next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    Err(format!("its list of tools has no end: {PAGES_MAX} pages were read"))
}

fn problem(error: &ServiceError) -> String {
    format!("it does not list its tools: {error}")
}

#[cfg(test)]
mod tests {
    use adjourn_core::FieldError;
    use serde_json::{Value, json};

    use super::{ARGUMENTS_BYTES_MAX, DESCRIPTION_BYTES_MAX, SCHEMA_BYTES_MAX, Tool};
    use crate::tools::{Hints, ToolError};

    fn tool(tool: Value) -> Result<Tool, String> {
        Tool::of(serde_json::from_value(tool).unwrap())
    }

    #[test]
    fn arguments_are_checked_and_everything_wrong_is_said_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}, "to": {"type": "string"}},
            "required": ["to"],
        });
        let tool = tool(json!({"name": "send", "inputSchema": schema})).unwrap();
        assert_eq!(tool.check(&json!({"to": "a", "n": 1})), Ok(()));
        let Err(ToolError::Arguments { mut errors, .. }) = tool.check(&json!({"n": "x"})) else { panic!() };
        errors.sort_by(|a, b| a.path.cmp(&b.path));
        let expected = [
            FieldError::new("", "\"to\" is a required property"),
            FieldError::new("/n", "value is not of type \"integer\""),
        ];
        assert_eq!(errors, expected);
        let broken = tool.check(&json!("{\"to\": ")).unwrap_err();
        assert_eq!(broken.to_string(), "`send` does not take these arguments: is not a JSON object");
        let long = tool.check(&json!({"to": "x".repeat(ARGUMENTS_BYTES_MAX)})).unwrap_err();
        assert!(matches!(long, ToolError::ArgumentsTooLong { .. }), "{long}");
    }

    #[test]
    fn a_schema_that_cannot_be_used_leaves_the_check_to_the_server() {
        let elsewhere = json!({"name": "f", "inputSchema": {"$ref": "https://example.com/schema.json"}});
        assert_eq!(tool(elsewhere).unwrap().check(&json!({"anything": 1})), Ok(()));
    }

    #[test]
    fn a_schema_that_is_too_costly_is_never_evaluated() {
        let mut defs: serde_json::Map<_, _> = (0..60)
            .map(|n| {
                let next = json!({ "$ref": format!("#/$defs/a{}", n + 1) });
                (format!("a{n}"), json!({ "allOf": [next, next] }))
            })
            .collect();
        defs.insert("a60".to_owned(), json!({ "type": "string" }));
        let bomb = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a0"}}, "$defs": defs});
        let tool = tool(json!({"name": "f", "inputSchema": bomb})).unwrap();
        assert_eq!(tool.check(&json!({"a": 1})), Ok(()), "the server says what is wrong with it");
        let deep = (0..65).fold(json!(1), |inner, _| json!([inner]));
        let refused = tool.check(&json!({ "a": deep })).unwrap_err().to_string();
        assert!(refused.contains("66 levels deep, at most 64 are allowed"), "{refused}");
    }

    #[test]
    fn every_part_of_a_definition_is_in_its_digest() {
        let plain = json!({"name": "f", "description": "d", "inputSchema": {"type": "object"}});
        let digest = |definition: Value| tool(definition).unwrap().digest;
        assert_eq!(digest(plain.clone()), digest(plain.clone()));
        let changes = [
            ("name", json!("g")),
            ("title", json!("F")),
            ("description", json!("d, and tells nobody")),
            ("description", json!(format!("{}!", "d".repeat(2 * DESCRIPTION_BYTES_MAX)))),
            ("description", json!(format!("{}?", "d".repeat(2 * DESCRIPTION_BYTES_MAX)))),
            ("inputSchema", json!({"type": "object", "properties": {"to": {}}})),
            ("outputSchema", json!({"type": "object"})),
            ("annotations", json!({"readOnlyHint": true})),
        ];
        let mut digests = vec![digest(plain.clone())];
        for (key, value) in changes {
            let mut changed = plain.clone();
            changed[key] = value;
            digests.push(digest(changed));
        }
        let all = digests.len();
        digests.sort();
        digests.dedup();
        assert_eq!(
            digests.len(),
            all,
            "each change is seen, also behind what is shown of a long description"
        );
    }

    #[test]
    fn a_tool_has_bounds_and_keeps_what_is_said_of_it() {
        let said = json!({
            "name": "f",
            "description": "x".repeat(2 * DESCRIPTION_BYTES_MAX),
            "inputSchema": {},
            "annotations": {"readOnlyHint": true, "idempotentHint": false},
        });
        let read = tool(said).unwrap();
        assert!(read.description.len() < DESCRIPTION_BYTES_MAX + 4 && read.description.ends_with('…'));
        assert_eq!(read.hints, Hints { read_only: Some(true), destructive: None, idempotent: Some(false) });
        assert!(tool(json!({"name": "", "inputSchema": {}})).is_err());
        let long = json!({"name": "f", "inputSchema": {"description": "x".repeat(SCHEMA_BYTES_MAX)}});
        assert!(tool(long).is_err());
    }
}
