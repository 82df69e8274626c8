//! Roles: a table of the role that each route needs.

use axum::http::Method;

use crate::auth::tokens::Role;

/// What a route asks of whoever comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing: machines look there that know no secret.
    Nothing,
    /// A token with this role, or a higher one.
    Role(Role),
}

const OPEN: Need = Need::Nothing;
const READ: Need = Need::Role(Role::Read);
const REPLY: Need = Need::Role(Role::Reply);
const ADMIN: Need = Need::Role(Role::Admin);

/// What each route needs. One that is not here, or that gets another method, is for `admin`.
const NEEDS: &[(&str, &str, Need)] = &[
    ("GET", "/healthz", OPEN),
    ("GET", "/readyz", OPEN),
    ("GET", "/metrics", READ),
    ("GET", "/openapi.json", READ),
    ("GET", "/docs", READ),
    ("GET", "/docs/scalar.js", READ),
    ("GET", "/v1/runs", READ),
    ("POST", "/v1/runs", ADMIN),
    ("GET", "/v1/runs/{id}", READ),
    ("GET", "/v1/runs/{id}/result", READ),
    ("GET", "/v1/runs/{id}/interactions", READ),
    ("GET", "/v1/runs/{id}/contracts", READ),
    ("GET", "/v1/runs/{id}/trace", READ),
    ("GET", "/v1/runs/{id}/graph", READ),
    ("GET", "/v1/runs/{id}/files", READ),
    ("GET", "/v1/runs/{id}/files/{*path}", READ),
    ("GET", "/v1/runs/{id}/attempts/{n}/log", READ),
    ("GET", "/v1/runs/{id}/events", READ),
    ("POST", "/v1/runs/{id}/reply", REPLY),
    ("GET", "/v1/contracts/{execution_id}", READ),
    // The same as answering the question that a crash in doubt leaves.
    ("POST", "/v1/contracts/{execution_id}/settle", REPLY),
    ("POST", "/v1/contracts/{execution_id}/reply", REPLY),
    // The same as saying no to it; a run is only canceled by `admin`.
    ("POST", "/v1/contracts/{execution_id}/cancel", REPLY),
    ("POST", "/v1/runs/{id}/cancel", ADMIN),
    ("POST", "/v1/runs/{id}/rerun", ADMIN),
    ("GET", "/v1/roundtables", READ),
    ("POST", "/v1/roundtables", ADMIN),
    ("GET", "/v1/roundtables/{id}", READ),
    ("GET", "/v1/roundtables/{id}/events", READ),
    ("POST", "/v1/roundtables/{id}/reply", REPLY),
    // Whoever wants a say gets a question, which is theirs to answer.
    ("POST", "/v1/roundtables/{id}/escalate", REPLY),
    ("POST", "/v1/roundtables/{id}/close", ADMIN),
    ("GET", "/v1/roundtables/{id}/artifacts", READ),
    ("GET", "/v1/roundtables/{id}/artifacts/{artifact}", READ),
    ("POST", "/v1/roundtables/{id}/artifacts/{artifact}", REPLY),
    ("GET", "/v1/roundtables/{id}/export", READ),
    ("GET", "/v1/events", READ),
    ("GET", "/v1/inbox", READ),
    ("GET", "/v1/skills", READ),
    ("GET", "/v1/skills/{name}", READ),
    ("GET", "/v1/engines", READ),
    ("GET", "/v1/statecharts", READ),
    ("GET", "/v1/statecharts/{name}", READ),
    ("GET", "/v1/slots", READ),
    // Each tool says for itself what it takes.
    ("POST", "/mcp", READ),
    ("POST", "/v1/jobs", ADMIN),
    ("GET", "/v1/jobs/{id}", READ),
    ("GET", "/v1/jobs/{id}/result", READ),
    ("GET", "/v1/jobs/{id}/events", READ),
    ("GET", "/v1/jobs/{id}/events/history", READ),
    ("GET", "/v1/jobs/{id}/interaction/pending", READ),
    ("POST", "/v1/jobs/{id}/interaction/reply", REPLY),
    ("POST", "/v1/jobs/{id}/cancel", ADMIN),
    ("GET", "/v1/system/ping", OPEN),
];

/// What a request for `route` needs; none where nothing is there, which whoever may look is told.
pub(crate) fn need(method: &Method, route: Option<&str>) -> Need {
    let Some(route) = route else { return READ };
    // A head is what a get would answer with.
    let method = if method == Method::HEAD { Method::GET } else { method.clone() };
    let found = NEEDS.iter().find(|(other, path, _)| *path == route && *other == method.as_str());
    found.map_or(ADMIN, |(.., need)| *need)
}

#[cfg(test)]
mod tests {
    use axum::http::Method;

    use super::{ADMIN, NEEDS, OPEN, READ, need};
    use crate::router::documented;

    #[test]
    fn every_route_is_in_the_table() {
        let (_, document) = documented().split_for_parts();
        assert!(document.paths.paths.len() > 15, "{:?}", document.paths.paths.keys());
        for (path, item) in &document.paths.paths {
            let methods =
                [("GET", &item.get), ("POST", &item.post), ("PUT", &item.put), ("DELETE", &item.delete)];
            for (method, _) in methods.into_iter().filter(|(_, operation)| operation.is_some()) {
                let found = NEEDS.iter().any(|(other, route, _)| (*other, *route) == (method, path));
                assert!(found, "{method} {path} is for `admin` because nobody said otherwise");
            }
        }
    }

    #[test]
    fn what_nobody_decided_is_for_admin_and_no_route_that_writes_is_for_readers() {
        assert_eq!(need(&Method::GET, Some("/v1/new")), ADMIN);
        assert_eq!(need(&Method::DELETE, Some("/v1/runs/{id}")), ADMIN);
        assert_eq!(need(&Method::HEAD, Some("/v1/runs")), READ);
        assert_eq!(need(&Method::GET, None), READ);
        for (method, path, need) in NEEDS.iter().filter(|(_, path, _)| *path != "/mcp") {
            let is_read = *need == READ || *need == OPEN;
            assert_eq!(is_read, *method == "GET", "{method} {path}");
        }
    }
}
