//! The server as it describes itself: which codes a route answers with, and the document of all routes.

use std::collections::BTreeMap;

use adjourn_api::Code;
use axum::http::Method;
use utoipa::ToSchema;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::PathItem;
use utoipa::openapi::schema::{AllOfBuilder, ArrayItems, ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Response, ResponseBuilder, Schema,
};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::auth::guard::Door;
use crate::auth::roles::{Need, need};
use crate::problem::{CONTENT_TYPE, Document};
use crate::server::Server;

/// What any route may answer with.
const ANYWHERE: [Code; 10] = [
    Code::TokenMissing,
    Code::TokenUnknown,
    Code::RoleTooLow,
    Code::ForeignHost,
    Code::ForeignOrigin,
    Code::AgentRefused,
    Code::OtherUser,
    Code::PeerUnknown,
    Code::Internal,
    Code::JournalUnavailable,
];

/// What besides any route may answer with that changes something.
const WRITING: [Code; 1] = [Code::RateLimited];

/// The name of the security scheme.
const TOKEN_SCHEME: &str = "token";

const ABOUT_TOKENS: &str = "A token that `adjourn token` made. Its role is `read`, `reply` or `admin`, and each may do what those before it \
                            may. A server without `--tokens`, and the socket in the data directory, need no token: they look up the \
                            user of the calling process, and let in the user who started the server, who may do everything.";

const ABOUT: &str = "Runs agent work that has to stop and ask: runs, roundtables, their questions, and the stream of what happens. \
                     Errors are `application/problem+json` with a stable `code`.";

const TAGS: [(&str, &str); 7] = [
    ("runs", "Pieces of agent work: started, looked at, answered, canceled."),
    ("contracts", "What runs did to the world, or asked of people: followed, settled."),
    ("roundtables", "Discussions of several agents: opened, followed, answered, and what came out of them."),
    ("files", "What a run left behind."),
    ("inbox", "Everything that waits for a person."),
    ("catalog", "What there is to work with."),
    ("health", "Whether the server is there, and whether it can work."),
];

/// The document before it has any routes.
pub(crate) fn document() -> OpenApi {
    let license = env!("CARGO_PKG_LICENSE");
    let info = InfoBuilder::new()
        .title("Adjourn")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(LicenseBuilder::new().name(license).identifier(Some(license)).build()));
    // Relative, because only a proxy in front of the server knows the name that clients use.
    let server = ServerBuilder::new().url("/").description(Some("The server that this document comes from."));
    let tag = |(name, about): (&str, &str)| TagBuilder::new().name(name).description(Some(about)).build();
    OpenApiBuilder::new().info(info.build()).servers(Some([server.build()])).tags(Some(TAGS.map(tag))).build()
}

/// The document with all its routes, for clients that come by `door`. A path parameter that takes the rest of an
/// address is written like any other.
pub(crate) fn finished(mut document: OpenApi, door: &Door) -> OpenApi {
    require_roles(&mut document, door);
    refer_to_listed_types(&mut document);
    let paths = std::mem::take(&mut document.paths.paths);
    document.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    document
}

/// Adds the security requirement to each operation, from the table that the guard reads.
///
/// The requirement names the role, which OpenAPI 3.1 has a place for. Without `--tokens` a token is optional: a client
/// made from the document of a local server works with one that asks for tokens, too.
fn require_roles(document: &mut OpenApi, door: &Door) {
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(ABOUT_TOKENS)).build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(TOKEN_SCHEME, SecurityScheme::Http(scheme));
    for (path, item) in &mut document.paths.paths {
        let PathItem { get, put, post, delete, patch, .. } = item;
        let operations = [
            (Method::GET, get),
            (Method::PUT, put),
            (Method::POST, post),
            (Method::DELETE, delete),
            (Method::PATCH, patch),
        ];
        for (method, operation) in operations {
            let Some(operation) = operation else { continue };
            operation.security = Some(match need(&method, Some(path)) {
                Need::Nothing => Vec::new(),
                Need::Role(role) => {
                    let sentence = format!("Needs the role `{role}`.");
                    let described = operation.description.take().filter(|text| !text.is_empty());
                    operation.description =
                        Some(described.map_or(sentence.clone(), |text| format!("{text}\n\n{sentence}")));
                    let token = SecurityRequirement::new(TOKEN_SCHEME, [role.name()]);
                    match door {
                        Door::Tokens(_) => vec![token],
                        Door::Loopback { .. } | Door::Socket => vec![SecurityRequirement::default(), token],
                    }
                }
            });
        }
    }
}

/// Lets each page refer to the type that it lists. The derived schema of a generic type has a copy of it instead, and
/// the type itself is never used.
fn refer_to_listed_types(document: &mut OpenApi) {
    let schemas = document.components.get_or_insert_default().schemas.iter_mut();
    for (name, schema) in schemas {
        let (Some(listed), RefOr::T(Schema::Object(page))) = (name.strip_prefix("Page_"), schema) else {
            continue;
        };
        if let Some(RefOr::T(Schema::Array(items))) = page.properties.get_mut("items") {
            items.items = ArrayItems::RefOrSchema(Box::new(Ref::from_schema_name(listed).into()));
        }
    }
}

/// A route that says how it refuses.
pub(crate) trait Refuses {
    /// Describes the answers with these codes, and with those that any route may answer with.
    fn refuses(self, codes: &[Code]) -> Self;
}

impl Refuses for UtoipaMethodRouter<Server> {
    fn refuses(self, codes: &[Code]) -> Self {
        let (mut schemas, mut paths, router) = self;
        schemas.push((Document::name().into_owned(), <Document as utoipa::PartialSchema>::schema()));
        Document::schemas(&mut schemas);
        for item in paths.paths.values_mut() {
            let PathItem { get, put, post, delete, patch, .. } = item;
            let reading = get.iter_mut().map(|operation| (operation, &[][..]));
            let writing = [put, post, delete, patch].into_iter().flatten();
            for (operation, more) in reading.chain(writing.map(|operation| (operation, &WRITING[..]))) {
                operation.responses.responses.extend(answers(codes, more));
            }
        }
        (schemas, paths, router)
    }
}

/// The answers with `codes`, with `more`, and with those of any route, by status.
fn answers(codes: &[Code], more: &[Code]) -> impl Iterator<Item = (String, RefOr<Response>)> {
    let mut by_status = BTreeMap::<u16, Vec<Code>>::new();
    for code in codes.iter().chain(more).copied().chain(ANYWHERE) {
        by_status.entry(code.status()).or_default().push(code);
    }
    by_status.into_iter().map(|(status, codes)| (status.to_string(), answer(&codes)))
}

/// A problem with one of these codes, which have the same status.
fn answer(codes: &[Code]) -> RefOr<Response> {
    let meanings: Vec<_> = codes.iter().map(|code| format!("- `{code}`: {}", code.doc())).collect();
    let names: Vec<_> = codes.iter().map(|code| code.name()).collect();
    let code = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
    let schema: RefOr<Schema> = AllOfBuilder::new()
        .item(Ref::from_schema_name(Document::name()))
        .item(ObjectBuilder::new().property("code", code))
        .into();
    let content = ContentBuilder::new().schema(Some(schema)).build();
    ResponseBuilder::new().description(meanings.join("\n")).content(CONTENT_TYPE, content).build().into()
}
