//! "Everything but these", for Landlock, which can only be told what is allowed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All paths that together are the whole file system but `excluded`: whatever is next to one of them, or next to a folder
/// that one of them is in. What is created there later is not in the list.
pub(super) fn list<'a>(excluded: impl IntoIterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let excluded: Vec<&Path> = excluded.into_iter().map(PathBuf::as_path).collect();
    let mut found = BTreeSet::new();
    split(Path::new("/"), &excluded, &mut found);
    found.into_iter().collect()
}

fn split(path: &Path, excluded: &[&Path], found: &mut BTreeSet<PathBuf>) {
    if excluded.contains(&path) {
        return;
    }
    if !excluded.iter().any(|excluded| excluded.starts_with(path)) {
        found.insert(path.to_owned());
        return;
    }
    // A folder that cannot be read holds nothing that the program could reach either.
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        split(&entry.path(), excluded, found);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::list;

    #[test]
    fn what_is_excluded_is_not_below_anything_that_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["data", "data2", "other/deep", "other/data"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let excluded = [root.join("data"), root.join("other/data")];
        let listed = list(&excluded);
        let ours: Vec<PathBuf> = listed.iter().filter(|path| path.starts_with(&root)).cloned().collect();
        assert_eq!(ours, [root.join("data2"), root.join("other/deep")]);
        for path in &excluded {
            assert!(!listed.iter().any(|listed| path.starts_with(listed)), "{}", path.display());
        }
        assert!(listed.contains(&PathBuf::from("/etc")) && !listed.contains(&PathBuf::from("/")));
    }
}
