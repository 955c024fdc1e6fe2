//! The first steps at the command line, right and wrong: each answer holds the next thing to type.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use serde_json::json;

use crate::blocked;
use crate::scene::{Ran, SKILLTUNE, Scene};
use crate::terminal::{terminal, typed};

/// Creates a project with two skills and a README, on a machine without agents.
fn without_agents() -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    scene.write_skill("editor", 40);
    fs::write(scene.path("project/README.md"), "# A project\n").unwrap();
    scene
}

/// Runs a line in a folder of the project. Returns it with everything that it printed and its exit code.
fn said_in(scene: &Scene, folder: &str, line: &[&str]) -> String {
    let mut command = scene.command(line);
    command.current_dir(scene.path("project").join(folder));
    transcript(scene, line, command)
}

fn said(scene: &Scene, line: &[&str]) -> String {
    said_in(scene, "", line)
}

fn transcript(scene: &Scene, line: &[&str], mut command: Command) -> String {
    let ran = Ran::of(command.output().unwrap());
    let answer = [ran.stdout.as_str(), ran.stderr.as_str()].concat();
    require_next_step(scene, &answer);
    let typed = ["$ skilltune"].iter().chain(line).copied().collect::<Vec<_>>().join(" ");
    let code = ran.code.expect("it ends by itself");
    format!("{typed}\n{}\n[{code}]\n", scene.normalized(&answer).trim_end())
}

/// Fails unless the answer says what to type next: our commands, which have to be valid, or how to install an agent.
fn require_next_step(scene: &Scene, answer: &str) {
    let steps = next_steps(answer);
    assert!(!steps.is_empty() || answer.contains("npm install"), "nothing to type in:\n{answer}");
    for step in steps {
        let mut words: Vec<&str> = step.split(' ').skip(1).collect();
        if words != ["help"] && words.last() != Some(&"--help") {
            words.push("--help");
        }
        let ran = scene.run(&words);
        assert_eq!(ran.code, Some(0), "`{step}` is no command: {ran:?}\nin:\n{answer}");
    }
}

/// Returns the commands of an answer: in backticks, or on a line of their own.
fn next_steps(answer: &str) -> Vec<String> {
    let quoted = answer.split('`').skip(1).step_by(2);
    let lines = answer.lines().filter_map(|line| {
        let line = line.strip_prefix("  ").or_else(|| line.strip_prefix("to continue: "))?;
        line.split("  ").next()
    });
    let steps = quoted.chain(lines.filter(|line| !line.contains('`')));
    steps.filter(|step| step.starts_with("skilltune ")).map(str::to_owned).collect()
}

#[test]
fn without_a_command_the_demo_is_the_next_step_where_nothing_is_here() {
    insta::assert_snapshot!(said(&Scene::empty(), &[]), @r"
    $ skilltune
    skilltune improves agent skills and proves that they got better.

    No skill found here.
    No agent found on PATH.

    What to type next:
      skilltune demo    tune example skills, without a model
      skilltune doctor  see which agents there are
      skilltune help    list all commands
    [0]
    ");
}

#[test]
fn without_a_command_the_skills_here_are_named() {
    insta::assert_snapshot!(said(&without_agents(), &[]), @r"
    $ skilltune
    skilltune improves agent skills and proves that they got better.

    Skills found: editor, writer.
    No agent found on PATH.

    What to type next:
      skilltune lint                         check the skills for problems
      skilltune tune editor --agent offline  improve a skill
      skilltune doctor                       see which agents there are
      skilltune help                         list all commands
    [0]
    ");
}

#[test]
fn without_a_command_in_a_skills_folder_that_skill_is_meant() {
    let scene = Scene::new(&[("writer", 40), ("editor", 40)], &json!({}));
    insta::assert_snapshot!(said_in(&scene, ".claude/skills/writer/references", &[]), @r"
    $ skilltune
    skilltune improves agent skills and proves that they got better.

    This folder belongs to the skill writer.

    What to type next:
      skilltune lint  check the skill for problems
      skilltune tune  improve the skill
      skilltune help  list all commands
    [0]
    ");
}

#[test]
fn without_a_command_a_paused_run_comes_first_and_a_login_is_what_it_waits_for() {
    let scene = blocked::with_claude();
    let paused = blocked::run(&scene, &blocked::ONCE);
    assert!(paused.stderr.contains("hint: start `claude` and type /login"), "{paused:?}");
    assert!(paused.stdout.contains("to continue: skilltune resume "), "{paused:?}");
    require_next_step(&scene, &paused.stdout);
    insta::assert_snapshot!([said(&scene, &[]), said(&scene, &["status", "zzz"])].join("\n"), @r#"
    $ skilltune
    skilltune improves agent skills and proves that they got better.

    Run RUN is paused: tune writer.
    Skills found: writer.

    What to type next:
      skilltune resume       continue the run
      skilltune lint         check the skills for problems
      skilltune tune writer  improve a skill
      skilltune help         list all commands
    [0]

    $ skilltune status zzz
    error: no run matches "zzz"
    hint: newest runs: RUN
    hint: list runs with `skilltune list`; name a round or a candidate after its run
    [2]
    "#);
}

#[test]
fn in_a_hostile_repository_nothing_is_started_or_written() {
    let scene = without_agents();
    let program = scene.path("project/evil.sh");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", scene.path("started").display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let settings = "[roles]\nexecutor = \"evil\"\n\n[agents.evil]\ncommand = [\"./evil.sh\"]\n";
    fs::write(scene.path("project/skilltune.toml"), settings).unwrap();
    symlink(scene.path("home"), scene.path("project/.skilltune")).unwrap();
    let odd = scene.path("project/.claude/skills/a\n  skilltune tune evil");
    fs::create_dir(&odd).unwrap();
    fs::copy(scene.skill("writer").join("SKILL.md"), odd.join("SKILL.md")).unwrap();
    let before = scene.everything();
    let ran = scene.run(&[]);
    assert_eq!((ran.code, scene.everything()), (Some(0), before), "{ran:?}");
    assert!(ran.stdout.lines().count() <= 14 && ran.stdout.contains("skilltune tune editor"), "{ran:?}");
    assert!(!ran.stdout.contains("evil"), "{ran:?}");
    assert!(ran.stderr.contains("skilltune did not touch it"), "{ran:?}");
}

#[test]
fn in_a_skills_folder_tune_and_lint_take_that_skill() {
    let scene = without_agents();
    let inside = |line: &[&str]| {
        let mut command = scene.command(line);
        Ran::of(command.current_dir(scene.skill("writer").join("references")).output().unwrap())
    };
    for line in [&["tune", "--agent", "offline", "--yes"][..], &["lint"]] {
        let ran = inside(line);
        assert!(ran.stderr.starts_with("using the skill of this folder: writer\n"), "{line:?}: {ran:?}");
        assert!(matches!(ran.code, Some(0 | 3)), "{line:?}: {ran:?}");
        assert!(!ran.stdout.contains("editor"), "{line:?}: {ran:?}");
    }
}

#[test]
fn in_a_skills_folder_a_task_without_a_skill_is_answered_with_the_whole_line() {
    let scene = without_agents();
    insta::assert_snapshot!(said_in(&scene, ".claude/skills/writer", &["tune", "Write a page"]), @r#"
    $ skilltune tune Write a page
    error: no skill named "Write a page"
    hint: if it is a task for the skill of this folder, run `skilltune tune . 'Write a page'`
    [2]
    "#);
}

#[test]
fn at_a_terminal_several_skills_are_a_question() {
    let scene = without_agents();
    let Ok(ends) = terminal() else { return };
    let output = typed(scene.command(&["tune"]), ends, "\r\r");
    assert!(output.contains("Which skill?") && output.contains("no agent for the role"), "{output}");
}

#[test]
fn a_skill_that_is_not_named_or_misspelt_is_answered_with_those_that_are_here() {
    let scene = without_agents();
    let lines: [&[&str]; 5] = [
        &["tune"],
        &["calibrate"],
        &["tune", "wirter", "Write a page"],
        &["tune", "editor,wirter"],
        &["tune", "./writer"],
    ];
    insta::assert_snapshot!(lines.map(|line| said(&scene, line)).join("\n"), @r#"
    $ skilltune tune
    error: `tune` needs a skill, and the current folder is not in one
    hint: skills found: editor, writer
    hint: run `skilltune tune editor`
    [2]

    $ skilltune calibrate
    error: `calibrate` needs a skill, and the current folder is not in one
    hint: skills found: editor, writer
    hint: run `skilltune calibrate editor`
    [2]

    $ skilltune tune wirter Write a page
    error: no skill named "wirter"
    hint: did you mean `skilltune tune writer`?
    [2]

    $ skilltune tune editor,wirter
    error: no skill named "wirter"
    hint: did you mean `skilltune tune editor,writer`?
    [2]

    $ skilltune tune ./writer
    error: no skill at /project/writer
    hint: did you mean `skilltune tune writer`?
    [2]
    "#);
    insta::assert_snapshot!(said(&Scene::empty(), &["tune"]), @r"
    $ skilltune tune
    error: `tune` needs a skill, and none was found
    hint: looked in skills, .claude/skills, .agents/skills, .gemini/skills, .codex/skills, .opencode/skills below /project, /home
    hint: for a skill elsewhere, pass its folder, such as `skilltune tune ./my-skill`
    hint: `skilltune demo` tunes example skills
    [2]
    ");
}

#[test]
fn a_skill_in_place_of_a_command_and_a_misspelt_command_are_answered_with_the_line_to_type() {
    let scene = without_agents();
    let lines: [&[&str]; 6] = [
        &["writer", "Write a page"],
        &["./.claude/skills/writer"],
        &["wirter"],
        &["tun", "writer"],
        &["lint", "writer", "--foo"],
        &["diff", "--foo"],
    ];
    insta::assert_snapshot!(lines.map(|line| said(&scene, line)).join("\n"), @r"
    $ skilltune writer Write a page
    error: writer is a skill, not a command
    hint: run `skilltune tune writer`
    [2]

    $ skilltune ./.claude/skills/writer
    error: ./.claude/skills/writer is a skill, not a command
    hint: run `skilltune tune ./.claude/skills/writer`
    [2]

    $ skilltune wirter
    error: unrecognized subcommand 'wirter'

    Usage: skilltune [OPTIONS] [COMMAND]

    hint: did you mean `skilltune tune writer`?
    [2]

    $ skilltune tun writer
    error: unrecognized subcommand 'tun'

      tip: a similar subcommand exists: 'tune'

    Usage: skilltune [OPTIONS] [COMMAND]

    hint: did you mean `skilltune tune writer`?
    [2]

    $ skilltune lint writer --foo
    error: unexpected argument '--foo' found

    Usage: skilltune lint <SKILL>...

    hint: run `skilltune lint --help`
    [2]

    $ skilltune diff --foo
    error: unexpected argument '--foo' found

    Usage: skilltune diff [OPTIONS] [RUN] [CANDIDATE]

    hint: run `skilltune diff --help`
    [2]
    ");
}

#[test]
fn what_is_no_skill_is_answered_with_the_skills_in_it_or_around_it() {
    let scene = without_agents();
    fs::create_dir(scene.path("project/empty")).unwrap();
    let lines: [&[&str]; 5] = [
        &["tune", "README.md"],
        &["tune", "."],
        &["tune", "empty"],
        &["tune", ".claude/skills"],
        &["tune", ".claude/skills/writer/references/style.md"],
    ];
    insta::assert_snapshot!(lines.map(|line| said(&scene, line)).join("\n"), @r#"
    $ skilltune tune README.md
    error: /project/README.md is not a folder
    hint: skills found: editor, writer
    hint: run `skilltune tune editor`
    [2]

    $ skilltune tune .
    error: /project has no SKILL.md
    hint: skills found: editor, writer
    hint: run `skilltune tune editor`
    [2]

    $ skilltune tune empty
    error: no skill named "empty"
    hint: skills found: editor, writer
    hint: run `skilltune tune editor`
    [2]

    $ skilltune tune .claude/skills
    error: /project/.claude/skills has no SKILL.md
    hint: skills found: .claude/skills/editor, .claude/skills/writer
    hint: run `skilltune tune .claude/skills/editor`
    [2]

    $ skilltune tune .claude/skills/writer/references/style.md
    error: /project/.claude/skills/writer/references/style.md is not a folder
    hint: it belongs to a skill: run `skilltune tune .claude/skills/writer`
    [2]
    "#);
}

#[test]
fn the_page_of_a_skill_means_the_skill_and_without_an_agent_the_first_hint_installs_one() {
    let scene = without_agents();
    insta::assert_snapshot!(said(&scene, &["tune", ".claude/skills/writer/SKILL.md", "--yes"]), @r#"
    $ skilltune tune .claude/skills/writer/SKILL.md --yes
    error: no agent for the role executor
    hint: install claude and log in: npm install -g @anthropic-ai/claude-code; `skilltune doctor` lists other agents
    hint: or pass --agent offline: it needs no model and checks structure only
    hint: or describe your own in skilltune.toml, then pass --agent mine:

        [agents.mine]
        command = ["program", "argument"]
    [2]
    "#);
}

#[test]
fn a_suite_that_is_missing_or_empty_is_answered_with_one_that_works() {
    let scene = without_agents();
    fs::write(scene.path("project/suite.toml"), "").unwrap();
    let lines: [&[&str]; 3] = [
        &["tune", "writer", "--suite", "suits.toml"],
        &["suite", "check", "suite.toml"],
        &["calibrate", "writer"],
    ];
    insta::assert_snapshot!(lines.map(|line| said(&scene, line)).join("\n"), @r#"
    $ skilltune tune writer --suite suits.toml
    error: suite /project/suits.toml does not exist
    hint: did you mean suite.toml?
    hint: `skilltune suite new SKILL` drafts a suite
    [2]

    $ skilltune suite check suite.toml
    error: /project/suite.toml: no scenarios
    hint: example:

        [[scenarios]]
        id = "short"
        description = "Write a short text about the sea"
        expectations = ["It has at most 100 words"]

    hint: then run `skilltune suite check /project/suite.toml`
    [2]

    $ skilltune calibrate writer
    error: no suite of tasks
    hint: pass --suite FILE; `skilltune suite new` drafts one
    [2]
    "#);
}

#[test]
fn a_command_on_runs_where_there_are_none_names_one_command_that_starts_one() {
    let scene = without_agents();
    let lines: [&[&str]; 3] = [&["resume"], &["diff"], &["rollback"]];
    insta::assert_snapshot!(lines.map(|line| said(&scene, line)).join("\n"), @r"
    $ skilltune resume
    error: no runs in /project/.skilltune
    hint: start one with `skilltune tune SKILL`, or pass --project DIR; `skilltune help` lists the other loops
    [2]

    $ skilltune diff
    error: no runs in /project/.skilltune
    hint: start one with `skilltune tune SKILL`, or pass --project DIR; `skilltune help` lists the other loops
    [2]

    $ skilltune rollback
    error: no runs in /project/.skilltune
    hint: start one with `skilltune tune SKILL`, or pass --project DIR; `skilltune help` lists the other loops
    [2]
    ");
}

#[test]
fn without_a_home_or_write_access_the_answer_says_what_to_change() {
    let scene = without_agents();
    let mut homeless = scene.command(&["lint"]);
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        homeless.env_remove(variable);
    }
    let homeless = transcript(&scene, &["lint"], homeless);
    let project = scene.path("project");
    let line = ["tune", "writer", "--agent", "offline", "--yes"];
    // Root writes everywhere, unless it lacks the capability for that.
    let limits = ["--bounding-set=-dac_override", "--inh-caps=-dac_override", SKILLTUNE];
    let command = if rustix::process::geteuid().is_root() {
        scene.command_of("setpriv", &limits, &line)
    } else {
        scene.command(&line)
    };
    fs::set_permissions(&project, fs::Permissions::from_mode(0o555)).unwrap();
    let closed = transcript(&scene, &line, command);
    fs::set_permissions(&project, fs::Permissions::from_mode(0o755)).unwrap();
    insta::assert_snapshot!([homeless, closed].join("\n"), @r"
    $ skilltune lint
    error: neither XDG_CONFIG_HOME nor HOME is set to an absolute path
    hint: set HOME or XDG_CONFIG_HOME to an absolute path, then run `skilltune doctor`
    [2]

    $ skilltune tune writer --agent offline --yes
    error: could not create /project/.skilltune
    caused by: Permission denied (os error 13)
    hint: make the folder writable, or pass --project DIR to store runs in another folder
    hint: `skilltune doctor` shows which folders are used
    [2]
    ");
}
