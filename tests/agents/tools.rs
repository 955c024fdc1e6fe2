//! The access rights of the real agents' tools: codex's commands with a system bubblewrap, gemini's web tools.

use crate::scene::Scene;
use crate::server::OUTWARD;

#[test]
#[expect(clippy::print_stderr, reason = "a test that was skipped says so")]
fn the_commands_of_codex_work_beside_a_bubblewrap_of_the_system() {
    let scene = Scene::new();
    if !scene.install_bubblewrap() {
        eprintln!("SKIPPED: there is no bubblewrap, on the PATH or in target/agents/bubblewrap");
        assert_eq!(std::env::var_os("CI"), None, "a machine that is to show it must not pass without it");
        return;
    }
    // With a key, codex gets its own home for each call. A command reads the skill, and its failure shows nowhere else.
    for isolation in ["partial", "fresh"] {
        let ran = scene.tune("good", "500", &["--agent", "codex:gpt-5.5-codex", "--isolation", isolation]);
        assert_eq!((ran.code, ran.failures()), (Some(0), Vec::new()), "{isolation}: {ran:?}");
        assert!(ran.skills().iter().all(|skill| *skill == "used"), "{isolation}: {ran:?}");
        scene.begin_with("", "Write.");
    }
    let stderr = scene.agents_stderr();
    assert!(!stderr.contains("bwrap: "), "{stderr}");
}

#[test]
fn no_role_of_gemini_has_the_web_or_another_agent() {
    for isolation in ["partial", "user"] {
        let scene = Scene::new();
        let how = ["--agent", "gemini:gemini-3-pro-preview", "--isolation", isolation];
        let ran = scene.tune("500", "browse", &how);
        assert_eq!((ran.code, ran.failures()), (Some(0), Vec::new()), "{isolation}: {ran:?}");
        assert!(ran.replies.len() > 8, "executor, judge and improver have answered: {ran:?}");
        for reply in &ran.replies {
            let denied = &reply["talk"]["denied"];
            assert!(
                OUTWARD.iter().all(|tool| denied.as_array().unwrap().iter().any(|one| one == tool)),
                "{reply}"
            );
        }
        for request in scene.server.requests() {
            // gemini's search is a separate request to the model.
            assert!(!request.contains("googleSearch"), "{isolation}: it has searched: {request}");
            let offered =
                OUTWARD.iter().find(|tool| request.contains(&format!("\"name\":\"{tool}\",\"description\"")));
            assert_eq!(offered, None, "{isolation}: it is offered");
        }
    }
}
