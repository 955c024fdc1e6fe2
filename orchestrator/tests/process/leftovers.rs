//! Processes that a child leaves behind when it ends.

use skilltune_orchestrator::process::How;

use crate::stage::{Stage, run};

#[test]
fn whatever_a_child_leaves_behind_is_dead_when_its_call_has_ended() {
    for kind in ["grandchild", "setsid", "daemon", "fork-loop"] {
        let stage = Stage::new();
        let ended = run(&stage.call(&[kind, "3"])).unwrap();
        // A leftover that held our pipe open would keep this test from ending.
        assert_eq!(ended.how, How::Exited(3), "{kind}");
        assert!(kind == "fork-loop" || ended.swept > 0, "{kind}: {ended:?}");
        stage.assert_nothing_is_left();
    }
}

#[test]
fn the_deaf_are_swept_like_all_others() {
    for kind in ["grandchild", "setsid", "daemon"] {
        let stage = Stage::new();
        let ended = run(&stage.deaf_call(&[kind, "0"])).unwrap();
        assert_eq!(ended.how, How::Exited(0), "{kind}");
        assert!(ended.swept > 0, "{kind}: {ended:?}");
        stage.assert_nothing_is_left();
    }
}
