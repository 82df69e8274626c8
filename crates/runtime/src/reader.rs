//! Watching a journal that another process writes.

use std::sync::Weak;
use std::time::Duration;

use adjourn_store::SqliteStore;

/// How often a journal that another process writes is looked at: that one tells only its own readers when it changes, and
/// a person who follows a run does not notice a fifth of a second.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Looks at the journal for as long as somebody reads it.
pub(crate) async fn look(store: Weak<SqliteStore>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(store) = store.upgrade() else { return };
        // Whoever reads next finds out by itself what is wrong, and says so.
        let _ = tokio::task::spawn_blocking(move || store.look()).await;
    }
}
