//! Chooses the engine of a run.

use super::check::{Check, Surroundings};
use crate::config::{EngineConfig, EngineKind, How};
use adjourn_api::nearest::hint;

/// The engine that was chosen.
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) config: EngineConfig,
    /// What the asker should know.
    pub(super) notice: Option<String>,
}

/// The message that none of these engines is installed, and what to do about it.
pub(crate) fn none_installed(names: &[&str], has_recording: bool) -> String {
    let replay = EngineKind::Replay.name();
    let agents: Vec<_> = names.iter().copied().filter(|name| *name != replay).collect();
    let install = (!agents.is_empty()).then(|| format!("install one of {}", agents.join(", ")));
    let play = has_recording.then(|| format!("ask for `engine: {replay}` to have a recording played"));
    let ways: Vec<_> = install.into_iter().chain(play).collect();
    format!("no engine is installed here that could do it: {}", ways.join(", or "))
}

impl Check<'_> {
    pub(super) fn engine(&mut self) -> Option<Chosen> {
        match &self.request.engine {
            Some(name) => self.named_engine(name),
            None => self.best_engine(),
        }
    }

    fn named_engine(&mut self, name: &str) -> Option<Chosen> {
        let Some(config) = self.known.config.engine(name) else {
            let hint = hint(name, self.known.config.engine_names());
            self.wrong("/engine", format!("there is no engine `{name}`{hint}"));
            return None;
        };
        // A recording is of this very skill, whatever made it.
        if let Some(skill) = self.known.skill.filter(|_| config.kind() != EngineKind::Replay)
            && !skill.allows_engine(name)
        {
            let instead = match skill.engines.as_slice() {
                [] => String::new(),
                engines => format!("; it runs on {}", engines.join(", ")),
            };
            self.wrong("/engine", format!("the skill `{}` does not run on `{name}`{instead}", skill.name));
            return None;
        }
        let notice = match (&config.how, self.known.skill) {
            (How::Replay { recording: None, .. }, Some(skill)) if skill.recording.is_none() => {
                let message = format!("`{name}` plays recordings, and the skill `{}` has none", skill.name);
                self.wrong("/engine", message);
                return None;
            }
            (How::Replay { .. }, _) => {
                Some(format!("`{name}` plays a recording, and no agent works on the request"))
            }
            (How::Acp { .. } | How::Exec { .. } | How::Reasoning(_), _) => None,
        };
        Some(Chosen { name: name.to_owned(), config, notice })
    }

    /// The first of the skill's engines that is installed here. A recording is never chosen: it answers another request.
    fn best_engine(&mut self) -> Option<Chosen> {
        let Surroundings { config, skill, is_installed, .. } = self.known;
        let names: Vec<&str> = match skill {
            Some(skill) if !skill.engines.is_empty() => skill.engines.iter().map(String::as_str).collect(),
            Some(_) | None => config.engine_names(),
        };
        let mut usable = names.iter().filter_map(|name| {
            let engine = config.engine(name).filter(|engine| engine.kind() != EngineKind::Replay)?;
            let allowed = skill.is_none_or(|skill| skill.allows_engine(name));
            (allowed && is_installed(name)).then(|| Chosen {
                name: (*name).to_owned(),
                config: engine,
                notice: None,
            })
        });
        if let Some(chosen) = usable.next() {
            return Some(chosen);
        }
        let has_recording = skill.is_some_and(|skill| skill.recording.is_some());
        self.wrong("/engine", none_installed(&names, has_recording));
        None
    }
}
