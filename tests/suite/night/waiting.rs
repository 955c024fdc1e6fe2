//! Winners that wait: every morning lists them with the first night that found them, until the skill has them or a
//! person has decided against them. `clean` keeps them as long.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Nights, WRITER, after_a_win, climbs};
use crate::finished::{Finished, copy};
use crate::proposing::repository::{BRANCH, Repository};
use crate::proposing::server::{REQUEST, Server};
use crate::scene::{Ran, SKILLTUNE, Scene};

fn job(apply: &str) -> String {
    format!(
        "[[jobs]]\nskill = \".claude/skills/writer\"\nsuite = \"suite.toml\"\nruns = 32\nretries = 0\napply = \"{apply}\"\n"
    )
}

fn nights(apply: &str) -> Nights {
    Nights::new(&[("writer", 20)], &climbs(), &job(apply))
}

/// Returns nights whose first one found a winner and kept it in the store.
fn kept() -> Nights {
    static KEPT: Finished = Finished::new(|| {
        let nights = nights("never");
        let ran = nights.night("2026-11-02", &[]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        nights.scene
    });
    Nights { scene: KEPT.scene() }
}

/// Returns the same nights for a scene that another value owns.
fn in_scene(scene: &Scene) -> Nights {
    Nights { scene: Scene { root: Arc::clone(&scene.root), origin: None } }
}

/// Creates nights in a repository with the skill.
fn versioned(apply: &str) -> (Nights, Repository) {
    let repository = Repository::of(nights(apply).scene);
    repository.commit("Add the skill");
    (in_scene(&repository.scene), repository)
}

fn status(nights: &Nights) -> Ran {
    nights.scene.run(&["night", "status"])
}

/// Fails unless the winner waits; returns the page.
fn assert_waits(nights: &Nights) -> String {
    let ran = status(nights);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("Yes: 1 winner to look at.\n"), "{ran:?}");
    ran.stdout
}

fn assert_nothing_waits(nights: &Nights) {
    let ran = status(nights);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.stdout.contains("winner") && ran.stdout.contains("\nNo. All is well.\n"), "{ran:?}");
}

/// Replaces a part of the skill's page, as a person does.
fn edit(nights: &Nights, from: &str, to: &str) {
    let page = nights.scene.skill("writer").join("SKILL.md");
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(&page, text.replace(from, to)).unwrap();
}

/// Returns the run of the winner.
fn run_of(morning: &Value) -> String {
    morning["waiting"][0]["run_id"].as_str().unwrap().to_owned()
}

const DISMISS: &str = "`skilltune night dismiss writer` if you do not want it.";

#[test]
fn a_winner_on_a_branch_is_listed_each_morning_until_it_is_merged_and_clean_keeps_it_as_long() {
    let (nights, repository) = versioned("branch");
    for (date, is_first) in [("2026-11-02", true), ("2026-11-03", false), ("2026-11-23", false)] {
        let ran = nights.night(date, &[]);
        assert_eq!((ran.code, nights.scene.quality("writer")), (Some(3), 20), "{ran:?}");
        let morning = nights.morning();
        let waiting = &morning["waiting"][0];
        assert_eq!((&waiting["job"], &waiting["since"]), (&json!("writer"), &json!("2026-11-01")));
        assert_eq!((&waiting["place"], &waiting["place_name"]), (&json!("branch"), &json!(BRANCH)));
        assert_eq!(morning["better"].as_array().unwrap().len(), usize::from(is_first));
        assert_eq!(morning["needs_you"], true);
        let had = if is_first { "has a winner" } else { "has had a winner since the night of" };
        let page = nights.page();
        let how = format!("on branch `{BRANCH}`: `git merge {BRANCH}` merges it; {DISMISS}\n");
        assert!(page.contains(&format!("\n- writer {had}")) && page.contains(&how), "{page}");
    }
    let clean = nights.scene.run(&["clean", "--yes"]);
    assert!(clean.stderr.contains(": its winner is not applied to writer (`skilltune clean "), "{clean:?}");
    let page = assert_waits(&nights);
    assert!(page.contains(" since the night of 2026-11-01 (21.1 -> 84.2), on branch "), "{page}");
    // A merge that leaves no trace of the commit, and later edits.
    repository.git(&["merge", "--quiet", "--squash", BRANCH]);
    repository.commit("Improve the skill");
    assert_nothing_waits(&nights);
    edit(&nights, "See references", "Also see references");
    assert_nothing_waits(&nights);
    let clean = nights.scene.run(&["clean", "--yes"]);
    assert_eq!((clean.code, nights.scene.run_folders().len()), (Some(0), 0), "{clean:?}");
}

#[test]
fn a_merged_commit_counts_whatever_became_of_its_lines_later() {
    let (nights, repository) = versioned("branch");
    assert_eq!(nights.night("2026-11-02", &[]).code, Some(3));
    repository.git(&["merge", "--quiet", BRANCH]);
    edit(&nights, "Quality: 80", "Quality: 79");
    repository.commit("My own number");
    assert_nothing_waits(&nights);
}

#[test]
fn a_winner_whose_branch_is_gone_waits_in_the_store() {
    let (nights, repository) = versioned("branch");
    assert_eq!(nights.night("2026-11-02", &[]).code, Some(3));
    let run = run_of(&nights.morning());
    repository.git(&["branch", "--quiet", "-D", BRANCH]);
    let page = assert_waits(&nights);
    let how = format!("kept in the store: `skilltune apply {run}` applies it");
    assert!(page.contains(&how) && page.contains(&format!("Note: branch {BRANCH} was deleted")), "{page}");
    // Made again, it is on its branch.
    assert_eq!(nights.scene.run(&["apply", &run, "--as", "branch"]).code, Some(0));
    assert!(assert_waits(&nights).contains(&format!("`git merge {BRANCH}` merges it")));
    // Without its run, only the branch is left.
    assert_eq!(nights.scene.run(&["clean", &run, "--yes"]).code, Some(0));
    assert!(assert_waits(&nights).contains(&format!("`git merge {BRANCH}` merges it")));
    repository.git(&["branch", "--quiet", "-D", BRANCH]);
    assert_nothing_waits(&nights);
}

#[test]
fn a_winner_that_is_applied_waits_no_more_and_is_not_asked_about_after_a_rollback() {
    let nights = kept();
    let run = run_of(&nights.morning());
    let how = format!("kept in the store: `skilltune apply {run}` applies it; {DISMISS}");
    assert!(assert_waits(&nights).contains(&format!("- writer has a winner, {how}\n")), "{how}");
    assert_eq!(nights.scene.run(&["apply", &run]).code, Some(0));
    assert_nothing_waits(&nights);
    assert_eq!(nights.scene.run(&["rollback", &run]).code, Some(0));
    assert_nothing_waits(&nights);
}

#[test]
fn a_winner_that_a_person_dismissed_is_forgotten_and_clean_may_delete_it() {
    let nights = kept();
    let unknown = nights.scene.run(&["night", "dismiss", "writre"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("no night has run a job"), "{unknown:?}");
    let other = nights.scene.run(&["night", "dismiss", "writer", "--run", "zzzz"]);
    assert!(other.code == Some(2) && other.stderr.contains("these runs of writer have one: "), "{other:?}");
    assert_waits(&nights);
    let kept = nights.scene.run(&["clean", "--yes"]);
    assert!(kept.stderr.contains("its winner is not applied to writer"), "{kept:?}");
    let run = run_of(&nights.morning());
    let dismissed = nights.scene.run(&["night", "dismiss", "writer", "--run", &run[..6]]);
    assert!(dismissed.code == Some(0) && dismissed.stderr.contains(" is dismissed; "), "{dismissed:?}");
    assert_nothing_waits(&nights);
    assert_eq!(nights.night("2026-11-03", &[]).code, Some(0));
    assert_eq!(nights.morning()["waiting"], json!([]));
    let again = nights.scene.run(&["night", "dismiss", "writer"]);
    assert!(again.code == Some(0) && again.stderr.contains("no winner and no open verdict"), "{again:?}");
    let cleaned = nights.scene.run(&["clean", "--yes"]);
    assert_eq!((cleaned.code, nights.scene.run_folders().len()), (Some(0), 0), "{cleaned:?}");
}

#[test]
fn a_winner_waits_beside_edits_of_other_lines_and_is_outdated_by_those_of_its_own() {
    let nights = kept();
    edit(&nights, "See references", "Also see references");
    assert_waits(&nights);
    edit(&nights, "Quality: 20", "Quality: 25");
    assert_nothing_waits(&nights);
    let clean = nights.scene.run(&["clean", "--yes"]);
    assert!(clean.stderr.contains("its winner is not applied to writer"), "the only copy: {clean:?}");
    // The edit was an experiment.
    edit(&nights, "Quality: 25", "Quality: 20");
    assert_waits(&nights);
}

#[test]
fn of_two_winners_the_later_one_that_contains_the_other_waits_alone() {
    let improver = json!({ "improve": { "writer": { "20": 80 } } });
    let nights = Nights::new(&[("writer", 20)], &improver, &job("never"));
    assert_eq!(nights.night("2026-11-02", &[]).code, Some(3));
    // With another suite the skill is tuned again, and the same edit wins.
    fs::write(nights.scene.path("project/suite.toml"), super::suite(13)).unwrap();
    let ran = nights.night("2026-11-03", &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let morning = nights.morning();
    let waiting = morning["waiting"].as_array().unwrap();
    assert_eq!((waiting.len(), &waiting[0]["since"]), (1, &json!("2026-11-01")), "{morning}");
    assert_eq!(morning["better"], json!([]), "it is no news");
    // A person who does not want it is not asked again.
    assert_eq!(nights.scene.run(&["night", "dismiss", "writer"]).code, Some(0));
    fs::write(nights.scene.path("project/suite.toml"), super::suite(14)).unwrap();
    let ran = nights.night("2026-11-04", &[]);
    assert_eq!((ran.code, &nights.morning()["waiting"]), (Some(0), &json!([])), "{ran:?}");
}

#[test]
fn a_run_of_somebody_else_is_listed_and_the_folder_that_it_names_is_not_looked_at() {
    let theirs = kept();
    let ours = nights("never");
    copy(&theirs.scene.path("project/.skilltune"), &ours.scene.path("project"));
    assert_waits(&ours);
    // Their skill has the winner now.
    assert_eq!(theirs.scene.run(&["apply", &run_of(&theirs.morning())]).code, Some(0));
    assert_nothing_waits(&theirs);
    assert_waits(&ours);
    // A forged place in the journal of nights neither acts nor hides.
    let journal = ours.scene.path("project/.skilltune/nights/skilltune-night/history.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let forged = text.replace("\"place\":\"kept\"", "\"place\":{\"branch\":\"$(touch x)\\u001b[31m`\"}");
    assert_ne!(forged, text);
    fs::write(&journal, forged).unwrap();
    let page = assert_waits(&ours);
    assert!(!page.contains('\u{1b}') && page.contains("git merge '$(touch x)␛[31m`'"), "{page}");
    let dismissed = ours.scene.run(&["night", "dismiss", "writer"]);
    assert!(dismissed.code == Some(0) && !dismissed.stderr.contains('\u{1b}'), "{dismissed:?}");
    assert_nothing_waits(&ours);
}

#[test]
fn an_untrusted_file_of_jobs_has_no_status() {
    let nights = kept();
    fs::write(nights.scene.path("project/skilltune-night.toml"), job("auto")).unwrap();
    let ran = status(&nights);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains("is not trusted, or changed since"), "{ran:?}");
    assert!(ran.stderr.contains("hint: until then every night refuses to start"), "{ran:?}");
}

#[test]
fn a_scheduled_night_that_refused_an_untrusted_file_is_said_by_status_and_by_the_next_one() {
    let nights = after_a_win();
    let edited = format!("keep = 30\n{WRITER}");
    fs::write(nights.scene.path("project/skilltune-night.toml"), &edited).unwrap();
    assert_eq!(nights.night("2026-11-03", &["--scheduled"]).code, Some(2));
    assert_eq!(nights.night("2026-11-04", &[]).code, Some(2));
    nights.write_jobs(&edited);
    let ran = status(&nights);
    let when = "A night failed at 2026-11-03 02:30:00 UTC: ";
    assert!(ran.code == Some(4) && ran.stdout.starts_with(when), "a person saw the later one: {ran:?}");
    assert!(ran.stdout.contains("skilltune-night.toml is not trusted, or changed since: "), "{ran:?}");
    assert_eq!(nights.night("2026-11-05", &["--scheduled"]).code, Some(0));
    let (page, morning) = (nights.page(), nights.morning());
    assert!(page.contains(&format!("\n- {when}")), "{page}");
    assert!(
        morning["headline"].as_str().unwrap().starts_with(&format!("No. All is well. {when}")),
        "{morning}"
    );
}

/// Creates nights in a repository with a remote and a `gh`, whose winner is to become a pull request.
fn served() -> (Nights, Server) {
    let repository = Repository::of(nights("pr").scene);
    repository.commit("Add the skill");
    let server = Server::of(repository);
    (in_scene(&server.repository.scene), server)
}

fn served_night(server: &Server, date: &str) -> Ran {
    at(server.command(&["night"]), date)
}

fn at(mut command: Command, date: &str) -> Ran {
    command.env("SKILLTUNE_NOW", format!("{date}T02:30:00Z")).env("TZ", "UTC");
    Ran::of(command.output().unwrap())
}

#[test]
fn a_pull_request_waits_until_it_is_closed() {
    let (nights, server) = served();
    let ran = served_night(&server, "2026-11-02");
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let waiting = nights.morning()["waiting"][0].clone();
    assert_eq!((&waiting["place"], &waiting["place_name"]), (&json!("pull_request"), &json!(REQUEST)));
    assert_eq!(waiting["notes"], json!([]));
    let ran = served_night(&server, "2026-11-03");
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(nights.page().contains(&format!(" a pull request: {REQUEST}; ")), "{}", nights.page());
    for state in ["CLOSED", "MERGED"] {
        let mut all: Value = serde_json::from_slice(&fs::read(server.file("all.json")).unwrap()).unwrap();
        all[0]["state"] = json!(state);
        server.list("all", &all);
        let ran = Ran::of(server.command(&["night", "status"]).output().unwrap());
        assert_eq!(ran.code, Some(0), "{state}: {ran:?}");
    }
}

#[test]
fn why_a_winner_is_no_pull_request_stands_in_the_morning() {
    let (nights, server) = served();
    server.go_on("other.txt");
    let ran = served_night(&server, "2026-11-02");
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let why =
        "this is a branch, not a pull request: HEAD has commits that origin does not have; push them first";
    assert_eq!(nights.morning()["waiting"][0]["notes"], json!([why]));
    assert!(nights.page().contains(&format!("{DISMISS} Note: {why}.\n")), "{}", nights.page());

    let (nights, server) = served();
    let ran = at(server.command_without_gh(&["night"]), "2026-11-02");
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let why = "no pull request was made: `gh` is not installed";
    assert!(nights.page().contains(why), "{}", nights.page());

    // HEAD has other lines than the skill had at the start.
    let (nights, repository) = versioned("branch");
    edit(&nights, "Quality: 20", "Quality: 22");
    repository.commit("Another number");
    edit(&nights, "Quality: 22", "Quality: 20");
    let ran = nights.night("2026-11-02", &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let waiting = nights.morning()["waiting"][0].clone();
    assert_eq!(waiting["place"], "kept");
    let why = "no commit could be made: HEAD and the run changed the same lines or files: SKILL.md";
    assert!(waiting["notes"][0].as_str().unwrap().starts_with(why), "{waiting}");
    assert!(nights.page().contains(&format!(" Note: {why}")), "{}", nights.page());
}

#[test]
fn a_night_that_found_the_disk_full_is_said_by_status_until_another_one_runs() {
    let nights = after_a_win();
    let status = |more: &[&str]| nights.scene.run(&[&["night", "status"][..], more].concat());
    assert_eq!(status(&["--format", "json"]).json()["failed_start"], Value::Null);
    // No file may grow, as on a full disk.
    let limited = ["-c", "ulimit -f 1; exec \"$0\" \"$@\"", SKILLTUNE];
    let ran = at(nights.scene.command_of("/bin/sh", &limited, &["night"]), "2026-11-03");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let ran = status(&["--format", "json"]);
    let failed = ran.json()["failed_start"].clone();
    assert_eq!((ran.code, &failed["at"]), (Some(4), &json!("2026-11-03T02:30:00Z")), "{ran:?}");
    assert!(failed["why"].as_str().unwrap().contains("cannot write"), "{failed}");
    let headline = ran.json()["headline"].as_str().unwrap().to_owned();
    assert!(headline.ends_with(". The last night: No. All is well."), "{headline}");
    let ran = status(&[]);
    assert!(ran.stdout.starts_with("A night failed at 2026-11-03 02:30:00 UTC: cannot write"), "{ran:?}");
    assert!(
        ran.stdout.contains(". This is the page of the last night.\n\n# Night of 2026-11-01\n"),
        "{ran:?}"
    );
    assert_eq!(nights.night("2026-11-04", &[]).code, Some(0));
    let ran = status(&["--format", "json"]);
    assert_eq!((ran.code, &ran.json()["failed_start"]), (Some(0), &Value::Null), "{ran:?}");
}

#[test]
fn a_scheduled_night_that_did_not_run_is_said_by_the_next_one_with_its_cause() {
    let nights = after_a_win();
    assert_eq!(nights.night("2026-11-03", &["--scheduled"]).code, Some(0));
    let limited = ["-c", "ulimit -f 1; exec \"$0\" \"$@\"", SKILLTUNE];
    let ran = at(nights.scene.command_of("/bin/sh", &limited, &["night", "--scheduled"]), "2026-11-04");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let ran = nights.night("2026-11-05", &["--scheduled"]);
    let (morning, page) = (nights.morning(), nights.page());
    assert_eq!((ran.code, &morning["missed"]), (Some(0), &json!(["2026-11-03"])), "{ran:?}");
    assert_eq!(morning["headline"], "No. All is well. No scheduled night ran to its end on 2026-11-03.");
    let why = "\n- No scheduled night ran to its end on 2026-11-03; \
               a night failed at 2026-11-04 02:30:00 UTC: cannot write";
    assert!(page.contains(why), "{page}");
}
