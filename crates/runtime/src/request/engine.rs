//! Chooses the engine of a run.

use super::check::{Check, Surroundings};
use crate::config::{EngineConfig, EngineKind};
use crate::nearest::hint;

/// The engine that was chosen.
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) config: EngineConfig,
    /// What the asker should know.
    pub(super) notice: Option<String>,
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
        Some(Chosen { name: name.to_owned(), config, notice: None })
    }

    /// The first of the skill's engines that is installed here, else its recording.
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
        let replay = EngineKind::Replay.name();
        if let Some(skill) = skill.filter(|skill| skill.recording.is_some()) {
            let notice =
                format!("no engine of the skill `{}` is installed here: its recording is played", skill.name);
            let config = EngineConfig::built_in(replay)?;
            return Some(Chosen { name: replay.to_owned(), config, notice: Some(notice) });
        }
        let names: Vec<_> = names.into_iter().filter(|name| *name != replay).collect();
        self.wrong("/engine", format!("no engine is installed here that could do it: {}", names.join(", ")));
        None
    }
}
