//! The server as it describes itself: which codes a route answers with, and the document of all routes.

use std::collections::BTreeMap;

use adjourn_api::Code;
use axum::http::Method;
use utoipa::ToSchema;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::PathItem;
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
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

/// What the document calls a token.
const TOKEN_SCHEME: &str = "token";

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
    let info = InfoBuilder::new()
        .title("Adjourn")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(LicenseBuilder::new().name(env!("CARGO_PKG_LICENSE")).build()));
    let tag = |(name, about): (&str, &str)| TagBuilder::new().name(name).description(Some(about)).build();
    OpenApiBuilder::new().info(info.build()).tags(Some(TAGS.map(tag))).build()
}

/// The document with all its routes, for those who come by `door`. In it, a name that takes the rest of an address is
/// written like any other.
pub(crate) fn finished(mut document: OpenApi, door: &Door) -> OpenApi {
    match door {
        Door::Tokens(_) => ask_for_tokens(&mut document),
        Door::Loopback { .. } | Door::Socket => {}
    }
    let paths = std::mem::take(&mut document.paths.paths);
    document.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    document
}

/// Says of each route that needs a token that it does.
fn ask_for_tokens(document: &mut OpenApi) {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token that `adjourn token` made."))
        .build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(TOKEN_SCHEME, SecurityScheme::Http(scheme));
    for (path, item) in &mut document.paths.paths {
        let PathItem { get, post, .. } = item;
        let operations = [(Method::GET, get), (Method::POST, post)];
        for (method, operation) in operations {
            if let (Need::Role(_), Some(operation)) = (need(&method, Some(path)), operation) {
                let token = SecurityRequirement::new(TOKEN_SCHEME, [""; 0]);
                operation.security = Some(vec![token]);
            }
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
