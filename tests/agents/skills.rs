//! Skills as users use them: installed where the agent looks for them, called by name, or in the prompt.

use serde_json::json;

use crate::scene::{Ran, SECRET, Scene, several};
use crate::whole::{assert_improved, used};

/// The whole task of the executor in these tests.
const TASK: &str = "write one";
/// Returns whether a request is the task itself. Judges and improvers see the task on pages of skilltune.
fn is_task(request: &str) -> bool {
    request.contains(TASK) && !["# Judge", "# Improve"].iter().any(|page| request.contains(page))
}

const CLAUDE: &str = "claude:claude-sonnet-4-5";
const GEMINI: &str = "gemini:gemini-3-pro-preview";
const CODEX: &str = "codex:gpt-5.5-codex";
const OPENCODE: &str = "opencode:openai-compatible/large";

/// Runs a search with codex as judge and improver, because it starts fastest.
fn tune(scene: &Scene, agent: &str, scenario: &str, more: &[&str]) -> Ran {
    let roles = ["--executor", agent, "--evaluator", CODEX, "--improver", CODEX];
    scene.tune(scenario, scenario, &[&roles, more].concat())
}

/// Runs one round without any improvement.
fn tried(scene: &Scene, agent: &str, scenario: &str) -> Ran {
    let ran = tune(scene, agent, scenario, &["--max-iterations", "1"]);
    assert_eq!((ran.code, ran.failures()), (Some(3), Vec::new()), "{ran:?}");
    ran
}

#[test]
fn a_skill_that_is_offered_and_not_used_is_known_and_told() {
    several(&[CLAUDE, GEMINI, CODEX, OPENCODE], |agent| {
        let scene = Scene::new();
        let ran = tune(&scene, agent, "ignore", &["--max-iterations", "2"]);
        assert!(ran.skills().iter().all(|skill| *skill == "offered"), "{ran:?}");
        let reports = scene.files("iteration-1-eval.md");
        let page = std::fs::read_to_string(&reports[0]).unwrap();
        assert!(page.contains("The skill was used in 0 of 1 trial: "), "{page}");
        let is_sent = |words: &str| scene.server.requests().iter().any(|request| request.contains(words));
        assert!(is_sent("In 1 of 1 trials the agent saw"), "the improver is told");
        // A skill is offered by its description, which is not in skilltune's prompts.
        let tasks = scene.server.requests().into_iter().filter(|one| is_task(one));
        assert!(tasks.into_iter().all(|task| task.contains("Writes a haiku. Use it for haiku.")), "{agent}");
    });
}

#[test]
fn a_skill_that_codex_does_not_take_for_one_is_not_offered() {
    let scene = Scene::new();
    // codex expects a mapping there.
    scene.begin_with("metadata: 5\n", "");
    let ran = scene.tune("good", "good", &["--agent", CODEX, "--max-iterations", "1"]);
    assert_eq!((ran.failures(), ran.skills()), (Vec::new(), vec!["not_offered"]), "{ran:?}");
}

#[test]
fn claude_is_called_by_the_skills_name() {
    let scene = Scene::new();
    let ran = scene.tune("good", "500", &["--agent", CLAUDE, "--delivery", "slash"]);
    assert_improved(&scene, &ran);
    assert_eq!((used(&ran, "Skill"), ran.skills()), (0, vec!["used"; 4]));
    let called = |request: &&String| request.contains("<command-name>/haiku</command-name>");
    assert!(scene.server.requests().iter().filter(called).count() >= 4);
}

#[test]
fn the_others_call_nothing_by_name_and_say_so_before_anything_is_paid() {
    for agent in [GEMINI, CODEX, OPENCODE] {
        let scene = Scene::new();
        let ran = scene.tune("good", "good", &["--agent", agent, "--delivery", "slash"]);
        assert_eq!((ran.code, ran.history.len()), (Some(2), 0), "{ran:?}");
        let (name, _) = agent.split_once(':').unwrap();
        assert!(ran.stderr.contains(&format!("`{name}` cannot call a skill by /NAME")), "{}", ran.stderr);
        assert_eq!(scene.server.asked("good"), 0);
    }
}

#[test]
fn in_the_prompt_a_skill_is_neither_offered_nor_looked_for() {
    several(&[CLAUDE, GEMINI, CODEX, OPENCODE], |agent| {
        let scene = Scene::new();
        let ran = tune(&scene, agent, "good", &["--delivery", "inline"]);
        assert_improved(&scene, &ran);
        assert_eq!(ran.skills(), ["nothing"; 4]);
        assert_eq!(["Skill", "activate_skill", "skill"].map(|tool| used(&ran, tool)), [0; 3]);
        let listed = |request: &String| {
            request.contains("skills_instructions") || request.contains("available_skills")
        };
        assert!(!scene.server.requests().iter().any(listed), "{agent}");
    });
}

#[test]
fn each_member_of_a_chain_is_offered_in_its_own_trial_only() {
    let scene = Scene::new();
    scene.add_skill("critic");
    let chain = ["tune", ".claude/skills/haiku,.claude/skills/critic", "write one", "--chain", "--yes"];
    let chain = [&chain[..], &["--apply", "auto"]].concat();
    let once = ["--agent", CLAUDE, "--max-iterations", "1", "--format", "json"];
    let ran = scene.run("good", "500", &[&chain[..], &once].concat());
    // The model knows only how to use the first skill.
    assert_eq!((ran.failures(), ran.skills()), (Vec::new(), vec!["used", "offered"]), "{ran:?}");
    let requests = scene.server.requests();
    let tasks = || requests.iter().filter(|request| is_task(request));
    assert!(tasks().any(|task| task.contains("\\n- critic: Follows.") && task.contains("left its output in `input`")));
    assert!(!tasks().any(|task| task.contains("\\n- critic: ") && task.contains("\\n- haiku: ")));
}

#[test]
fn what_a_skill_allows_itself_opens_nothing_and_starts_nothing() {
    let cases = [(CLAUDE, "Write"), (GEMINI, "write_file"), (CODEX, "file_change"), (OPENCODE, "write")];
    several(&cases, |(agent, tool)| {
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
    });
}

#[test]
fn what_is_written_into_an_installed_skill_is_nobodys_result() {
    // codex has no write access there at all.
    for (agent, tool) in [(GEMINI, "write_file"), (OPENCODE, "write")] {
        let scene = Scene::new();
        let ran = tried(&scene, agent, "scribble");
        assert_eq!((ran.skills(), used(&ran, tool)), (vec!["used"], 1));
        assert_eq!(scene.files("more.md"), [""; 0].map(std::path::PathBuf::from));
        assert_eq!(scene.files("answer.md").len(), 1, "its words were all that it left");
    }
}
