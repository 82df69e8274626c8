//! Canonical JSON (RFC 8785): one text for all the ways to write the same document.

use std::fmt::Write;

use serde_json::{Map, Number, Value};

/// `value` as RFC 8785 writes it.
///
/// The RFC knows only the numbers of ECMAScript, where integers beyond 2^53 run together. Here an integer that JSON
/// text gave exactly (up to 64 bits) keeps all of its digits, so that two different ids in two calls never look like
/// the same call. Up to 2^53 there is no difference to the RFC.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => write_object(out, members),
    }
}

fn write_object(out: &mut String, members: &Map<String, Value>) {
    let mut members: Vec<_> = members.iter().collect();
    // By UTF-16 code units, which is not the order of UTF-8: U+E000 and above sort after the surrogates there.
    members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    out.push('{');
    for (place, (name, value)) in members.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write_string(out, name);
        out.push(':');
        write_value(out, value);
    }
    out.push('}');
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            // Writing to a String cannot fail.
            '\0'..' ' => _ = write!(out, "\\u{:04x}", u32::from(char)),
            _ => out.push(char),
        }
    }
    out.push('"');
}

fn write_number(out: &mut String, number: &Number) {
    if number.is_f64() {
        write_float(out, &number.to_string());
    } else {
        _ = write!(out, "{number}");
    }
}

/// `Number::toString` of ECMAScript, for a float that `serde_json` has written as `shortest`.
///
/// Both write the shortest digits that read back as the same number, and of two equally near ones the even one, which
/// the `{:e}` of the standard library does not. They differ in where the point and the exponent go.
fn write_float(out: &mut String, shortest: &str) {
    let (sign, shortest) = shortest.strip_prefix('-').map_or(("", shortest), |rest| ("-", rest));
    let (mantissa, exponent) = shortest.split_once(['e', 'E']).unwrap_or((shortest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().expect("the exponent of a written float is a small integer");

    // The number is 0.`digits` times ten to the power of `point`, as in the specification.
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    let point = whole.len() as i32 + exponent - (all.len() - significant.len()) as i32;
    let digits = significant.trim_end_matches('0');
    let count = digits.len() as i32;

    if digits.is_empty() {
        // Minus zero too.
        return out.push('0');
    }
    out.push_str(sign);
    if (count..=21).contains(&point) {
        out.push_str(digits);
        out.extend(std::iter::repeat_n('0', (point - count) as usize));
    } else if (1..=21).contains(&point) {
        let (whole, fraction) = digits.split_at(point as usize);
        _ = write!(out, "{whole}.{fraction}");
    } else if (-5..=0).contains(&point) {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', -point as usize));
        out.push_str(digits);
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        _ = write!(out, "{first}{dot}{rest}e{:+}", point - 1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};
    use serde_json::{Value, json};

    use super::canonical;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(canonical(&value), expected);
    }

    /// Appendix B of the RFC.
    #[test]
    fn floats_are_written_as_in_the_rfc() {
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(canonical(&json!(f64::from_bits(bits))), expected);
        }
    }

    #[test]
    fn numbers_have_one_spelling() {
        check("-0", "0");
        check("-0.0", "0");
        check("1.0", "1");
        check("1e2", "100");
        check("1e21", "1e+21");
        check("1e-7", "1e-7");
        check("0.1e1", "1");
        check("333333333.33333329", "333333333.3333333");
        check("1E30", "1e+30");
        check("4.50", "4.5");
        check("2e-3", "0.002");
        check("0.000000000000000000000000001", "1e-27");
    }

    #[test]
    fn big_integers_keep_their_digits() {
        check("9007199254740992", "9007199254740992");
        check("9007199254740993", "9007199254740993");
        check("-9223372036854775808", "-9223372036854775808");
        check("18446744073709551615", "18446744073709551615");
        check("18446744073709551616", "18446744073709552000");
    }

    #[test]
    fn names_sort_by_utf_16_code_units() {
        check(
            r#"{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
                "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
                "\u00f6": "Latin Small Letter O With Diaeresis"}"#,
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\
             \"\u{f6}\":\"Latin Small Letter O With Diaeresis\",\"\u{20ac}\":\"Euro Sign\",\
             \"\u{1f600}\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
        );
    }

    #[test]
    fn strings_escape_only_what_they_must() {
        check(
            r#"{"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/\u0008\f\t\r\u007f"}"#,
            "{\"string\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\\b\\f\\t\\r\u{7f}\"}",
        );
        check(r#" [ null , true , false , [ ] , { } , "" ] "#, r#"[null,true,false,[],{},""]"#);
    }

    proptest! {
        #[test]
        fn a_float_reads_back_as_itself(float in any::<f64>().prop_filter("JSON has none", |float| float.is_finite())) {
            prop_assert_eq!(canonical(&json!(float)).parse::<f64>().unwrap(), float);
        }
    }
}
