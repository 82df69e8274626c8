//! Routes that an agent may call on the server that runs it: those that read its own run.

use adjourn_core::RunId;
use axum::http::Method;

use super::roles::{Need, need};

/// The routes that show one run.
const OF_A_RUN: &[&str] = &[
    "/v1/runs/{id}",
    "/v1/runs/{id}/result",
    "/v1/runs/{id}/interactions",
    "/v1/runs/{id}/contracts",
    "/v1/runs/{id}/trace",
    "/v1/runs/{id}/graph",
    "/v1/runs/{id}/files",
    "/v1/runs/{id}/files/{*path}",
    "/v1/runs/{id}/attempts/{n}/log",
    "/v1/runs/{id}/events",
];

/// Whether the agent of `run_id` may have this: a look at its own run, or what is open to everybody.
pub(crate) fn agent_may(run_id: RunId, method: &Method, route: Option<&str>, path: &str) -> bool {
    if need(method, route) == Need::Nothing {
        return true;
    }
    let is_read = method == Method::GET || method == Method::HEAD;
    let names_its_run = path.split('/').nth(3) == Some(run_id.to_string().as_str());
    is_read && names_its_run && route.is_some_and(|route| OF_A_RUN.contains(&route))
}

#[cfg(test)]
mod tests {
    use adjourn_core::RunId;
    use axum::http::Method;

    use super::{OF_A_RUN, agent_may};
    use crate::router::documented;

    #[test]
    fn an_agent_may_read_its_own_run_and_nothing_else_that_there_is() {
        let (own, other) = (RunId::from_bits(1), RunId::from_bits(2));
        let (_, document) = documented().split_for_parts();
        for route in document.paths.paths.keys() {
            let fill = |run: RunId| route.replace("{id}", &run.to_string());
            for method in [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE] {
                let is_read = method == Method::GET || method == Method::HEAD;
                let is_open = is_read && ["/healthz", "/readyz"].contains(&route.as_str());
                let is_own = is_read && OF_A_RUN.contains(&route.as_str());
                assert_eq!(
                    agent_may(own, &method, Some(route), &fill(own)),
                    is_open || is_own,
                    "{method} {route}"
                );
                assert_eq!(agent_may(own, &method, Some(route), &fill(other)), is_open, "{method} {route}");
            }
        }
    }
}
