//! Names of the users of this machine.

use std::fs;

/// What the user with this number is called: the name in `/etc/passwd`, else `uid N`.
///
/// Users that only a directory service knows have no name here: asking one takes a C library, and may take seconds.
pub(crate) fn user_name(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    find(&users, uid).unwrap_or_else(|| format!("uid {uid}"))
}

fn find(users: &str, uid: u32) -> Option<String> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let number: u32 = fields.nth(1)?.parse().ok()?;
        (number == uid).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn a_user_is_found_by_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\n# note\nann:x:1000:1000::/home/ann:/bin/sh\nbad\n";
        assert_eq!(find(users, 1000).as_deref(), Some("ann"));
        assert_eq!(find(users, 0).as_deref(), Some("root"));
        assert_eq!(find(users, 7), None);
    }
}
