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
    if number.is_i64() || number.is_u64() {
        _ = write!(out, "{number}");
    } else if let Some(float) = number.as_f64() {
        write_float(out, float);
    }
}

/// `Number::toString` of ECMAScript, as its specification has it: `digits` are the shortest that read back as the same
/// number, and the decimal point belongs after the first `point` of them.
fn write_float(out: &mut String, float: f64) {
    if float == 0.0 {
        // Minus zero too.
        return out.push('0');
    }
    if float < 0.0 {
        out.push('-');
    }
    let shortest = format!("{:e}", float.abs());
    let (mantissa, exponent) = shortest.split_once('e').expect("`{:e}` of a finite number has an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes the exponent as an integer");
    let digits = mantissa.replace('.', "");
    let count = digits.len() as i32;
    let point = exponent + 1;

    if (count..=21).contains(&point) {
        out.push_str(&digits);
        out.extend(std::iter::repeat_n('0', (point - count) as usize));
    } else if (1..=21).contains(&point) {
        let (whole, fraction) = digits.split_at(point as usize);
        _ = write!(out, "{whole}.{fraction}");
    } else if (-5..=0).contains(&point) {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', -point as usize));
        out.push_str(&digits);
    } else {
        _ = write!(out, "{mantissa}e{exponent:+}");
    }
}
