//! Lists, page by page.

use crate::problem::Problem;

/// Items of a page that does not say how many it wants.
const LIMIT_DEFAULT: usize = 50;

/// Items of a page: a page is held in memory.
pub(crate) const LIMIT_MAX: usize = 500;

/// How many items a page has.
pub(crate) fn limit(given: Option<usize>) -> Result<usize, Problem> {
    match given.unwrap_or(LIMIT_DEFAULT) {
        limit @ 1..=LIMIT_MAX => Ok(limit),
        other => Err(Problem::bad_request(format!("`limit` is {other}: it should be 1 to {LIMIT_MAX}"))),
    }
}
