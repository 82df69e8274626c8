//! The spellings in which a secret may turn up.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::SECRET_BYTES_MIN;

/// Left as it is by every way to write a value into a URL.
const UNRESERVED: &str = "-._~";

/// Also left as it is by JavaScript's `encodeURIComponent`.
const COMPONENT: &str = "-._~!'()*";

/// Every spelling of `value` that is looked for, possibly with repetitions.
pub(super) fn of(value: &str) -> Vec<String> {
    let escaped = in_json(value);
    let once = [
        escaped.replace('/', "\\/"),
        ascii_json(value, Hex::Lower),
        ascii_json(value, Hex::Upper),
        html_safe(&escaped),
        escaped,
    ];
    // JSON in JSON: the arguments of a tool, in the log of who called it.
    let twice = once.each_ref().map(|escaped| in_json(escaped));
    let mut all = vec![
        value.to_owned(),
        in_url(value, UNRESERVED, Hex::Upper),
        in_url(value, UNRESERVED, Hex::Lower),
        in_url(value, COMPONENT, Hex::Upper),
        in_url(value, UNRESERVED, Hex::Upper).replace("%20", "+"),
    ];
    all.extend(once.into_iter().chain(twice));
    all.extend(in_base64(value));
    all.retain(|spelling| spelling.len() >= SECRET_BYTES_MIN);
    all
}

#[derive(Clone, Copy)]
enum Hex {
    Lower,
    Upper,
}

/// As between the quotes of a JSON string.
fn in_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As by those who write only ASCII: everything else as UTF-16 in `\u`.
fn ascii_json(value: &str, hex: Hex) -> String {
    let mut out = String::with_capacity(value.len());
    for char in value.chars() {
        match char {
            ' '..='~' => out.push_str(&in_json(char.encode_utf8(&mut [0; 4]))),
            '\u{8}' | '\u{c}' | '\n' | '\r' | '\t' => out.push_str(&in_json(char.encode_utf8(&mut [0; 4]))),
            char => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    out.push_str(&match hex {
                        Hex::Lower => format!("\\u{unit:04x}"),
                        Hex::Upper => format!("\\u{unit:04X}"),
                    });
                }
            }
        }
    }
    out
}

/// As by those who fear that JSON ends up in a page.
fn html_safe(escaped: &str) -> String {
    escaped.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn in_url(value: &str, kept: &str, hex: Hex) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match char::from(byte) {
            char if char.is_ascii_alphanumeric() || kept.contains(char) => out.push(char),
            _ => out.push_str(&match hex {
                Hex::Lower => format!("%{byte:02x}"),
                Hex::Upper => format!("%{byte:02X}"),
            }),
        }
    }
    out
}

/// What is certain to be there when `value` is part of something in base64, as in `Authorization: Basic`.
///
/// Three bytes are four digits, so a value looks different at each of three offsets, and its first and last digit also
/// depend on its neighbours: those are left out. Alone, it is the first of the three with its last digit.
fn in_base64(value: &str) -> Vec<String> {
    let mut all = Vec::new();
    for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        for offset in 0..3 {
            let mut bytes = vec![0; offset];
            bytes.extend(value.bytes());
            let digits = engine.encode(&bytes);
            // A digit has six bits: how many begin before the value, and how many are filled by it.
            let begin = (offset * 8).div_ceil(6);
            let end = bytes.len() * 8 / 6;
            all.push(digits[begin..end].to_owned());
            if offset == 0 {
                all.push(digits);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_value_is_known_in_all_its_spellings() {
        let all = of("a/b \"é<\n");
        for expected in [
            "a/b \"é<\n",
            "a/b \\\"é<\\n",
            "a\\/b \\\"é<\\n",
            "a/b \\\\\\\"é<\\\\n",
            "a/b \\\"\\u00e9<\\n",
            "a/b \\\"\\u00E9<\\n",
            "a/b \\\"é\\u003c\\n",
            "a/b \\\\\\\"\\\\u00e9<\\\\n",
            "a%2Fb%20%22%C3%A9%3C%0A",
            "a%2fb%20%22%c3%a9%3c%0a",
            "a%2Fb+%22%C3%A9%3C%0A",
        ] {
            assert!(all.iter().any(|spelling| spelling == expected), "{expected} is not in {all:#?}");
        }
    }

    #[test]
    fn base64_is_known_at_every_offset_and_alone() {
        use base64::Engine as _;
        use base64::engine::general_purpose::{STANDARD, URL_SAFE};
        let secret = "s3cret>?pässword";
        for engine in [STANDARD, URL_SAFE] {
            for (before, after) in [("", ""), ("u:", ""), ("u", "x"), ("usr", "yy"), ("us:", "zzz")] {
                let encoded = engine.encode(format!("{before}{secret}{after}"));
                assert!(of(secret).iter().any(|spelling| encoded.contains(spelling)), "{encoded}");
            }
        }
    }
}
