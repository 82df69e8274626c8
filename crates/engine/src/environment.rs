//! What an agent gets of our environment: a list, and nothing besides.
//!
//! Adjourn's own environment may hold keys of databases, webhooks and other engines. An agent reads its environment,
//! runs commands with it and may print it, so it is given what it needs and what was asked for by name.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A variable that every agent gets if we have it, and why. A name that ends with `*` stands for all that begin so.
struct Allowed {
    name: &'static str,
    because: &'static str,
}

const ALLOWED: &[Allowed] = &[
    Allowed { name: "PATH", because: "agents start interpreters, compilers and git" },
    Allowed { name: "HOME", because: "an agent's login and settings live there" },
    Allowed { name: "USER", because: "git and ssh ask who they work for" },
    Allowed { name: "LOGNAME", because: "the same, by its POSIX name" },
    Allowed { name: "SHELL", because: "agents run commands in the user's shell" },
    Allowed { name: "LANG", because: "without it, some programs refuse anything but ASCII" },
    Allowed { name: "LANGUAGE", because: "comes with LANG" },
    Allowed { name: "LC_*", because: "comes with LANG" },
    Allowed { name: "TZ", because: "an agent that writes a date should write the right one" },
    Allowed { name: "TERM", because: "programs that look for a terminal fail without it" },
    Allowed { name: "NO_COLOR", because: "the user's wish holds for agents, too" },
    Allowed { name: "TMPDIR", because: "where the user wants temporary files" },
    Allowed { name: "XDG_*", because: "where the user keeps settings, caches and data" },
    Allowed {
        name: "SSL_CERT_FILE",
        because: "behind a company's proxy nothing works without its certificate",
    },
    Allowed { name: "SSL_CERT_DIR", because: "the same, as a folder" },
    Allowed { name: "NODE_EXTRA_CA_CERTS", because: "the same, for agents written in JavaScript" },
    Allowed { name: "REQUESTS_CA_BUNDLE", because: "the same, for tools written in Python" },
    Allowed { name: "HTTP_PROXY", because: "the only way out, where there is one" },
    Allowed { name: "HTTPS_PROXY", because: "the same" },
    Allowed { name: "ALL_PROXY", because: "the same" },
    Allowed { name: "NO_PROXY", because: "the exceptions, loopback among them" },
    Allowed { name: "http_proxy", because: "curl reads only this spelling" },
    Allowed { name: "https_proxy", because: "comes with http_proxy" },
    Allowed { name: "all_proxy", because: "comes with http_proxy" },
    Allowed { name: "no_proxy", because: "comes with http_proxy" },
];

/// Variables of the shell that asked for a run, of which its agent gets what its engine allows. Cheap to clone.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellVariables(Arc<BTreeMap<String, String>>);

impl ShellVariables {
    /// The allow-listed part of `variables`, and what `pass` names of it. A variable that is no text is left out.
    pub fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        pass: impl Fn(&str) -> bool,
    ) -> Self {
        let text =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let passes = |(name, _): &(String, String)| is_allowed(OsStr::new(name)) || pass(name);
        Self(Arc::new(variables.into_iter().filter_map(text).filter(passes).collect()))
    }

    /// All of them.
    pub fn all(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    fn os(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.0.iter().map(|(name, value)| (name.into(), value.into()))
    }
}

/// Without values, among which are keys.
impl fmt::Debug for ShellVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// This machine, as an exception from proxies.
const LOOPBACK: &str = "127.0.0.1";

/// The environment of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The allow-listed part of `ours`, what `pass` names of it, and `own`, which wins.
    pub(crate) fn new(
        ours: impl IntoIterator<Item = (OsString, OsString)>,
        pass: &[String],
        own: &BTreeMap<String, String>,
    ) -> Self {
        let passes = |name: &OsStr| is_allowed(name) || pass.iter().any(|passed| name == passed.as_str());
        let mut variables: BTreeMap<_, _> = ours.into_iter().filter(|(name, _)| passes(name)).collect();
        variables.extend(own.iter().map(|(name, value)| (name.into(), value.into())));
        Self { variables }
    }

    /// The environment of an agent whose run was asked for from a shell with these variables; with ours, where none is known.
    pub(crate) fn of_run(
        shell: Option<&ShellVariables>,
        pass: &[String],
        own: &BTreeMap<String, String>,
    ) -> Self {
        match shell {
            Some(shell) => Self::new(shell.os(), pass, own),
            None => Self::new(std::env::vars_os(), pass, own),
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.into(), value.into());
    }

    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Keeps what goes to loopback from any proxy, which would not find it there.
    pub(crate) fn reach_loopback(&mut self) {
        // Programs read the one or the other, and the user may have set only one.
        for (name, other) in [("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")] {
            let mut exceptions = self.get(name).or_else(|| self.get(other)).unwrap_or_default().to_owned();
            let has_loopback =
                exceptions.to_str().is_some_and(|all| all.split(',').any(|one| one.trim() == LOOPBACK));
            if !has_loopback {
                if !exceptions.is_empty() {
                    exceptions.push(",");
                }
                exceptions.push(LOOPBACK);
            }
            self.set(name, exceptions);
        }
    }

    pub(crate) fn into_variables(self) -> Vec<(OsString, OsString)> {
        self.variables.into_iter().collect()
    }
}

fn is_allowed(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    ALLOWED.iter().any(|allowed| match allowed.name.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == allowed.name,
    })
}

/// The allow-list for people: each name, and why agents get it.
pub fn allowed_environment() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALLOWED.iter().map(|allowed| (allowed.name, allowed.because))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use super::Environment;

    #[test]
    fn xx_15_an_agent_gets_what_is_listed_or_named_and_nothing_else() {
        let ours = [
            ("PATH", "/bin"),
            ("LC_ALL", "C.UTF-8"),
            ("XDG_CONFIG_HOME", "/c"),
            ("DATABASE_PASSWORD", "of our own"),
            ("HOOK_SECRET", "of our own"),
            ("AGENT_API_KEY", "the agent's"),
            ("PATHOLOGICAL", "x"),
            ("LC", "x"),
        ];
        let ours = ours.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let own = BTreeMap::from([
            ("PATH".to_owned(), "/opt/bin".to_owned()),
            ("IS_SANDBOX".to_owned(), "1".to_owned()),
        ]);
        let environment = Environment::new(ours, &["AGENT_API_KEY".to_owned(), "UNSET".to_owned()], &own);
        let expected = [
            ("AGENT_API_KEY", "the agent's"),
            ("IS_SANDBOX", "1"),
            ("LC_ALL", "C.UTF-8"),
            ("PATH", "/opt/bin"),
            ("XDG_CONFIG_HOME", "/c"),
        ];
        let expected = expected.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        assert_eq!(environment.into_variables(), expected);
    }

    #[test]
    fn loopback_is_an_exception_from_proxies_besides_those_of_the_user() {
        let mut environment = Environment::default();
        environment.set("NO_PROXY", "intern.example");
        environment.reach_loopback();
        environment.reach_loopback();
        for name in ["NO_PROXY", "no_proxy"] {
            assert_eq!(environment.get(name).unwrap(), "intern.example,127.0.0.1", "{name}");
        }
    }
}
