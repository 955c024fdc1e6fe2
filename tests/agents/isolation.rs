//! How much of the user's environment the real agents see at each isolation level, and that their rights are the same
//! in all.

use serde_json::json;

use crate::scene::{Ran, SECRET, Scene, several};

const AGENTS: [&str; 2] = ["claude:claude-sonnet-4-5", "gemini:gemini-3-pro-preview"];

/// Runs one measurement with one agent in all roles.
fn measured(scene: &Scene, scenario: &str, agent: &str, isolation: &str) -> Ran {
    let how = ["--agent", agent, "--isolation", isolation, "--max-iterations", "1"];
    scene.tune(scenario, scenario, &how)
}

fn is_seen(scene: &Scene) -> bool {
    scene.server.requests().iter().any(|request| request.contains(SECRET))
}

#[test]
fn what_is_the_users_own_is_seen_in_their_world_and_in_no_other() {
    let agents = AGENTS.into_iter().chain(["codex:gpt-5.5-codex", "opencode:openai-compatible/large"]);
    let worlds = [("partial", false), ("fresh", false), ("user", true)];
    let cases: Vec<_> =
        agents.flat_map(|agent| worlds.map(|(isolation, own)| (agent, isolation, own))).collect();
    several(&cases, |(agent, isolation, own)| {
        let scene = Scene::new();
        scene.settle_in();
        let ran = measured(&scene, "good", agent, isolation);
        assert_eq!((ran.code, ran.failures()), (Some(3), Vec::new()), "{agent} {isolation}: {ran:?}");
        assert_eq!(is_seen(&scene), own, "{agent} {isolation}: memory or a skill");
        assert_eq!(scene.was_started(), own, "{agent} {isolation}: a hook or a server");
        let noted = ran.summary["notes"].to_string().contains("your own setup");
        assert_eq!(noted, own, "{agent} {isolation}: {}", ran.summary["notes"]);
        // Another skill has the same name: claude takes that one, and opencode the one that it found last.
        let came_to: &[&str] = match agent.split(':').next() {
            Some("claude") if own => &["shadowed"],
            Some("opencode") if own => &["shadowed", "used"],
            _ => &["used"],
        };
        assert!(came_to.contains(&ran.skills()[0]), "{agent} {isolation}: {ran:?}");
    });
}

#[test]
fn a_role_has_its_rights_even_where_the_users_settings_allow_more() {
    for agent in AGENTS {
        for isolation in ["partial", "user"] {
            let scene = Scene::new();
            scene.allow_everything();
            let ran = measured(&scene, "meddle", agent, isolation);
            let denied = ran.replies.iter().filter(|reply| reply["talk"]["denied"] != json!([]));
            assert_eq!((ran.code, denied.count()), (Some(3), 1), "{agent} {isolation}, a judge: {ran:?}");
            let scene = Scene::new();
            scene.allow_everything();
            let ran = measured(&scene, "forbidden", agent, isolation);
            assert_eq!(ran.failures(), ["denied_tool"; 2], "{agent} {isolation}, a shell: {ran:?}");
        }
    }
}
