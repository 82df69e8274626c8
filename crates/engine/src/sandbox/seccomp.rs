//! Seccomp: system calls that a program behind the wall cannot make.
//!
//! Landlock does not know Unix sockets that have a path, and Adjourn's own is one of them. So a program makes no Unix socket at
//! all; `socketpair`, which programs use to talk to their own children, stays.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::UnixSockets;

/// Address families that a program can use: IPv4, IPv6 and netlink, by which programs list network interfaces.
const FAMILIES: &[u64] = &[libc::AF_INET as u64, libc::AF_INET6 as u64, libc::AF_NETLINK as u64];

/// The address family of Unix sockets.
const AF_UNIX: u64 = libc::AF_UNIX as u64;

/// Terminal requests that put keystrokes into a terminal (`TIOCSTI`, `TIOCLINUX`).
const KEYSTROKES: &[u64] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// Calls that look into or change other processes, or reach parts of the kernel that no agent needs.
const DENIED: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
];

/// Calls that programs do without where the kernel does not have them; other filters do not apply to what they do.
const MISSING: &[i64] = &[libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

const NOT_PERMITTED: u32 = libc::EPERM.unsigned_abs();
const NO_SUCH_FAMILY: u32 = libc::EAFNOSUPPORT.unsigned_abs();
const NO_SUCH_CALL: u32 = libc::ENOSYS.unsigned_abs();

/// Programs for the kernel, compiled once: the launcher forks for each program that it starts.
static FILTERS: LazyLock<Result<Filters, String>> =
    LazyLock::new(|| Filters::compile().map_err(|error| error.to_string()));

struct Filters {
    calls: BpfProgram,
    missing: BpfProgram,
    sockets: BpfProgram,
    sockets_with_unix: BpfProgram,
    other_abi: BpfProgram,
}

/// Compiles the filters before they are needed.
pub(super) fn prepare() {
    let _ = &*FILTERS;
}

/// Restricts this process.
pub(super) fn restrict(unix_sockets: UnixSockets) -> Result<(), String> {
    let filters = FILTERS.as_ref().map_err(Clone::clone)?;
    let sockets = match unix_sockets {
        UnixSockets::Denied => &filters.sockets,
        UnixSockets::Allowed => &filters.sockets_with_unix,
    };
    for filter in [&filters.other_abi, &filters.calls, &filters.missing, sockets] {
        seccompiler::apply_filter(filter).map_err(|error| format!("seccomp refuses: {error}"))?;
    }
    Ok(())
}

impl Filters {
    fn compile() -> Result<Self, seccompiler::Error> {
        let arch = TargetArch::try_from(std::env::consts::ARCH)?;
        let denied = DENIED.iter().map(|call| (*call, Vec::new()));
        let keystrokes = KEYSTROKES.iter().map(|request| argument_is(1, SeccompCmpOp::Eq, *request));
        let keystrokes = (libc::SYS_ioctl, keystrokes.collect::<Result<Vec<_>, _>>()?);
        let with_unix: Vec<u64> = FAMILIES.iter().copied().chain([AF_UNIX]).collect();
        Ok(Self {
            calls: filter(denied.chain([keystrokes]), NOT_PERMITTED, arch)?,
            missing: filter(MISSING.iter().map(|call| (*call, Vec::new())), NO_SUCH_CALL, arch)?,
            sockets: filter(
                [(libc::SYS_socket, vec![argument_is_none_of(0, FAMILIES)?])],
                NO_SUCH_FAMILY,
                arch,
            )?,
            sockets_with_unix: filter(
                [(libc::SYS_socket, vec![argument_is_none_of(0, &with_unix)?])],
                NO_SUCH_FAMILY,
                arch,
            )?,
            other_abi: no_other_abi(),
        })
    }
}

fn filter(
    calls: impl IntoIterator<Item = (i64, Vec<SeccompRule>)>,
    error: u32,
    arch: TargetArch,
) -> Result<BpfProgram, seccompiler::Error> {
    let rules: BTreeMap<_, _> = calls.into_iter().collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(error), arch)?;
    Ok(filter.try_into()?)
}

fn argument_is(number: u8, compared: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::Error> {
    let condition = SeccompCondition::new(number, SeccompCmpArgLen::Dword, compared, value)?;
    Ok(SeccompRule::new(vec![condition])?)
}

fn argument_is_none_of(number: u8, values: &[u64]) -> Result<SeccompRule, seccompiler::Error> {
    let conditions = values
        .iter()
        .map(|value| SeccompCondition::new(number, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, *value));
    Ok(SeccompRule::new(conditions.collect::<Result<Vec<_>, _>>()?)?)
}

/// Refuses the calls of the x32 interface, which have the same architecture as ours and other numbers. The filters above
/// kill a process that calls by another architecture, such as 32-bit x86.
fn no_other_abi() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32_BIT: u32 = 0x4000_0000;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        instruction(LOAD_NUMBER, 0, 0, 0),
        instruction(JUMP_IF_AT_LEAST, 0, 1, X32_BIT),
        instruction(RETURN, 0, 0, u32::from(SeccompAction::Errno(NO_SUCH_CALL))),
        instruction(RETURN, 0, 0, u32::from(SeccompAction::Allow)),
    ]
}
