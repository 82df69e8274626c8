//! Checks that no crate is built in two versions without somebody having looked at it.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use crate::metadata::Package;

/// A crate that may be there twice, and why nothing can be done about it for now.
struct Accepted {
    name: &'static str,
    because: &'static str,
}

const ACCEPTED: &[Accepted] = &[
    Accepted {
        name: "bit-set",
        because: "jsonschema's fancy-regex is behind proptest, which is only for tests",
    },
    Accepted { name: "bit-vec", because: "comes with bit-set" },
    Accepted {
        name: "bitflags",
        because: "1.x comes with defmt, an option of jiff that is locked but never built",
    },
    Accepted {
        name: "getrandom",
        because: "jsonschema is behind tempfile and proptest, which are only for tests",
    },
    Accepted { name: "hashbrown", because: "governor is behind indexmap" },
    Accepted { name: "indexmap", because: "1.x is an option of serde_with that is locked but never built" },
    Accepted { name: "r-efi", because: "comes with getrandom, only for UEFI" },
    Accepted { name: "rand", because: "opentelemetry is behind proptest, which is only for tests" },
    Accepted { name: "rand_core", because: "comes with rand" },
    Accepted { name: "schemars", because: "0.9 is an option of serde_with that is locked but never built" },
    Accepted { name: "syn", because: "derive macros are moving from 2 to 3; only at build time" },
    Accepted {
        name: "windows-sys",
        because: "0.52 comes with ring, an option of rustls that is locked but never built",
    },
];

/// Fails with each crate that is there twice without a reason, and with each reason that is no longer needed.
pub(crate) fn check(packages: &[Package]) -> Result<()> {
    let problems = problems(packages, ACCEPTED);
    ensure!(
        problems.is_empty(),
        "duplicate versions:\n  {}\nsee `cargo tree --duplicates`; what cannot be helped goes with its reason into \
         xtask/src/duplicates.rs",
        problems.join("\n  ")
    );
    for Accepted { name, because } in ACCEPTED {
        println!("{name} is there twice: {because}");
    }
    Ok(())
}

fn problems(packages: &[Package], accepted: &[Accepted]) -> Vec<String> {
    let mut versions = BTreeMap::<&str, Vec<&str>>::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let unneeded = accepted.iter().filter(|accepted| !versions.contains_key(accepted.name));
    let unneeded = unneeded.map(|accepted| format!("{} is on the list, but there only once", accepted.name));
    let new = versions.iter().filter(|(name, _)| accepted.iter().all(|accepted| accepted.name != **name));
    new.map(|(name, versions)| format!("{name} {}", versions.join(" and "))).chain(unneeded).collect()
}

#[cfg(test)]
mod tests {
    use super::{Accepted, problems};
    use crate::metadata::Package;

    #[test]
    fn a_second_version_needs_a_reason_and_a_reason_needs_a_second_version() {
        let package =
            |name: &str, version: &str| Package { name: name.into(), version: version.into(), license: None };
        let packages = [
            package("once", "1.0.0"),
            package("twice", "1.0.0"),
            package("twice", "2.0.0"),
            package("known", "1.0.0"),
            package("known", "2.0.0"),
        ];
        let accepted = ["known", "once"].map(|name| Accepted { name, because: "of a test" });
        assert_eq!(
            problems(&packages, &accepted),
            ["twice 1.0.0 and 2.0.0", "once is on the list, but there only once"]
        );
    }
}
