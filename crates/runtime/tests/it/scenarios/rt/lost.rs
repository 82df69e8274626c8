//! RT-06: what a run lost while nobody was at work.

use std::fs;

use adjourn_core::{ContractStatus, ErrorCode};
use serde_json::json;

use crate::stage::ways::{Does, Way, every_way};

every_way! {
    #[test]
    fn rt_06_a_restart_fails_a_run_whose_workspace_was_deleted_however_its_agent_asked(way: Way) {
        let scene = way.scene(&[Does::Asks(json!({ "prompt": "Which database?" }))]);
        let run = scene.waiting(json!({}));
        fs::remove_dir_all(run.work()).unwrap();
        scene.stage.restart();
        let state = run.ends();
        assert_eq!(run.changes().last().unwrap(), "waiting_user → failed: restart.reconcile_failed");
        assert_eq!(run.code(), Some(ErrorCode::SessionResumeFailed));
        assert_eq!(state.open_interactions().count(), 0);
        assert!(state.contracts().all(|contract| contract.status == ContractStatus::Cancelled));
    }
}
