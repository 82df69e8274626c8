//! Tables: columns that are as wide as what is in them, the last one as wide as it likes.

use adjourn_core::visible_line;
use clap::builder::styling::Style;

use crate::style::{BOLD, PLAIN};

/// Something in a table.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Text in a style.
    pub(crate) fn styled(style: Style, text: impl Into<String>) -> Self {
        // A line break in a cell would be one in the table.
        Self { text: visible_line(&text.into()).into_owned(), style }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(PLAIN, text)
    }
}

/// The table with these headings, each line ended.
pub(crate) fn table(headings: &[&str], rows: &[Vec<Cell>]) -> String {
    let heading: Vec<_> = headings.iter().map(|heading| Cell::styled(BOLD, *heading)).collect();
    let mut widths: Vec<_> = headings.iter().map(|heading| heading.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.chars().count());
        }
    }
    std::iter::once(&heading).chain(rows).map(|row| line(row, &widths)).collect()
}

fn line(row: &[Cell], widths: &[usize]) -> String {
    // Nothing is padded behind the last text of a line.
    let last = row.iter().rposition(|cell| !cell.text.is_empty()).unwrap_or(0);
    let mut line = String::new();
    for (index, (Cell { text, style }, width)) in row.iter().zip(widths).enumerate().take(last + 1) {
        let padding = if index == last { 0 } else { width + 2 - text.chars().count() };
        line.push_str(&format!("{style}{text}{style:#}{:padding$}", ""));
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::{Cell, table};
    use crate::style::GOOD;

    #[test]
    fn columns_are_aligned_and_lines_end_with_their_text() {
        let rows = vec![
            vec![Cell::from("one"), Cell::styled(GOOD, "longer"), Cell::from("x")],
            vec![Cell::from("second"), Cell::from("b"), Cell::from("")],
        ];
        let text = anstream::adapter::strip_str(&table(&["A", "B", "C"], &rows)).to_string();
        assert_eq!(text, "A       B       C\none     longer  x\nsecond  b\n");
    }
}
