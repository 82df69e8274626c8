//! Landlock: where the program can write, and whom it can signal.
//!
//! It also forbids to change mounts, so that what is hidden stays hidden, and to look into processes that are outside.
//! TCP ports are left out: Landlock takes a list of those that are allowed, and "all but one" are 65,534 rules, which take
//! longer to load than the agent takes to start. Adjourn recognises its agents at its doors instead.

use std::path::{Path, PathBuf};

use ::landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::{Isolation, Sandbox, Writes, everything_but};

/// The newest rights that this was tested with. An older kernel enforces those that it knows.
const TESTED: ABI = ABI::V7;

/// The first kernel interface that can keep signals inside.
const HAS_SCOPES: ABI = ABI::V6;

/// Folders by which root changes the kernel and writes to disks.
const KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Device files that hold no data, and terminals that belong to nobody else.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/fd"];

/// Device files and folders that are the program's own in a mount namespace, and the user's without.
const OWN_DEVICES: &[&str] = &["/dev/ptmx", "/dev/pts", "/dev/shm"];

/// Restricts this process.
pub(super) fn restrict(sandbox: &Sandbox) -> Result<(), String> {
    let enforced = build(sandbox).and_then(RulesetCreated::restrict_self);
    let enforced = enforced.map_err(|error| match sandbox.isolation {
        Isolation::Namespaces | Isolation::UserNamespaces => format!("Landlock refuses: {error}"),
        Isolation::None => {
            "without namespaces, Landlock has to keep signals inside, which needs Linux 6.12, and \
                            `landlock` in /sys/kernel/security/lsm"
                .to_owned()
        }
    })?;
    match enforced.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => {
            Err("the kernel has no Landlock, or it is switched off at boot".to_owned())
        }
    }
}

fn build(sandbox: &Sandbox) -> Result<RulesetCreated, RulesetError> {
    let scopes = match sandbox.isolation {
        // A process namespace keeps signals inside as well.
        Isolation::Namespaces | Isolation::UserNamespaces => CompatLevel::BestEffort,
        Isolation::None => CompatLevel::HardRequirement,
    };
    let all = AccessFs::from_all(TESTED);
    let everything = all & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let mut rules = Ruleset::default()
        .handle_access(all)?
        .set_compatibility(scopes)
        .scope(Scope::from_all(HAS_SCOPES))?
        .set_compatibility(CompatLevel::BestEffort)
        .create()?;
    let root = [PathBuf::from("/")];
    let kernel = KERNEL.map(PathBuf::from);
    let protected = || everything_but::list(sandbox.hidden.iter().chain(&sandbox.read_only).chain(&kernel));
    let closed = || everything_but::list(&sandbox.hidden);
    rules = match sandbox.isolation {
        Isolation::Namespaces | Isolation::UserNamespaces => {
            allow(rules, &root, AccessFs::from_read(TESTED))?
        }
        Isolation::None => {
            let rules = allow(rules, &closed(), AccessFs::from_read(TESTED))?;
            let rules = allow(rules, &sandbox.visible, AccessFs::from_read(TESTED))?;
            // Folders on the way to what is visible can be listed, or nothing in them would be found.
            allow(rules, &root, AccessFs::ReadDir.into())?
        }
    };
    let writable = match (&sandbox.writes, sandbox.isolation) {
        (Writes::Only(paths), _) => paths.clone(),
        (Writes::Everywhere, Isolation::None) => protected(),
        (Writes::Everywhere, Isolation::Namespaces | Isolation::UserNamespaces) => {
            everything_but::list(&kernel)
        }
    };
    rules = allow(rules, &writable, everything)?;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    rules = allow(rules, DEVICES, device)?;
    if sandbox.has_namespaces() {
        rules = allow(rules, OWN_DEVICES, everything)?;
    }
    Ok(rules)
}

/// Allows `access` for all of `paths` that exist, and what is below them.
fn allow(
    mut rules: RulesetCreated,
    paths: &[impl AsRef<Path>],
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    for path in paths {
        let Ok(file) = PathFd::new(path) else { continue };
        let access = if path.as_ref().is_dir() { access } else { access & AccessFs::from_file(TESTED) };
        rules = rules.add_rule(PathBeneath::new(file, access))?;
    }
    Ok(rules)
}
