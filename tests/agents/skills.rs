//! Skills as users use them: installed where the agent looks for them, called by name, or in the prompt.

use serde_json::json;

use crate::scene::{Ran, SECRET, Scene};
use crate::whole::{assert_improved, used};

const CLAUDE: &str = "claude:claude-sonnet-4-5";
const GEMINI: &str = "gemini:gemini-3-pro-preview";

/// One round, in which nobody makes the skill any better.
fn tried(scene: &Scene, agent: &str, scenario: &str) -> Ran {
    let ran = scene.tune(scenario, scenario, &["--agent", agent, "--max-iterations", "1"]);
    assert_eq!((ran.code, ran.failures()), (Some(3), Vec::new()), "{ran:?}");
    ran
}

#[test]
#[ignore = "starts real agents: tests/agents/run"]
fn a_skill_that_is_offered_and_not_used_is_known_and_told() {
    for agent in [CLAUDE, GEMINI] {
        let scene = Scene::new();
        let ran = scene.tune("ignore", "ignore", &["--agent", agent, "--max-iterations", "2"]);
        assert!(ran.skills().iter().all(|skill| *skill == "offered"), "{ran:?}");
        let reports = scene.files("iteration-1-eval.md");
        let page = std::fs::read_to_string(&reports[0]).unwrap();
        assert!(page.contains("The skill was used in 0 of 1 trial."), "{page}");
        let told =
            scene.server.requests().iter().any(|request| request.contains("In 1 of 1 trials the agent saw"));
        assert!(told, "the improver is told");
    }
}

#[test]
#[ignore = "starts real agents: tests/agents/run"]
fn claude_is_called_by_the_skills_name() {
    let scene = Scene::new();
    let ran = scene.tune("good", "500", &["--agent", CLAUDE, "--delivery", "slash"]);
    assert_improved(&scene, &ran);
    assert_eq!((used(&ran, "Skill"), ran.skills()), (0, vec!["used"; 4]));
    let called = |request: &&String| request.contains("<command-name>/haiku</command-name>");
    assert!(scene.server.requests().iter().filter(called).count() >= 4);
}

#[test]
#[ignore = "starts real agents: tests/agents/run"]
fn gemini_calls_nothing_by_name_and_says_so_before_anything_is_paid() {
    let scene = Scene::new();
    let ran = scene.tune("500", "good", &["--agent", GEMINI, "--delivery", "slash"]);
    assert_eq!((ran.code, ran.history.len()), (Some(2), 0), "{ran:?}");
    assert!(ran.stderr.contains("`gemini` calls no skill by /NAME"), "{}", ran.stderr);
    assert_eq!(scene.server.asked("good"), 0);
}

#[test]
#[ignore = "starts real agents: tests/agents/run"]
fn in_the_prompt_a_skill_is_neither_offered_nor_looked_for() {
    for agent in [CLAUDE, GEMINI] {
        let scene = Scene::new();
        let ran = scene.tune("good", "good", &["--agent", agent, "--delivery", "inline"]);
        assert_improved(&scene, &ran);
        assert_eq!(ran.skills(), ["nothing"; 4]);
        assert_eq!(used(&ran, "Skill") + used(&ran, "activate_skill"), 0);
    }
}

#[test]
#[ignore = "starts real agents: tests/agents/run"]
fn each_member_of_a_chain_is_offered_in_its_own_trial_only() {
    let scene = Scene::new();
    scene.add_skill("critic");
    let chain = ["tune", ".claude/skills/haiku,.claude/skills/critic", "write one", "--chain", "--yes"];
    let once = ["--agent", CLAUDE, "--max-iterations", "1", "--format", "json"];
    let ran = scene.run("good", "500", &[&chain[..], &once].concat());
    // The model knows what to do with the first of them only.
    assert_eq!((ran.failures(), ran.skills()), (Vec::new(), vec!["used", "offered"]), "{ran:?}");
    let requests = scene.server.requests();
    let tasks = || requests.iter().filter(|request| request.contains("Do the task below."));
    assert!(tasks().any(|task| task.contains("\\n- critic: Follows.") && task.contains("is in `input`")));
    assert!(!tasks().any(|task| task.contains("\\n- critic: ") && task.contains("\\n- haiku: ")));
}

#[test]
#[ignore = "starts real agents: tests/agents/run"]
fn what_a_skill_allows_itself_opens_nothing_and_starts_nothing() {
    for (agent, tool) in [(CLAUDE, "Write"), (GEMINI, "write_file")] {
        let scene = Scene::new();
        let touch = format!("touch {}", scene.traces()[0].display());
        let front = format!(
            "allowed-tools: Bash, Read, Write\nhooks:\n  PreToolUse:\n    - matcher: \"*\"\n      hooks:\n        - type: command\n          command: \"{touch}\"\n"
        );
        scene.begin_with(&front, &format!("!`{touch}`\n"));
        let ran = tried(&scene, agent, "stray");
        assert_eq!(ran.skills(), ["used"], "{ran:?}");
        let denied = ran.replies.iter().filter(|reply| reply["talk"]["denied"] == json!([tool]));
        assert_eq!(denied.count(), 1, "it wrote beside its workspace: {ran:?}");
        assert!(!scene.was_started(), "a command of the skill's was started");
        assert!(scene.server.requests().iter().all(|request| !request.contains(SECRET)));
    }
}

#[test]
#[ignore = "starts real agents: tests/agents/run"]
fn what_is_written_into_an_installed_skill_is_nobodys_result() {
    let scene = Scene::new();
    let ran = tried(&scene, GEMINI, "scribble");
    assert_eq!((ran.skills(), used(&ran, "write_file")), (vec!["used"], 1));
    assert_eq!(scene.files("more.md"), [""; 0].map(std::path::PathBuf::from));
    assert_eq!(scene.files("answer.md").len(), 1, "its words were all that it left");
}
