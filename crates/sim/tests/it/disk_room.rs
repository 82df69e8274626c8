//! The disk falls below its reserve: nothing begins, nothing is lost, and everything goes on when there is room.

use adjourn_core::{By, Command, Reply, RunStatus};
use adjourn_kernel::{Denied, DiskSpace, Room};
use serde_json::json;

use crate::kernel::{Desk, asks, done, one_slot, plain, run_id};

fn below_reserve() -> Room {
    Room::BelowReserve(DiskSpace { free_bytes: 1_000_000, reserve_bytes: 5_000_000 })
}

#[test]
fn below_the_reserve_no_run_is_created_and_no_turn_begins_until_there_is_room() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, plain());
    desk.creates(2, plain());
    desk.commits();
    desk.answers();
    assert_eq!(desk.effects(), ["start 1"]);
    desk.kernel.set_room(below_reserve());
    desk.creates(3, plain());
    let answers = desk.answers();
    let [Err(denied @ Denied::DiskReserve { free_bytes: 1_000_000, reserve_bytes: 5_000_000 })] =
        &answers[..]
    else {
        panic!("{answers:?}")
    };
    assert_eq!(
        denied.to_string(),
        "the disk with the data directory has 1 MB free, and no run is created while that is less than 5 MB: \
         make room, or lower `server.disk_reserve_mb`"
    );
    desk.ends(1, done());
    desk.commits();
    assert_eq!((desk.status(1), desk.status(2)), (RunStatus::Succeeded, RunStatus::Queued));
    assert_eq!(desk.effects(), [""; 0]);
    desk.kernel.set_room(Room::Enough);
    desk.commits();
    assert_eq!(desk.effects(), ["start 2"]);
}

#[test]
fn below_the_reserve_answers_and_cancels_are_taken() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, plain());
    desk.commits();
    desk.ends(1, asks());
    desk.creates(2, plain());
    desk.commits();
    desk.effects();
    desk.kernel.set_room(below_reserve());
    desk.answers();
    let reply = Reply {
        interaction_id: adjourn_core::InteractionId(1),
        response: json!("yes"),
        action: None,
        by: By::USER,
        key: None,
        edited_id: adjourn_core::ExecutionId::from_bits(1),
        edited_key: None,
    };
    desk.asks(run_id(1), Command::Reply(reply));
    desk.asks(run_id(2), Command::Cancel(By::USER));
    desk.commits();
    assert!(desk.answers().iter().all(Result::is_ok));
    assert_eq!(desk.status(1), RunStatus::Queued);
    assert_eq!(desk.effects(), ["end 2"]);
    desk.kernel.set_room(Room::Enough);
    desk.passes(0);
    desk.ends(2, done());
    desk.commits();
    assert_eq!((desk.status(1), desk.status(2)), (RunStatus::Running, RunStatus::Canceled));
}
