//! The caller of a request, and the check that its role is enough for the route.

use adjourn_api::Code;
use adjourn_core::{By, ByKind, Via};
use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::auth::roles::{Need, need};
use crate::auth::tokens::{Holder, Role, Tokens};
use crate::auth::user_name::user_name;
use crate::problem::Problem;

/// Who a request comes from. Every request carries it as an extension, and every handler may take it as a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Caller {
    /// A user of this machine, as the kernel names them.
    User {
        /// The number of the user; none where the system does not say, and everybody was let in.
        uid: Option<u32>,
    },
    /// The holder of a token.
    Token {
        /// The name of the token.
        name: String,
        /// What it is good for.
        role: Role,
    },
}

impl Caller {
    /// Who did what this caller asks for.
    pub(crate) fn by(self) -> By {
        match self {
            Self::User { uid } => By { name: uid.map(user_name), via: Some(Via::Socket), ..By::USER },
            Self::Token { name, .. } => By { kind: ByKind::User, name: Some(name), via: Some(Via::Token) },
        }
    }

    /// Whether this caller may do what takes the role `needed`, where its route does not say everything.
    pub(crate) fn check(&self, needed: Role) -> Result<(), Problem> {
        match self {
            Self::User { .. } => Ok(()),
            Self::Token { name, role } => check(name, *role, needed),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get().cloned();
        caller.ok_or_else(|| Problem::internal("the request came in by no door"))
    }
}

/// Whose token a request carries, if that is enough for its route; none for a route that asks nobody.
pub(crate) fn admit(tokens: &Tokens, request: &Request) -> Result<Option<Holder>, Problem> {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let role = match need(request.method(), route) {
        Need::Nothing => return Ok(None),
        Need::Role(role) => role,
    };
    let secret = secret(request.headers())?;
    let Some(holder) = tokens.holder(secret) else {
        let detail = "this is no token of this server, or not any more";
        return Err(Problem::new(Code::TokenUnknown, detail)
            .challenge("Bearer realm=\"adjourn\", error=\"invalid_token\""));
    };
    check(&holder.name, holder.role, role)?;
    Ok(Some(holder))
}

/// Whether a token with this name and this role is enough for what takes the role `needed`.
fn check(name: &str, role: Role, needed: Role) -> Result<(), Problem> {
    if role >= needed {
        return Ok(());
    }
    let detail = format!("the token `{name}` has the role `{role}`, and this takes `{needed}`");
    Err(Problem::new(Code::RoleTooLow, detail)
        .challenge("Bearer realm=\"adjourn\", error=\"insufficient_scope\""))
}

fn secret(headers: &HeaderMap) -> Result<&str, Problem> {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = given.and_then(|given| given.split_once(' '));
    match bearer {
        Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => Ok(secret.trim()),
        Some(_) | None => {
            let detail =
                "a token is needed here, as `Authorization: Bearer adj_…`; `adjourn token` makes one";
            Err(Problem::new(Code::TokenMissing, detail).challenge("Bearer realm=\"adjourn\""))
        }
    }
}
