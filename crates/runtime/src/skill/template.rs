//! Prompt templates of skills, rendered so that a hostile one does no harm.
//!
//! A template may come with an upload. It is a subset of Jinja: values, filters, `if`, and `for` over a value it was
//! given. Anything by which a value could be made longer than what went in (`set`, `~`, `+`, `*`, blocks, macros) is
//! refused, because no count of steps bounds a value that doubles at each of them. What is left is bounded by the size
//! of the text, by steps, and by the work that steps do: a filter is charged for the bytes that it reads, and where a
//! template compares or slices, which reads whole values in one step, the larger the values the fewer steps it has. The
//! template engine has no way to stop after a time, so time is bounded by these, at about a second.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use adjourn_core::JsonSize;
use minijinja::value::{Serde, Value as Jinja};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::Value;

/// The longest template.
const TEMPLATE_BYTES_MAX: usize = 256 * 1024;

/// The longest text that a template, or a filter in it, may make.
const RENDERED_BYTES_MAX: usize = 1024 * 1024;

/// Steps of one rendering: a loop over ten thousand items with a few values each.
const FUEL: u64 = 200_000;

/// Bytes that all filters of one rendering may read: an input of half a megabyte, some ten times.
const FILTERED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes that a value counts for a filter besides its text: it is converted before the filter sees it.
const VALUE_BYTES: usize = 32;

/// Values that all comparisons of one rendering may look at: about a second.
const COMPARED_VALUES_MAX: u64 = 10_000_000;

/// Steps that every template has, however large its input.
const FUEL_MIN: u64 = 1_000;

/// What a template may say.
const TAGS: [&str; 6] = ["if", "elif", "else", "endif", "for", "endfor"];

/// A template that was found to be in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: String,
    /// It has operators that read whole values in one step.
    compares: bool,
}

/// What is wrong with a template, and in which of its lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the template: {message}")]
pub struct TemplateError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl Template {
    /// Checks `source`.
    pub fn new(source: &str) -> Result<Self, TemplateError> {
        if source.len() > TEMPLATE_BYTES_MAX {
            let message = format!("it has {} bytes, at most {TEMPLATE_BYTES_MAX} are allowed", source.len());
            return Err(TemplateError { line: 1, message });
        }
        let compares = subset(source)?;
        environment(FUEL).template_from_str(source).map_err(|error| template_error(&error))?;
        Ok(Self { source: source.to_owned(), compares })
    }

    /// The text with `values` in it. Takes up to about a second, so not for a thread that others wait for.
    ///
    /// ```
    /// use adjourn_runtime::skill::Template;
    /// use serde_json::json;
    ///
    /// let template = Template::new("Write about {{ input.topic }}.").unwrap();
    /// assert_eq!(template.render(&json!({"input": {"topic": "tea"}})).unwrap(), "Write about tea.");
    /// ```
    pub fn render(&self, values: &Value) -> Result<String, TemplateError> {
        let environment = environment(self.fuel(values));
        let template = environment.template_from_str(&self.source).map_err(|error| template_error(&error))?;
        let mut out = Bounded(Vec::new());
        template
            .render_captured_to(Jinja::from(Serde(values)), &mut out)
            .map_err(|error| template_error(&error))?;
        Ok(String::from_utf8_lossy(&out.0).into_owned())
    }

    /// Steps that rendering may take.
    fn fuel(&self, values: &Value) -> u64 {
        if !self.compares {
            return FUEL;
        }
        let size = JsonSize::of(values);
        // A string is compared byte by byte.
        let read_at_once = (size.values + size.bytes / 64) as u64;
        (COMPARED_VALUES_MAX / read_at_once.max(1)).clamp(FUEL_MIN, FUEL)
    }
}

/// The bytes that filters may still read.
#[derive(Clone)]
struct Allowance(Arc<AtomicUsize>);

impl Allowance {
    fn take(&self, bytes: usize) -> Result<(), Error> {
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(|_| ()).map_err(|_| {
            let message = format!("its filters read more than {FILTERED_BYTES_MAX} bytes in all");
            Error::new(ErrorKind::InvalidOperation, message)
        })
    }
}

fn environment(fuel: u64) -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_fuel(Some(fuel));
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    let allowance = Allowance(Arc::new(AtomicUsize::new(FILTERED_BYTES_MAX)));
    let of_text = |change: fn(&str) -> String| {
        let allowance = allowance.clone();
        move |text: String| allowance.take(text.len()).map(|()| change(&text))
    };
    environment.add_filter("upper", of_text(str::to_uppercase));
    environment.add_filter("lower", of_text(str::to_lowercase));
    environment.add_filter("trim", of_text(|text| text.trim().to_owned()));
    let json = allowance.clone();
    environment.add_filter("tojson", move |value: Serde<Value>| {
        json.take(read_by_filter(&value.0))?;
        bounded_json(&value.0)
    });
    environment.add_filter("join", move |items: Serde<Vec<Value>>, separator: Option<String>| {
        allowance.take(items.0.iter().map(read_by_filter).sum())?;
        join(&items.0, separator)
    });
    environment.add_filter("default", minijinja::filters::default);
    environment.add_filter("length", minijinja::filters::length);
    environment.add_test("defined", minijinja::tests::is_defined);
    environment.add_test("undefined", minijinja::tests::is_undefined);
    environment.add_test("none", minijinja::tests::is_none);
    environment
}

/// Bytes that a filter is charged for a value.
fn read_by_filter(value: &Value) -> usize {
    let size = JsonSize::of(value);
    size.bytes + size.values * VALUE_BYTES
}

fn bounded_json(value: &Value) -> Result<String, Error> {
    let mut out = Bounded(Vec::new());
    serde_json::to_writer(&mut out, value).map_err(|_| too_long())?;
    Ok(String::from_utf8_lossy(&out.0).into_owned())
}

fn join(items: &[Value], separator: Option<String>) -> Result<String, Error> {
    let separator = separator.unwrap_or_default();
    let mut out = String::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(&separator);
        }
        match item {
            Value::String(text) => out.push_str(text),
            other => out.push_str(&other.to_string()),
        }
        if out.len() > RENDERED_BYTES_MAX {
            return Err(too_long());
        }
    }
    Ok(out)
}

fn too_long() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("makes more than {RENDERED_BYTES_MAX} bytes"))
}

/// Takes what fits.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > RENDERED_BYTES_MAX {
            return Err(io::Error::other(format!("it makes more than {RENDERED_BYTES_MAX} bytes")));
        }
        self.0.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn template_error(error: &Error) -> TemplateError {
    let message = match error.kind() {
        ErrorKind::OutOfFuel => "it takes too many steps".to_owned(),
        ErrorKind::WriteFailure => format!("it makes more than {RENDERED_BYTES_MAX} bytes"),
        kind => error.detail().map_or_else(|| kind.to_string(), |detail| format!("{kind}: {detail}")),
    };
    TemplateError { line: error.line().unwrap_or(1), message }
}

/// Refuses what is outside of the subset, by looking at each `{{ … }}` and `{% … %}`. Says whether what is in it compares
/// or slices values.
fn subset(source: &str) -> Result<bool, TemplateError> {
    let mut compares = false;
    let mut rest = source;
    while let Some(start) = rest.find('{') {
        let line = source[..source.len() - rest.len() + start].matches('\n').count() + 1;
        let refuse = |message: String| Err(TemplateError { line, message });
        rest = &rest[start..];
        let (kind, close) = match rest.as_bytes().get(1) {
            Some(b'#') => ("{#", "#}"),
            Some(b'{') => ("{{", "}}"),
            Some(b'%') => ("{%", "%}"),
            Some(_) | None => {
                rest = &rest[1..];
                continue;
            }
        };
        rest = &rest[kind.len()..];
        // A comment holds anything; in code, what closes it may stand in a string.
        let end = if kind == "{#" { rest.find(close) } else { code_end(rest, close) };
        let Some(end) = end else { return refuse(format!("`{kind}` is not closed by `{close}`")) };
        let code = outside_strings(&rest[..end]);
        rest = &rest[end + close.len()..];
        if kind == "{#" {
            continue;
        }
        if let Some(operator) = code.chars().find(|char| "~+*".contains(*char)) {
            return refuse(format!("`{operator}` is not allowed in a prompt template"));
        }
        if kind == "{%" {
            tag(&code).map_err(|message| TemplateError { line, message })?;
        }
        compares |= reads_whole_values(&code);
    }
    Ok(compares)
}

/// Whether a piece of code compares, searches or slices a value.
fn reads_whole_values(code: &str) -> bool {
    let mut words =
        code.split(|char: char| !(char.is_alphanumeric() || char == '_')).filter(|word| !word.is_empty());
    // The `in` of a loop is none.
    let searches = words.next() != Some("for") && words.any(|word| word == "in");
    searches || code.contains(['=', '<', '>', ':'])
}

fn tag(code: &str) -> Result<(), String> {
    let code = code.trim_matches(|char: char| char == '-' || char.is_whitespace());
    let word: String = code.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect();
    if !TAGS.contains(&word.as_str()) {
        return Err(format!("`{word}` is not allowed in a prompt template; there are {}", TAGS.join(", ")));
    }
    // A loop over a list in the template could bind a name to something longer than what it was.
    let plain = |char: char| char.is_alphanumeric() || "_.,".contains(char) || char.is_whitespace();
    if word == "for" && !code.chars().all(plain) {
        return Err("`for` loops over a plain value, as in `for x in input.list`".to_owned());
    }
    Ok(())
}

/// Where `close` stands outside of strings.
fn code_end(code: &str, close: &str) -> Option<usize> {
    outside_strings(code).find(close)
}

/// `code` with every byte of its strings blanked, so that places stay what they are.
fn outside_strings(code: &str) -> String {
    let mut quote = None;
    let mut escaped = false;
    let blanked = code.chars().flat_map(|char| {
        let inside = quote.is_some();
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if char == '\\' => escaped = true,
            Some(open) if char == open => quote = None,
            None if char == '"' || char == '\'' => quote = Some(char),
            Some(_) | None => {}
        }
        let (char, count) = if inside { (' ', char.len_utf8()) } else { (char, 1) };
        std::iter::repeat_n(char, count)
    });
    blanked.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;
    use serde_json::json;

    use super::Template;

    fn render(source: &str) -> String {
        let values = json!({"input": {"a": "x", "list": ["p", "q"], "n": 3, "q": "\""}, "run_dir": "/r"});
        match Template::new(source).and_then(|template| template.render(&values)) {
            Ok(text) => text,
            Err(error) => format!("! {error}"),
        }
    }

    #[test]
    fn templates_say_what_prompts_need() {
        for (source, expected) in [
            ("plain } { text", "plain } { text"),
            ("{{ input.a }} in {{ run_dir }}", "x in /r"),
            ("[{{ input.missing.deep }}]", "[]"),
            ("{{ input | tojson }}", r#"{"a":"x","list":["p","q"],"n":3,"q":"\""}"#),
            ("{{ input.missing | default('none') }}", "none"),
            ("{% for x in input.list %}<{{ x|upper }}>{% endfor %}", "<P><Q>"),
            ("{%- if input.n == 3 and input.a in ['x'] -%} yes {%- else -%} no {%- endif -%}", "yes"),
            ("{{ input.list | join(', ') }} {# + ~ #}", "p, q "),
            ("{{ 'a }} + b' }}", "a }} + b"),
            ("<b>&", "<b>&"),
        ] {
            assert_eq!(render(source), expected, "{source}");
        }
    }

    #[test]
    fn what_could_grow_or_reach_out_is_refused_with_its_line() {
        for (source, expected) in [
            (
                "a\n{{ input.a ~ input.a }}",
                "! line 2 of the template: `~` is not allowed in a prompt template",
            ),
            ("{{ 'a' * 1000000000 }}", "! line 1 of the template: `*` is not allowed in a prompt template"),
            ("{{ \"'\" + \"'\" }}", "! line 1 of the template: `+` is not allowed in a prompt template"),
            (
                "{% set x = 1 %}",
                "! line 1 of the template: `set` is not allowed in a prompt template; \
                 there are if, elif, else, endif, for, endfor",
            ),
            (
                "{%+ include '/etc/passwd' %}",
                "! line 1 of the template: `+` is not allowed in a prompt template",
            ),
            (
                "{% for x in [input, input] %}{% endfor %}",
                "! line 1 of the template: `for` loops over a plain value, as in `for x in input.list`",
            ),
            ("{{ input.a", "! line 1 of the template: `{{` is not closed by `}}`"),
        ] {
            assert_eq!(render(source), expected, "{source}");
        }
        for source in ["{{ x | nothing }}", "\n{% if %}", "{{ range(3) }}", "{% endfor %}", "{{ input.n() }}"]
        {
            assert!(render(source).starts_with("! line "), "{source}: {}", render(source));
        }
    }

    #[test]
    fn a_loop_that_reads_a_large_input_each_time_is_ended() {
        let values = json!({"a": (0..20_000).map(|n| format!("item {n}")).collect::<Vec<_>>()});
        for (source, expected) in [
            ("{% for x in a %}{% if a|tojson %}{% endif %}{% endfor %}", "8388608 bytes"),
            ("{% for x in a %}{% if a|join|upper|lower|trim %}{% endif %}{% endfor %}", "8388608 bytes"),
            ("{% for x in a %}{% if a == a %}{% endif %}{% endfor %}", "too many steps"),
            ("{% for x in a %}{% if 'nothing' in a %}{% endif %}{% endfor %}", "too many steps"),
            ("{% for x in a %}{% if a[1:] %}{% endif %}{% endfor %}", "too many steps"),
        ] {
            let error = Template::new(source).unwrap().render(&values).unwrap_err();
            assert!(error.message.contains(expected), "{source}: {error}");
        }
        // One that only goes through it is not.
        assert!(Template::new("{% for x in a %}{{ x }} {% endfor %}").unwrap().render(&values).is_ok());
    }

    #[test]
    fn a_template_ends_in_bounded_time_and_space() {
        let long = vec!["x"; 2000];
        let values = json!({"a": long});
        let nested = "{% for x in a %}{% for y in a %}{% for z in a %}{% endfor %}{% endfor %}{% endfor %}";
        let error = Template::new(nested).unwrap().render(&values).unwrap_err();
        assert_eq!(error.message, "it takes too many steps");
        let many = "{% for x in a %}{{ a }}{% endfor %}";
        let error = Template::new(many).unwrap().render(&values).unwrap_err();
        assert_eq!(error.message, "it makes more than 1048576 bytes");
        let chain = format!("{{{{ a{} }}}}", "|tojson".repeat(30));
        assert!(Template::new(&chain).unwrap().render(&values).is_err());
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(source in "(\\{\\{|\\}\\}|\\{%|%\\}|\\{#|#\\}|[-'\"\\\\|.]|if|for|in|endif|a|é| |\n){0,16}") {
            _ = render(&source);
        }
    }
}
