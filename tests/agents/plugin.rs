//! The plugin in the real programs, with an empty home: each lists its skill, and runs the first command of it.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::scene::{Scene, program};
use crate::server::FIRST;

/// The parts of this repository that the programs read.
const PARTS: [&str; 4] = [".claude-plugin", "gemini-extension.json", "skills", "commands"];

const BROKEN: &str = "---\nname: broken\ndescription: Makes tables. Use it for tables.\n---\n\nRead [the rules](references/rules.md).\n";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Creates a project with a broken skill, an empty home with the settings that programs need for our server, and a copy
/// of the plugin.
fn scene() -> Scene {
    let scene = Scene::new();
    for folder in ["plain/skills/broken", "empty/.gemini", "plugin"] {
        fs::create_dir_all(scene.path(folder)).unwrap();
    }
    scene.write("plain/skills/broken/SKILL.md", BROKEN);
    scene.write("empty/.gemini/settings.json", r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#);
    // codex starts commands in a login shell, which has a PATH of its own.
    scene.write("empty/.profile", &format!("PATH={}:$PATH\n", scene.path("bin").display()));
    scene.write("yes", "y\n");
    symlink(program(), scene.path("bin/skilltune")).unwrap();
    let parts = PARTS.map(|part| repository().join(part));
    let copied = Command::new("cp").arg("-r").args(parts).arg(scene.path("plugin")).status().unwrap();
    assert!(copied.success());
    scene
}

fn plugin(scene: &Scene) -> String {
    scene.path("plugin").display().to_string()
}

/// Runs a program in the project, and returns what it prints.
fn run(scene: &Scene, agent: &str, arguments: &[&str], input: Stdio) -> String {
    let mut command = Command::new(scene.path("bin").join(agent));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", scene.path("bin").display());
    command.args(arguments).current_dir(scene.path("plain")).stdin(input).env_clear();
    command.env("PATH", path).env("HOME", scene.path("empty")).env("LANG", "C.UTF-8");
    for key in ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "CODEX_API_KEY"] {
        command.env(key, "a-key-of-nobody");
    }
    for place in ["ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"] {
        command.env(place, scene.server.url("plugin"));
    }
    let ran = command.output().unwrap();
    let text = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(ran.status.success(), "{agent} {arguments:?}: {text}");
    text
}

/// Asserts that the program listed the skill to its model, loaded it, and ran its first command.
fn assert_followed(scene: &Scene, listed: &str) {
    let requests = scene.server.requests();
    for words in [listed, "# Work on a skill with skilltune", "broken link to `references/rules.md`"] {
        assert!(requests.iter().any(|request| request.contains(words)), "no {words}: {requests:#?}");
    }
}

/// Asserts that the command of the plugin became a prompt, with its argument.
fn assert_prompted(scene: &Scene) {
    let is_prompt = |request: &String| request.contains("Check the skill `skills/broken`");
    assert!(scene.server.requests().iter().any(is_prompt));
}

#[test]
fn the_skill_begins_with_a_command_that_costs_nothing() {
    let page = fs::read_to_string(repository().join("skills/skilltune/SKILL.md")).unwrap();
    let (_, first) = page.split_once("```sh\n").unwrap();
    assert_eq!(first.lines().next(), Some(FIRST));
}

#[test]
fn the_commands_of_claude_and_gemini_have_the_same_text() {
    let read = |name: &str| fs::read_to_string(repository().join("commands").join(name)).unwrap();
    let claude = read("check-skill.md");
    let (_, body) = claude.split_once("\n---\n").unwrap();
    assert!(read("check-skill.toml").contains(&body.trim().replace("$ARGUMENTS", "{{args}}")));
}

#[test]
fn claude_follows_the_plugin() {
    let scene = scene();
    let plugin = plugin(&scene);
    let valid = run(&scene, "claude", &["plugin", "validate", "--strict", &plugin], Stdio::null());
    assert!(valid.contains("Validation passed"), "{valid}");
    let asked = ["-p", "/skilltune:check-skill skills/broken", "--model", "claude-sonnet-4-5"];
    run(&scene, "claude", &[&asked[..], &["--plugin-dir", &plugin]].concat(), Stdio::null());
    assert_prompted(&scene);
    assert_followed(&scene, "- skilltune:skilltune: Checks, tests and improves agent skills");
}

#[test]
fn gemini_follows_the_plugin() {
    let scene = scene();
    let plugin = plugin(&scene);
    let yes = File::open(scene.path("yes")).unwrap();
    run(&scene, "gemini", &["extensions", "validate", &plugin], Stdio::null());
    // `--consent` does not answer whether gemini may trust the folder.
    run(&scene, "gemini", &["extensions", "install", &plugin, "--consent"], yes.into());
    let listed = run(&scene, "gemini", &["skills", "list", "--all"], Stdio::null());
    assert!(listed.contains("skilltune [Enabled]"), "{listed}");
    let asked = ["-p", "/check-skill skills/broken", "-m", "gemini-3-pro-preview"];
    let may = ["--approval-mode", "yolo", "--skip-trust"];
    run(&scene, "gemini", &[&asked[..], &may].concat(), Stdio::null());
    assert_prompted(&scene);
    assert_followed(&scene, "<name>skilltune</name>");
}

#[test]
fn codex_follows_the_plugin() {
    let scene = scene();
    run(&scene, "codex", &["plugin", "marketplace", "add", &plugin(&scene)], Stdio::null());
    run(&scene, "codex", &["plugin", "add", "skilltune@skilltune"], Stdio::null());
    let skill = "- skilltune:skilltune: Checks, tests and improves agent skills";
    let listed = run(&scene, "codex", &["debug", "prompt-input", "hello"], Stdio::null());
    assert!(listed.contains(skill), "{listed}");
    let place = format!("model_providers.own.base_url=\"{}/v1\"", scene.server.url("plugin"));
    let settings = [
        "model_provider=\"own\"",
        "model_providers.own.name=\"OpenAI\"",
        "model_providers.own.requires_openai_auth=true",
        &place,
    ];
    let settings = settings.map(|setting| ["-c", setting]).concat();
    let asked = ["exec", "--skip-git-repo-check", "--ephemeral", "--sandbox", "read-only"];
    let asked = [&asked[..], &settings[..], &["-m", "gpt-5.5-codex", "Check my skill"]].concat();
    run(&scene, "codex", &asked, Stdio::null());
    assert_followed(&scene, skill);
}
