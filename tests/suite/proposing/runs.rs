//! `tune --apply branch|patch`: the run itself makes the commit, even if it is killed on the way.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::repository::{BRANCH, Repository, SKILL, TUNE};
use crate::chain;
use crate::crash::{Steps, crashed};
use crate::dangers::armed;
use crate::scene::{Ran, Scene};

fn tune(repository: &Repository, form: &str) -> Ran {
    repository.scene.run(&[&TUNE[..], &["--apply", form]].concat())
}

#[test]
fn a_run_proposes_its_champion_and_leaves_the_rest_as_it_is() {
    let repository = Repository::new();
    let before = repository.users();
    let ran = tune(&repository, "branch");
    let json = ran.json();
    assert_eq!((ran.code, &json["outcome"]), (Some(0), &json!("proposed")), "{ran:?}");
    assert_eq!(json["proposal"]["branch"], json!(BRANCH), "{ran:?}");
    assert_eq!(json["proposal"]["commit"], json!(repository.git(&["rev-parse", BRANCH]).trim()));
    assert_eq!(repository.users(), before);
    assert!(repository.page(BRANCH).contains("Quality: 90"));
    let report = fs::read_to_string(repository.scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("git merge skilltune/writer\\` merges it. The skill is unchanged."), "{report}");
    let rollback = repository.scene.run(&["rollback"]);
    assert!(rollback.stderr.contains("`git branch -D skilltune/writer` deletes it"), "{rollback:?}");
    let again = repository.apply_as("branch");
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(json["proposal"]["commit"], json!(repository.git(&["rev-parse", BRANCH]).trim()));
}

#[test]
fn the_message_of_a_commit_lists_the_dangers_of_its_edits() {
    let repository = Repository::of(armed());
    repository.commit("Add the skill");
    assert_eq!(tune(&repository, "branch").json()["outcome"], json!("proposed"));
    let message = repository.git(&["log", "-1", "--format=%B", BRANCH]);
    let warning = "Look at these lines before you merge it. They let the skill do more than before:\n\n- script: run.sh";
    assert!(message.contains(warning) && message.contains("\n\nSkilltune-Run: "), "{message}");
}

/// Creates a chain whose first member is good enough.
fn chained() -> Repository {
    let mut script = chain::script();
    script["improve"]["writer"] = json!({ "40": 60, "60": 20 });
    Repository::of(Scene::new(&chain::SKILLS, &script))
}

#[test]
fn a_chain_is_one_commit() {
    let repository = chained();
    repository.commit("Add the skills");
    let before = repository.users_of(".claude/skills");
    let tune = ["tune", "outline,writer,editor", "write a page", "--chain", "--max-iterations", "3"];
    let ran = repository.scene.run(&[&tune[..], &TUNE[3..], &["--apply", "branch"]].concat());
    assert_eq!(ran.json()["outcome"], json!("proposed"), "{ran:?}");
    let branch = "skilltune/outline+writer+editor";
    assert_eq!(ran.json()["proposal"]["branch"], json!(branch), "{ran:?}");
    assert_eq!(repository.git(&["rev-list", "--count", &format!("HEAD..{branch}")]), "1\n");
    let target =
        repository.git(&["log", "-1", "--format=%(trailers:key=Skilltune-Target,valueonly)", branch]);
    assert_eq!(target.trim(), ".claude/skills/outline, .claude/skills/writer, .claude/skills/editor");
    assert!(repository.page(branch).contains("Quality: 60"));
    assert_eq!(repository.users_of(".claude/skills"), before);
}

#[test]
fn a_member_of_a_chain_that_does_not_change_may_be_outside_of_the_repository() {
    let repository = chained();
    let outline = repository.scene.path("outline");
    fs::rename(repository.path(".claude/skills/outline"), &outline).unwrap();
    repository.commit("Add the skills");
    let before = repository.users_of(".claude/skills");
    let tune = |members: &str| {
        let tune = ["tune", members, "write a page", "--chain", "--max-iterations", "3"];
        repository.scene.run(&[&tune[..], &TUNE[3..], &["--apply", "branch"]].concat())
    };
    let ran = tune(&format!("{},writer,editor", outline.display()));
    assert_eq!(ran.json()["outcome"], json!("proposed"), "{ran:?}");
    let branch = "skilltune/outline+writer+editor";
    let target =
        repository.git(&["log", "-1", "--format=%(trailers:key=Skilltune-Target,valueonly)", branch]);
    assert_eq!(target.trim(), ".claude/skills/writer, .claude/skills/editor");
    assert!(repository.page(branch).contains("Quality: 60"));

    // Another member that does change must be in a repository.
    let writer = repository.scene.path("writer");
    fs::rename(repository.path(SKILL), &writer).unwrap();
    let ran = tune(&format!("{},{},editor", outline.display(), writer.display()));
    assert_eq!(ran.json()["outcome"], json!("kept"), "{ran:?}");
    let why = "is not in a git repository; apply it without git";
    let report = |folder: PathBuf| fs::read_to_string(folder.join("final-report.md")).unwrap();
    assert!(repository.scene.run_folders().into_iter().any(|folder| report(folder).contains(why)), "{ran:?}");
    fs::rename(writer, repository.path(SKILL)).unwrap();
    assert_eq!(repository.users_of(".claude/skills"), before);
}

#[test]
fn a_linked_worktree_with_a_detached_head_gets_a_branch_too() {
    let repository = Repository::new();
    let linked = repository.scene.path("linked");
    repository.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    let before = repository.users();
    let mut command = repository.scene.command(&[&TUNE[..], &["--apply", "branch"]].concat());
    let ran = Ran::of(command.current_dir(&linked).output().unwrap());
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("proposed")), "{ran:?}");
    assert!(repository.page(BRANCH).contains("Quality: 90"));
    assert_eq!(repository.users(), before);
    assert_eq!(repository.git(&["-C", linked.to_str().unwrap(), "status", "--porcelain"]), "");
}

#[test]
fn a_run_leaves_a_patch_where_that_is_asked_for() {
    let repository = Repository::new();
    let before = repository.users();
    let ran = tune(&repository, "patch");
    let patch = repository.patch().expect("the run has it");
    let name = patch.file_name().unwrap().to_str().unwrap();
    assert_eq!((ran.code, &ran.json()["proposal"]["patch"]), (Some(0), &json!(name)), "{ran:?}");
    assert!(!repository.has_branch());
    assert_eq!(repository.users(), before);
    let shown = repository.scene.run(&["show"]).stdout;
    assert!(shown.contains(patch.to_str().unwrap()), "{shown}");
}

#[test]
fn a_champion_of_which_no_commit_can_be_made_is_kept_and_the_report_says_why() {
    let repository = Repository::uncommitted();
    repository.git(&["commit", "--quiet", "--allow-empty", "--message", "Empty"]);
    let before = repository.users();
    let ran = tune(&repository, "branch");
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("kept")), "{ran:?}");
    let report = fs::read_to_string(repository.scene.run_folder().join("final-report.md")).unwrap();
    let reason = "no commit could be made: HEAD does not have .claude/skills/writer; commit it first";
    assert!(report.contains(reason), "{report}");
    assert_eq!(repository.users(), before);
}

#[test]
fn what_keeps_a_commit_from_being_made_is_named_before_the_first_call() {
    let repository = Repository::new();
    repository.write_home("");
    for more in [&["--dry-run"][..], &["--max-calls", "1"]] {
        let ran = repository.scene.run(&[&TUNE[..], &["--apply", "branch"], more].concat());
        let note =
            "note: cannot make a commit: git does not know your name and email address; run `git config";
        assert!(ran.stderr.contains(note), "{more:?}: {ran:?}");
    }
}

#[test]
fn uncommitted_changes_of_the_skill_are_noted_before_the_first_call_and_the_end_says_how_to_make_the_commit()
{
    let repository = Repository::new();
    let page = repository.path(SKILL).join("SKILL.md");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace("Quality: 40", "Quality: 20")).unwrap();
    repository.scene.write_script(&json!({ "improve": { "writer": { "20": 60, "60": 90 } } }));
    let note = "has uncommitted changes: a winner that changes the same lines cannot become a commit";
    let line = ["tune", "writer", "write a page", "--yes", "--apply", "branch"];
    let dry = repository.scene.run(&[&line[..], &["--dry-run"]].concat());
    assert!(dry.stderr.contains(note), "{dry:?}");
    let ran = repository.scene.run(&line);
    assert!(ran.stderr.contains(note), "{ran:?}");
    let end = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(end.contains("no commit could be made: HEAD and the run changed the same lines"), "{ran:?}");
    let again = format!("skilltune apply {} --as branch", repository.scene.run_id());
    assert!(end.contains(&again), "{ran:?}");
    repository.commit("My own change");
    assert_eq!(repository.apply_as("branch").code, Some(0));
}

#[test]
fn a_run_killed_while_it_proposes_is_resumed_and_the_commit_is_made_once() {
    for form in ["branch", "patch"] {
        let repository = Repository::new();
        let command =
            |repository: &Repository| repository.scene.command(&[&TUNE[..], &["--apply", form]].concat());
        let steps = Steps::of(&repository.scene, command(&repository));
        let mut visited = 0;
        // The steps after these ten are the same as at the end of any run.
        for at in steps.visited_since("proposal: before", 10) {
            let repository = Repository::new();
            let before = repository.users();
            assert!(crashed(command(&repository), at), "{form}: point {at} is not reached");
            assert_eq!(repository.users(), before, "{form}: killed at point {at}");
            let ran = repository.scene.run(&["resume", "--yes", "--format", "json"]);
            assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("proposed")), "{at}: {ran:?}");
            assert_eq!(repository.users(), before, "{form}: resumed after point {at}");
            if form == "branch" {
                assert_eq!(repository.git(&["rev-list", "--count", &format!("HEAD..{BRANCH}")]), "1\n");
                assert_eq!(
                    ran.json()["proposal"]["commit"],
                    json!(repository.git(&["rev-parse", BRANCH]).trim())
                );
                assert!(repository.page(BRANCH).contains("Quality: 90"));
            } else {
                let patch = repository.patch().expect("the run has it");
                repository.git(&["apply", "--check", patch.to_str().unwrap()]);
            }
            visited += 1;
        }
        eprintln!("crash test: a proposed {form}: aborted at {visited} durable steps");
        assert!(visited > 5, "{form}: {visited}");
    }
}

#[test]
fn an_apply_killed_while_it_proposes_is_finished_by_the_next() {
    let repository = Repository::with_run();
    let command = || repository.scene.command(&["apply", "--as", "branch"]);
    let steps = Steps::of(&repository.scene, command());
    let made = repository.git(&["rev-parse", BRANCH]);
    let before = repository.users();
    let mut visited = 0;
    for at in steps.visited_since("proposal: before the branch is set", usize::MAX) {
        repository.git(&["branch", "-D", BRANCH]);
        // If the journal already has it, there are fewer steps.
        visited += u32::from(crashed(command(), at));
        let ran = repository.apply_as("branch");
        assert_eq!(ran.code, Some(0), "point {at}: {ran:?}");
        assert_eq!(repository.git(&["rev-parse", BRANCH]), made, "point {at}");
        assert_eq!(repository.users(), before, "point {at}");
    }
    assert!(visited >= 2, "{visited}");
    assert!(repository.path(SKILL).is_dir());
}
