//! Values that more than one table has.

use std::collections::BTreeMap;

use super::reader::Reader;
use adjourn_engine::secrets::Secret;

/// The program under `command` and its arguments. A program given with a path is relative to the file.
pub(super) fn command(reader: &Reader<'_>) -> Option<Vec<String>> {
    let found = reader.strings("command")?;
    match found.value.first() {
        None => {
            found.error(reader.document, "should name a program, it is empty");
            None
        }
        Some(program) if program.is_empty() => {
            found.error(reader.document, "should begin with a program, it begins with nothing");
            None
        }
        Some(program) => {
            let mut command = found.value.clone();
            if program.contains('/') {
                command[0] = reader.document.path(program).to_string_lossy().into_owned();
            }
            Some(command)
        }
    }
}

/// The variables under `key`. Their values may be secret, whatever their names are.
pub(super) fn environment(reader: &Reader<'_>, key: &'static str) -> BTreeMap<String, Secret> {
    reader.named_map(key, |reader, _, found| {
        let value = reader.text(found)?;
        if value.value.contains('\0') {
            value.error(reader.document, "a variable cannot hold a NUL character");
            return None;
        }
        Some(Secret::new(value.value))
    })
}

/// The web address under `key`.
pub(super) fn url(reader: &Reader<'_>, key: &'static str) -> Option<String> {
    let found = reader.string(key)?;
    let host = ["http://", "https://"].iter().find_map(|scheme| found.value.strip_prefix(scheme));
    match host {
        Some(host) if !host.is_empty() && !host.starts_with('/') && !host.contains(char::is_whitespace) => {
            Some(found.value)
        }
        Some(_) | None => {
            // Not repeated: an address may carry a password.
            found.error(reader.document, "should be an address that begins with http:// or https://");
            None
        }
    }
}
