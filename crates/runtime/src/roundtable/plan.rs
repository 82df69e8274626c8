//! Which roundtable a request comes to here: with the roles, workflows and engines that there are.

use adjourn_core::FieldError;
use adjourn_core::roundtable::RoundtableSpec;

use super::library::Library;
use super::recorded;
use super::request::RoundtableRequest;
use crate::config::{EngineKind, How};
use crate::request::none_installed;
use crate::service::ServiceError;
use crate::turn_setup::TurnSetup;
use adjourn_api::nearest::hint;

/// The engine of a seat where none was named and none is installed. No engine has an empty name.
const NOBODY: &str = "";

impl TurnSetup {
    /// The roundtable that a request comes to, and what the asker should know; or everything that is wrong with it.
    pub fn plan_roundtable(
        &self,
        request: &RoundtableRequest,
    ) -> Result<(RoundtableSpec, Option<String>), ServiceError> {
        let engine = self.roundtable_engine(request)?;
        let none = none_installed(&self.config().engine_names(), true);
        let is_engine = |name: &str| if name == NOBODY { Err(none.clone()) } else { self.usable(name) };
        let spec = request.spec(&self.library(), engine.as_deref().unwrap_or(NOBODY), &is_engine);
        let spec = spec.map_err(|errors| no_engine_or_invalid(errors, &none))?;
        let seats = std::iter::once(&spec.facilitator).chain(&spec.participants);
        if seats.map(|seat| &seat.engine).any(|engine| self.plays_what_is_built_in(engine)) {
            recorded::fits(&spec).map_err(|problem| invalid("/engine", problem))?;
            let about = format!("a recorded roundtable is played, whose subject is: {}", recorded::SUBJECT);
            return Ok((spec, Some(about)));
        }
        Ok((spec, None))
    }

    /// The roles and workflows that there are.
    pub(super) fn library(&self) -> Library {
        Library::new(&self.config().roles)
    }

    /// The engine of everybody who has none of their own: the one that was named, else the first that is installed. None
    /// where there is none: a recording is of another subject, so it is only played where it was asked for.
    fn roundtable_engine(&self, request: &RoundtableRequest) -> Result<Option<String>, ServiceError> {
        if let Some(engine) = &request.roundtable.engine {
            self.usable(engine).map_err(|problem| invalid("/engine", problem))?;
            return Ok(Some(engine.clone()));
        }
        let config = self.config();
        let is_agent = |name: &&str| {
            config.engine(name).is_some_and(|engine| engine.kind() != EngineKind::Replay)
                && self.is_installed(name, None)
        };
        Ok(config.engine_names().into_iter().find(is_agent).map(str::to_owned))
    }

    /// Whether an engine plays the recording of a skill, and so, at a roundtable, the one that is built in.
    fn plays_what_is_built_in(&self, engine: &str) -> bool {
        let how = self.config().engine(engine).map(|engine| engine.how);
        matches!(how, Some(How::Replay { recording: None, .. }))
    }

    /// Whether there is such an engine; else which there are.
    fn usable(&self, name: &str) -> Result<(), String> {
        let config = self.config();
        match config.engine(name) {
            Some(_) => Ok(()),
            None => Err(format!("there is no engine `{name}`{}", hint(name, config.engine_names()))),
        }
    }
}

/// The refusal of a roundtable. That somebody lacks an engine, which `none` says, is said once, however many do.
fn no_engine_or_invalid(mut errors: Vec<FieldError>, none: &str) -> ServiceError {
    let count = errors.len();
    errors.retain(|error| error.message != none);
    if errors.len() == count {
        return ServiceError::Invalid(errors);
    }
    errors.insert(0, FieldError::new("/engine", none));
    ServiceError::NoEngine(errors)
}

fn invalid(path: &str, message: String) -> ServiceError {
    ServiceError::Invalid(vec![FieldError::new(path, message)])
}
