//! What every store has to pass.
//!
//! Each promise of [`Store`] is a function that takes a [`Fixture`]; [`store_conformance!`](crate::store_conformance)
//! makes a test of each:
//!
//! ```text
//! adjourn_store::store_conformance!(MyFixture::new());
//! ```

// A promise that is broken is a panic: this is test code, in a place where other crates can use it.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, missing_docs)]

pub mod commits;
pub mod items;
mod model;
pub mod notices;
mod random;
pub mod reads;
pub mod removal;
pub mod roundtables;
pub mod rows;
pub mod watches;

pub use random::Random;

use crate::{Conflict, Outcome, Store};
use adjourn_core::Item;

/// A store under test, on something that outlives it.
pub trait Fixture {
    /// The store.
    fn store(&self) -> &dyn Store;

    /// Closes the store and opens it again, as a restart does.
    fn reopen(&mut self);
}

/// Commits one item that must be accepted, and gives its position.
pub(crate) fn accept(store: &dyn Store, item: Item) -> u64 {
    match store.commit(&[item]).unwrap().as_slice() {
        [Outcome::Accepted { position }] => *position,
        other => panic!("not accepted: {other:?}"),
    }
}

/// Commits one item that must be refused, and gives the reason.
pub(crate) fn refuse(store: &dyn Store, item: Item) -> Conflict {
    match store.commit(&[item]).unwrap().as_slice() {
        [Outcome::Refused(conflict)] => conflict.clone(),
        other => panic!("not refused: {other:?}"),
    }
}

/// Makes one test of each promise. The expression gives a new [`Fixture`](crate::conformance::Fixture) with an empty
/// store each time.
#[macro_export]
macro_rules! store_conformance {
    ($fixture:expr) => {
        $crate::store_conformance! { $fixture;
            commits::an_accepted_item_is_there_with_everything_it_carries,
            commits::a_refused_item_leaves_nothing_behind,
            commits::each_item_of_a_batch_is_accepted_or_refused_alone,
            commits::items_of_a_batch_are_taken_in_order,
            commits::a_stream_that_is_elsewhere_refuses_and_says_where,
            commits::positions_and_places_have_no_gaps,
            commits::an_empty_batch_changes_nothing,
            commits::a_stale_decision_is_told_so_before_its_claims_are_looked_at,
            commits::a_restart_keeps_everything,
            commits::writers_in_many_threads_share_one_order,
            notices::a_notice_is_there_with_its_item_until_it_is_settled,
            notices::of_each_run_the_oldest_notice_comes_first_and_the_earliest_due_of_all,
            notices::what_became_of_a_notice_that_is_gone_changes_nothing,
            reads::a_stream_is_read_from_any_event,
            reads::a_stream_is_read_from_any_frame,
            reads::everything_is_read_from_any_position,
            reads::what_is_not_there_is_none_or_empty,
            reads::cursors_beyond_every_number_find_nothing,
            removal::a_run_that_ended_is_removed_with_everything_that_is_only_its_own,
            removal::a_run_that_is_still_needed_is_not_removed,
            removal::a_chain_of_runs_is_removed_from_its_end,
            removal::a_key_that_created_a_removed_run_is_held_until_it_is_forgotten,
            removal::positions_never_go_back_when_the_newest_entry_is_removed,
            roundtables::a_row_follows_its_roundtable,
            roundtables::roundtables_are_listed_newest_first_by_status_and_paged,
            roundtables::questions_of_runs_and_roundtables_are_one_list,
            roundtables::a_roundtable_holds_keys_like_a_run,
            roundtables::roundtables_are_counted_by_status,
            roundtables::a_closed_roundtable_is_removed_with_everything_that_is_only_its_own,
            rows::a_run_is_listed_by_every_filter_from_every_cursor,
            rows::a_list_is_one_moment_while_its_runs_change,
            rows::a_row_follows_its_run,
            rows::runs_are_counted_by_status,
            rows::labels_with_odd_characters_are_told_apart,
            rows::open_questions_are_listed_oldest_first_and_paged,
            rows::deadlines_are_listed_earliest_first,
            rows::contracts_are_found_and_change,
            rows::a_key_has_one_holder,
            rows::claims_count_in_the_order_they_are_made,
            watches::watching_everything_sees_every_entry_once,
            watches::watching_a_stream_sees_every_entry_once_and_nothing_else,
            watches::a_watch_begins_with_what_is_there,
            watches::reading_does_not_wait_for_writing,
        }
    };
    ($fixture:expr; $($module:ident :: $promise:ident),+ $(,)?) => {
        $(
            #[test]
            fn $promise() {
                $crate::conformance::$module::$promise(&mut $fixture);
            }
        )+
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_promise_is_in_the_list() {
        let listed = include_str!("conformance.rs");
        let modules = [
            ("commits", include_str!("conformance/commits.rs")),
            ("notices", include_str!("conformance/notices.rs")),
            ("reads", include_str!("conformance/reads.rs")),
            ("removal", include_str!("conformance/removal.rs")),
            ("roundtables", include_str!("conformance/roundtables.rs")),
            ("rows", include_str!("conformance/rows.rs")),
            ("watches", include_str!("conformance/watches.rs")),
        ];
        for (module, source) in modules {
            for line in source.lines().filter_map(|line| line.strip_prefix("pub fn ")) {
                let name = line.split('(').next().unwrap();
                assert!(listed.contains(&format!("{module}::{name},")), "{module}::{name}");
            }
        }
    }
}
