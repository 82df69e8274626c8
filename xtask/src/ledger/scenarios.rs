//! Reads the acceptance list.

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

/// A chapter of the list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chapter {
    /// `RT`
    pub(super) id: String,
    pub(super) title: String,
    pub(super) scenarios: Vec<Scenario>,
}

/// A line of the list: one behaviour that was promised.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Scenario {
    /// `RT-02`
    pub(super) id: String,
    /// A test on the tables alone is enough.
    pub(super) pure: bool,
    pub(super) text: String,
}

impl Scenario {
    /// What the names of its tests start with: `rt_02_`.
    pub(super) fn test_prefix(&self) -> String {
        format!("{}_", self.id.to_lowercase().replace('-', "_"))
    }
}

/// Reads `## RT: title` headings and the `| RT-02 (pure) | text | decision |` rows below them.
///
/// A row that cannot be read is an error: a promise must not drop out of the list by a slip of the pen.
pub(super) fn parse(markdown: &str) -> Result<Vec<Chapter>> {
    let mut chapters: Vec<Chapter> = Vec::new();
    for (index, line) in markdown.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("## ") {
            if let Some((id, title)) = heading.split_once(": ") {
                chapters.push(Chapter { id: id.to_owned(), title: title.to_owned(), scenarios: Vec::new() });
            }
        } else if line.starts_with('|') && !line.starts_with("| id |") && !line.starts_with("|---") {
            take_row(&mut chapters, line).with_context(|| format!("line {}", index + 1))?;
        }
    }
    ensure!(chapters.iter().any(|chapter| !chapter.scenarios.is_empty()), "there are no scenarios in it");
    Ok(chapters)
}

fn take_row(chapters: &mut [Chapter], line: &str) -> Result<()> {
    let Some(chapter) = chapters.last_mut() else { bail!("a row before the first chapter") };
    let scenario = row(line)?;
    let number = scenario.id.strip_prefix(&chapter.id).and_then(|rest| rest.strip_prefix('-'));
    ensure!(
        number.is_some_and(|number| number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit())),
        "`{}` is not an id of this chapter: they look like {}-01",
        scenario.id,
        chapter.id
    );
    ensure!(chapter.scenarios.iter().all(|other| other.id != scenario.id), "{} is there twice", scenario.id);
    chapter.scenarios.push(scenario);
    Ok(())
}

fn row(line: &str) -> Result<Scenario> {
    let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [id, text, _decision] = cells[..] else {
        bail!("a row has three cells, id, scenario and decision, not {}", cells.len());
    };
    let (id, pure) = id.strip_suffix(" (pure)").map_or((id, false), |id| (id, true));
    ensure!(!text.is_empty(), "{id} has no text");
    Ok(Scenario { id: id.to_owned(), pure, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::{Chapter, Scenario, parse};

    fn error(markdown: &str) -> String {
        format!("{:#}", parse(markdown).expect_err("the list is not in order"))
    }

    #[test]
    fn chapters_and_rows_are_read() {
        let list = "# List\n\n## How to read\ntext\n\n## RT: runs\n\n| id | scenario | decision |\n|---|---|---|\n\
                    | RT-01 | one `a` | because |\n| RT-02 (pure) | two | |\n";
        let scenario = |id: &str, pure, text: &str| Scenario { id: id.into(), pure, text: text.into() };
        let scenarios = vec![scenario("RT-01", false, "one `a`"), scenario("RT-02", true, "two")];
        assert_eq!(scenarios[0].test_prefix(), "rt_01_");
        assert_eq!(
            parse(list).expect("it is in order"),
            [Chapter { id: "RT".into(), title: "runs".into(), scenarios }]
        );
    }

    #[test]
    fn a_row_that_cannot_be_read_is_an_error_with_its_line() {
        assert_eq!(error("| RT-01 | a | |\n"), "line 1: a row before the first chapter");
        assert_eq!(
            error("## RT: runs\n| IL-01 | a | |\n"),
            "line 2: `IL-01` is not an id of this chapter: they look like RT-01"
        );
        assert_eq!(
            error("## RT: runs\n| RT-1 | a | |\n"),
            "line 2: `RT-1` is not an id of this chapter: they look like RT-01"
        );
        assert_eq!(error("## RT: runs\n| RT-01 | a | |\n| RT-01 | b | |\n"), "line 3: RT-01 is there twice");
        assert_eq!(
            error("## RT: runs\n| RT-01 | a |\n"),
            "line 2: a row has three cells, id, scenario and decision, not 2"
        );
        assert_eq!(error("## RT: runs\n| RT-01 | | |\n"), "line 2: RT-01 has no text");
        assert_eq!(error("nothing\n"), "there are no scenarios in it");
    }
}
