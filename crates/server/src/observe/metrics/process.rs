//! Metrics of this process, as the operating system reports them.

use std::fs;

use prometheus_client::registry::{Registry, Unit};

use super::gauge;

/// Registers what can be found out; what cannot is left out.
pub(super) fn register(registry: &mut Registry) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = [
        ("VmRSS:", "process_resident_memory", "Memory of this process"),
        ("VmHWM:", "process_resident_memory_peak", "The most memory that this process ever had"),
    ];
    for (field, name, help) in memory {
        if let Some(bytes) = bytes_of(&status, field) {
            registry.register_with_unit(name, help, Unit::Bytes, gauge(bytes));
        }
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        registry.register("process_open_fds", "Descriptors that are open", gauge(open.count()));
    }
}

/// A field of `/proc/self/status`, which are all in kilobytes.
fn bytes_of(status: &str, field: &str) -> Option<usize> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn fields_of_a_status_are_found_and_others_are_not() {
        let status = "Name:\tadjourn\nVmHWM:\t   24680 kB\nVmRSS:\t   12340 kB\n";
        assert_eq!(bytes_of(status, "VmRSS:"), Some(12_340 * 1024));
        assert_eq!(bytes_of(status, "VmSwap:"), None);
    }
}
