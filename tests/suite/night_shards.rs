//! Parts of a night: changed jobs, and shards that are merged again.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::night::{Nights, suite};
use crate::scene::Ran;
use crate::tier::Tier;

/// Writes one job per skill, each with its own suite.
fn jobs(skills: &[String]) -> String {
    let one = |skill: &String| {
        format!(
            "[[jobs]]\nskill = \".claude/skills/{skill}\"\nsuite = \"suites/{skill}.toml\"\nruns = 16\napply = \"auto\"\n"
        )
    };
    skills.iter().map(one).collect()
}

/// Creates this number of skills, each with room for improvement.
fn nights(count: u32) -> (Nights, Vec<String>) {
    let skills: Vec<String> = (1..=count).map(|nth| format!("skill-{nth:02}")).collect();
    let written: Vec<(&str, u32)> = skills.iter().map(|skill| (skill.as_str(), 20)).collect();
    let better: serde_json::Map<String, Value> =
        skills.iter().map(|skill| (skill.clone(), json!({ "20": 60, "60": 80 }))).collect();
    let nights = Nights::new(&written, &json!({ "improve": better }), &jobs(&skills));
    fs::create_dir_all(nights.scene.path("project/suites/data")).unwrap();
    for skill in &skills {
        fs::write(nights.scene.path(&format!("project/suites/{skill}.toml")), suite(12)).unwrap();
    }
    (nights, skills)
}

fn git(nights: &Nights, arguments: &[&str]) {
    let ran = Command::new("git")
        .args(["-c", "user.name=A Person", "-c", "user.email=person@example.org"])
        .args(arguments)
        .current_dir(nights.scene.path("project"))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", nights.scene.path("home"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Returns the names of the jobs in a list of the morning.
fn names(list: &Value) -> BTreeSet<&str> {
    list.as_array().unwrap().iter().map(|one| one["job"].as_str().unwrap()).collect()
}

#[test]
fn a_night_since_a_revision_takes_only_the_jobs_whose_skill_or_suite_changed() {
    let (nights, skills) = nights(20);
    let project = |path: &str| nights.scene.path(&format!("project/{path}"));
    fs::write(project("suites/data/notes.txt"), "notes\n").unwrap();
    let brings = suite(12).replace("description", "files = [\"data/notes.txt\"]\ndescription");
    fs::write(project("suites/skill-07.toml"), brings).unwrap();
    fs::write(project(".gitignore"), ".skilltune/\n*.log\n").unwrap();
    let ran = nights.night("2026-11-01", &["--changed-since", "HEAD"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("is not in a git repository"), "{ran:?}");
    fs::remove_dir_all(project(".git")).unwrap();
    git(&nights, &["init", "--quiet"]);
    git(&nights, &["add", "--all"]);
    git(&nights, &["commit", "--quiet", "--message", "skills"]);
    for revision in ["nowhere", "--output=x", "HEAD..HEAD", ""] {
        let ran = nights.night("2026-11-01", &[&format!("--changed-since={revision}")]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("has no revision") && ran.stderr.contains("hint:"), "{ran:?}");
    }
    assert!(!project("x").exists());
    // One was edited and committed, one has an untracked file, and the suite of one brings another file.
    fs::write(nights.scene.skill("skill-03").join("references/style.md"), "Be short.\n").unwrap();
    git(&nights, &["commit", "--quiet", "--all", "--message", "style"]);
    fs::write(nights.scene.skill("skill-05").join("references/new.md"), "New.\n").unwrap();
    fs::write(project("suites/data/notes.txt"), "other notes\n").unwrap();
    // Files that git ignores are not part of a skill.
    fs::write(nights.scene.skill("skill-09").join("run.log"), "x").unwrap();
    let ran = nights.night("2026-11-02", &["--changed-since", "HEAD~1"]);
    assert_eq!(ran.code, Some(0), "what is unchanged needs nobody and is not put off: {ran:?}");
    let morning = nights.morning();
    assert_eq!(names(&morning["done"]), BTreeSet::from(["skill-03", "skill-05", "skill-07"]));
    let all: BTreeSet<&str> = skills.iter().map(String::as_str).collect();
    assert_eq!(&names(&morning["left"]) | &names(&morning["done"]), all);
    assert_eq!(morning["left"][0]["why"], "not begun: unchanged");
    let page = nights.page();
    assert!(
        page.contains(
            "\n- Unchanged, so not begun: skill-01, skill-02, skill-04, skill-06, skill-08 and 12 more\n"
        ),
        "{page}"
    );
}

/// Removes what differs between machines: times, ids of runs, and the agents' durations.
fn plain(mut morning: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(object) => {
                for key in ["night", "began", "ended", "seconds", "run_id"] {
                    object.remove(key);
                }
                object.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut morning);
    morning
}

fn state(nights: &Nights) -> PathBuf {
    nights.scene.path("project/.skilltune/nights/skilltune-night")
}

/// Runs a night of this shard on its own machine.
fn sharded(count: u32, shard: &str) -> Nights {
    let (nights, _) = nights(count);
    let ran = nights.night("2026-11-02", &["--shard", shard]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(nights.morning()["shard"], shard);
    assert!(nights.page().starts_with(&format!("# Night of 2026-11-01, shard {shard}\n")));
    nights
}

fn merge(nights: &Nights, folders: &[PathBuf]) -> Ran {
    let folders = folders.iter().map(|folder| folder.to_str().unwrap());
    let words: Vec<&str> = std::iter::once("merge").chain(folders).collect();
    nights.night("2026-11-02", &words)
}

#[test]
fn merged_shards_are_one_night_of_all_jobs_in_whatever_order_they_come_and_however_often() {
    let parts = if Tier::of_this_run() == Tier::First { 4 } else { 8 };
    let (whole, _) = nights(parts);
    assert_eq!(whole.night("2026-11-02", &[]).code, Some(0));
    let shards: Vec<Nights> =
        (1..=parts).map(|number| sharded(parts, &format!("{number}/{parts}"))).collect();
    let mut folders: Vec<PathBuf> = shards.iter().map(state).collect();
    let (merged, _) = nights(parts);
    folders.reverse();
    folders.swap(1, 3);
    let ran = merge(&merged, &folders);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(plain(merged.morning()), plain(whole.morning()));
    let number = |list: &str| merged.morning()[list].as_array().unwrap().len();
    let jobs = usize::try_from(parts).unwrap();
    assert_eq!((number("done"), number("better")), (2 * jobs, jobs), "each job is tuned and sampled");
    let journal = fs::read(state(&merged).join("history.jsonl")).unwrap();
    let (other, _) = nights(parts);
    folders.sort();
    assert_eq!(merge(&other, &folders).code, Some(0));
    assert!(
        fs::read(state(&other).join("history.jsonl")).unwrap() == journal,
        "the order of folders does not count"
    );
    for again in [&folders[..], &folders[3..4]] {
        let ran = merge(&merged, again);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("nothing changed"), "{ran:?}");
        assert!(fs::read(state(&merged).join("history.jsonl")).unwrap() == journal);
    }
}

#[test]
fn a_shard_that_is_missing_or_was_killed_is_named_and_joins_the_night_when_it_comes() {
    let shards: Vec<Nights> = (1..=3).map(|number| sharded(3, &format!("{number}/3"))).collect();
    // The second was killed before it ended: its journal ends with the request.
    let killed = shards[1].scene.path("killed");
    let journal = fs::read_to_string(state(&shards[1]).join("history.jsonl")).unwrap();
    let asked = journal.lines().position(|line| line.contains("\"asked\"")).unwrap();
    let begun: String = journal.split_inclusive('\n').take(asked + 1).collect();
    fs::create_dir(&killed).unwrap();
    fs::write(killed.join("history.jsonl"), begun).unwrap();
    let (merged, _) = nights(3);
    let ran = merge(&merged, &[state(&shards[0]), killed]);
    assert_eq!(ran.code, Some(4), "what could not run is tried again: {ran:?}");
    assert!(ran.stderr.contains("shard 2/3 was killed before it ended\nshard 3/3 is missing\n"), "{ran:?}");
    let morning = merged.morning();
    assert_eq!((&morning["missing_shards"], &morning["killed_shards"]), (&json!(["3/3"]), &json!(["2/3"])));
    assert_eq!(morning["killed"], json!(["skill-02"]));
    assert!(merged.page().contains("Shard 3/3: its results are missing"), "{}", merged.page());
    let ran = merge(&merged, &[state(&shards[2]), state(&shards[1])]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let morning = merged.morning();
    assert_eq!((&morning["missing_shards"], &morning["killed_shards"]), (&json!([]), &json!([])));
    assert_eq!(names(&morning["done"]), BTreeSet::from(["skill-01", "skill-02", "skill-03"]));
}

#[test]
fn what_is_no_shard_of_this_file_is_skipped_and_a_link_is_not_followed() {
    let (merged, _) = nights(3);
    let of_others = sharded(4, "1/3");
    let good = sharded(3, "1/3");
    let journal = fs::read_to_string(state(&good).join("history.jsonl")).unwrap();
    let place = |name: &str| {
        let folder = merged.scene.path(name);
        fs::create_dir(&folder).unwrap();
        folder
    };
    let (empty, linked, odd) = (place("empty"), place("linked"), place("odd"));
    std::os::unix::fs::symlink(state(&good).join("history.jsonl"), linked.join("history.jsonl")).unwrap();
    // Its journal reports a job of another shard.
    let foreign = journal.replace("\"job\":\"skill-01\"", "\"job\":\"skill-02\"");
    fs::write(odd.join("history.jsonl"), foreign).unwrap();
    for folder in [&empty, &linked, &odd, &state(&of_others), &merged.scene.path("nowhere")] {
        let ran = merge(&merged, std::slice::from_ref(folder));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("skipped "), "{ran:?}");
    }
    assert!(!state(&merged).join("history.jsonl").exists());
    // Absurdly large figures, and a shard of billions.
    let huge = journal.replacen("\"calls\":", "\"calls\":1844674407370955161,\"ignored\":", 1);
    for (nth, text) in
        [huge, journal.replace("1/3", "1/4000000000"), "{}\n".to_owned(), "x".repeat(1000) + "\n"]
            .into_iter()
            .enumerate()
    {
        let folder = place(&format!("hostile-{nth}"));
        fs::write(folder.join("history.jsonl"), text).unwrap();
        let ran = merge(&merged, &[folder]);
        assert!(!ran.stderr.contains("panicked") && ran.code.is_some_and(|code| code <= 5), "{ran:?}");
    }
    let ran = merge(&merged, &[empty, state(&good)]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
}

#[test]
fn a_winner_of_a_shard_waits_in_merged_mornings_with_the_shard_that_has_it() {
    let with_two = || {
        let (nights, skills) = nights(2);
        nights.write_jobs(&jobs(&skills).replace("\"auto\"", "\"never\""));
        nights
    };
    let shard = with_two();
    assert_eq!(shard.night("2026-11-02", &["--shard", "1/2"]).code, Some(3));
    let first = with_two();
    let ran = merge(&first, &[state(&shard)]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(first.morning()["better"][0]["shard"], "1/2");
    let how = "kept in the store on the machine of shard 1/2: `skilltune apply ";
    let page = first.page();
    assert!(page.contains(", kept for you on shard 1/2. ") && page.contains(how), "{page}");

    assert_eq!(shard.night("2026-11-03", &["--shard", "1/2"]).code, Some(3));
    // This machine knows no earlier night, as in a fresh checkout.
    let fresh = with_two();
    assert_eq!(merge(&fresh, &[state(&shard)]).code, Some(3));
    let morning = fresh.morning();
    let waiting = &morning["waiting"][0];
    assert_eq!((&waiting["job"], &waiting["since"]), (&json!("skill-01"), &json!("2026-11-01")));
    assert_eq!((&waiting["shard"], &morning["better"]), (&json!("1/2"), &json!([])));
    let page = fresh.page();
    assert!(page.contains("skill-01 has had a winner since the night of 2026-11-01"), "{page}");
    assert!(page.contains(how), "{page}");

    // A dismissal on the machine that merges holds there.
    let dismissed = fresh.scene.run(&["night", "dismiss", "skill-01"]);
    assert_eq!(dismissed.code, Some(0), "{dismissed:?}");
    assert_eq!(shard.night("2026-11-04", &["--shard", "1/2"]).code, Some(3));
    merge(&fresh, &[state(&shard)]);
    assert_eq!(fresh.morning()["waiting"], json!([]));
    assert_eq!(merge(&first, &[state(&shard)]).code, Some(3), "nobody dismissed it here");

    // Dismissed where the run is, it waits nowhere.
    assert_eq!(shard.scene.run(&["night", "dismiss", "skill-01"]).code, Some(0));
    shard.night("2026-11-05", &["--shard", "1/2"]);
    merge(&first, &[state(&shard)]);
    assert_eq!(first.morning()["waiting"], json!([]));
}
