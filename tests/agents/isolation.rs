//! How much of the user's own world the real agents are in; and that their rights are the same in all of them.

use serde_json::json;

use crate::scene::{Ran, SECRET, Scene};

const AGENTS: [&str; 2] = ["claude:claude-sonnet-4-5", "gemini:gemini-3-pro-preview"];

/// One measurement by one agent in all roles.
fn measured(scene: &Scene, scenario: &str, agent: &str, isolation: &str) -> Ran {
    let how = ["--agent", agent, "--isolation", isolation, "--max-iterations", "1"];
    scene.tune(scenario, scenario, &how)
}

fn is_seen(scene: &Scene) -> bool {
    scene.server.requests().iter().any(|request| request.contains(SECRET))
}

#[test]
#[ignore = "starts real agents: tests/agents/run"]
fn what_is_the_users_own_is_seen_in_their_world_and_in_no_other() {
    for agent in AGENTS {
        for (isolation, own) in [("partial", false), ("fresh", false), ("user", true)] {
            let scene = Scene::new();
            let ran = measured(&scene, "good", agent, isolation);
            assert_eq!((ran.code, ran.failures()), (Some(3), Vec::new()), "{agent} {isolation}: {ran:?}");
            assert_eq!(is_seen(&scene), own, "{agent} {isolation}: memory");
            assert_eq!(scene.was_started(), own, "{agent} {isolation}: a hook or a server");
            let noted = ran.summary["notes"].to_string().contains("your own world");
            assert_eq!(noted, own, "{agent} {isolation}: {}", ran.summary["notes"]);
        }
    }
}

#[test]
#[ignore = "starts real agents: tests/agents/run"]
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
