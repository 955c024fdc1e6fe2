//! `night doctor`: each fault that would break tonight's run, as the scheduler would see it; and a night with none.

mod proposals;
mod records;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::installing::{CRONTAB, LAUNCHCTL, SYSTEMCTL};
use crate::night::{Nights, WRITER, climbs};
use crate::scene::{Ran, SKILLTUNE};

const JOB: &str = "[[jobs]]\nskill = \".claude/skills/writer\"\nsuite = \"suite.toml\"\nagent = \"claude\"\n";

/// Logs its start, and prints its version.
const CLAUDE: &str = "#!/bin/sh\necho \"$@\" >> \"${0%/*}/../claude.log\"\necho '2.1.329 (Claude Code)'\n";

const KEY: &str = "hunter2hunter2hunter2";

/// Nights with a scheduler, and an agent that the night finds.
struct Ward {
    nights: Nights,
    jobs: String,
    /// The name of the nightly start.
    name: String,
}

impl Ward {
    fn new(jobs: &str, scheduler: (&str, &str)) -> Self {
        let nights = Nights::new(&[("writer", 20)], &climbs(), jobs);
        let mut ward = Self { nights, jobs: jobs.to_owned(), name: String::new() };
        for (name, script) in [scheduler, ("claude", CLAUDE)] {
            ward.program(&format!("bin/{name}"), script);
        }
        for program in ["cat", "rm"] {
            let real = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(program));
            let real = real.into_iter().find(|path| path.exists()).expect("every system has it");
            std::os::unix::fs::symlink(real, ward.path("bin").join(program)).unwrap();
        }
        ward.write("home/.claude/.credentials.json", "{}");
        let ran = ward.ran(&["install", "--print", "cron"], &[]);
        let text = ran.stdout.strip_prefix("# ").unwrap_or_else(|| panic!("{ran:?}"));
        text.split(':').next().unwrap().clone_into(&mut ward.name);
        ward
    }

    /// Creates nights that are installed.
    fn installed(jobs: &str, scheduler: (&str, &str)) -> Self {
        let ward = Self::new(jobs, scheduler);
        ward.install(&[]);
        ward
    }

    fn install(&self, more: &[&str]) {
        let ran = self.ran(&[&["install"], more].concat(), &[]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    fn path(&self, below: &str) -> PathBuf {
        self.nights.scene.path(below)
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn program(&self, below: &str, script: &str) {
        self.write(below, script);
        fs::set_permissions(self.path(below), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, arguments: &[&str], env: &[(&str, &str)]) -> Command {
        let mut command = self.nights.scene.command(&[&["night"], arguments].concat());
        command.env("PATH", self.path("bin")).env("SKILLTUNE_NOW", "2026-11-03T12:00:00Z");
        command.envs(env.iter().copied());
        command
    }

    fn ran(&self, arguments: &[&str], env: &[(&str, &str)]) -> Ran {
        Ran::of(self.command(arguments, env).output().unwrap())
    }

    fn report(&self, env: &[(&str, &str)]) -> Value {
        let ran = self.ran(&["doctor", "--format", "json"], env);
        let report = ran.json();
        let is_ready = report["ready"].as_bool().unwrap();
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(if is_ready { 0 } else { 3 }), ""), "{ran:?}");
        assert!(!ran.stdout.contains(KEY), "{ran:?}");
        report
    }

    /// Returns the checks in this state, each with its hint.
    fn checks(&self, state: &str, env: &[(&str, &str)]) -> Vec<String> {
        let report = self.report(env);
        let all = report["checks"].as_array().unwrap().iter().filter(|check| check["state"] == state);
        let text = |check: &Value| {
            let fix = check["fix"].as_str().map_or(String::new(), |fix| format!("; {fix}"));
            format!("{}: {}{fix}", check["about"].as_str().unwrap(), check["text"].as_str().unwrap())
        };
        all.map(|check| self.normalized(&text(check))).collect()
    }

    /// Returns the only fault.
    fn fault(&self, env: &[(&str, &str)]) -> String {
        let faults = self.checks("broken", env);
        assert_eq!(faults.len(), 1, "{faults:#?}");
        faults[0].clone()
    }

    fn assert_fine(&self, env: &[(&str, &str)]) {
        assert_eq!(self.checks("broken", env), [""; 0]);
    }

    fn normalized(&self, text: &str) -> String {
        let text = text
            .replace(SKILLTUNE, "/bin/skilltune")
            .replace(&self.name, "NAME")
            .replace(env!("CARGO_PKG_VERSION"), "VERSION");
        let text =
            regex::Regex::new(r"\d[\d,]* [GM]iB free").unwrap().replace_all(&text, "SOME free").into_owned();
        self.nights.scene.normalized(&text)
    }

    fn unit(&self, kind: &str) -> PathBuf {
        self.path("config/systemd/user").join(format!("{}.{kind}", self.name))
    }

    fn edit_unit(&self, kind: &str, from: &str, to: &str) {
        let path = self.unit(kind);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    }

    /// Writes the file of jobs as a person, and trusts it.
    fn write_jobs(&self, top: &str) {
        self.nights.write_jobs(&format!("{top}\n{}", self.jobs));
    }

    fn claude_calls(&self) -> usize {
        fs::read_to_string(self.path("claude.log")).unwrap_or_default().lines().count()
    }
}

fn systemd() -> Ward {
    Ward::installed(JOB, ("systemctl", SYSTEMCTL))
}

#[test]
fn a_night_that_works_has_no_fault_and_nothing_is_changed_by_looking() {
    let ward = systemd();
    let page = |ran: Ran| {
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
        ward.normalized(&ran.stdout)
    };
    insta::assert_snapshot!(page(ward.ran(&["doctor"], &[])), @r#"
    night: /project/skilltune-night.toml

    file
      ok  /project/skilltune-night.toml: 1 job
      ok  trusted, with the files that it names

    start
      ok  systemd: the timer is enabled and active
      ok  program: /bin/skilltune, version VERSION

    jobs
      ok  writer: writer, by claude

    agents
      ok  claude: 2.1.329 (Claude Code), /bin/claude; login in /home/.claude/.credentials.json

    disk
      ok  store: /project/.skilltune: SOME free
      ok  cache: /cache/skilltune: SOME free
      ok  state: /state/skilltune: SOME free
      ok  temp: /tmp: SOME free

    time
      ok  the next start is 2026-11-04 02:30 UTC
      ok  no night has run yet

    ready: no problems found
    "#);
    let _ = fs::remove_file(ward.path("systemctl.log"));
    let _ = fs::remove_file(ward.path("claude.log"));
    let before = ward.nights.scene.everything();
    page(ward.ran(&["doctor"], &[]));
    assert_eq!(fs::read_to_string(ward.path("claude.log")).unwrap(), "--version\n", "no call was made");
    let _ = fs::remove_file(ward.path("systemctl.log"));
    let _ = fs::remove_file(ward.path("claude.log"));
    assert_eq!(ward.nights.scene.everything(), before);
}

#[test]
fn without_a_scheduler_the_world_of_the_shell_is_looked_at_and_said_so() {
    let ward = Ward::new(JOB, ("systemctl", SYSTEMCTL));
    insta::assert_snapshot!(ward.fault(&[]), @"start: not installed; checked with the PATH and folders of this shell; run `skilltune night install`, unless your own scheduler starts `skilltune night --scheduled`");
    assert_eq!(ward.report(&[])["scheduler"], Value::Null);
    // Another scheduler starts it.
    let ran = ward.nights.night("2026-11-03", &["--scheduled"]);
    assert_eq!(ran.code, Some(3), "the program of its agent is not on that PATH: {ran:?}");
    ward.assert_fine(&[]);
    assert_eq!(ward.checks("broken", &[("SKILLTUNE_NOW", "2026-11-05T12:00:00Z")]).len(), 1);
    ward.install(&["--at", "04:05"]);
    ward.assert_fine(&[]);
    let report = ward.report(&[]);
    assert_eq!(
        (&report["scheduler"], &report["next_start"]),
        (&json!("systemd"), &json!("2026-11-04T04:05:00Z"))
    );
}

#[test]
fn a_file_that_is_missing_wrong_or_not_trusted_is_a_fault_and_then_no_agent_is_started() {
    let ward = systemd();
    ward.assert_fine(&[]);
    let calls = ward.claude_calls();
    let file = ward.path("project/skilltune-night.toml");
    fs::write(&file, format!("keep = 7\n{JOB}")).unwrap();
    insta::assert_snapshot!(ward.fault(&[]), @"file: /project/skilltune-night.toml is not trusted, or changed since: a file of jobs decides what skilltune spends, applies and runs; read it, then run `skilltune trust /project/skilltune-night.toml`");
    assert_eq!(ward.claude_calls(), calls, "nobody agreed with what the file names");
    fs::write(&file, format!("until = \"late\"\n{JOB}")).unwrap();
    insta::assert_snapshot!(ward.fault(&[]), @r#"file: /project/skilltune-night.toml: line 1: "late" is not a time; write it like "06:30""#);
    fs::write(&file, "").unwrap();
    ward.nights.write_jobs("");
    insta::assert_snapshot!(ward.fault(&[]), @"file: /project/skilltune-night.toml has no jobs; `skilltune night add SKILL --suite FILE` adds one");
    fs::rename(&file, ward.path("kept.toml")).unwrap();
    let report = ward.report(&[]);
    let faults: Vec<&Value> =
        report["checks"].as_array().unwrap().iter().filter(|check| check["state"] == "broken").collect();
    assert_eq!(faults.len(), 1, "{report}");
    assert!(faults[0]["text"].as_str().unwrap().ends_with("skilltune-night.toml does not exist"), "{report}");
    assert_eq!(report["scheduler"], "systemd", "its start is still there");
}

#[test]
fn a_script_that_tells_of_the_night_has_to_be_there_and_trusted() {
    let ward = systemd();
    ward.program("project/tell.sh", "#!/bin/sh\n");
    ward.write_jobs("notify = [\"./tell.sh\"]");
    ward.assert_fine(&[]);
    ward.program("project/tell.sh", "#!/bin/sh\nrm -rf /\n");
    insta::assert_snapshot!(ward.fault(&[]), @"file: a script that `notify` names is not trusted, or changed since: a file of jobs decides what skilltune spends, applies and runs; read the script, then run `skilltune trust /project/skilltune-night.toml`");
    ward.write_jobs("notify = [\"missing-mailer\"]");
    insta::assert_snapshot!(ward.fault(&[]), @r#"file: notify: program "missing-mailer" not found; no notification would be sent; install it, or change `notify`"#);
    ward.write_jobs("heartbeat = [\"missing-curl\"]");
    insta::assert_snapshot!(ward.fault(&[]), @r#"file: heartbeat: program "missing-curl" not found; no heartbeat would be sent; install it, or change `heartbeat`"#);
}

#[test]
fn a_job_that_cannot_run_is_a_fault_with_its_own_reason() {
    let ward = systemd();
    fs::remove_file(ward.path("project/suite.toml")).unwrap();
    insta::assert_snapshot!(ward.fault(&[]), @"jobs: writer: suite /project/suite.toml does not exist (`skilltune suite new SKILL` drafts a suite)");
    ward.write("project/suite.toml", "[[scenarios]]\n");
    assert!(ward.fault(&[]).contains("suite.toml"));
    ward.write("project/suite.toml", &crate::night::suite(12));
    ward.nights.write_jobs(&JOB.replace("writer", "author"));
    assert!(ward.fault(&[]).contains("author"));
    ward.nights.write_jobs(&JOB.replace("\"claude\"", "\"nobody\""));
    assert!(ward.fault(&[]).contains("unknown agent `nobody`"));
}

#[test]
fn what_the_timer_starts_has_to_be_there_and_the_timer_on() {
    let ward = systemd();
    let gone = ward.path("gone");
    ward.copy_program("gone/skilltune");
    fs::create_dir(gone.join("project")).unwrap();
    for (program, project, fault) in [
        (gone.join("skilltune"), "project", "start: the program /gone/skilltune does not exist"),
        (PathBuf::from(SKILLTUNE), "gone/project", "start: the project folder /gone/project does not exist"),
    ] {
        ward.install_other(&program, project);
        fs::rename(&gone, ward.path("away")).unwrap();
        assert_eq!(ward.fault(&[]), format!("{fault}; run `skilltune night install` to rewrite it"));
        ward.install(&[]);
        ward.assert_fine(&[]);
        fs::rename(ward.path("away"), &gone).unwrap();
    }
    let enabled = ward.path(&format!("enabled-{}.timer", ward.name));
    fs::remove_file(&enabled).unwrap();
    insta::assert_snapshot!(ward.fault(&[]), @"start: systemd: the timer is not active; run `skilltune night install` to enable and start it");
    ward.program("bin/systemctl", "#!/bin/sh\nexit 1\n");
    insta::assert_snapshot!(ward.fault(&[]), @"start: systemd: the timer is installed, but your user systemd does not answer; log in again, or start the user's systemd");
}

#[test]
fn another_skilltune_lingering_and_units_of_somebody_else_cannot_be_judged_and_nothing_of_them_is_run() {
    let ward = systemd();
    let before = ward.checks("unknown", &[]);
    ward.program("bin/loginctl", "#!/bin/sh\necho no\n");
    ward.install_other(&ward.copy_program("other/skilltune"), "project");
    ward.program("other/skilltune", "#!/bin/sh\n: > \"${0%/*}/../run\"\n");
    let unknown = ward.checks("unknown", &[]);
    let new: Vec<&str> = unknown.iter().filter(|line| !before.contains(line)).map(String::as_str).collect();
    insta::assert_snapshot!(new.join("\n"), @r#"
    start: systemd: the timer stops when you log out; `loginctl enable-linger` keeps it running
    start: the night starts /other/skilltune, a different program from this one, version VERSION; run `night doctor` and `night install` with the one that you want
    "#);
    fs::remove_file(ward.path("bin/loginctl")).unwrap();
    let hostile = ward.path("other/skilltune").display().to_string();
    for service in [
        format!("[Service]\nExecStart={hostile}\nExecStartPre={hostile}\n"),
        format!("[Service]\nEnvironment=PATH={hostile} LD_PRELOAD=x\nExecStart=:/bin/sh -c {hostile}\n"),
        "\u{0}[Service\nExecStart=\"\\".to_owned(),
    ] {
        fs::write(ward.unit("service"), service).unwrap();
        let unknown = ward.checks("unknown", &[]).join("\n");
        assert!(unknown.contains("the installed start of the night was modified"), "{unknown}");
    }
    assert!(!ward.path("run").exists());
}

#[test]
fn an_agent_that_only_this_shell_finds_is_none_of_the_night() {
    let ward = systemd();
    fs::create_dir(ward.path("more")).unwrap();
    fs::rename(ward.path("bin/claude"), ward.path("more/claude")).unwrap();
    let path = format!("{}:{}", ward.path("bin").display(), ward.path("more").display());
    let shell = [("PATH", path.as_str())];
    insta::assert_snapshot!(ward.fault(&shell), @r#"jobs: writer: cannot run agent `claude`: program "claude" not found (install it (npm install -g @anthropic-ai/claude-code), or describe it as [agents.claude]); it can run in this shell: fix the night's environment, or run `skilltune night install` again"#);
    // A reinstall adds the other folder of PATH to the installed start.
    let ran = ward.ran(&["install"], &shell);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ward.assert_fine(&shell);
    fs::remove_file(ward.path("more/claude")).unwrap();
    ward.program("more/claude", "#!/bin/sh\nexit 1\n");
    insta::assert_snapshot!(ward.fault(&shell), @"agents: claude: version check failed: exit code 1, /more/claude; run `claude --version` by hand to see why");
}

#[test]
fn a_command_whose_version_is_unknown_is_never_called_fine() {
    let ward = systemd();
    ward.nights.write_jobs(&format!("{JOB}evaluator = \"evaluator\"\n"));
    ward.assert_fine(&[]);
    let unknown = ward.checks("unknown", &[]).join("\n");
    assert!(unknown.contains("agents: evaluator: version check failed: exit code 101, "), "{unknown}");
    assert!(unknown.contains(" --version` by hand, if it should know that"), "{unknown}");
}

#[test]
fn a_key_that_only_this_shell_has_is_named_and_its_value_is_not() {
    let ward = systemd();
    fs::remove_file(ward.path("home/.claude/.credentials.json")).unwrap();
    assert!(ward.fault(&[]).contains("no key or login found"));
    let shell = [("ANTHROPIC_API_KEY", KEY)];
    insta::assert_snapshot!(ward.fault(&shell), @"agents: claude: ANTHROPIC_API_KEY is set in this shell, but not for the night; set it for the night: `systemctl --user edit NAME.service` and write `Environment=NAME=value`");
    // The ways in which a person can provide it.
    let more = format!("{}.d/override.conf", ward.unit("service").display());
    fs::create_dir(Path::new(&more).parent().unwrap()).unwrap();
    fs::write(&more, format!("[Service]\nEnvironment=ANTHROPIC_API_KEY={KEY}\n")).unwrap();
    ward.assert_fine(&shell);
    assert!(ward.checks("fine", &[]).iter().any(|line| line.ends_with("key in ANTHROPIC_API_KEY")));
    fs::write(&more, "[Service]\nEnvironmentFile=/keys\n").unwrap();
    ward.assert_fine(&shell);
    assert!(
        ward.checks("unknown", &shell)
            .iter()
            .any(|line| line.contains("ANTHROPIC_API_KEY is set in this shell"))
    );
    fs::remove_file(&more).unwrap();
    ward.write("given", &format!("ANTHROPIC_API_KEY={KEY}\nLANG=C\n"));
    ward.assert_fine(&[]);
}

#[test]
fn a_line_of_cron_needs_a_daemon_and_gives_what_stands_above_it() {
    let ward = Ward::installed(JOB, ("crontab", CRONTAB));
    let daemons = ["cron", "crond", "fcron", "dcron"];
    let runs = fs::read_dir("/proc").unwrap().any(|entry| {
        let name = fs::read_to_string(entry.unwrap().path().join("comm")).unwrap_or_default();
        daemons.contains(&name.trim_end())
    });
    let others = || -> Vec<String> {
        let (daemon, others) =
            ward.checks("broken", &[]).into_iter().partition::<Vec<_>, _>(|line| line.contains("cron: "));
        assert_eq!(daemon.is_empty(), runs, "{daemon:?}");
        others
    };
    assert_eq!(others(), [""; 0]);
    fs::remove_file(ward.path("home/.claude/.credentials.json")).unwrap();
    assert!(others()[0].contains("no key or login found"));
    let table = fs::read_to_string(ward.path("crontab")).unwrap();
    ward.write("crontab", &format!("ANTHROPIC_API_KEY = '{KEY}'\n{table}"));
    assert_eq!(others(), [""; 0]);
    // An unreadable crontab does not prove that no night is installed.
    ward.write("denied", "");
    let unknown = ward.checks("unknown", &[]).join("\n");
    assert!(unknown.contains("you are not allowed to use this program"), "{unknown}");
}

#[test]
fn a_launch_agent_has_to_be_loaded() {
    let ward = Ward::installed(JOB, ("launchctl", LAUNCHCTL));
    ward.assert_fine(&[]);
    assert_eq!(ward.report(&[])["scheduler"], "launchd");
    fs::remove_file(ward.path("loaded")).unwrap();
    insta::assert_snapshot!(ward.fault(&[]), @"start: launchd: the agent is installed, but not loaded; run `skilltune night install` to load it");
}

#[test]
fn a_window_or_a_budget_in_which_nothing_can_run_is_a_fault() {
    let ward = systemd();
    for (top, fault) in [
        ("until = \"02:00\"", "`until` is 02:00, not after the start at 02:30"),
        ("latest_start = \"01:00\"", "`latest_start` is 01:00 (2026-11-04 01:00 UTC), before the start"),
        ("[night]\nmax_calls = 0", "`[night]` allows no call at all"),
        ("[week]\nmax_tokens = 0", "`[week]` allows no call at all"),
    ] {
        ward.write_jobs(top);
        assert!(ward.fault(&[]).contains(fault), "{top}: {}", ward.fault(&[]));
    }
    ward.nights.write_jobs(&format!("{JOB}[jobs.limits]\nmax_calls = 0\n"));
    assert!(ward.fault(&[]).contains("its own limits allow no call"));
    ward.write_jobs("until = \"06:30\"\nlatest_start = \"04:00\"\n[night]\nmax_usd = 0.5");
    ward.assert_fine(&[]);
    assert!(ward.checks("fine", &[]).contains(&"time: it stops at 06:30, 4h 00m after its start".to_owned()));
}

#[test]
fn what_older_nights_used_and_a_clock_that_went_back_are_seen_in_their_journal() {
    let ward = Ward::installed(WRITER, ("systemctl", SYSTEMCTL));
    let ran = ward.nights.night("2026-11-02", &["--scheduled"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ward.assert_fine(&[]);
    assert_eq!(ward.report(&[])["last_start"], "2026-11-02T02:30:00Z");
    let limited = format!("[week]\nmax_calls = 20\n{WRITER}");
    ward.nights.write_jobs(&limited);
    insta::assert_snapshot!(ward.fault(&[]), @"file: the budget of the week is used up, and still will be at the next start; raise the limits of `[week]`, or wait until its nights are a week old");
    ward.assert_fine(&[("SKILLTUNE_NOW", "2026-11-09T12:00:00Z")]);
    ward.nights.write_jobs(WRITER);
    insta::assert_snapshot!(ward.fault(&[("SKILLTUNE_NOW", "2026-11-01T12:00:00Z")]), @"time: the clock shows 2026-11-01 12:00 UTC, before the last night of 2026-11-02 02:30 UTC; set the clock: skilltune runs the night of each date only once");
    // Another time on the same day belongs to a night that has already run.
    ward.install(&["--at", "05:00"]);
    let unknown = ward.checks("unknown", &[("SKILLTUNE_NOW", "2026-11-02T03:30:00Z")]).join("\n");
    assert!(unknown.contains("so the next start, of the same night, does nothing"), "{unknown}");
}

#[test]
fn a_clock_that_skips_or_repeats_the_start_and_a_zone_that_is_none_are_told() {
    let ward = systemd();
    ward.write("given", "TZ=Europe/Vienna\n");
    let spring = ward.checks("unknown", &[("SKILLTUNE_NOW", "2027-03-20T12:00:00Z")]).join("\n");
    assert!(spring.contains("on 2027-03-28 the clock skips 02:30"), "{spring}");
    let autumn = ward.checks("fine", &[("SKILLTUNE_NOW", "2026-10-20T12:00:00Z")]).join("\n");
    assert!(autumn.contains("on 2026-10-25 it is 02:30 twice"), "{autumn}");
    assert_eq!(ward.report(&[])["next_start"], "2026-11-04T01:30:00Z");
    // Settings of the service alone change the night's own times, but not when it starts.
    let more = format!("config/systemd/user/{}.service.d/zone.conf", ward.name);
    ward.write(&more, "[Service]\nEnvironment=TZ=Asia/Tokyo\n");
    ward.write_jobs("until = \"11:30\"");
    assert_eq!(ward.report(&[])["next_start"], "2026-11-04T01:30:00Z");
    let fine = ward.checks("fine", &[]);
    assert!(fine.contains(&"time: it stops at 11:30, 1h 00m after its start".to_owned()), "{fine:#?}");
    fs::remove_file(ward.path(&more)).unwrap();
    let shell = ward.checks("unknown", &[("TZ", "Asia/Tokyo")]).join("\n");
    assert!(shell.contains("TZ is \"Asia/Tokyo\" in this shell only"), "{shell}");
    ward.write("given", "TZ=Nowhere/Atlantis\n");
    insta::assert_snapshot!(ward.fault(&[]), @r#"time: TZ is "Nowhere/Atlantis", which is not a time zone: the night uses UTC; set the time zone, such as with `timedatectl set-timezone`"#);
}

#[test]
fn a_night_under_way_is_told_with_its_beginning_and_a_killed_one_holds_nothing() {
    let ward = Ward::installed(WRITER, ("systemctl", SYSTEMCTL));
    let gate = Gate::before("executor", &ward.nights.scene, climbs());
    let first = Background::spawn(&ward.nights.scene, ward.nights.command("2026-11-02", &[]));
    first.until_begun(1);
    let unknown = ward.checks("unknown", &[]).join("\n");
    assert!(unknown.contains("a night has been under way since 2026-11-02 02:30 UTC"), "{unknown}");
    first.signal(rustix::process::Signal::KILL);
    gate.open();
    first.wait();
    let fine = ward.checks("fine", &[]).join("\n");
    assert!(fine.contains("the night that began 2026-11-02 02:30 UTC was killed"), "{fine}");
}

#[test]
fn too_little_room_for_what_the_calls_may_write_is_a_fault() {
    let ward = systemd();
    ward.nights.scene.write_settings("[limits]\nartifact_bytes = 1_000_000_000_000_000\n");
    let faults = ward.checks("broken", &[]);
    assert!(
        faults.len() == 2 && faults.iter().all(|line| line.contains("; 4 calls at a time may write ")),
        "{faults:#?}"
    );
}
