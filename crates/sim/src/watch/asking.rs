//! An agent's question follows the rules that its run was asked for with, however it is asked.

use std::collections::BTreeMap;

use adjourn_core::{Event, ExecutionMode, Run, RunId, RunSpec, Strict};

use crate::mirror::{Mirror, News};
use crate::report::{Counts, Violation, ensure};

/// The rules that runs were asked for with, whatever their journals say.
#[derive(Default)]
pub(super) struct Asking {
    rules: BTreeMap<RunId, Rules>,
}

struct Rules {
    /// How many attempts there may be; none is no limit.
    attempts_max: Option<u32>,
    /// How long a question is open until Adjourn decides it; none is for ever.
    open_ms_max: Option<i64>,
}

impl Asking {
    /// Somebody wants a run.
    pub(super) fn wanted(&mut self, run_id: RunId, spec: &RunSpec) {
        let is_decided = spec.strict == Strict::Off;
        let rules = Rules {
            attempts_max: spec.max_attempt.filter(|_| spec.execution_mode == ExecutionMode::Interactive),
            open_ms_max: is_decided.then_some(i64::from(spec.session_timeout_sec) * 1000),
        };
        self.rules.insert(run_id, rules);
    }

    pub(super) fn committed(
        &self,
        news: &[News],
        mirror: &Mirror,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        for one in news {
            let Some(rules) = self.rules.get(&one.run_id) else { continue };
            let attempt = mirror.runs.get(&one.run_id).map_or(0, Run::attempt_number);
            ensure(
                rules.attempts_max.is_none_or(|max| attempt <= max),
                "no run has more attempts than it may",
                || format!("attempt {attempt} of {}", one.run_id),
            )?;
            for event in &one.events {
                let Event::InteractionOpened { id, subject, deadline_at, .. } = event else { continue };
                if !subject.is_agents_own() {
                    continue;
                }
                counts.add(if subject.execution_id().is_some() {
                    "questions by tool"
                } else {
                    "questions that are printed"
                });
                let Some(open_ms_max) = rules.open_ms_max else { continue };
                let open_ms = deadline_at.map(|deadline_at| deadline_at.millis_since(one.at));
                ensure(
                    open_ms.is_some_and(|open_ms| open_ms <= open_ms_max),
                    "a run that is not strict decides its agent's questions in time",
                    || format!("question {id} of {} is open for {open_ms:?} of {open_ms_max} ms", one.run_id),
                )?;
            }
        }
        Ok(())
    }
}
