//! `gan --apply branch|patch|pr`: commits a result that passed or that the user accepted, and keeps the user's folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{ALL, BUILD, WORKS, assert_replayed, build, building, folder, page, version};
use crate::proposing::repository::Repository;
use crate::proposing::server::{REQUEST, Server};
use crate::scene::{Ran, listing};

const BRANCH: &str = "skilltune/site";

/// Creates a repository with a brief, and agents whose builds meet these criteria.
fn repository(builds: &[&[&str]]) -> Repository {
    let repository = Repository::of(building(builds));
    repository.commit("Begin");
    repository
}

/// Creates a repository with a brief and a site.
fn with_site() -> Repository {
    let repository = Repository::of(building(&[&ALL]));
    fs::create_dir_all(repository.path("site/css")).unwrap();
    fs::write(repository.path("site/index.html"), "<p>old</p>\n").unwrap();
    fs::write(repository.path("site/css/page.css"), "p { color: red }\n").unwrap();
    repository.commit("Begin");
    repository
}

fn propose(repository: &Repository, form: &str) -> Ran {
    build(&repository.scene, &["--yes", "--apply", form])
}

/// Builds into this folder, and proposes the result on a branch.
fn propose_into(repository: &Repository, into: &str) -> Ran {
    let line: Vec<&str> = BUILD.iter().map(|word| if *word == "site" { into } else { word }).collect();
    repository.scene.run(&[&line[..], &["--yes", "--apply", "branch"]].concat())
}

fn has(repository: &Repository, branch: &str) -> bool {
    repository.output(&["rev-parse", "--verify", "--quiet", branch]).status.success()
}

fn changed(repository: &Repository, branch: &str) -> String {
    repository.git(&["diff", "--name-only", "HEAD", branch])
}

/// Lists the files without modes: git stores only one of them.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let all = listing(folder).into_iter().filter(|(path, ..)| folder.join(path).is_file());
    all.map(|(path, _, bytes)| (path, bytes)).collect()
}

#[test]
fn what_passed_is_a_commit_on_a_branch_and_a_folder_that_is_not_there_is_not_made() {
    let repository = repository(&[&[WORKS], &ALL]);
    let before = repository.users_of("site");
    let ran = propose(&repository, "branch");
    let summary = ran.json();
    assert_eq!(
        (ran.code, &summary["outcome"], &summary["promoted"]),
        (Some(0), &json!("passed"), &json!(false))
    );
    assert_eq!(summary["proposal"]["branch"], json!(BRANCH));
    assert_eq!(summary["proposal"]["commit"], json!(repository.git(&["rev-parse", BRANCH]).trim()));
    assert_eq!((repository.users_of("site"), page(&repository.scene)), (before, None));
    assert_eq!(changed(&repository, BRANCH), "site/index.html\n");
    assert_eq!(
        repository.git(&["show", &format!("{BRANCH}:site/index.html")]).into_bytes(),
        fs::read(folder(&repository.scene).join("iterations/iteration-2/artifact/index.html")).unwrap()
    );
    assert_replayed(&repository.scene, &ran);
    let message = repository.git(&["log", "-1", "--format=%an <%ae>%n%B", BRANCH]);
    let tree = repository.git(&["rev-parse", &format!("{BRANCH}^{{tree}}")]);
    insta::assert_snapshot!(repository.scene.normalized(&message.replace(tree.trim(), "TREE")), @r"
    A Person <person@localhost>
    Build: A page about the pump

    It passed.
    Score: 100; 75 to pass.

    Skilltune-Run: RUN
    Skilltune-Candidate: HASH
    Skilltune-Verdict: passed
    Skilltune-Target: site
    Skilltune-Tree: TREE
    ");
}

#[test]
fn people_and_scripts_are_told_of_the_commit_and_how_to_take_it() {
    let repository = repository(&[&ALL]);
    let line: Vec<&str> = BUILD.iter().filter(|word| !["--format", "json"].contains(word)).copied().collect();
    let ran = repository.scene.run(&[&line[..], &["--yes", "--apply", "branch"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let (status, history) = (repository.scene.run(&["status"]), repository.scene.run(&["history"]));
    let report = fs::read_to_string(folder(&repository.scene).join("final-report.md")).unwrap();
    let merge = format!("git merge {BRANCH}");
    for text in [&ran.stdout, &status.stdout, &report] {
        assert!(text.contains(&merge), "{text}");
    }
    assert!(ran.stdout.contains(&format!("to discard it: git branch -D {BRANCH}")), "{}", ran.stdout);
    assert!(history.stdout.contains(&format!("made a commit on branch {BRANCH}")), "{}", history.stdout);
    let data: Value =
        serde_json::from_slice(&fs::read(folder(&repository.scene).join("report.json")).unwrap()).unwrap();
    assert_eq!(data["proposal"]["branch"], json!(BRANCH));
    let next = repository.scene.run(&["status", "--format", "json"]).json()["next"].clone();
    assert_eq!(next[0], json!(merge));
}

#[test]
fn a_patch_that_git_am_takes_gives_the_artifact_and_other_files_stay() {
    let repository = with_site();
    let before = repository.users_of("site");
    let ran = propose(&repository, "patch");
    let patch = repository.patch().expect("the run has it");
    let name = patch.file_name().unwrap().to_str().unwrap();
    assert_eq!((ran.code, &ran.json()["proposal"]["patch"]), (Some(0), &json!(name)), "{ran:?}");
    assert!(!has(&repository, BRANCH));
    assert_eq!(repository.users_of("site"), before);
    repository.git(&["am", "--quiet", patch.to_str().unwrap()]);
    let artifact = folder(&repository.scene).join("iterations/iteration-1/artifact");
    assert_eq!(files(&repository.path("site")), files(&artifact));
    assert_eq!(repository.git(&["diff", "--name-only", "HEAD^", "HEAD"]), "site/index.html\n");
    assert!(repository.path("site/css/page.css").exists() && repository.path("brief.md").exists());
}

#[test]
fn the_folder_may_be_the_root_of_the_repository_or_far_below_it() {
    for (into, branch, changes) in [
        (".", "skilltune/project", "index.html\n"),
        ("far/below", "skilltune/below", "far/below/index.html\n"),
    ] {
        let repository = repository(&[&ALL]);
        let before = repository.users_of("far");
        let ran = propose_into(&repository, into);
        assert_eq!((ran.code, &ran.json()["proposal"]["branch"]), (Some(0), &json!(branch)), "{ran:?}");
        assert_eq!(changed(&repository, branch), changes);
        assert_eq!(repository.users_of("far"), before);
        assert!(!repository.path("index.html").exists());
    }
}

#[test]
fn a_folder_with_a_repository_of_its_own_gets_the_commit_there() {
    let repository = repository(&[&ALL]);
    fs::create_dir(repository.path("site")).unwrap();
    let inner = |line: &[&str]| repository.git(&[&["-C", "site"], line].concat());
    inner(&["init", "--quiet", "--initial-branch=main"]);
    inner(&["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
    let before = (repository.users_of("site/.git/hooks"), inner(&["status", "--porcelain"]));
    let ran = propose(&repository, "branch");
    assert_eq!((ran.code, &ran.json()["proposal"]["branch"]), (Some(0), &json!(BRANCH)), "{ran:?}");
    assert_eq!(inner(&["diff", "--name-only", "HEAD", BRANCH]), "index.html\n");
    assert!(!has(&repository, BRANCH));
    assert_eq!((repository.users_of("site/.git/hooks"), inner(&["status", "--porcelain"])), before);
}

#[test]
fn what_a_person_has_not_committed_stays_theirs_before_and_during_the_run() {
    let repository = with_site();
    fs::write(repository.path("site/css/page.css"), "p { color: blue }\n").unwrap();
    fs::write(repository.path("site/mine.txt"), "mine\n").unwrap();
    repository.git(&["add", "site/mine.txt"]);
    let ran = build(&repository.scene, &["--yes", "--apply", "branch", "--max-calls", "1"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    fs::write(repository.path("site/index.html"), "<p>mine</p>\n").unwrap();
    let before = repository.users_of("site");
    let ran = repository.scene.run(&["resume", "--yes", "--max-calls", "9", "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["proposal"]["branch"]), (Some(0), &json!(BRANCH)), "{ran:?}");
    assert_eq!(repository.users_of("site"), before);
    assert_eq!(changed(&repository, BRANCH), "site/index.html\n");
}

#[test]
fn only_what_passed_or_what_a_person_took_is_proposed() {
    let repository = repository(&[&[WORKS]]);
    let ran = build(&repository.scene, &["--max-rounds", "1", "--apply", "branch"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(3), &json!("held")), "{ran:?}");
    let answer = |name: &str| repository.scene.run(&["resume", "--answer", name, "--format", "json"]);
    let ran = answer("force");
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(3), &json!("forced")), "{ran:?}");
    let message = repository.git(&["log", "-1", "--format=%B", BRANCH]);
    assert!(message.contains("It did not pass; a person marked it as passed."), "{message}");
    assert!(message.contains("\nSkilltune-Verdict: forced\n"), "{message}");

    let repository = self::repository(&[&[WORKS]]);
    let ran = build(&repository.scene, &["--yes", "--max-rounds", "1", "--apply", "branch"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(3), &json!("short")), "{ran:?}");
    assert_eq!((&ran.json()["proposal"], has(&repository, BRANCH)), (&Value::Null, false));
}

#[test]
fn a_result_that_is_never_to_be_applied_stays_in_the_runs_folder() {
    let scene = building(&[&ALL]);
    let ran = build(&scene, &["--yes", "--apply", "never"]);
    assert_eq!(
        (ran.code, &ran.json()["promoted"], version(&scene)),
        (Some(0), &json!(false), None),
        "{ran:?}"
    );
    let result = ran.json()["result"].as_str().unwrap().to_owned();
    assert!(result.starts_with(folder(&scene).to_str().unwrap()), "{result}");
}

#[test]
fn where_no_commit_can_be_made_that_is_said_before_anything_is_paid_for() {
    let refused = |prepare: &dyn Fn(&Repository), line: &[&str], why: &str| {
        let repository = Repository::of(building(&[&ALL]));
        prepare(&repository);
        let message = repository.scene.refusal(&[&["gan", "brief.md", "--yes", "--apply"], line].concat());
        assert!(message.contains(why) && message.contains("hint: "), "{line:?}: {message}");
        assert!(!repository.scene.path("calls.log").exists(), "nobody was called");
    };
    let begin = |repository: &Repository| repository.commit("Begin");
    refused(&begin, &["branch"], "pass --into DIR");
    let none = |repository: &Repository| fs::remove_dir_all(repository.path(".git")).unwrap();
    refused(&none, &["branch", "--into", "new/site"], "/new/site is not in a git repository");
    refused(&none, &["patch", "--into", "."], "pass --apply auto to put the result into the folder itself");
    refused(&|_| (), &["branch", "--into", "site"], "the repository has no commit yet");
    let nobody = |repository: &Repository| {
        begin(repository);
        repository.write_home("");
    };
    refused(&nobody, &["branch", "--into", "site"], "git does not know your name and email address");
    let uncommitted = |repository: &Repository| {
        begin(repository);
        fs::create_dir(repository.path("site")).unwrap();
        fs::write(repository.path("site/mine.txt"), "mine\n").unwrap();
    };
    refused(&uncommitted, &["branch", "--into", "site"], "HEAD does not have site");
    let covered = |repository: &Repository| {
        fs::write(repository.path("site"), "a file\n").unwrap();
        begin(repository);
        fs::remove_file(repository.path("site")).unwrap();
    };
    refused(&covered, &["branch", "--into", "site"], "HEAD has site, which is not a folder");
    refused(&covered, &["patch", "--into", "site/far/below"], "HEAD has site, which is not a folder");
}

#[test]
fn what_can_no_longer_be_proposed_stays_in_the_runs_folder_and_the_report_says_why() {
    let repository = with_site();
    let ran = build(&repository.scene, &["--yes", "--apply", "branch", "--max-calls", "1"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    fs::write(repository.path("site/index.html"), "<p>mine</p>\n").unwrap();
    repository.commit("Mine");
    let ran = repository.scene.run(&["resume", "--yes", "--max-calls", "9", "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("passed")), "{ran:?}");
    assert_eq!((&ran.json()["proposal"], has(&repository, BRANCH)), (&Value::Null, false));
    let report = repository.scene.run(&["report"]).stdout;
    let why = "no commit could be made: HEAD and the run changed the same lines or files: index.html";
    assert!(report.contains(why), "{report}");
    assert_replayed(&repository.scene, &ran);
}

#[test]
fn only_a_person_has_a_result_pushed() {
    let server = Server::of(repository(&[&ALL]));
    let line = |more: &[&str]| {
        let line: Vec<&str> =
            BUILD.iter().map(|word| if *word == "site" { "writer" } else { word }).collect();
        Ran::of(server.command(&[&line[..], &["--yes"], more].concat()).output().unwrap())
    };
    fs::write(server.repository.path("skilltune.toml"), "[gan]\napply = \"pr\"\n").unwrap();
    let ran = line(&[]);
    let proposal = &ran.json()["proposal"];
    assert_eq!((ran.code, &proposal["branch"]), (Some(0), &json!("skilltune/writer")), "{ran:?}");
    assert!(server.pushed().is_none() && server.calls().is_empty(), "a project's file says so: {ran:?}");
    let ran = line(&["--apply", "pr"]);
    assert_eq!((ran.code, &ran.json()["proposal"]["pull_request"]), (Some(0), &json!(REQUEST)), "{ran:?}");
    assert_eq!(server.pushed(), Some(server.local()));
    assert_eq!(server.request()["title"], "Build: A page about the pump");
}
