//! Capabilities: what root could do besides reading and writing files.

use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets};

/// What a program that runs as root keeps: to handle files of any owner, to change its own user, and to listen on low ports.
/// The same list is common in containers, without making device files and raw packets.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Gives up all other capabilities, for this process and whatever it executes.
///
/// Users other than root, and everybody in a user namespace who is not root there, have none that an exec would keep.
pub(super) fn drop_dangerous() -> Result<(), String> {
    let failed = |error: Errno| format!("capabilities cannot be given up: {error}");
    let have = rustix::thread::capabilities(None).map_err(failed)?;
    for capability in CapabilitySet::all().difference(KEPT) {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // A later kernel's, or a process that has none to give up.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(Errno::PERM) if have.permitted.is_empty() => break,
            Err(error) => return Err(failed(error)),
        }
    }
    let left = CapabilitySets {
        effective: have.effective.intersection(KEPT),
        permitted: have.permitted.intersection(KEPT),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, left).map_err(failed)
}
