//! A project with everything that commands in pages name: three skills, suites, a brief, a specification, rules, jobs,
//! scripted agents under the names of real ones, and a finished run of each loop.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;

use crate::finished::Finished;
use crate::installing::{CRONTAB, LAUNCHCTL, SYSTEMCTL};
use crate::proposing::repository::Repository;
use crate::scene::{FAKE_AGENT, Ran, SKILLTUNE, Scene};

const AGENTS: [&str; 5] = ["claude", "gemini", "codex", "opencode", "mine"];
const SKILLS: [(&str, u32); 3] = [("writer", 40), ("outline", 30), ("editor", 50)];

const BRIEF: &str =
    "# A page about the pump\n\nSay how it runs, and show prices.\n\n## How it runs\n\n## Prices\n";
const SPEC: &str = "## Goal\n\nThe project says that everything is met.\n\n## Acceptance criteria\n\n\
                    - A1 (critical): the first thing is there\n- A2: the second thing is there\n";
const RULES: &str = "[[rules]]\nid = \"a.notes.short\"\ndescription = \"The notes have at most 200 words\"\n\
                     severity = \"fail\"\n";
const NIGHTS: &str = "[[jobs]]\nskill = \"skills/writer\"\nsuite = \"suite.toml\"\n";
const EXPERT: &str = "---\nname: dba\ndescription: Knows Postgres.\ntier: frontier\npipeline: execute\n\
                      domain: [SQL]\n---\n\nYou are a DBA.\n";
/// Red until a file has the line.
const ORACLE: &str =
    "if grep -q 'meets A1' *.txt; then echo SKILLTUNE_GREEN; else echo SKILLTUNE_RED; exit 1; fi";

/// The commands whose runs pages call RUN.
const RUNS: [&str; 6] = [
    "skilltune reflex \"Write about the pump\" --yes",
    "skilltune gan brief.md --into site --yes",
    "skilltune review --yes",
    "skilltune expert architect \"Should the pump have a queue?\" --yes",
    "skilltune evolve spec.md --yes --commands run",
    // The latest run is that of `tune`: commands without RUN mean it.
    "skilltune tune writer --suite suite.toml --yes --apply never",
];

const LOOPS: [&str; 6] = ["reflex", "gan", "review", "expert", "evolve", "tune"];

pub(super) struct World {
    scene: Scene,
    /// The finished run of each loop.
    runs: BTreeMap<String, String>,
}

impl World {
    /// Returns a world that no page has used, or that was restored.
    pub(super) fn new() -> Self {
        static WORLD: Finished = Finished::new(made);
        let scene = WORLD.scene();
        let git = Repository { scene };
        // The index has times and inode numbers of files, and restored files have others.
        git.git(&["update-index", "-q", "--refresh"]);
        let runs = fs::read(git.scene.path("runs.json")).unwrap();
        Self { scene: git.scene, runs: serde_json::from_slice(&runs).unwrap() }
    }

    /// Returns the run that a page calls RUN: that of the loop that it is about.
    pub(super) fn run_of(&self, page: &str) -> &str {
        let about = LOOPS.iter().find(|name| page.contains(**name)).unwrap_or(&"tune");
        &self.runs[*about]
    }

    /// Runs a line in a folder below the project, as a person types it, without a terminal.
    pub(super) fn ran(&self, line: &str, folder: &Path) -> Ran {
        ran(&self.scene, line, folder)
    }
}

fn ran(scene: &Scene, line: &str, folder: &Path) -> Ran {
    let mut command = scene.command_of("timeout", &["100", "sh", "-c", line], &[]);
    let path = format!("{}:/usr/bin:/bin", scene.path("bin").display());
    command.env("PATH", path).current_dir(scene.path("project").join(folder));
    Ran::of(command.output().expect("a shell starts"))
}

fn made() -> Scene {
    let git = Repository::of(Scene::empty());
    let scene = &git.scene;
    programs(scene);
    settings(scene);
    scene.write_script(&script());
    for (name, quality) in SKILLS {
        let page = format!(
            "---\nname: {name}\ndescription: Writes a page. Use it to write pages.\n---\n\n# {name}\n\n\
             Quality: {quality}\n\nSee references/style.md.\n"
        );
        write(scene, &format!("project/skills/{name}/SKILL.md"), &page);
        write(scene, &format!("project/skills/{name}/references/style.md"), "Be brief.\n");
    }
    let files = [
        ("suite.toml", &*suite()),
        ("chain.toml", &*suite()),
        ("brief.md", BRIEF),
        ("spec.md", SPEC),
        ("rules.toml", RULES),
        ("nights.toml", NIGHTS),
        ("skills/writer/evals/evals.json", &*evals()),
        ("Makefile", "test:\n\t@true\n"),
        ("a.txt", "The first file.\n"),
        ("b.txt", "The second file.\n"),
        ("c.txt", "The third file.\n"),
    ];
    for (path, text) in files {
        write(scene, &format!("project/{path}"), text);
    }
    git.commit("Begin");
    write(scene, "project/skills/writer/references/style.md", "Be brief, and name your sources.\n");
    git.commit("Ask for sources");
    write(scene, "project/c.txt", "The third file, with what is not committed.\n");
    let runs: BTreeMap<&str, String> =
        LOOPS.into_iter().zip(RUNS.map(|line| finished(scene, line))).collect();
    write(scene, "runs.json", &json!(runs).to_string());
    git.scene
}

/// Runs a command that makes a run, and returns its id.
fn finished(scene: &Scene, line: &str) -> String {
    let ran = ran(scene, &format!("{line} --format json"), Path::new(""));
    assert!(matches!(ran.code, Some(0 | 3)), "{line}: {ran:?}");
    ran.json()["run_id"].as_str().expect("a run has an id").to_owned()
}

/// Puts this program and schedulers that start nothing on the path.
fn programs(scene: &Scene) {
    for (name, script) in [("systemctl", SYSTEMCTL), ("crontab", CRONTAB), ("launchctl", LAUNCHCTL)] {
        write(scene, &format!("bin/{name}"), script);
        fs::set_permissions(scene.path("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink(SKILLTUNE, scene.path("bin/skilltune")).unwrap();
}

/// Writes the user's settings: every agent is the scripted one, which reads its role from the prompt.
fn settings(scene: &Scene) {
    let script = scene.path("script.json").display().to_string();
    let agents =
        AGENTS.map(|name| format!("[agents.{name}]\ncommand = [{FAKE_AGENT:?}, \"any\", {script:?}]\n\n"));
    // Elsewhere commands of a model would not run without a person.
    let confine = if can_confine() { "" } else { "[limits]\nconfine = false\n" };
    let own = "[roles]\nexecutor = \"claude\"\nevaluator = \"gemini\"\nimprover = \"claude\"\n\n\
               [gan]\nbrowser = false\n\n";
    write(scene, "config/skilltune/skilltune.toml", &[own, confine, &agents.concat()].concat());
}

fn script() -> Value {
    let task = |id: &str, covers: &str, path: &str| {
        json!({
            "id": id, "title": format!("Do {id}"), "description": "Do it.", "covers": [covers], "after": [],
            "touches": [path], "replaces": [],
        })
    };
    let drafted = |number: u32| {
        json!({
            "id": format!("tide-{number}"), "task": format!("Write a page about tide {number}"),
            "expectations": ["It names the moon."],
        })
    };
    json!({
        "expert": [EXPERT],
        "scenarios": [drafted(1), drafted(2), drafted(3)],
        "reflex": { "produced": { "1": crate::reflex::PASSES_A } },
        "evolve": {
            "tasks": [[task("parser", "A1", "a.txt"), task("printer", "A2", "b.txt")]],
            "oracles": { "A1": [ORACLE] },
        },
    })
}

/// Returns a suite with enough tasks for a final comparison.
fn suite() -> String {
    let scenario = |number: u32| {
        format!(
            "[[scenarios]]\nid = \"v{number}\"\ndescription = \"Write release notes for version {number}\"\n\
             expectations = [\"Its quality is at least 60.\", \"The notes have a title.\"]\n\n"
        )
    };
    (1..=6).map(scenario).collect()
}

fn evals() -> String {
    let eval = |number: u32| {
        json!({
            "id": number, "prompt": format!("Write release notes for version {number}"),
            "expected_output": "Notes with a title.", "expectations": ["Its quality is at least 60."],
        })
    };
    json!({ "skill_name": "writer", "evals": (1..=6).map(eval).collect::<Vec<_>>() }).to_string()
}

fn write(scene: &Scene, path: &str, text: &str) {
    let path = scene.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
