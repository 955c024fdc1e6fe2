//! Agents in a wrapper of the user's choice: a script that logs its arguments, and a real bubblewrap.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::scene::Scene;

fn rising() -> Value {
    json!({ "improve": { "writer": { "40": 90 } } })
}

/// Writes a wrapper that logs each start in `starts.log` and then runs the given command.
fn recorder(scene: &Scene, name: &str) -> PathBuf {
    let (program, log) = (scene.path(name), scene.path("starts.log"));
    let line = "\"$1 $2 $3 $4 $PWD $TMPDIR\"";
    let script = format!("#!/bin/sh\necho {line} >> {:?}\nshift 5\nexec \"$@\"\n", log.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

fn words(program: &str) -> String {
    format!(
        "wrap = [{program:?}, \"{{workspace}}\", \"{{temp}}\", \"{{prompt_folder}}\", \"{{home}}\", \"--\"]"
    )
}

/// Creates a scene whose user runs agents in a recorder.
fn recorded() -> Scene {
    let scene = Scene::new(&[("writer", 40)], &rising());
    let program = recorder(&scene, "box.sh");
    set(&scene, &words(program.to_str().unwrap()));
    scene
}

fn set(scene: &Scene, calls: &str) {
    scene.write_settings(&format!("[calls]\n{calls}\n"));
}

fn starts(scene: &Scene) -> Vec<String> {
    let log = fs::read_to_string(scene.path("starts.log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

fn failures(scene: &Scene) -> Vec<(String, String)> {
    let done = scene.events("done").into_iter().filter_map(|done| done["outcome"].get("failed").cloned());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    done.map(|failed| (text(&failed["kind"]), text(&failed["why"]))).collect()
}

#[test]
fn every_call_of_an_agent_goes_through_it_and_all_that_is_shown_says_so() {
    let scene = recorded();
    let ran = scene.tune("writer", &[]);
    assert_eq!((ran.code, scene.quality("writer"), failures(&scene)), (Some(0), 90, Vec::new()), "{ran:?}");
    let starts = starts(&scene);
    assert_eq!(starts.len(), scene.answered(), "one start a call: {starts:?}");
    let mut prompts = Vec::new();
    for start in &starts {
        let [space, temp, prompt_folder, home, cwd, tmpdir] = start.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{start}");
        };
        assert_eq!((space, temp, Path::new(home)), (cwd, tmpdir, scene.path("home").as_path()));
        prompts.push(fs::read_to_string(Path::new(prompt_folder).join("prompt.md")).unwrap());
    }
    for heading in ["# Carry out", "# Judge", "# Improve"] {
        let known: Vec<&str> = prompts.iter().filter_map(|prompt| prompt.lines().next()).collect();
        assert!(known.iter().any(|line| line.starts_with(heading)), "{heading}: {known:?}");
    }
    let summary = ran.json();
    assert_eq!(summary["agents"]["executor"], "executor in box.sh");
    assert_eq!(
        summary["rights"],
        json!({ "executor": "wrapper", "evaluator": "wrapper", "improver": "wrapper" })
    );
    let note = "the agents run in box.sh (calls.wrap), which decides what they can read and write; skilltune does not confine them itself";
    assert_eq!(
        summary["notes"].as_array().unwrap().iter().filter(|one| **one == note).count(),
        1,
        "{summary}"
    );
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(
        report.contains("| Rights of Roles | left to the wrapper, not enforced by skilltune, in all roles |"),
        "{report}"
    );
    assert!(report.contains(note), "{report}");
    assert_eq!(scene.alive(), [0; 0]);
}

#[test]
fn a_script_among_its_words_is_found_from_the_settings_file() {
    let scene = Scene::new(&[("writer", 40)], &rising());
    recorder(&scene, "config/skilltune/box.sh");
    set(&scene, &words("sh").replace("\"sh\", ", "\"sh\", \"box.sh\", "));
    let ran = scene.tune("writer", &["--max-iterations", "1", "--apply", "never"]);
    assert_eq!((ran.code, failures(&scene)), (Some(3), Vec::new()), "{ran:?}");
    assert_eq!(starts(&scene).len(), scene.answered());
}

#[test]
fn an_answer_from_another_wrapper_or_from_none_is_another_answer() {
    let scene = recorded();
    let runs = |scene: &Scene| {
        let before = scene.answered();
        let ran = scene.tune("writer", &["--max-iterations", "1", "--apply", "never"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        scene.answered() - before
    };
    let first = runs(&scene);
    assert_eq!((first > 0, runs(&scene)), (true, 0), "the same wrapper");
    let mut settings = words(scene.path("box.sh").to_str().unwrap());
    settings.insert_str(settings.len() - 1, ", \"--\"");
    set(&scene, &settings.replacen("\"--\", ", "", 1));
    assert_eq!(runs(&scene), 0, "written otherwise, it is the same");
    set(&scene, &words(scene.path("box.sh").to_str().unwrap()).replace("\"--\"", "\"---\""));
    assert_eq!(runs(&scene), first, "another argument");
    let box_sh = fs::read_to_string(scene.path("box.sh")).unwrap();
    fs::write(scene.path("box.sh"), box_sh + "# an update\n").unwrap();
    assert_eq!(runs(&scene), first, "another program");
    set(&scene, "");
    assert_eq!(runs(&scene), first, "none");
}

#[test]
fn a_wrapper_of_a_project_runs_once_a_person_has_trusted_it_and_only_as_it_was() {
    let scene = Scene::new(&[("writer", 40)], &rising());
    fs::create_dir(scene.path("project/tools")).unwrap();
    let program = recorder(&scene, "project/tools/box.sh");
    fs::write(scene.path("project/skilltune.toml"), format!("[calls]\n{}\n", words("./tools/box.sh")))
        .unwrap();
    let tune = |more: &[&str]| {
        scene.tune("writer", &[&["--max-iterations", "1", "--apply", "never"], more].concat())
    };
    let refused = tune(&[]);
    assert_eq!((refused.code, starts(&scene).len(), scene.answered()), (Some(2), 0, 0), "{refused:?}");
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r"
    error: the settings of /project/skilltune.toml are not trusted: a program that agents run in (calls.wrap)
    hint: read the file and the files its commands use, then run `skilltune trust /project/skilltune.toml`
    hint: or pass --trust to trust them for this run
    ");
    assert_eq!(scene.run(&["doctor", "--format", "json", "--probe"]).json()["project"]["trusted"], false);
    assert_eq!(starts(&scene).len(), 0, "doctor tries nothing that is not trusted");
    insta::assert_snapshot!(scene.normalized(&scene.run(&["trust", "."]).stderr), @r#"
    trusted: /project/skilltune.toml
      no agents
      calls.wrap: "./tools/box.sh" "{workspace}" "{temp}" "{prompt_folder}" "{home}" "--"
      with /project/tools/box.sh
    "#);
    assert_eq!(tune(&[]).code, Some(3));
    let started = starts(&scene).len();
    assert!(started > 0);
    let text = fs::read_to_string(&program).unwrap();
    fs::write(&program, text.clone() + "touch \"$HOME/owned\"\n").unwrap();
    let refused = tune(&["--fresh"]);
    assert_eq!((refused.code, starts(&scene).len()), (Some(2), started), "{refused:?}");
    assert!(refused.stderr.contains("tools/box.sh changed since you trusted it"), "{refused:?}");
    let ran = tune(&["--fresh", "--trust"]);
    assert_eq!((ran.code, starts(&scene).len()), (Some(3), 2 * started), "{ran:?}");
}

#[test]
fn a_project_changes_no_wrapper_that_the_user_has_set_unless_it_is_trusted() {
    let scene = recorded();
    let tune = || scene.tune("writer", &["--max-iterations", "1", "--apply", "never", "--fresh"]);
    let wrap_notes = |stderr: &str| {
        let lines = stderr.lines().filter(|line| line.starts_with("calls.wrap"));
        scene.normalized(&lines.collect::<Vec<_>>().join("\n"))
    };
    fs::write(scene.path("project/skilltune.toml"), "[calls]\nwrap = []\n").unwrap();
    let held = tune();
    let first = starts(&scene).len();
    assert!(held.code == Some(3) && first > 0, "{held:?}");
    insta::assert_snapshot!(wrap_notes(&held.stderr), @r#"calls.wrap stays at your own value ["/box.sh","{workspace}","{temp}","{prompt_folder}","{home}","--"]: /project/skilltune.toml asks for []; `skilltune trust /project/skilltune.toml` would allow it"#);
    assert_eq!(held.json()["rights"]["executor"], "wrapper");
    recorder(&scene, "project/other.sh");
    fs::write(scene.path("project/skilltune.toml"), format!("[calls]\n{}\n", words("./other.sh"))).unwrap();
    let held = tune();
    assert_eq!((held.code, starts(&scene).len()), (Some(3), 2 * first), "{held:?}");
    assert_eq!(held.json()["agents"]["executor"], "executor in box.sh");
    assert_eq!(scene.run(&["trust", "."]).code, Some(0));
    let trusted = tune();
    assert_eq!(trusted.json()["agents"]["executor"], "executor in other.sh", "{trusted:?}");
    insta::assert_snapshot!(wrap_notes(&trusted.stderr), @r#"calls.wrap is ["./other.sh","{workspace}","{temp}","{prompt_folder}","{home}","--"], in place of your own value ["/box.sh","{workspace}","{temp}","{prompt_folder}","{home}","--"]: you trust /project/skilltune.toml"#);
}

#[test]
fn a_run_goes_on_in_a_wrapper_if_it_began_in_one() {
    let scene = recorded();
    let gate = Gate::before("executor", &scene, rising());
    let run = Background::start(&scene, &["tune", "writer", "write a page", "--yes"]);
    run.until_begun(1);
    assert_eq!(run.interrupt(gate).code, Some(130));
    let resume = || scene.run(&["resume", &scene.run_id(), "--yes"]);
    set(&scene, "");
    let answered = scene.answered();
    let refused = resume();
    assert_eq!((refused.code, scene.answered()), (Some(2), answered), "{refused:?}");
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r"
    error: cannot resume run RUN: its executor ran in a wrapper, and would now run without one
    hint: restore calls.wrap, or start a new run
    ");
    let other = recorder(&scene, "other.sh");
    set(&scene, &words(other.to_str().unwrap()));
    let ran = resume();
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 90), "{ran:?}");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(scene.normalized(&report).contains("changed since the run began: wrapper /other.sh"), "{report}");
}

#[test]
fn a_run_that_began_without_a_wrapper_goes_on_without_one() {
    let scene = Scene::new(&[("writer", 40)], &rising());
    let gate = Gate::before("executor", &scene, rising());
    let run = Background::start(&scene, &["tune", "writer", "write a page", "--yes"]);
    run.until_begun(1);
    assert_eq!(run.interrupt(gate).code, Some(130));
    let program = recorder(&scene, "box.sh");
    set(&scene, &words(program.to_str().unwrap()));
    let refused = scene.run(&["resume", &scene.run_id(), "--yes"]);
    assert_eq!((refused.code, starts(&scene).len()), (Some(2), 0), "{refused:?}");
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r"
    error: cannot resume run RUN: its executor ran without a wrapper, and would now run in box.sh
    hint: remove calls.wrap (user file /config/skilltune/skilltune.toml), or start a new run
    ");
}

#[test]
fn a_wrapper_that_starts_nothing_fails_the_call_and_one_that_hangs_is_ended_with_all_that_it_started() {
    for (script, kind) in
        [("echo 'no room left' >&2; exit 9", "crashed"), ("setsid sleep 900 & sleep 900", "no_response")]
    {
        let scene = recorded();
        fs::write(scene.path("box.sh"), format!("#!/bin/sh\n{script}\n")).unwrap();
        let ran = scene.tune("writer", &["--max-iterations", "1", "--timeout", "1"]);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        let failures = failures(&scene);
        assert!(!failures.is_empty() && failures.iter().all(|(failed, _)| failed == kind), "{failures:?}");
        assert!(kind != "crashed" || failures[0].1.contains("no room left"), "{failures:?}");
        assert_eq!(scene.alive(), [0; 0], "{script}");
    }
}

#[test]
fn doctor_shows_it_and_tries_it_and_without_its_program_nothing_is_ready() {
    let scene = recorded();
    let doctor = |more: &[&str]| scene.run(&[&["doctor"], more].concat());
    let line = |text: &str, start: &str| -> String {
        let text = scene.normalized(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let at = text.find(start).unwrap_or_else(|| panic!("{start}: {text}"));
        text[at..].split(" ok ").next().unwrap().split(" -- ").next().unwrap().to_owned()
    };
    let output = doctor(&[]).stdout;
    assert_eq!(
        line(&output, "wrapper:"),
        "wrapper: agents run in /box.sh, /box.sh (user file /config/skilltune/skilltune.toml)"
    );
    assert!(output.contains("rights: wrapper"), "{output}");
    let seen = doctor(&["--format", "json", "--probe"]);
    assert_eq!((seen.code, &seen.json()["wrap"]["probe"]["answered"]), (Some(0), &json!(true)), "{seen:?}");
    assert_eq!(seen.json()["wrap"]["words"][1], "{workspace}");
    assert_eq!(starts(&scene).len(), 1);
    fs::write(scene.path("box.sh"), "#!/bin/sh\necho 'no room left' >&2; exit 9\n").unwrap();
    let broken = doctor(&["--probe"]);
    assert_eq!(broken.code, Some(3), "{broken:?}");
    assert!(broken.stdout.contains("no room left"), "{broken:?}");
    assert!(
        line(&broken.stdout, "not ready:")
            .starts_with("not ready: make /box.sh start programs, or change calls.wrap")
    );
    set(&scene, "wrap = [\"no-such-box\"]");
    let missing = doctor(&[]);
    assert_eq!(missing.code, Some(3), "{missing:?}");
    assert!(
        line(&missing.stdout, "not ready:")
            .starts_with("not ready: install no-such-box, or change calls.wrap")
    );
    insta::assert_snapshot!(scene.refusal(&["tune", "writer", "write a page", "--yes"]), @r#"
    error: cannot run agents in "no-such-box": program not found
    hint: install it, or change calls.wrap (user file /config/skilltune/skilltune.toml)
    "#);
}

/// Returns the system's bubblewrap, or the one that `tests/programs` fetched, if it can create its namespaces.
fn bubblewrap() -> Option<PathBuf> {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/agents/bubblewrap/usr/bin/bwrap");
    let systems = ["/usr/local/bin/bwrap", "/usr/bin/bwrap", "/bin/bwrap"].map(PathBuf::from);
    let found = systems.into_iter().chain([fetched]).find_map(|path| path.canonicalize().ok());
    let works = |program: &PathBuf| {
        let mut command = Command::new(program);
        command.args(["--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "true"]);
        command.status().is_ok_and(|status| status.success())
    };
    let found = found.filter(works);
    if found.is_none() {
        // Bypasses the test harness, which hides the output of a passing test.
        let _ = writeln!(io::stderr(), "SKIPPED: no bubblewrap that works here; tests/programs fetches one");
    }
    found
}

#[test]
fn in_a_real_bubblewrap_work_is_done_and_a_write_outside_vanishes() {
    let Some(program) = bubblewrap() else { return };
    let scene = Scene::on_disk(&[("writer", 40)], &json!({}));
    let (vanishes, denied) = (scene.path("home/pwned"), scene.path("project/pwned"));
    let tries = [&vanishes, &denied].map(|path| path.display().to_string());
    let mut script = rising();
    script["overwrite"] = json!({ "executor": tries, "evaluator": tries, "improver": tries });
    script["overwritten"] = json!(scene.path("overwritten.log"));
    scene.write_script(&script);
    let mut words = vec![program.display().to_string()];
    words.extend(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"].map(str::to_owned));
    words.extend(["--tmpfs".to_owned(), scene.path("home").display().to_string()]);
    for log in ["calls.log", "overwritten.log"] {
        fs::write(scene.path(log), "").unwrap();
        let log = scene.path(log).display().to_string();
        words.extend(["--bind".to_owned(), log.clone(), log]);
    }
    let call =
        ["--bind", "{workspace}", "{workspace}", "--bind", "{temp}", "{temp}", "--chdir", "{workspace}"];
    words.extend(call.map(str::to_owned));
    let own =
        ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session", "--"];
    words.extend(own.map(str::to_owned));
    set(&scene, &format!("wrap = {words:?}"));
    let ran = scene.tune("writer", &[]);
    assert_eq!((ran.code, scene.quality("writer"), failures(&scene)), (Some(0), 90, Vec::new()), "{ran:?}");
    let attempts = fs::read_to_string(scene.path("overwritten.log")).unwrap();
    for role in ["executor", "evaluator", "improver"] {
        for (word, path) in [("written", &vanishes), ("denied", &denied)] {
            assert!(attempts.contains(&format!("{word} {role} {}\n", path.display())), "{attempts}");
        }
    }
    assert!(!vanishes.exists() && !denied.exists(), "nothing of it is left");
    let artifacts = scene.run_folder().join("iterations/iteration-1/artifacts");
    let mut made = walkdir::WalkDir::new(artifacts).into_iter().flatten();
    let made = made.find(|entry| entry.path().ends_with("out.md")).expect("the artifacts are there");
    assert!(fs::read_to_string(made.path()).unwrap().contains("made by writer"));
    assert_eq!(ran.json()["rights"]["executor"], "wrapper");
    assert_eq!(scene.alive(), [0; 0]);
    let probed = scene.run(&["doctor", "--probe", "--format", "json"]);
    assert_eq!(probed.json()["wrap"]["probe"]["answered"], true, "{probed:?}");
}
