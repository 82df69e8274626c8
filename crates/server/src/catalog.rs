//! What there is to work with: skills, engines, machines and slots.

use std::collections::BTreeMap;

use adjourn_core::statechart::{Format, render};
use adjourn_core::{Chart, RunStatus};
use adjourn_runtime::Service;
use adjourn_runtime::skill::{Installed, Skill, installed};
use adjourn_store::RunFilter;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::pages::Page;
use crate::problem::Problem;
use crate::query::Parameters;
use crate::router::Server;

pub(crate) async fn skills(State(server): State<Server>) -> Result<Json<Page<Value>>, Problem> {
    let skills =
        server.blocking(|service| Ok(installed(&service.desk().config().skills).iter().map(skill).collect()));
    skills.await.map(Page::whole)
}

/// A skill that cannot be used is listed with its problem: somebody looks for it.
fn skill(found: &Installed) -> Value {
    match Skill::load(&found.dir) {
        Ok(skill) => json!({
            "name": found.name,
            "description": skill.description,
            "version": skill.version,
            "execution_modes": skill.modes,
            "engines": skill.engines,
            "unsupported_engines": skill.unsupported_engines,
            "max_attempt": skill.max_attempt,
            "tools": skill.tools,
            "schemas": {
                "input": skill.input.map(|schema| schema.document),
                "parameter": skill.parameter.map(|schema| schema.document),
                "output": skill.output.map(|schema| schema.document),
            },
        }),
        Err(problems) => json!({ "name": found.name, "problem": problems.to_string() }),
    }
}

pub(crate) async fn engines(State(server): State<Server>) -> Result<Json<Page<Value>>, Problem> {
    let engines = server.blocking(|service| {
        let desk = service.desk();
        let engine = |name: &str| {
            let kind = desk.config().engine(name).map(|engine| engine.kind().to_string());
            json!({ "name": name, "kind": kind, "installed": desk.is_installed(name) })
        };
        Ok(desk.config().engine_names().into_iter().map(engine).collect())
    });
    engines.await.map(Page::whole)
}

pub(crate) async fn statecharts() -> Json<Page<Chart>> {
    Page::whole(Chart::all())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drawn {
    format: Option<Format>,
}

pub(crate) async fn statechart(
    Path(name): Path<String>,
    Parameters(Drawn { format }): Parameters<Drawn>,
) -> Result<Response, Problem> {
    let chart = Chart::named(&name).ok_or_else(|| {
        let names: Vec<_> = Chart::all().iter().map(|chart| chart.name).collect();
        let detail = format!("there is no machine `{name}`, only {}", names.join(", "));
        Problem::new(StatusCode::NOT_FOUND, "UNKNOWN_MACHINE", detail)
    })?;
    let format = format.unwrap_or(Format::Json);
    let content_type = match format {
        Format::Json => "application/json",
        Format::Svg => "image/svg+xml",
        Format::Text | Format::Mermaid => "text/plain; charset=utf-8",
    };
    Ok(([(header::CONTENT_TYPE, content_type)], render(&chart, format)).into_response())
}

/// How many turns may go on at once, how many do, and how many runs wait for theirs.
pub(crate) async fn slots(State(server): State<Server>) -> Result<Json<Value>, Problem> {
    let slots = server.blocking(|service| {
        let limits = &service.desk().config().slots;
        let (running, queued) =
            (by_engine(service, RunStatus::Running)?, by_engine(service, RunStatus::Queued)?);
        Ok(json!({
            "total": limits.total,
            "queue_max": limits.queue_max,
            "engine": limits.engine,
            "running": { "total": running.values().sum::<usize>(), "engine": running },
            "queued": { "total": queued.values().sum::<usize>(), "engine": queued },
        }))
    });
    slots.await.map(Json)
}

/// Runs with a status that few have: those that run are as many as there are slots, those that are queued as many as
/// the queue takes.
fn by_engine(service: &Service, status: RunStatus) -> Result<BTreeMap<String, usize>, Problem> {
    let filter = RunFilter { status: Some(status), ..RunFilter::default() };
    let mut counts = BTreeMap::new();
    for row in service.store().runs(&filter, usize::MAX)? {
        *counts.entry(row.engine).or_default() += 1;
    }
    Ok(counts)
}
