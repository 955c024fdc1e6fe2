//! Nights that come twice, too late or with an untrusted file; that are stopped or killed, or find something missing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use super::{Nights, WRITER, after_a_win, climbs};
use crate::background::{Background, Gate};
use crate::scene::Ran;

fn nights(jobs: &str) -> Nights {
    Nights::new(&[("writer", 20)], &climbs(), jobs)
}

/// Returns the work of the last night's jobs.
pub(super) fn works(nights: &Nights) -> Vec<String> {
    let morning = nights.morning();
    let done = morning["done"].as_array().unwrap();
    done.iter().map(|one| one["work"].as_str().unwrap().to_owned()).collect()
}

fn left(nights: &Nights) -> String {
    nights.morning()["left"][0]["why"].as_str().unwrap().to_owned()
}

#[test]
fn of_two_nights_that_begin_at_once_one_works_and_the_other_does_nothing_or_waits() {
    for (overlap, second) in
        [("", "another night of this file is under way"), ("overlap = \"queue\"\n", "measuring")]
    {
        let nights = nights(&format!("{overlap}{WRITER}"));
        let gate = Gate::before("executor", &nights.scene, climbs());
        let first = Background::spawn(&nights.scene, nights.command("2026-11-02", &[]));
        first.until_begun(1);
        let other = nights.command("2026-11-02", &[]).spawn().unwrap();
        let other = if overlap.is_empty() {
            let ran = Ran::of(other.wait_with_output().unwrap());
            gate.open();
            assert_eq!(first.wait().code, Some(0));
            ran
        } else {
            gate.open();
            assert_eq!(first.wait().code, Some(0));
            Ran::of(other.wait_with_output().unwrap())
        };
        assert!(other.code == Some(0) && other.stderr.contains(second), "{overlap}: {other:?}");
    }
}

#[test]
fn a_scheduled_night_runs_once_and_not_after_its_latest_start_and_the_night_after_it_runs() {
    let nights = nights(&format!("latest_start = \"04:00\"\n{WRITER}"));
    let at = |moment: &str, more: &[&str]| {
        let mut command = nights.scene.command(&[&["night", "--scheduled"][..], more].concat());
        command.env("SKILLTUNE_NOW", moment).env("TZ", "Europe/Vienna");
        Ran::of(command.output().unwrap())
    };
    // The machine slept past half past two.
    let late = at("2026-10-24T09:00:00+02:00", &[]);
    assert!(late.code == Some(5) && late.stderr.contains("too late"), "{late:?}");
    assert_eq!(nights.scene.answered(), 0);
    // The clock is set back: half past two occurs twice.
    let first = at("2026-10-25T02:30:00+02:00", &[]);
    assert_eq!((first.code, nights.scene.quality("writer")), (Some(0), 80), "{first:?}");
    let answered = nights.scene.answered();
    let twice = at("2026-10-25T02:30:00+01:00", &[]);
    assert!(twice.code == Some(0) && twice.stderr.contains("has already run"), "{twice:?}");
    assert_eq!(nights.scene.answered(), answered);
    assert_eq!(at("2026-10-26T02:30:00+01:00", &[]).code, Some(0));
    assert!(nights.scene.answered() > answered);
}

#[test]
fn a_file_of_jobs_that_changed_since_somebody_agreed_to_it_runs_nothing() {
    let nights = nights(WRITER);
    let path = nights.scene.path("project/skilltune-night.toml");
    fs::write(&path, WRITER.replace("32", "33")).unwrap();
    let ran = nights.night("2026-11-02", &[]);
    assert_eq!((ran.code, nights.scene.answered()), (Some(2), 0), "{ran:?}");
    assert!(
        ran.stderr.contains("is not trusted, or changed since") && ran.stderr.contains("skilltune trust"),
        "{ran:?}"
    );
    fs::write(&path, WRITER).unwrap();
    assert_eq!(nights.night("2026-11-02", &[]).code, Some(0));
}

#[test]
fn a_suite_that_vanished_and_a_skill_that_was_renamed_need_a_person_and_the_other_jobs_run() {
    let all = "[[jobs]]\nname = \"all\"\nskill = \".claude/skills/*\"\nsuite = \"suite.toml\"\nruns = 32\napply = \"never\"\nretries = 0\n";
    let jobs = format!(
        "{all}\n[[jobs]]\nname = \"gone\"\nskill = \".claude/skills/writer\"\nsuite = \"other.toml\"\n"
    );
    let nights = nights(&jobs);
    fs::write(nights.scene.path("project/other.toml"), super::suite(12)).unwrap();
    assert_eq!(nights.night("2026-11-02", &[]).code, Some(3), "two winners wait");
    fs::remove_file(nights.scene.path("project/other.toml")).unwrap();
    let ran = nights.night("2026-11-03", &[]);
    assert_eq!((ran.code, works(&nights)), (Some(3), vec!["measured".to_owned()]), "{ran:?}");
    assert!(
        left(&nights).starts_with("cannot run: ") && left(&nights).contains("other.toml"),
        "{}",
        left(&nights)
    );
    fs::rename(nights.scene.skill("writer"), nights.scene.skill("author")).unwrap();
    let page = nights.scene.skill("author").join("SKILL.md");
    fs::write(&page, fs::read_to_string(&page).unwrap().replace("name: writer", "name: author")).unwrap();
    let ran = nights.night("2026-11-04", &[]);
    let morning = nights.morning();
    assert_eq!(morning["done"][0]["job"], "all-author", "{ran:?}");
    assert!(left(&nights).contains("writer"), "{}", left(&nights));
}

#[test]
fn at_the_stop_time_calls_under_way_finish_and_the_run_goes_on_first_of_all_the_next_night() {
    let nights = nights(&format!("until = \"06:30\"\n{WRITER}"));
    let clock = nights.scene.path("clock");
    fs::write(&clock, "2026-11-02T02:30:00Z").unwrap();
    let gate = Gate::before("executor", &nights.scene, climbs());
    let mut command = nights.command("2026-11-02", &[]);
    command.env("SKILLTUNE_NOW", &clock);
    let night = Background::spawn(&nights.scene, command);
    night.until_begun(1);
    fs::write(&clock, "2026-11-02T06:30:00Z").unwrap();
    night.until_said("it is time to stop");
    gate.open();
    let ran = night.wait();
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let morning = nights.morning();
    assert_eq!((&morning["paused"][0]["by"], &morning["stopped_by"]), (&json!("time"), &json!("time")));
    let begun: Vec<String> = nights.scene.calls().into_keys().collect();
    let ran = nights.night("2026-11-03", &[]);
    assert_eq!((ran.code, nights.scene.quality("writer")), (Some(0), 80), "{ran:?}");
    assert_eq!(works(&nights), ["resumed", "measured"]);
    // A measurement has its own epoch and makes the same calls again; no other call is repeated.
    let calls = nights.scene.calls();
    assert!(begun.iter().all(|call| calls[call].0 <= 2), "{calls:?}");
}

#[test]
fn a_night_that_is_killed_while_it_tunes_is_named_by_the_next_one_which_goes_on_and_pays_no_answer_twice() {
    let nights = nights(WRITER);
    let gate = Gate::before("executor", &nights.scene, climbs());
    let night = Background::spawn(&nights.scene, nights.command("2026-11-02", &["--scheduled"]));
    night.until_begun(1);
    let job = Processes::of(&night);
    night.kill();
    gate.open();
    job.see_off();
    assert_eq!(nights.scene.alive(), [0; 0]);
    let status = nights.scene.run(&["night", "status"]);
    assert!(status.code == Some(4) && status.stdout.contains("was killed before it ended"), "{status:?}");
    let ran = nights.night("2026-11-03", &["--scheduled"]);
    assert_eq!((ran.code, nights.scene.quality("writer")), (Some(0), 80), "{ran:?}");
    assert_eq!(works(&nights), ["resumed", "measured"]);
    let morning = nights.morning();
    assert_eq!(morning["headline"], "No. All is well. No scheduled night ran to its end on 2026-11-01.");
    assert_eq!(morning["missed"], json!(["2026-11-01"]));
    assert_eq!(nights.scene.run_folders().len(), 2, "the search and the measurement");
}

#[test]
fn a_page_that_cannot_be_written_keeps_no_command_of_the_night_from_starting() {
    let nights = after_a_win();
    for (script, text) in [("tell.sh", "cat > given.json\n"), ("beat.sh", "cat > beat.json\n")] {
        fs::write(nights.scene.path("project").join(script), text).unwrap();
    }
    let commands =
        "notify = [\"sh\", \"tell.sh\"]\nnotify_always = true\nheartbeat = [\"sh\", \"beat.sh\"]\n";
    nights.write_jobs(&format!("{commands}{WRITER}"));
    let page = nights.scene.path("project/.skilltune/nights/skilltune-night/night.md");
    fs::remove_file(&page).unwrap();
    fs::create_dir(&page).unwrap();
    let ran = nights.night("2026-11-03", &[]);
    assert!(ran.code == Some(2) && ran.stderr.contains("night.md"), "{ran:?}");
    let morning = nights.morning();
    assert_eq!(morning["date"], "2026-11-02", "the other pages are written");
    for (key, file) in [("notified", "given.json"), ("heartbeat", "beat.json")] {
        assert_eq!(morning[key], json!({ "ok": true, "error": null }));
        let given = fs::read(nights.scene.path("project").join(file)).unwrap();
        let given: Value = serde_json::from_slice(&given).unwrap();
        assert_eq!(given["headline"], morning["headline"]);
    }
}

#[test]
fn the_page_of_a_night_that_was_killed_lists_the_jobs_that_it_did_not_begin() {
    let jobs = format!("{WRITER}\n{}", WRITER.replace("writer", "younger"));
    let nights = Nights::new(&[("writer", 20), ("younger", 20)], &climbs(), &jobs);
    let gate = Gate::before("executor", &nights.scene, climbs());
    let night = Background::spawn(&nights.scene, nights.command("2026-11-02", &[]));
    night.until_begun(1);
    let job = Processes::of(&night);
    night.kill();
    gate.open();
    job.see_off();
    let why = "not begun: the night did not get to it; the next night begins it";
    let status = |more: &[&str]| nights.scene.run(&[&["night", "status"][..], more].concat());
    let page = status(&[]).stdout;
    assert!(page.contains("\n- writer: skilltune failed or was killed before it ended;"), "{page}");
    assert!(page.contains(&format!("\n- younger: {why}\n")), "{page}");
    let morning = status(&["--format", "json"]).json();
    assert_eq!(morning["killed"], json!(["writer"]));
    assert_eq!(morning["left"], json!([{ "job": "younger", "why": why }]));
}

/// Our running processes, to wait for.
pub(super) struct Processes(Vec<std::os::fd::OwnedFd>);

impl Processes {
    pub(super) fn of(night: &Background<'_>) -> Self {
        use rustix::process::{PidfdFlags, pidfd_open};
        Self(
            night
                .guardians()
                .into_iter()
                .filter_map(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
                .collect(),
        )
    }

    pub(super) fn see_off(self) {
        use rustix::event::{PollFd, PollFlags, poll};
        for process in self.0 {
            assert!(poll(&mut [PollFd::new(&process, PollFlags::IN)], None).unwrap() > 0);
        }
    }
}

#[test]
fn what_a_night_may_use_is_shared_by_priority_and_what_is_left_over_goes_on_the_next_night() {
    let job = |name: &str, priority: u32| {
        format!(
            "[[jobs]]\nskill = \".claude/skills/{name}\"\nsuite = \"suite.toml\"\nruns = 32\nretries = 0\nsample = 0\napply = \"never\"\npriority = {priority}\n\n"
        )
    };
    let jobs = format!("[night]\nmax_calls = 40\n\n{}{}", job("minor", 1), job("major", 3));
    let nights = Nights::new(&[("minor", 20), ("major", 20)], &json!({ "improve": {} }), &jobs);
    let ran = nights.night("2026-11-02", &[]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let spent = |nights: &Nights| nights.morning()["cost"]["calls"].as_u64().unwrap();
    assert!((30..=40).contains(&spent(&nights)), "{}", spent(&nights));
    let morning = nights.morning();
    let of = |job: &str| -> u64 {
        let done = morning["done"].as_array().unwrap().iter().filter(|one| one["job"] == job);
        done.map(|one| one["cost"]["calls"].as_u64().unwrap()).sum()
    };
    assert_eq!(morning["done"][0]["job"], "major");
    assert!((25..=30).contains(&of("major")) && (5..=15).contains(&of("minor")), "{morning}");
    // The week has its own limit.
    nights.write_jobs(&format!("[week]\nmax_calls = 1\n\n{}", job("minor", 1)));
    let ran = nights.night("2026-11-03", &[]);
    assert_eq!((ran.code, left(&nights).contains("budget")), (Some(5), true), "{ran:?}");
}

#[test]
fn a_file_that_says_something_else_than_jobs_is_refused_with_what_to_do() {
    let nights = nights(WRITER);
    let refused = |text: &str| {
        fs::write(nights.scene.path("project/skilltune-night.toml"), text).unwrap();
        let ran = nights.scene.run(&["trust", "skilltune-night.toml"]);
        assert_eq!(ran.code, Some(2), "{text}: {ran:?}");
        ran.stderr
    };
    for (text, why) in [
        ("unti = \"06:30\"", "unknown field"),
        ("until = \"6h30\"", "is not a time"),
        ("parallel = 0", "`parallel` must be from 1 to 16"),
        ("[[jobs]]\nskill = \"a,b\"", "without commas"),
        ("[[jobs]]\nskill = \"writer\"\napply = \"ask\"", "needs a person"),
        ("[[jobs]]\nskill = \"writer\"\npreset = \"fast\"", "quick, standard, thorough"),
        ("[[jobs]]\nskill = \"writer\"\n[[jobs]]\nskill = \"writer\"", "is defined twice"),
        ("[[jobs]]\nname = \"../x\"\nskill = \"writer\"", "needs a name of letters"),
        ("[night]\nmax_usd = -1.0", "above 0"),
        ("heartbeat = [\"\"]", "`heartbeat` must begin with a program"),
    ] {
        let said = refused(text);
        assert!(said.contains(why), "{text}: {said}");
    }
    let none = nights.scene.run(&["night", "run", "nobody", "--file", "nothing.toml"]);
    assert!(none.code == Some(2) && none.stderr.contains("does not exist"), "{none:?}");
}

#[test]
fn as_many_mornings_stay_as_the_file_says_and_no_run_that_searched_goes() {
    let nights = after_a_win();
    nights.write_jobs(&format!("keep = 2\n{WRITER}"));
    for date in ["2026-11-03", "2026-11-04", "2026-11-05"] {
        assert_eq!(nights.night(date, &[]).code, Some(0));
    }
    let folder = nights.scene.path("project/.skilltune/nights/skilltune-night/mornings");
    let mut pages: Vec<String> =
        fs::read_dir(folder).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    let of = |night: &str| ["html", "json", "md"].map(|kind| format!("{night}-023000.{kind}"));
    assert_eq!(pages, ["20261104", "20261105"].map(of).concat());
    // The search of the first night, and the measurements of the last two.
    assert_eq!(nights.scene.run_folders().len(), 3);
    let undone = nights.scene.run(&["rollback", &searched(&nights)]);
    assert_eq!((undone.code, nights.scene.quality("writer")), (Some(0), 20), "{undone:?}");
}

fn searched(nights: &Nights) -> String {
    let list = nights.scene.run(&["list"]).stdout;
    let line = list.lines().skip(1).find(|line| !line.contains("calibrate")).unwrap();
    line.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_job_is_added_listed_and_run_by_its_name() {
    let nights = nights("");
    fs::remove_file(nights.scene.path("project/skilltune-night.toml")).unwrap();
    let added = nights.scene.run(&[
        "night",
        "add",
        "writer",
        "--suite",
        "suite.toml",
        "--runs",
        "32",
        "--apply",
        "never",
    ]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let text = fs::read_to_string(nights.scene.path("project/skilltune-night.toml")).unwrap();
    assert!(
        text.contains("[[jobs]]\nskill = \".claude/skills/writer\"\nsuite = \"suite.toml\"\nruns = 32\n")
            || text.contains("suite = \"suite.toml\""),
        "{text}"
    );
    let list = nights.scene.run(&["night", "list"]);
    assert_eq!((list.code, list.stdout.as_str()), (Some(0), "writer  tuning writer\n"), "{list:?}");
    let wrong = nights.scene.run(&["night", "run", "writre"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("did you mean \"writer\""), "{wrong:?}");
    let ran = Ran::of(nights.command("2026-11-02", &["run", "writer", "--format", "json"]).output().unwrap());
    assert_eq!(ran.code, Some(3), "a winner waits: {ran:?}");
    let summary: Value = ran.json();
    assert_eq!((&summary["better"][0]["place"], &summary["needs_you"]), (&json!("kept"), &json!(true)));
    let list = nights.scene.run(&["night", "list", "--format", "json"]);
    assert_eq!(list.json()[0]["state"], "measuring writer on 4 scenarios", "{list:?}");
}

#[test]
fn a_folder_of_nights_that_somebody_else_prepared_is_refused_as_input() {
    type Prepare = fn(&Path, &Path);
    let elsewhere = |nights: &Nights| nights.scene.path("outside");
    let hostile: [(&str, Prepare); 6] = [
        ("nights", |place, outside| symlink(outside, place).unwrap()),
        ("nights", |place, _| fs::write(place, "a file").unwrap()),
        ("nights/skilltune-night", |place, outside| symlink(outside, place).unwrap()),
        ("nights/skilltune-night/history.jsonl", |place, outside| symlink(outside, place).unwrap()),
        ("nights/skilltune-night/history.jsonl", |place, _| fifo(place)),
        ("nights/skilltune-night/lock", |place, _| fifo(place)),
    ];
    for (nth, (place, prepare)) in hostile.into_iter().enumerate() {
        let nights = nights(WRITER);
        fs::create_dir(elsewhere(&nights)).unwrap();
        let place = nights.scene.path("project/.skilltune").join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        prepare(&place, &elsewhere(&nights));
        let ran = nights.night("2026-11-02", &[]);
        assert_eq!(ran.code, Some(2), "{nth}: {ran:?}");
        assert!(ran.stderr.contains("delete it if it came with a repository"), "{nth}: {ran:?}");
        assert_eq!(fs::read_dir(elsewhere(&nights)).unwrap().count(), 0, "{nth}");
    }
}

fn fifo(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
}
