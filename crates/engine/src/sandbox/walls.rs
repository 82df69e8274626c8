//! The walls that hold on this machine, found out by building them once.

use super::{Isolation, Sandbox};
use crate::supervisor::TrialLauncher;

/// How the words begin where no wall can be built.
pub(crate) const NONE: &str = "none";

/// What holds where there are no namespaces.
const WITHOUT_NAMESPACES: &str = "Landlock, seccomp; no Unix sockets, other processes can be seen";

/// The walls that can be built here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walls {
    /// How programs are kept apart; the problem is why they cannot be walled in at all.
    isolation: Result<Isolation, String>,
    /// Why nothing stronger is to be had, where something stronger exists.
    weaker_because: Option<String>,
}

impl Walls {
    /// Builds the walls around a program that does nothing, the strongest first, until it runs behind one.
    pub(crate) async fn try_out(launcher: &impl TrialLauncher) -> Self {
        let hidden = std::env::temp_dir().join(format!("adjourn-{}", uuid()));
        let mut problems = Vec::new();
        let isolation = match std::fs::create_dir(&hidden) {
            Err(error) => Err(format!("{} cannot be made: {error}", hidden.display())),
            Ok(()) => strongest(launcher, &hidden, &mut problems).await,
        };
        let _ = std::fs::remove_dir(&hidden);
        match isolation {
            Ok(isolation) => {
                let weaker_because = (isolation == Isolation::None).then(|| problems.join("; "));
                Self { isolation: Ok(isolation), weaker_because: weaker_because.filter(|it| !it.is_empty()) }
            }
            Err(problem) => Self { isolation: Err(problem), weaker_because: None },
        }
    }

    /// How programs are kept apart here; the problem is why they cannot be walled in.
    pub fn isolation(&self) -> Result<Isolation, String> {
        self.isolation.clone()
    }

    /// What holds, in a few words.
    pub fn summary(&self) -> String {
        match (&self.isolation, &self.weaker_because) {
            (Ok(Isolation::Namespaces | Isolation::UserNamespaces), _) => {
                "namespaces, Landlock, seccomp".to_owned()
            }
            (Ok(Isolation::None), _) if cfg!(target_os = "macos") => "Seatbelt".to_owned(),
            (Ok(Isolation::None), Some(reason)) => {
                format!("{WITHOUT_NAMESPACES} ({reason})")
            }
            (Ok(Isolation::None), None) => WITHOUT_NAMESPACES.to_owned(),
            (Err(problem), _) => format!("{NONE}: {problem}"),
        }
    }
}

async fn strongest(
    launcher: &impl TrialLauncher,
    hidden: &std::path::Path,
    problems: &mut Vec<String>,
) -> Result<Isolation, String> {
    for isolation in candidates() {
        let sandbox = Sandbox { hidden: vec![hidden.to_owned()], isolation, ..Sandbox::new() };
        match launcher.try_sandbox(sandbox).await {
            Ok(()) => return Ok(isolation),
            Err(problem) => problems.push(problem),
        }
    }
    problems.dedup();
    Err(problems.join("; "))
}

#[cfg(target_os = "linux")]
fn candidates() -> Vec<Isolation> {
    let mut candidates = Vec::new();
    if super::namespaces::may_make_any() {
        candidates.push(Isolation::Namespaces);
    }
    candidates.extend([Isolation::UserNamespaces, Isolation::None]);
    candidates
}

#[cfg(target_os = "macos")]
fn candidates() -> Vec<Isolation> {
    vec![Isolation::None]
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn candidates() -> Vec<Isolation> {
    Vec::new()
}

/// A name that no other program has chosen.
fn uuid() -> String {
    let mut random = [0; 8];
    // A name that is taken is noticed when the folder is made.
    let _ = getrandom::fill(&mut random);
    format!("{:016x}", u64::from_le_bytes(random))
}
