//! Where in a JSON text things stand, which no parser of values remembers.

use std::collections::HashMap;

/// The line of each value, by its JSON pointer; for a member, the line of its key. `text` has to be valid JSON.
pub(super) struct JsonLines(HashMap<String, usize>);

impl JsonLines {
    pub(super) fn of(text: &str) -> Self {
        let mut scan = Scan { bytes: text.as_bytes(), at: 0, line: 1, lines: HashMap::new() };
        scan.value("");
        Self(scan.lines)
    }

    /// The line of what `pointer` names, or of the nearest thing around it.
    pub(super) fn line(&self, pointer: &str) -> Option<usize> {
        let mut pointer = pointer;
        loop {
            if let Some(line) = self.0.get(pointer) {
                return Some(*line);
            }
            pointer = &pointer[..pointer.rfind('/')?];
        }
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    lines: HashMap<String, usize>,
}

impl Scan<'_> {
    fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_whitespace()) {
            self.line += usize::from(*byte == b'\n');
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn value(&mut self, pointer: &str) {
        match self.peek() {
            Some(b'{') => self.items(pointer, b'}', |scan, _| {
                scan.peek();
                let line = scan.line;
                let key = scan.string().replace('~', "~0").replace('/', "~1");
                let pointer = format!("{pointer}/{key}");
                scan.lines.insert(pointer.clone(), line);
                scan.peek();
                scan.at += 1;
                scan.value(&pointer);
            }),
            Some(b'[') => self.items(pointer, b']', |scan, index| scan.value(&format!("{pointer}/{index}"))),
            Some(b'"') => {
                self.note(pointer);
                self.string();
            }
            Some(_) => {
                self.note(pointer);
                while self.bytes.get(self.at).is_some_and(|byte| !b",]} \t\r\n".contains(byte)) {
                    self.at += 1;
                }
            }
            None => {}
        }
    }

    fn items(&mut self, pointer: &str, close: u8, item: impl Fn(&mut Self, usize)) {
        self.note(pointer);
        self.at += 1;
        for index in 0.. {
            match self.peek() {
                None => return,
                Some(byte) if byte == close => break,
                Some(b',') => self.at += 1,
                Some(_) => {}
            }
            item(self, index);
        }
        self.at += 1;
    }

    fn note(&mut self, pointer: &str) {
        self.lines.entry(pointer.to_owned()).or_insert(self.line);
    }

    /// The string that begins here, and its end is passed.
    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                break;
            }
        }
        serde_json::from_slice(&self.bytes[start..self.at.min(self.bytes.len())]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};
    use serde_json::json;

    use super::JsonLines;

    #[test]
    fn values_are_found_by_pointer() {
        let lines = JsonLines::of(
            "{\n \"a\": [1,\n 2],\n \"b/c\\n\":\n {\"d\": \"}\\\"\"},\n \"e\": {}, \"f\": []\n}",
        );
        for (pointer, line) in [
            ("", 1),
            ("/a", 2),
            ("/a/0", 2),
            ("/a/1", 3),
            ("/b~1c\n", 4),
            ("/b~1c\n/d", 5),
            ("/e", 6),
            ("/f", 6),
            ("/f/7/x", 6),
            ("/nothing", 1),
        ] {
            assert_eq!(lines.line(pointer), Some(line), "{pointer}");
        }
    }

    proptest! {
        #[test]
        fn every_member_has_its_line(keys in prop::collection::btree_set(any::<String>(), 1..6), text in any::<String>()) {
            let members: Vec<_> = keys.iter().map(|key| format!("{}: {}", json!(key), json!([text, {"x": null}]))).collect();
            let lines = JsonLines::of(&format!("{{\n{}\n}}", members.join(",\n")));
            for (index, key) in keys.iter().enumerate() {
                let pointer = format!("/{}/1/x", key.replace('~', "~0").replace('/', "~1"));
                prop_assert_eq!(lines.line(&pointer), Some(index + 2));
            }
        }
    }
}
