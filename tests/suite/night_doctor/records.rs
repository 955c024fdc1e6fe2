//! The record of an installed start: a start that somebody edited, one without a record, and records that somebody else
//! wrote.

use super::*;
use crate::scene::Listing;

const CHANGED: &str = "start: SCHEDULER: the installed start of the night was modified; run `skilltune night install` to rewrite it";
const OLDER: &str = "start: SCHEDULER: installed by an older skilltune; run `skilltune night install`";
const UNREADABLE: &str = "start: SCHEDULER: cannot read the record of the installed start; run `skilltune night install` to rewrite it";
const THIS_SHELL: &str = "start: cannot read the folders of the night: checked with those of this shell; run `skilltune night install` to rewrite it";

const SCHEDULERS: [(&str, &str, &str); 3] =
    [("systemd", "systemctl", SYSTEMCTL), ("cron", "crontab", CRONTAB), ("launchd", "launchctl", LAUNCHCTL)];

impl Ward {
    /// Installs the start of this program in this project, with the same file of jobs.
    pub(super) fn install_other(&self, program: &Path, project: &str) {
        let [file, project] = ["project/skilltune-night.toml", project].map(|path| self.path(path));
        let arguments =
            ["--project", project.to_str().unwrap(), "night", "install", "--file", file.to_str().unwrap()];
        let mut command = self.nights.scene.command_of(program.to_str().unwrap(), &[], &arguments);
        let ran = Ran::of(command.env("PATH", self.path("bin")).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    /// Copies our program. Another process does it, so that no child of this one holds the copy open when it starts.
    pub(super) fn copy_program(&self, below: &str) -> PathBuf {
        let copy = self.path(below);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        assert!(Command::new("cp").arg(SKILLTUNE).arg(&copy).status().unwrap().success());
        copy
    }

    fn record(&self) -> PathBuf {
        self.path("state/skilltune/nights").join(format!("{}.json", self.name))
    }

    fn edit_record(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.record()).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(self.record(), text.replace(from, to)).unwrap();
    }

    /// Returns what is unknown of the start.
    fn unknown(&self) -> Vec<String> {
        let all = self.checks("unknown", &[]);
        // Whether this machine shows a daemon of cron is none of these tests.
        all.into_iter().filter(|line| line.starts_with("start: ") && !line.contains("its daemon")).collect()
    }

    /// Asserts that nothing is known of the start but this. Only systemd says what environment the night has.
    fn assert_unknown(&self, expected: &str, scheduler: &str) {
        let expected = expected.replace("SCHEDULER", scheduler);
        let mut all = vec![expected.as_str()];
        all.extend((scheduler != "systemd").then_some(THIS_SHELL));
        assert_eq!(self.unknown(), all);
        let is_named = self.checks("fine", &[]).iter().any(|line| line.starts_with("start: program"));
        assert!(!is_named && self.report(&[])["next_start"].is_null());
    }

    /// Removes what the fake programs wrote down, and returns all files.
    fn without_logs(&self) -> Listing {
        for log in ["systemctl.log", "launchctl.log", "claude.log"] {
            let _ = fs::remove_file(self.path(log));
        }
        self.nights.scene.everything()
    }

    fn reinstalled(&self) {
        self.install(&[]);
        assert_eq!(self.unknown(), [""; 0]);
        assert_eq!(self.report(&[])["next_start"], "2026-11-04T02:30:00Z");
    }
}

#[test]
fn a_start_that_somebody_edited_is_changed_and_no_more_is_known_of_it() {
    for (scheduler, program, script) in SCHEDULERS {
        let ward = Ward::installed(JOB, (program, script));
        let [time, file] = match scheduler {
            "systemd" => [("timer", "02:30:00", "04:05:00"), ("service", "night.toml", "other.toml")],
            "cron" => [("", "30 2 ", "5 4 "), ("", "night.toml", "other.toml")],
            _ => [("", "<integer>2<", "<integer>4<"), ("", "night.toml", "other.toml")],
        };
        for (kind, from, to) in [time, file] {
            let path = match scheduler {
                "systemd" => ward.unit(kind),
                "cron" => ward.path("crontab"),
                _ => ward.path("home/Library/LaunchAgents").join(format!("{}.plist", ward.name)),
            };
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(from), "{text}");
            fs::write(&path, text.replace(from, to)).unwrap();
            ward.assert_unknown(CHANGED, scheduler);
            ward.reinstalled();
        }
    }
}

#[test]
fn the_lines_of_others_in_a_crontab_are_not_compared() {
    let ward = Ward::installed(JOB, ("crontab", CRONTAB));
    let table = fs::read_to_string(ward.path("crontab")).unwrap();
    ward.write("crontab", &format!("MAILTO=me\n5 4 * * * mine\n{table}6 5 * * * mine\n"));
    assert_eq!(ward.unknown(), [""; 0]);
    assert_eq!(ward.report(&[])["next_start"], "2026-11-04T02:30:00Z");
}

#[test]
fn systemd_is_asked_for_the_next_start_of_a_timer_that_the_record_does_not_know() {
    let ward = systemd();
    ward.write("next", "[{\"next\":1793765100000000,\"unit\":\"x\"}]\n");
    assert_eq!(ward.report(&[])["next_start"], "2026-11-04T02:30:00Z", "the record knows it");
    ward.edit_unit("timer", "02:30:00", "04:05:00");
    assert_eq!(ward.report(&[])["next_start"], "2026-11-04T04:05:00Z");
    for unusable in ["", "[]", "{}", "[{\"next\":null}]", "[{\"next\":18446744073709551615}]", "NEXT"] {
        ward.write("next", unusable);
        ward.assert_unknown(CHANGED, "systemd");
    }
    ward.reinstalled();
    ward.write("next", "[{\"next\":1793765100000000}]\n");
    ward.write(
        &format!("config/systemd/user/{}.timer.d/later.conf", ward.name),
        "[Timer]\nOnCalendar=\nOnCalendar=04:05\n",
    );
    let unknown = ward.unknown().join("\n");
    assert!(unknown.contains("other files change NAME.timer, and perhaps its time"), "{unknown}");
    assert_eq!(ward.report(&[])["next_start"], "2026-11-04T04:05:00Z");
}

#[test]
fn a_start_of_an_older_skilltune_is_found_recorded_and_removed() {
    for (scheduler, program, script) in SCHEDULERS {
        let ward = Ward::new(JOB, (program, script));
        // The first check makes the project's folder of runs.
        ward.report(&[]);
        let before = ward.without_logs();
        ward.install(&[]);
        fs::remove_dir_all(ward.record().parent().unwrap()).unwrap();
        ward.assert_unknown(OLDER, scheduler);
        let ran = ward.ran(&["install"], &[]);
        assert!(ran.stderr.starts_with("already installed: "), "{ran:?}");
        ward.reinstalled();
        fs::remove_file(ward.record()).unwrap();
        let ran = ward.ran(&["uninstall"], &[]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(
            ran.stderr.lines().all(|line| line.ends_with(", installed by an older skilltune")),
            "{ran:?}"
        );
        assert_eq!(ward.without_logs(), before, "{scheduler}: nothing stays");
    }
}

#[test]
fn a_forged_record_says_nothing_and_nothing_of_it_is_run() {
    for (scheduler, program, script) in SCHEDULERS {
        let ward = Ward::installed(JOB, (program, script));
        let evil = ward.path("evil").display().to_string();
        for name in ["claude", "skilltune"] {
            ward.program(&format!("evil/{name}"), "#!/bin/sh\n: > \"${0%/*}/../run\"\n");
        }
        let bin = ward.path("bin").display().to_string();
        for (from, to, expected) in [
            (SKILLTUNE, &*format!("{evil}/skilltune"), CHANGED),
            (&*format!("[\"PATH\",\"{bin}"), &*format!("[\"PATH\",\"{evil}:{bin}"), CHANGED),
            ("02:30:00", "05:00:00", CHANGED),
            ("[\"PATH\",", "[\"LD_PRELOAD\",\"/x\"],[\"PATH\",", UNREADABLE),
            ("skilltune-night.toml", "other.toml", UNREADABLE),
            ("\"at\"", "\"at\":1,\"at\"", UNREADABLE),
        ] {
            ward.edit_record(from, to);
            ward.assert_unknown(expected, scheduler);
            ward.reinstalled();
        }
        assert!(!ward.path("run").exists());
    }
}

#[test]
fn a_huge_record_a_fifo_and_a_symlink_are_not_read_and_install_replaces_them() {
    let ward = systemd();
    let (record, precious) = (ward.record(), ward.path("precious"));
    fs::copy(&record, &precious).unwrap();
    let content = fs::read(&precious).unwrap();
    let ways: [&dyn Fn(); 3] = [
        &|| fs::File::create(&record).unwrap().set_len(1 << 40).unwrap(),
        &|| assert!(Command::new("mkfifo").arg(&record).status().unwrap().success()),
        &|| std::os::unix::fs::symlink(&precious, &record).unwrap(),
    ];
    for put in ways {
        fs::remove_file(&record).unwrap();
        put();
        ward.assert_unknown(UNREADABLE, "systemd");
        ward.reinstalled();
        assert!(record.symlink_metadata().unwrap().is_file());
    }
    fs::remove_file(&record).unwrap();
    std::os::unix::fs::symlink(&precious, &record).unwrap();
    let ran = ward.ran(&["uninstall"], &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(record.symlink_metadata().is_err());
    assert_eq!(fs::read(&precious).unwrap(), content, "its target stays");
}
