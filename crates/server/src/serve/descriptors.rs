//! How many descriptors this process may have open: each connection is one.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that are wanted: [`CONNECTIONS_MAX`](crate::serve::connection) and as many again for agents, files and the
/// journal. Systems give a process 1024 to begin with, for the sake of programs that are older than `poll`, and let it have
/// far more when it asks.
const WANTED: u64 = 65_536;

/// Raises the limit of this process as far as it may and as is wanted, and says what it is then.
pub fn raise_descriptor_limit() -> io::Result<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Without a limit, what is wanted is enough.
    let allowed = maximum.map_or(WANTED, |maximum| maximum.min(WANTED));
    let now = current.unwrap_or(WANTED);
    if now >= allowed {
        return Ok(now);
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), maximum })?;
    Ok(allowed)
}

#[cfg(test)]
mod tests {
    use rustix::process::{Resource, getrlimit};

    use super::{WANTED, raise_descriptor_limit};

    #[test]
    fn the_limit_is_what_is_wanted_or_what_is_allowed_and_never_lower_than_before() {
        let before = getrlimit(Resource::Nofile);
        let raised = raise_descriptor_limit().unwrap();
        let after = getrlimit(Resource::Nofile);
        assert_eq!(after.maximum, before.maximum);
        assert_eq!(after.current.unwrap_or(WANTED), raised);
        assert!(raised >= before.current.unwrap_or(WANTED).min(WANTED));
        assert!(raised == WANTED || after.current == after.maximum || raised == before.current.unwrap());
    }
}
