//! Links between the documents lead somewhere. Links to the web are not followed: a test needs no network.

use std::fs;

use super::Source;

/// Each relative link of a Markdown file whose file or heading does not exist.
pub(super) fn resolve(source: &Source<'_>) -> Vec<String> {
    if !source.has_extension("md") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (number, line) in prose(source.text) {
        for link in links(&line).into_iter().filter(|link| !leads_somewhere(source, link)) {
            problems.push(format!(":{number}: the link `{link}` leads nowhere"));
        }
    }
    problems
}

/// The numbered lines of a document without its code, in which brackets mean something else.
fn prose(markdown: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    markdown.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        // Every second piece between backticks is code.
        (!fenced && !fence).then(|| (index + 1, line.split('`').step_by(2).collect::<Vec<_>>().join(" ")))
    })
}

/// The targets of `[text](target "title")`, and of a `[name]: target` line.
fn links(line: &str) -> Vec<&str> {
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    inline.chain(definition).filter_map(|target| target.split_whitespace().next()).collect()
}

fn leads_somewhere(source: &Source<'_>, link: &str) -> bool {
    if link.contains("://") || link.starts_with("mailto:") {
        return true;
    }
    let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
    if file.is_empty() {
        return heading.is_some_and(|heading| has_heading(source.text, heading));
    }
    let folder = source.root.join(source.path).parent().map(ToOwned::to_owned).unwrap_or_default();
    let target = folder.join(file);
    match heading {
        None => target.exists(),
        Some(heading) => fs::read_to_string(target).is_ok_and(|text| has_heading(&text, heading)),
    }
}

fn has_heading(markdown: &str, wanted: &str) -> bool {
    let mut headings = markdown.lines().filter(|line| line.starts_with('#'));
    headings.any(|line| anchor(line.trim_start_matches('#').trim()) == wanted)
}

/// The anchor that the usual renderers give a heading: lower case, hyphens for spaces, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}
