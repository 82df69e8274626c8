//! Holds a request against everything that is known.

use adjourn_api::RunOptions;
use adjourn_api::read::pointer;
use adjourn_core::{
    ExecutionMode, FieldError, Profile, REPAIR_LIMIT_DEFAULT, RunSpec, SESSION_TIMEOUT_DEFAULT_SEC, Strict,
};
use serde_json::{Map, Value, json};

use super::engine::Chosen;
use super::{
    Checked, INPUT_BYTES_MAX, LABEL_NAME_BYTES_MAX, LABEL_VALUE_BYTES_MAX, LABELS_MAX, PROMPT_BYTES_MAX,
    RunRequest,
};
use crate::config::Config;
use crate::skill::{Skill, SkillSchema, Source};
use crate::workspace::{UPLOADS_MAX, Workspace, is_upload_name};

/// What a request is held against.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The skill that the request names.
    pub skill: Option<&'a Skill>,
    /// Whether an engine can be used here.
    pub is_installed: &'a dyn Fn(&str) -> bool,
    /// The workspace that the run will have.
    pub workspace: &'a Workspace,
}

impl RunRequest {
    /// What to create for this request, or everything that is wrong with it.
    pub fn check(self, known: Surroundings<'_>) -> Result<Checked, Vec<FieldError>> {
        let mut check = Check { request: &self, known, errors: Vec::new() };
        check.task();
        check.labels();
        check.files();
        let mode = check.mode();
        let engine = check.engine();
        let options = check.options();
        let profile = check.profile(options.interactive_profile, engine.as_ref());
        let input = check.input();
        let parameter = check.parameter();
        let prompt = check.prompt(engine.as_ref(), &input, &parameter);
        // Where there is no engine or no mode, there is an error that says why.
        let (true, Some(chosen), Some(mode)) = (check.errors.is_empty(), engine, mode) else {
            return Err(check.errors);
        };
        let Chosen { name, config, notice } = chosen;
        let spec = RunSpec {
            skill: known.skill.map(|skill| skill.name.clone()),
            prompt,
            resumes_by: config.kind().resumes_by(),
            profile,
            strict: options.strict().unwrap_or(Strict::On),
            session_timeout_sec: options.session_timeout_sec.unwrap_or(SESSION_TIMEOUT_DEFAULT_SEC),
            max_attempt: options.max_attempt,
            hard_timeout_sec: options.hard_timeout_sec,
            repair_limit: options.repair_limit.unwrap_or(REPAIR_LIMIT_DEFAULT),
            priority: options.priority.unwrap_or_default(),
            labels: self.labels,
            input,
            parameter,
            ..RunSpec::new(name, mode)
        };
        Ok(Checked { spec, uploads: self.files, continues: self.continues, notice })
    }
}

pub(super) struct Check<'a> {
    pub(super) request: &'a RunRequest,
    pub(super) known: Surroundings<'a>,
    pub(super) errors: Vec<FieldError>,
}

impl Check<'_> {
    pub(super) fn wrong(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.errors.push(FieldError::new(path, message));
    }

    fn task(&mut self) {
        let RunRequest { skill, prompt, continues, .. } = self.request;
        match (skill, prompt) {
            (Some(_), Some(_)) => {
                self.wrong("/prompt", "is for a run without a skill: leave out one of the two");
            }
            (None, None) if continues.is_none() => {
                self.wrong("", "there is nothing to do: give a `skill` or a `prompt`");
            }
            (None, None) => self.wrong("/prompt", "is missing: say what the continued run should do next"),
            (None, Some(prompt)) if prompt.trim().is_empty() => self.wrong("/prompt", "is empty"),
            (None, Some(prompt)) if prompt.len() > PROMPT_BYTES_MAX => {
                let message = format!("has {} bytes, at most {PROMPT_BYTES_MAX} are taken", prompt.len());
                self.wrong("/prompt", message);
            }
            (Some(_), None) | (None, Some(_)) => {}
        }
    }

    fn labels(&mut self) {
        let labels = &self.request.labels;
        if labels.len() > LABELS_MAX {
            self.wrong("/labels", format!("has {} labels, at most {LABELS_MAX} are taken", labels.len()));
        }
        for (name, value) in labels {
            if name.is_empty() || name.len() > LABEL_NAME_BYTES_MAX {
                let message = format!("a label's name has 1 to {LABEL_NAME_BYTES_MAX} bytes");
                self.wrong(pointer(&["labels", name]), message);
            }
            if value.len() > LABEL_VALUE_BYTES_MAX {
                let message = format!("a label's value has at most {LABEL_VALUE_BYTES_MAX} bytes");
                self.wrong(pointer(&["labels", name]), message);
            }
        }
    }

    fn files(&mut self) {
        let files = &self.request.files;
        if files.len() > UPLOADS_MAX {
            self.wrong("/files", format!("has {} files, at most {UPLOADS_MAX} are taken", files.len()));
        }
        for (index, file) in files.iter().enumerate() {
            let path = pointer(&["files", &file.name]);
            if !is_upload_name(&file.name) {
                self.wrong(path, "is not a plain name: no folders, no leading dot");
            } else if files[..index].iter().any(|other| other.name == file.name) {
                self.wrong(path, "is there twice");
            }
        }
    }

    fn mode(&mut self) -> Option<ExecutionMode> {
        let skill = self.known.skill;
        let Some(mode) = self.request.execution_mode else {
            return Some(skill.map_or(ExecutionMode::Interactive, Skill::default_mode));
        };
        let Some(skill) = skill.filter(|skill| !skill.modes.contains(&mode)) else { return Some(mode) };
        let message = format!("the skill `{}` runs only in mode `{}`", skill.name, skill.default_mode());
        self.wrong("/execution_mode", message);
        None
    }

    fn options(&mut self) -> RunOptions {
        let chosen = self.request.options.unwrap_or_default();
        let skill = self.known.skill;
        let limit = skill.and_then(|skill| skill.max_attempt);
        if let (Some(chosen), Some(limit)) = (chosen.max_attempt, limit)
            && chosen > limit
        {
            let message =
                format!("is {chosen}, but the skill allows at most {limit}: it can only be lowered");
            self.wrong("/options/max_attempt", message);
        }
        let mut options = chosen.or(skill.map_or_else(RunOptions::default, |skill| skill.options));
        options.max_attempt = [options.max_attempt, limit].into_iter().flatten().min();
        options
    }

    /// The profile of the run. Only a process that is told things while it lives can stay: that is what ACP is for.
    fn profile(&mut self, chosen: Option<Profile>, engine: Option<&Chosen>) -> Profile {
        let configured = engine.and_then(|engine| engine.config.profile);
        let profile = chosen.or(configured).unwrap_or(Profile::Resumable);
        let Some(Chosen { name, config, .. }) = engine else { return profile };
        if profile == Profile::StickyProcess && !config.kind().can_stay() {
            let path = if chosen.is_some() { "/options/interactive_profile" } else { "/engine" };
            let asked = self.request.options.and_then(|options| options.interactive_profile);
            let whose = match (asked, chosen) {
                (Some(_), _) => "",
                (None, Some(_)) => "the skill asks for it, but ",
                (None, None) => "its configuration asks for it, but ",
            };
            let all = self.known.config.engine_names().into_iter();
            let staying = all
                .filter(|name| self.known.config.engine(name).is_some_and(|engine| engine.kind().can_stay()));
            let staying: Vec<_> = staying.map(|name| format!("`{name}`")).collect();
            let here = match staying.as_slice() {
                [] => "none is configured".to_owned(),
                names => format!("here {}", names.join(", ")),
            };
            let message = format!(
                "{whose}`{profile}` needs a process that can stay while the run waits, and the engine `{name}` of kind \
                 `{}` has none. Use an engine of kind `acp` ({here}), or ask for `{}`",
                config.kind(),
                Profile::Resumable,
            );
            self.wrong(path, message);
        }
        profile
    }

    fn input(&mut self) -> Value {
        let schema = self.known.skill.and_then(|skill| skill.input.as_ref());
        let mut input = self.request.input.clone();
        if let Some(schema) = schema {
            self.file_inputs(schema, &mut input);
        }
        self.document("/input", &input, schema);
        input
    }

    fn parameter(&mut self) -> Value {
        let schema = self.known.skill.and_then(|skill| skill.parameter.as_ref());
        self.document("/parameter", &self.request.parameter, schema);
        self.request.parameter.clone()
    }

    /// A key whose value is a file may be left out if a file of its name comes with the request.
    fn file_inputs(&mut self, schema: &SkillSchema, input: &mut Value) {
        for (key, source) in schema.sources() {
            match source {
                Source::Inline | Source::Either => {}
                Source::File => match input.get(key) {
                    None | Some(Value::Null) => {
                        if self.is_upload(key) {
                            if input.is_null() {
                                *input = Value::Object(Map::new());
                            }
                            if let Some(members) = input.as_object_mut() {
                                members.insert(key.to_owned(), key.into());
                            }
                        }
                    }
                    Some(Value::String(name)) if self.is_upload(name) => {}
                    Some(_) => {
                        let message = "should be the name of a file that comes with the request";
                        self.wrong(pointer(&["input", key]), message);
                    }
                },
            }
        }
    }

    fn is_upload(&self, name: &str) -> bool {
        self.request.files.iter().any(|file| file.name == name)
    }

    fn document(&mut self, path: &str, document: &Value, schema: Option<&SkillSchema>) {
        let bytes = document.to_string().len();
        if bytes > INPUT_BYTES_MAX {
            return self
                .wrong(path, format!("has {bytes} bytes as JSON, at most {INPUT_BYTES_MAX} are taken"));
        }
        let Some(schema) = schema else { return };
        // Left out is as good as empty.
        let empty = Value::Object(Map::new());
        let document = if document.is_null() { &empty } else { document };
        if let Err(errors) = schema.schema.check(document) {
            let errors =
                errors.into_iter().map(|it| FieldError::new(format!("{path}{}", it.path), it.message));
            self.errors.extend(errors);
        }
    }

    /// What the agent is asked to do: the words of the request, or what the skill's template makes of it.
    fn prompt(&mut self, engine: Option<&Chosen>, input: &Value, parameter: &Value) -> Option<String> {
        let Some(skill) = self.known.skill else { return self.request.prompt.clone() };
        let template = skill.prompt(&engine?.name)?;
        let workspace = self.known.workspace;
        let values = json!({
            "input": self.with_paths(skill, input),
            "parameter": parameter,
            "run_dir": workspace.work.to_string_lossy(),
        });
        match template.render(&values) {
            Ok(prompt) => Some(prompt),
            Err(error) => {
                self.wrong(
                    "/skill",
                    format!("the prompt of the skill `{}` cannot be made: {error}", skill.name),
                );
                None
            }
        }
    }

    /// `input` with the path of each file in place of its name: that is what a template means.
    fn with_paths(&self, skill: &Skill, input: &Value) -> Value {
        let mut input = input.clone();
        let sources = skill.input.as_ref().map(SkillSchema::sources).unwrap_or_default();
        for (key, source) in sources {
            let is_file = match source {
                Source::Inline => false,
                Source::File | Source::Either => true,
            };
            let Some(value) = input.get_mut(key).filter(|_| is_file) else { continue };
            if let Some(name) = value.as_str().filter(|name| self.is_upload(name)) {
                let path = self.known.workspace.uploads.join(name);
                *value = self.known.workspace.shown(&path).to_string_lossy().into();
            }
        }
        input
    }
}
