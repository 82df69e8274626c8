//! The configuration file that a data directory was last used with: its path, kept in the directory.
//!
//! A command that is typed later without `--config`, as a printed hint may be, then means the same engines. The path is no
//! permission to run anything: a file that was not named has to be [trusted](crate::trust), as a data directory may have come
//! with a folder that somebody downloaded.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use adjourn_store::files;

/// The file in the data directory that has the path.
pub(crate) const FILE: &str = "adjourn.configuration";

/// The path that `data` remembers, if it remembers one.
pub(crate) fn read(data: &Path) -> Option<PathBuf> {
    let bytes = fs::read(data.join(FILE)).ok()?;
    let path = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    // A relative one would mean another file in each folder.
    Some(PathBuf::from(OsStr::from_bytes(path))).filter(|path| path.is_absolute())
}

/// Has `data`, which is there, remember the file at `config`.
pub(crate) fn write(data: &Path, config: &Path) -> io::Result<()> {
    let config = std::path::absolute(config)?;
    if read(data).as_deref() == Some(&config) {
        return Ok(());
    }
    let new = data.join(format!("{FILE}.{}", std::process::id()));
    files::write_new(&new, 0o600, |file| {
        file.write_all(config.as_os_str().as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    })?;
    files::rename(&new, &data.join(FILE))?;
    files::sync_folder(data)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::{FILE, read, write};

    #[test]
    fn the_last_file_is_remembered_by_its_absolute_path_and_only_for_its_owner() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(read(data.path()), None);
        write(data.path(), Path::new("some.toml")).unwrap();
        assert_eq!(read(data.path()).unwrap(), std::env::current_dir().unwrap().join("some.toml"));
        write(data.path(), Path::new("/etc/other.toml")).unwrap();
        write(data.path(), Path::new("/etc/other.toml")).unwrap();
        assert_eq!(read(data.path()).as_deref(), Some(Path::new("/etc/other.toml")));
        let names: Vec<_> =
            fs::read_dir(data.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [FILE]);
        let mode = fs::metadata(data.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(data.path().join(FILE), "relative.toml\n").unwrap();
        assert_eq!(read(data.path()), None);
    }
}
