//! The skill cache: a run reads its skill when it is created and at every turn, and most skills are run many times.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use adjourn_core::RunId;
use adjourn_engine::{Pace, ReplayEngine};

use crate::folder::{self, Entry};
use crate::skill::{Skill, SkillProblems};

/// Skills that are kept. An installation has some dozens; each is kept with its text and its schemas.
const SKILLS_MAX: usize = 256;

/// Runs whose skill is known without looking: a few words each. More than there are slots, so that every turn that
/// follows soon finds its skill here.
const RUNS_MAX: usize = 4096;

/// A skill that was changed less than this long ago is read again every time: the clock of a file system goes in steps
/// of some milliseconds, and two changes within one of them look the same.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

/// A skill, and what its folder looked like when it was read.
#[derive(Debug)]
pub(crate) struct Shelved {
    pub(crate) skill: Skill,
    entries: Vec<Entry>,
    replay: OnceLock<Result<ReplayEngine, String>>,
    /// The version that it is kept as, once a run reads it there.
    version: Mutex<Option<String>>,
}

impl Shelved {
    fn new(skill: Skill, entries: Vec<Entry>) -> Self {
        Self { skill, entries, replay: OnceLock::new(), version: Mutex::default() }
    }

    /// The version that it is kept as; `keep` is asked by the first who wants to know.
    pub(crate) fn version<E>(&self, keep: impl FnOnce(&Skill) -> Result<String, E>) -> Result<String, E> {
        // Whoever panicked while it kept the skill left no version.
        let mut version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        match &*version {
            Some(version) => Ok(version.clone()),
            None => Ok(version.insert(keep(&self.skill)?).clone()),
        }
    }

    /// The engine that plays the recording that the skill carries; none where it carries none.
    pub(crate) fn replay(&self, pace: Pace) -> Option<Result<ReplayEngine, String>> {
        let recording = self.skill.recording.as_deref()?;
        let open = || ReplayEngine::open(recording, pace).map_err(|error| error.to_string());
        Some(self.replay.get_or_init(open).as_ref().map(|engine| engine.at_pace(pace)).map_err(String::clone))
    }
}

/// Skills that were read before.
#[derive(Debug, Default)]
pub(crate) struct SkillCache {
    skills: Mutex<HashMap<PathBuf, Arc<Shelved>>>,
    runs: Mutex<Recent>,
}

/// The skills of runs that were created before versions were kept, as they were first read.
#[derive(Debug, Default)]
struct Recent {
    skills: HashMap<RunId, Arc<Shelved>>,
    order: VecDeque<RunId>,
}

impl SkillCache {
    /// The skill in `dir` as it is now.
    pub(crate) fn skill(&self, dir: &Path) -> Result<Arc<Shelved>, SkillProblems> {
        let known = self.skills().get(dir).cloned();
        if let Some(known) = known.filter(|known| folder::is_unchanged(dir, &known.entries)) {
            return Ok(known);
        }
        // A folder that cannot be copied is looked at all the same: what is wrong with the skill is said first.
        let entries = folder::survey(dir).unwrap_or_default();
        let is_settled = is_settled(&entries, SystemTime::now());
        let shelved = Arc::new(Shelved::new(Skill::load(dir)?, entries));
        if is_settled {
            self.put(dir, shelved.clone());
        }
        Ok(shelved)
    }

    /// The kept version of a skill in `dir`, which `verify` checks when it is first read after a start.
    pub(crate) fn kept<E: From<SkillProblems>>(
        &self,
        dir: &Path,
        verify: impl FnOnce() -> Result<(), E>,
    ) -> Result<Arc<Shelved>, E> {
        if let Some(known) = self.skills().get(dir).cloned() {
            return Ok(known);
        }
        verify()?;
        let shelved = Arc::new(Shelved::new(Skill::load(dir)?, folder::survey(dir).unwrap_or_default()));
        self.put(dir, shelved.clone());
        Ok(shelved)
    }

    fn put(&self, dir: &Path, shelved: Arc<Shelved>) {
        let mut skills = self.skills();
        if skills.len() >= SKILLS_MAX {
            skills.clear();
        }
        skills.insert(dir.to_owned(), shelved);
    }

    /// Remembers the skill of a run.
    fn created(&self, run_id: RunId, skill: Arc<Shelved>) {
        let mut runs = self.runs();
        if runs.skills.insert(run_id, skill).is_some() {
            return;
        }
        if runs.order.len() >= RUNS_MAX
            && let Some(oldest) = runs.order.pop_front()
        {
            runs.skills.remove(&oldest);
        }
        runs.order.push_back(run_id);
    }

    /// The skill of a run that was created before versions were kept: the copy in `dir` is all there is.
    pub(crate) fn of_copy(&self, run_id: RunId, dir: &Path) -> Result<Arc<Shelved>, SkillProblems> {
        let known = self.runs().skills.get(&run_id).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        tracing::warn!(
            run_id = %run_id,
            "the run was created before versions of skills were kept: its skill is read from the copy that its agent can \
             write to"
        );
        let skill = Skill::load(dir)?;
        let shelved = Arc::new(Shelved::new(skill, Vec::new()));
        self.created(run_id, shelved.clone());
        Ok(shelved)
    }

    fn skills(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Shelved>>> {
        // Nothing in here panics halfway through a change.
        self.skills.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self) -> MutexGuard<'_, Recent> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nothing in the folder changed so recently that another change would not show.
fn is_settled(entries: &[Entry], now: SystemTime) -> bool {
    let is_old = |entry: &Entry| now.duration_since(entry.changed).is_ok_and(|age| age >= SETTLED_AFTER);
    !entries.is_empty() && entries.iter().all(is_old)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use adjourn_core::RunId;

    use super::{RUNS_MAX, SkillCache, is_settled};
    use crate::folder::survey;

    const SKILL: &str = "---\nname: demo\ndescription: d\n---\n";

    #[test]
    fn a_skill_that_was_changed_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("SKILL.md");
        fs::write(&file, format!("{SKILL}one")).unwrap();
        let skill_cache = SkillCache::default();
        // Changed a moment ago, so it is not trusted to stay.
        let (first, again) = (skill_cache.skill(dir.path()).unwrap(), skill_cache.skill(dir.path()).unwrap());
        assert!(!Arc::ptr_eq(&first, &again));
        let entries = survey(dir.path()).unwrap();
        assert!(!is_settled(&entries, SystemTime::now()));
        assert!(is_settled(&entries, SystemTime::now() + Duration::from_secs(2)));

        skill_cache.skills().insert(dir.path().to_owned(), again.clone());
        assert!(Arc::ptr_eq(&skill_cache.skill(dir.path()).unwrap(), &again));
        fs::write(&file, format!("{SKILL}three")).unwrap();
        assert_eq!(skill_cache.skill(dir.path()).unwrap().skill.text.trim(), "three");
        fs::write(&file, "no skill").unwrap();
        assert!(skill_cache.skill(dir.path()).is_err());
    }

    #[test]
    fn a_run_keeps_the_skill_it_was_created_with_as_long_as_that_is_remembered() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("SKILL.md"), format!("{SKILL}one")).unwrap();
        let skill_cache = SkillCache::default();
        let (first, skill) = (RunId::from_bits(0), skill_cache.skill(dir.path()).unwrap());
        skill_cache.created(first, skill.clone());
        fs::write(dir.path().join("SKILL.md"), format!("{SKILL}two")).unwrap();
        assert!(Arc::ptr_eq(&skill_cache.of_copy(first, dir.path()).unwrap(), &skill));
        for number in 1..=RUNS_MAX {
            skill_cache.created(RunId::from_bits(number as u128), skill.clone());
        }
        let remembered = skill_cache.runs().order.len();
        assert_eq!((remembered, skill_cache.runs().skills.len()), (RUNS_MAX, RUNS_MAX));
        assert_eq!(skill_cache.of_copy(first, dir.path()).unwrap().skill.text.trim(), "two");
    }
}
