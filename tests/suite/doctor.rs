//! `doctor`: finds what is installed, says what to do, never hangs, and leaves nothing behind.

mod workers;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::finished::held;
use crate::scene::{Ran, SKILLTUNE, Scene};

fn program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs `doctor` with only the scene's own programs on the PATH.
fn doctor(scene: &Scene, more: &[&str]) -> Ran {
    let mut command = scene.command(&[&["doctor"], more].concat());
    command.env("PATH", scene.path("bin")).env("ANTHROPIC_API_KEY", "k").env("GEMINI_API_KEY", "k");
    Ran::of(command.output().unwrap())
}

/// Runs `doctor` with JSON output. Fails if it wrote anything.
fn report(scene: &Scene, more: &[&str]) -> (Option<i32>, Value) {
    let before = scene.everything();
    let ran = doctor(scene, &[&["--format", "json"], more].concat());
    assert_eq!(scene.everything(), before, "something was written");
    assert_eq!(ran.stderr, "");
    (ran.code, ran.json())
}

fn agent<'v>(report: &'v Value, name: &str) -> &'v Value {
    let agents = report["agents"].as_array().unwrap();
    agents.iter().find(|agent| agent["name"] == name).unwrap_or_else(|| panic!("{name} in {report}"))
}

/// Removes what differs between machines: the free space, other file system features, whether the system confines
/// agents and ends the processes of their calls, and whether there is a browser.
fn steady(text: &str) -> String {
    let line = |line: &str| match line.split_once(" free") {
        Some((head, _)) => head.rsplit_once(", ").map_or(head, |(head, _)| head).to_owned(),
        None => line.split("; rights: ").next().expect("a line has a beginning").to_owned(),
    };
    let mut is_other = false;
    let same = text.lines().filter(|line| {
        let goes_on = line.starts_with("      ") && is_other;
        let is_systems = ["  rights: ", "  processes: ", "  shell: ", "  browser: "]
            .iter()
            .any(|word| line.contains(word));
        is_other = is_systems || goes_on;
        !is_other
    });
    same.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn on_a_bare_machine_it_is_ready_with_the_built_in_agent_and_says_what_more_there_could_be() {
    let scene = Scene::empty();
    let ran = doctor(&scene, &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let ours = Path::new(SKILLTUNE).canonicalize().unwrap().display().to_string();
    let output = scene.normalized(&ran.stdout).replace(&ours, "/bin/skilltune");
    assert!(output.lines().all(|line| !line.contains('\x1b')));
    insta::assert_snapshot!(steady(&output), @r"
        skilltune 0.1.0

        agents
          --  claude: not found; npm install -g @anthropic-ai/claude-code
          --  gemini: not found; npm install -g @google/gemini-cli
          --  codex: not found; npm install -g @openai/codex
          --  opencode: not found; npm install -g opencode-ai
          --  ccw: not found; it comes with the project Claude Code Workflow
          --  maestro: not found; it comes with the project maestro-flow
          ok  offline: 0.1.0, /bin/skilltune (built in: no model, checks structure only)

        folders
          ok  store: /project/.skilltune: not created yet
          ok  state: /state/skilltune: not created yet
          ok  cache: /cache/skilltune: not created yet

        project
          ok  folder: /project
          --  settings: no skilltune.toml; run `skilltune init` to create one
          --  roles: no agent for the role executor
          ok  git: .skilltune will ignore itself

        ready, with the built-in agent only: skilltune tune SKILL --agent offline
        for more: install claude, gemini, codex or opencode, or run `skilltune init` and describe your agent in skilltune.toml
        ");
}

#[test]
fn settings_that_name_the_built_in_agent_are_ready_and_no_more_than_that() {
    let scene = Scene::empty();
    fs::write(scene.path("project/skilltune.toml"), "[roles]\nexecutor = \"offline\"\n").unwrap();
    assert_eq!(report(&scene, &[]).1["next"], "skilltune tune SKILL --agent offline", "two roles are empty");
    let all = "executor = \"offline\"\nevaluator = \"offline\"\nimprover = \"offline\"\n";
    fs::write(scene.path("project/skilltune.toml"), format!("[roles]\n{all}")).unwrap();
    let (code, found) = report(&scene, &[]);
    assert_eq!(
        (code, &found["next"], &found["ready"]),
        (Some(0), &json!("skilltune tune SKILL"), &json!(true))
    );
    assert!(found["for_more"].as_str().unwrap().starts_with("install claude, gemini"), "{found}");
    program(&scene.path("bin/mine"), "echo 1");
    fs::write(scene.path("config/skilltune/skilltune.toml"), "[agents.mine]\ncommand = [\"mine\"]\n")
        .unwrap();
    assert_eq!(report(&scene, &[]).1["for_more"], "skilltune tune SKILL --agent mine");
    // An agent that reads and writes, in any role, checks more than structure.
    let mixed = all.replacen("offline", "mine", 1);
    fs::write(scene.path("project/skilltune.toml"), format!("[roles]\n{mixed}")).unwrap();
    assert_eq!(report(&scene, &[]).1["for_more"], Value::Null);
}

#[test]
fn with_agents_for_every_role_it_is_ready_and_tells_their_versions() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    program(&scene.path("bin/claude"), "echo; echo '2.1.3 (Claude Code)'; echo more");
    program(&scene.path("bin/mine"), "echo \"mine 7 of $1\"");
    scene.write_settings("[agents.mine]\ncommand = [\"mine\", \"ask\"]\n");
    let (code, report) = report(&scene, &[]);
    assert_eq!(
        (code, &report["ready"], &report["next"]),
        (Some(0), &json!(true), &json!("skilltune tune SKILL"))
    );
    assert_eq!(agent(&report, "claude")["version"], "2.1.3 (Claude Code)");
    assert_eq!(agent(&report, "claude")["usable"], true, "it needs no description");
    assert_eq!(agent(&report, "mine")["version"], "mine 7 of --version");
    assert_eq!(agent(&report, "mine")["usable"], true);
    // Many scripts have no `--version`, and work anyway.
    assert_eq!(agent(&report, "executor")["usable"], true);
    assert_eq!(agent(&report, "executor")["trouble"], "version check failed: exit code 101");
    assert_eq!(agent(&report, "executor")["roles"], json!(["executor"]));
    let ran = doctor(&scene, &[]);
    assert_eq!(ran.stdout.lines().last(), Some("ready: skilltune tune SKILL"), "{ran:?}");
    assert!(ran.stdout.contains("--  executor: version check failed: exit code 101, "), "{ran:?}");
    assert!(ran.stdout.contains(" --version` by hand, if it should know that"), "{ran:?}");
    let probed = doctor(&scene, &["--probe"]);
    assert!(probed.stdout.contains("not probed: a command; executor"), "{probed:?}");
}

#[test]
fn what_is_installed_takes_the_roles_that_nobody_was_chosen_for() {
    let scene = Scene::empty();
    program(&scene.path("bin/claude"), "echo 2.1.329");
    scene.write_skill("writer", 40);
    let dry = |scene: &Scene| {
        let mut command = scene.command(&["tune", "writer", "a page", "--dry-run"]);
        Ran::of(command.env("PATH", scene.path("bin")).output().unwrap()).stdout
    };
    assert!(
        dry(&scene).ends_with(
            "(claude), 14 by the evaluator (claude), 8 by the improver (claude)\n\
             limits: 36 calls (default)\n\
             estimate: up to 18 calls if none fails (executor 7, evaluator 7, improver 4)\n\
             \x20 cost and time unknown: no earlier run here with these agents\n\
         note: the judge and the executor use the same model family (claude); such a judge tends to be lenient\n"
        ),
        "{}",
        dry(&scene)
    );
    program(&scene.path("bin/gemini"), "echo 0.61.0");
    let (code, report) = report(&scene, &[]);
    assert_eq!((code, &report["next"]), (Some(0), &json!("skilltune tune SKILL")));
    assert_eq!(agent(&report, "claude")["roles"], json!(["executor", "improver"]));
    assert_eq!(agent(&report, "gemini")["roles"], json!(["evaluator"]));
    assert!(!dry(&scene).contains("note:"), "{}", dry(&scene));
    let mut command = scene.command(&["config", "show"]);
    let shown = Ran::of(command.env("PATH", scene.path("bin")).output().unwrap()).stdout;
    let role = shown.lines().find(|line| line.starts_with("roles.evaluator")).unwrap();
    assert_eq!(
        role.split_whitespace().collect::<Vec<_>>().join(" "),
        "roles.evaluator gemini default, because it is installed"
    );
}

/// Installs an agent that prints its version, and otherwise the given answer of its service.
fn real(scene: &Scene, name: &str, version: &str, answer: &str) {
    let script = format!(
        "if [ \"$1\" = --version ]; then echo {version}; exit; fi\n/bin/cat > \"$TMPDIR/asked\"\n{answer}"
    );
    program(&scene.path("bin").join(name), &script);
}

#[test]
fn each_agent_tells_its_login_and_a_version_of_another_series_is_remarked() {
    let scene = Scene::empty();
    program(&scene.path("bin/claude"), "echo '2.0.5 (Claude Code)'");
    program(&scene.path("bin/gemini"), "echo 0.61.9");
    program(&scene.path("bin/ccw"), "echo 7.3.14");
    fs::create_dir(scene.path("home/.gemini")).unwrap();
    fs::write(scene.path("home/.gemini/oauth_creds.json"), "s3cret").unwrap();
    let mut command = scene.command(&["doctor", "--format", "json"]);
    command.env("PATH", scene.path("bin")).env("ANTHROPIC_API_KEY", "s3cret");
    let ran = Ran::of(command.output().unwrap());
    let report = ran.json();
    let claude = agent(&report, "claude");
    assert_eq!(claude["login"], json!({ "key": "ANTHROPIC_API_KEY" }));
    assert_eq!(claude["remark"], "older than 2.1.329, the tested version");
    assert_eq!(claude["tested"], "2.1.329");
    let gemini = agent(&report, "gemini");
    assert_eq!(gemini["login"], json!({ "file": scene.path("home/.gemini/oauth_creds.json") }));
    assert_eq!((&gemini["remark"], &gemini["probe"]), (&Value::Null, &Value::Null));
    assert_eq!((&agent(&report, "ccw")["version"], ran.code), (&json!("7.3.14"), Some(0)));
    assert!(!ran.stdout.contains("s3cret"), "{ran:?}");
    let human = doctor(&scene, &[]).stdout;
    assert!(human.contains("use it with --via ccw"), "{human}");
}

#[test]
fn a_probe_makes_one_call_of_each_agent_and_a_failed_one_is_a_fault() {
    let scene = Scene::empty();
    let init = r#"echo '{"type":"system","subtype":"init","model":"asked"}'
        echo '{"type":"assistant","message":{"model":"small","content":[]}}'"#;
    let result = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"ready","total_cost_usd":0.01}'"#;
    let asked = r#"[ "$(/bin/cat "$TMPDIR/asked")" = "Answer with the single word: ready" ] || exit 9"#;
    real(&scene, "claude", "2.1.329", &[asked, init, result].join("\n"));
    real(&scene, "gemini", "0.61.0", "echo \"the key $GEMINI_API_KEY is wrong\" >&2; exit 41");
    let before = scene.everything();
    let probe = |more: &[&str]| {
        let mut command = scene.command(&[&["doctor", "--probe"], more].concat());
        command.env("PATH", scene.path("bin")).env("GEMINI_API_KEY", "s3cret");
        Ran::of(command.output().unwrap())
    };
    let ran = probe(&["--format", "json"]);
    assert_eq!(scene.everything(), before, "something was written");
    let report = ran.json();
    let claude = &agent(&report, "claude")["probe"];
    assert_eq!(
        (&claude["answered"], &claude["usd"], &claude["model"]),
        (&json!(true), &json!(0.01), &json!("small"))
    );
    let gemini = &agent(&report, "gemini")["probe"];
    assert_eq!((&gemini["answered"], &gemini["kind"]), (&json!(false), &json!("authentication")));
    assert_eq!(gemini["why"], "the key [hidden] is wrong");
    assert_eq!(gemini["mend"], "start `gemini` and log in, or set GEMINI_API_KEY");
    assert_eq!((ran.code, &report["ready"]), (Some(3), &json!(false)), "one is at fault");
    let next = "fix gemini, whose test call failed: start `gemini` and log in, or set GEMINI_API_KEY; \
                or do without: skilltune tune SKILL --agent claude";
    assert_eq!(report["next"], next, "and not with the one that fails");
    assert!(!ran.stdout.contains("s3cret"));
    let human = probe(&[]);
    assert!(
        human.stdout.contains("!!  gemini: test call failed: it is not logged in: the key [hidden] is wrong"),
        "{human:?}"
    );
    assert!(human.stdout.contains("ok  claude: answered in "), "{human:?}");
    let verdict = human.stdout.lines().find(|line| line.contains("ready: ")).unwrap();
    assert!(verdict.starts_with("not ready: fix gemini, whose test call failed: "), "{verdict}");
    assert_eq!(scene.alive(), [0; 0]);
}

#[test]
fn an_agent_whose_version_takes_too_long_is_called_all_the_same() {
    let scene = Scene::empty();
    let answer = r#"echo '{"type":"system","subtype":"init"}'
        echo '{"type":"result","subtype":"success","is_error":false,"result":"ready"}'"#;
    let slow = "if [ \"$1\" = --version ]; then exec /bin/sleep 600; fi\n/bin/cat > /dev/null\n";
    program(&scene.path("bin/claude"), &[slow, answer].concat());
    let said = |more: &[&str]| report(&scene, &[&["--timeout", "1"], more].concat());
    let (code, unknown) = said(&[]);
    assert_eq!((code, &agent(&unknown, "claude")["usable"]), (Some(0), &json!(false)), "{unknown}");
    let (code, called) = said(&["--probe"]);
    let claude = agent(&called, "claude");
    assert_eq!(claude["trouble"], "version check timed out after 1s");
    assert_eq!((&claude["probe"]["answered"], &claude["usable"]), (&json!(true), &json!(true)), "{called}");
    assert_eq!((code, &called["next"]), (Some(0), &json!("skilltune tune SKILL")));
    assert_eq!(scene.alive(), [0; 0]);
}

/// The wrapper prints recorded output of the real one.
#[test]
fn doctor_via_ccw_calls_each_agent_through_it_and_says_what_to_do() {
    let scene = Scene::empty();
    real(&scene, "claude", "2.1.329", "exit 9");
    real(&scene, "gemini", "0.61.0", "exit 9");
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/transcripts/ccw");
    let ccw = |body: &str| program(&scene.path("bin/ccw"), body);
    let said = || doctor(&scene, &["--via", "ccw"]);
    assert!(said().stdout.contains("program \"ccw\" not found"), "{:?}", said());
    ccw(&format!("/bin/cat {recorded}/not-installed.stderr >&2; exit 1"));
    let ran = said();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("gemini via ccw: test call failed: it is not set up here: ccw has no templates yet: run `ccw install -m Global`"), "{text}");
    assert!(text.contains("it says: Error loading rule template: Template not found"), "{text}");
    ccw("echo 'TypeError: no config' >&2; echo '    at main' >&2; exit 1");
    let text = said().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("test call failed: it exited with an error: ccw: TypeError: no config"), "{text}");
    let by_tool = format!(
        "case \"$*\" in *claude*write*) /bin/cat {recorded}/claude-root.stderr >&2; exit 1;; \
         *gemini*) /bin/cat {recorded}/gemini-401.txt;; esac"
    );
    ccw(&by_tool);
    let (code, report) = report(&scene, &["--via", "ccw"]);
    assert_eq!(code, Some(3));
    let probe = |name: &str| agent(&report, name)["probe"].clone();
    assert_eq!((&probe("claude")["via"], &probe("claude")["kind"]), (&json!("ccw"), &json!("not_set_up")));
    assert!(probe("claude")["why"].as_str().unwrap().contains("as root: run as another user"), "{report}");
    assert_eq!(probe("gemini")["kind"], "authentication");
    ccw("echo ready");
    // It is not called, because ccw cannot call it; that is no fault.
    real(&scene, "codex", "0.169.0", "exit 9");
    let ran = said();
    assert!(ran.code == Some(0) && ran.stdout.contains("ok  claude via ccw: answered in "), "{ran:?}");
    assert!(ran.stdout.contains("--  codex: 0.169.0,") && !ran.stdout.contains("codex via ccw"), "{ran:?}");
}

#[test]
fn one_agent_that_works_is_enough_and_is_named() {
    let scene = Scene::empty();
    program(&scene.path("bin/mine"), "echo 1");
    let settings = "[roles]\nexecutor = \"gone\"\n[agents.gone]\ncommand = [\"gone\"]\n[agents.mine]\ncommand = [\"mine\"]\n";
    fs::write(scene.path("config/skilltune/skilltune.toml"), settings).unwrap();
    let (code, report) = report(&scene, &[]);
    assert_eq!((code, &report["next"]), (Some(0), &json!("skilltune tune SKILL --agent mine")));
    assert_eq!(agent(&report, "gone")["path"], Value::Null);
    let why = report["project"]["roles_error"].as_str().unwrap();
    assert!(why.contains("program \"gone\" not found"), "{why}");
}

#[test]
fn a_program_that_does_not_answer_is_given_up_with_all_that_it_started() {
    let scene = Scene::empty();
    program(&scene.path("bin/claude"), "/bin/sleep 600 & exec /bin/sleep 600");
    program(&scene.path("bin/gemini"), "echo 0.61.0");
    program(&scene.path("bin/codex"), "kill -9 $$");
    fs::write(scene.path("bin/opencode"), "\x7fELF no program").unwrap();
    fs::set_permissions(scene.path("bin/opencode"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = Background::spawn(&scene, {
        let mut command = scene.command(&["doctor", "--timeout", "1", "--format", "json"]);
        command.env("PATH", scene.path("bin")).env("GEMINI_API_KEY", "k");
        command
    });
    let ran = run.wait();
    let report = ran.json();
    assert_eq!(agent(&report, "claude")["trouble"], "version check timed out after 1s");
    assert_eq!(agent(&report, "gemini")["version"], "0.61.0", "the others are heard all the same");
    assert_eq!(agent(&report, "codex")["trouble"], "version check failed: killed by signal 9");
    let trouble = agent(&report, "opencode")["trouble"].as_str().unwrap();
    assert!(trouble.starts_with("cannot start: "), "{trouble}");
    assert_eq!(scene.alive(), [0; 0]);
    assert_eq!(
        (agent(&report, "claude")["usable"].clone(), ran.code),
        (json!(false), Some(0)),
        "one will do"
    );
    assert_eq!(report["next"], "skilltune tune SKILL --agent gemini");
}

#[test]
fn ctrl_c_ends_the_programs_and_leaves_nothing_behind() {
    let scene = Scene::empty();
    let begun = scene.path("begun");
    program(&scene.path("bin/claude"), &format!("/bin/sleep 600 & echo > {}; wait", begun.display()));
    fs::create_dir(scene.path("tmp")).unwrap();
    let mut command = scene.command(&["doctor", "--timeout", "1h"]);
    command.env("PATH", scene.path("bin")).env("TMPDIR", scene.path("tmp"));
    let run = Background::spawn(&scene, command);
    assert!(run.until(|_| begun.exists()));
    run.signal(Signal::INT);
    let ran = run.wait();
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(130), "", ""));
    assert_eq!(scene.alive(), [0; 0]);
    assert_eq!(fs::read_dir(scene.path("tmp")).unwrap().count(), 0);
}

#[test]
fn what_a_program_writes_into_its_home_is_gone_afterwards() {
    let scene = Scene::empty();
    program(
        &scene.path("bin/claude"),
        "echo x > \"$HOME/.claude.json\" && echo x > here && echo \"$SECRET/$HOME\"",
    );
    let before = scene.everything();
    let mut command = scene.command(&["doctor", "--format", "json"]);
    command.env("PATH", scene.path("bin")).env("SECRET", "s3cret");
    let ran = Ran::of(command.output().unwrap());
    let report = ran.json();
    let home = agent(&report, "claude")["version"].as_str().unwrap();
    let home = home.strip_prefix('/').expect("the secret is not handed on");
    assert!(home.starts_with('/') && !Path::new(home).exists(), "{home}");
    assert_eq!(scene.everything(), before);
}

#[test]
fn nothing_of_a_project_is_run_before_it_is_trusted() {
    let scene = Scene::empty();
    let touched = scene.path("touched");
    program(&scene.path("project/agent.sh"), &format!("echo run > {}; echo 1", touched.display()));
    for name in ["claude", "chromium"] {
        program(&scene.path("project").join(name), &format!("echo run > {}; echo 1", touched.display()));
    }
    let settings = "[agents.theirs]\ncommand = [\"./agent.sh\"]\n";
    fs::write(scene.path("project/skilltune.toml"), settings).unwrap();
    let (code, report) = report(&scene, &[]);
    let file = scene.path("project/skilltune.toml");
    let next = format!("read {0}, then run: skilltune trust {0}", file.display());
    assert_eq!((code, &report["next"]), (Some(0), &json!("skilltune tune SKILL --agent offline")));
    assert_eq!(report["for_more"], json!(next));
    assert_eq!(agent(&report, "theirs")["trouble"], "version unknown: not trusted, so not run");
    assert_eq!(report["project"]["trusted"], false);
    // A PATH that leads into the project does not grant trust either.
    for path in [".", "", "../project"] {
        let mut command = scene.command(&["doctor", "--format", "json"]);
        let ran = Ran::of(command.env("PATH", path).output().unwrap());
        assert_eq!(agent(&ran.json(), "claude")["path"], Value::Null, "{path:?}");
        assert_eq!(ran.json()["browser"], Value::Null, "{path:?}");
    }
    assert!(!touched.exists());

    let ready = |ran: Ran| ran.stdout.lines().last().map(str::to_owned).unwrap();
    assert_eq!(ready(doctor(&scene, &["--trust"])), "ready: skilltune tune SKILL --agent theirs");
    assert!(touched.exists(), "for this once");
    assert_eq!(ready(doctor(&scene, &[])), format!("for more: {next}"));
    assert_eq!(scene.run(&["trust", "."]).code, Some(0));
    assert_eq!(ready(doctor(&scene, &[])), "ready: skilltune tune SKILL --agent theirs");
}

#[test]
fn settings_that_cannot_be_read_are_said_and_all_else_is_told_all_the_same() {
    let scene = Scene::empty();
    fs::write(scene.path("project/skilltune.toml"), "[calls]\njob = 3\n").unwrap();
    let (code, report) = report(&scene, &[]);
    assert_eq!((code, &report["ready"]), (Some(3), &json!(false)));
    let error = report["project"]["settings_error"].as_str().unwrap();
    assert!(error.ends_with("skilltune.toml:2: unknown key `calls.job`"), "{error}");
    assert_eq!(report["folders"].as_array().unwrap().len(), 3);
    let page = doctor(&scene, &[]).stdout;
    assert!(page.contains("  !!  settings: "), "{page}");
    assert!(page.contains("\nagents\n  !!  the settings cannot be read, so the agents"), "{page}");
}

#[test]
fn a_folder_that_cannot_be_made_is_in_the_way() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    fs::remove_dir(scene.path("state")).unwrap();
    fs::write(scene.path("state"), "a file").unwrap();
    let (code, report) = report(&scene, &[]);
    let next = format!("make {} writable", scene.path("state/skilltune").display());
    assert_eq!((code, &report["next"]), (Some(3), &json!(next)));
}

#[test]
fn runs_that_are_open_and_those_at_work_are_named() {
    let (scene, _) = held();
    let id = scene.run_id();
    let (_, waiting) = report(&scene, &[]);
    assert_eq!(waiting["project"]["runs"], json!([{ "id": id, "status": "waiting", "target": "writer" }]));
    assert_eq!((&waiting["project"]["locks"], &waiting["project"]["ignored"]), (&json!([]), &json!(true)));

    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let gate = Gate::before("executor", &scene, json!({}));
    let run = Background::start(&scene, &["tune", "writer", "a page", "--yes", "--max-iterations", "1"]);
    run.until_begun(1);
    let report = doctor(&scene, &["--format", "json"]).json();
    assert_eq!(report["project"]["runs"][0]["status"], "running");
    assert_eq!(report["project"]["locks"][0]["pid"], run.pid());
    assert_eq!(report["project"]["locks"][0]["doing"], report["project"]["runs"][0]["id"]);
    assert!(!run.ends_within(Duration::ZERO), "it was left in peace");
    gate.open();
    let ended = run.wait();
    assert_eq!(ended.code, Some(3), "{ended:?}");
}

#[test]
fn pipes_in_the_place_of_files_hold_nobody_up() {
    let scene = Scene::empty();
    let run = scene.path("project/.skilltune/runs/0000-20260101-000000");
    fs::create_dir_all(&run).unwrap();
    for pipe in ["project/skilltune.toml", "project/.skilltune/.gitignore"] {
        drop(Gate::at(scene.path(pipe)));
    }
    drop(Gate::at(run.join("history.jsonl")));
    let ran = Background::start(&scene, &["doctor", "--format", "json"]).wait();
    let report = ran.json();
    let error = report["project"]["settings_error"].as_str().unwrap();
    assert!(error.ends_with("project/skilltune.toml: it is not a regular file"), "{error}");
    assert_eq!((&report["project"]["ignored"], &report["project"]["runs"]), (&json!(false), &json!([])));
    assert_eq!(ran.code, Some(3));
}
