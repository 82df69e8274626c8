use std::path::PathBuf;

use serde_json::json;

use super::{Found, Ledger};
use crate::ledger::scenarios;
use crate::ledger::test_functions::TestFunction;

const LIST: &str =
    "## RT: runs\n| RT-01 | one | |\n| RT-02 (pure) | two | |\n## EX: contracts\n| EX-01 | three | |\n";

/// The ledger of `LIST` with the given tests, each `file: name`, ignored ones with a `!` in front of the name.
fn ledger(tests: &[(&str, &str)]) -> Ledger {
    let found = tests.iter().map(|(file, name)| Found {
        test: TestFunction { name: name.trim_start_matches('!').to_owned(), ignored: name.starts_with('!') },
        file: PathBuf::from(file),
    });
    Ledger::new(scenarios::parse(LIST).expect("the list is in order"), found.collect())
}

#[test]
fn a_scenario_without_a_test_or_with_ignored_ones_is_a_problem() {
    let ledger = ledger(&[("crates/core/src/a.rs", "rt_02_x"), ("crates/sim/tests/a.rs", "!ex_01_y")]);
    assert_eq!(ledger.problems(), ["RT-01: no test is called rt_01_…", "EX-01: its tests are ignored"]);
}

#[test]
fn a_test_in_the_core_is_enough_for_pure_scenarios_only() {
    let ledger = ledger(&[
        ("crates/core/src/a.rs", "rt_01_x"),
        ("crates/core/src/a.rs", "rt_02_x"),
        ("crates/core/src/a.rs", "ex_01_x"),
        ("crates/runtime/tests/it/a.rs", "ex_01_y"),
    ]);
    assert_eq!(ledger.problems(), ["RT-01: its tests are in crates/core, none drives the runtime"]);
}

#[test]
fn one_test_that_runs_is_enough_beside_an_ignored_one() {
    let ledger =
        ledger(&[("a.rs", "rt_01_x"), ("a.rs", "!rt_02_x"), ("a.rs", "rt_02_y"), ("a.rs", "!ex_01_x")]);
    assert_eq!(ledger.problems(), ["EX-01: its tests are ignored"]);
}

#[test]
fn a_test_with_an_id_that_is_not_on_the_list_is_a_problem() {
    let tests = ["rt_01_x", "rt_02_x", "ex_01_x", "rt_99_x", "rt_never_x", "rt_2_x"];
    let ledger = ledger(&tests.map(|test| ("a.rs", test)));
    assert_eq!(
        ledger.problems(),
        ["rt_99_x (a.rs): no scenario has this id", "rt_2_x (a.rs): no scenario has this id"]
    );
}

#[test]
fn the_table_has_a_row_per_scenario_and_totals_per_chapter() {
    let text = ledger(&[("a.rs", "rt_02_x"), ("b.rs", "rt_02_long")]).to_text();
    let expected = "\
RT-01         missing                     one
RT-02 (pure)  tested   rt_02_x (a.rs)     two
                       rt_02_long (b.rs)
EX-01         missing                     three

RT    1 tested    0 core only    0 ignored    1 missing   runs
EX    0 tested    0 core only    0 ignored    1 missing   contracts
";
    assert_eq!(text, expected);
}

#[test]
fn the_json_says_the_same() {
    let document = ledger(&[("a.rs", "!rt_02_x")]).to_json();
    assert_eq!(
        document["chapters"][0],
        json!({
            "id": "RT",
            "title": "runs",
            "counts": { "tested": 0, "core_only": 0, "ignored": 1, "missing": 1 },
        })
    );
    assert_eq!(
        document["scenarios"][1],
        json!({
            "id": "RT-02",
            "pure": true,
            "status": "ignored",
            "tests": [{ "name": "rt_02_x", "file": "a.rs", "ignored": true }],
            "text": "two",
        })
    );
    assert_eq!(document["strays"], json!([]));
}

#[test]
fn the_page_links_the_list_and_names_each_test() {
    let page = ledger(&[("a.rs", "rt_02_x"), ("b.rs", "!rt_02_y")]).to_markdown();
    assert!(page.contains("\n| RT: runs | 1 | 0 | 0 | 1 |\n"), "{page}");
    assert!(page.contains("\n| RT-01 | missing |  | one |\n"), "{page}");
    assert!(
        page.contains(
            "\n| RT-02 (pure) | tested | `rt_02_x` in `a.rs`<br>`rt_02_y` in `b.rs` (ignored) | two |\n"
        ),
        "{page}"
    );
}
