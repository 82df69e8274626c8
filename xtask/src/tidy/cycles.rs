//! Modules of one folder import each other in one direction.

mod allowed;
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};

use crate::repo;
use allowed::{ALLOWED, Allowed};
use modules::{Imports, Modules};

/// The cycles that are not in `allowed`, and what is in `allowed` and no cycle.
fn problems(root: &Path, allowed: &[Allowed]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut unused: BTreeSet<(&str, &str)> =
        allowed.iter().flat_map(|it| it.modules.iter().map(|module| (it.folder, *module))).collect();
    for source in sources(root)? {
        let modules = Modules::read(root, &source)?;
        for (parent, imports) in modules.imports() {
            let folder = parent.iter().fold(source.clone(), |folder, name| format!("{folder}/{name}"));
            for cycle in cycles(&imports) {
                let is_allowed = |it: &&Allowed| {
                    it.folder == folder && cycle.iter().all(|module| it.modules.contains(&module.as_str()))
                };
                match allowed.iter().find(is_allowed) {
                    Some(entry) => {
                        assert!(!entry.reason.is_empty(), "an entry of the list says its reason");
                        unused.retain(|(place, module)| *place != folder || !cycle.contains(*module));
                    }
                    None => problems.push(described(&folder, &cycle, &imports)),
                }
            }
        }
    }
    let unused = unused.into_iter();
    problems.extend(unused.map(|(folder, module)| {
        format!("{folder}: `{module}` is in no cycle any more: take it off the list in tidy/cycles.rs")
    }));
    Ok(problems)
}

/// The folders with the source of each crate.
fn sources(root: &Path) -> Result<Vec<String>> {
    let mut sources = vec!["xtask/src".to_owned()];
    for entry in std::fs::read_dir(root.join("crates")).context("cannot list crates")? {
        sources.push(format!("crates/{}/src", entry?.file_name().to_string_lossy()));
    }
    sources.retain(|source| root.join(source).is_dir());
    sources.sort();
    Ok(sources)
}

fn described(folder: &str, cycle: &BTreeSet<String>, imports: &Imports) -> String {
    let names: Vec<_> = cycle.iter().map(|name| format!("`{name}`")).collect();
    let mut lines = vec![format!("{folder}: {} import each other:", names.join(", "))];
    for module in cycle {
        let imported = imports[module].iter().filter(|(other, _)| cycle.contains(*other));
        lines.extend(imported.map(|(other, import)| format!("    `{module}` → `{other}`: {import}")));
    }
    lines.join("\n")
}

/// Groups of siblings that can all be reached from each other.
fn cycles(imports: &Imports) -> Vec<BTreeSet<String>> {
    let reach = |start: &String| {
        let (mut open, mut reached) = (vec![start], BTreeSet::new());
        while let Some(module) = open.pop() {
            let next = imports.get(module).into_iter().flat_map(BTreeMap::keys);
            open.extend(next.filter(|next| reached.insert((*next).clone())));
        }
        reached
    };
    let reached: BTreeMap<_, _> = imports.keys().map(|module| (module, reach(module))).collect();
    let mut cycles = BTreeSet::new();
    for (module, others) in &reached {
        let mutual = |other: &&String| reached.get(other).is_some_and(|back| back.contains(*module));
        let cycle: BTreeSet<_> = others.iter().filter(mutual).cloned().collect();
        if cycle.len() > 1 {
            cycles.insert(cycle);
        }
    }
    cycles.into_iter().collect()
}

#[test]
fn sibling_modules_import_each_other_in_one_direction() {
    let problems = problems(repo::root(), ALLOWED).expect("the repository can be read");
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

mod tests {
    use std::fs;

    use super::{Allowed, problems};

    fn check(files: &[(&str, &str)], allowed: &[Allowed], expected: &[&str]) {
        let root = tempfile::tempdir().expect("there is room for a few files");
        for (path, text) in files {
            let path = root.path().join("crates/one/src").join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
            fs::write(path, text).expect("a file can be written");
        }
        assert_eq!(problems(root.path(), allowed).expect("it can be read"), expected, "for {files:?}");
    }

    const CYCLE: &str = "crates/one/src: `a`, `b` import each other:\n    `a` → `b`: a has `crate::b::B`\n    `b` → `a`: b has ";

    #[test]
    fn one_direction_is_no_cycle() {
        check(&[("a.rs", "use crate::b::B;\n"), ("b.rs", "use std::fmt;\n// use crate::a::A;\n")], &[], &[]);
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n";
        check(&[("a.rs", "use crate::b::B;\n"), ("b.rs", tests)], &[], &[]);
        let own = "mod c;\npub(crate) use c::C;\n";
        check(&[("a.rs", own), ("a/c.rs", "use super::A;\nuse crate::b::B;\n"), ("b.rs", "\n")], &[], &[]);
    }

    #[test]
    fn a_cycle_is_found_however_it_is_written() {
        let a = ("a.rs", "use crate::b::B;\n");
        let b = |text: &'static str, shown: &str| {
            check(&[a, ("b.rs", text)], &[], &[&format!("{CYCLE}{shown}")]);
        };
        b("use super::a::A;\n", "`super::a::A`");
        b("pub(crate) fn b() -> crate::a::A {}\n", "`crate::a::A`");
        b("use crate::{\n    c::C,\n    a::{A, D},\n};\n", "`crate::a::A`");
        b("#[cfg(test)]\nmod e;\n\nuse crate::a::A as D;\n", "`crate::a::A`");
        let root = ("lib.rs", "//! One.\nmod a;\nmod b;\npub use a::A as D;\n");
        check(&[root, a, ("b.rs", "use crate::D;\n")], &[], &[&format!("{CYCLE}`crate::D`")]);
        let deep = [("a/c.rs", "use crate::b::B;\n"), ("b/d.rs", "use crate::a::c::C;\n")];
        let expected = "crates/one/src: `a`, `b` import each other:\n    `a` → `b`: a::c has `crate::b::B`\n    \
                        `b` → `a`: b::d has `crate::a::c::C`";
        check(&[("a.rs", ""), ("b.rs", ""), deep[0], deep[1]], &[], &[expected]);
    }

    #[test]
    fn the_list_of_what_is_allowed_only_becomes_shorter() {
        let allowed = |modules| Allowed { folder: "crates/one/src", modules, reason: "a test" };
        let cycle = [("a.rs", "use crate::b::B;\n"), ("b.rs", "use crate::a::A;\n")];
        check(&cycle, &[allowed(&["a", "b"])], &[]);
        check(
            &cycle,
            &[allowed(&["a", "b", "c"])],
            &["crates/one/src: `c` is in no cycle any more: take it off the list in tidy/cycles.rs"],
        );
        check(
            &cycle,
            &[allowed(&["a"])],
            &[
                &format!("{CYCLE}`crate::a::A`"),
                "crates/one/src: `a` is in no cycle any more: take it off the list in tidy/cycles.rs",
            ],
        );
    }
}
