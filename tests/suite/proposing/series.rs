//! A proposal of several commits, each on the one before: what a loop proposes that makes one for each of its tasks. No
//! command asks for it here, so the tests call the library, with the real binary as the guardian.

use std::fs;

use jiff::Timestamp;
use skilltune_orchestrator::git::{self, Git, Program, ProposeError, Wanted};
use skilltune_orchestrator::process::{Canceller, GuardianPool};
use skilltune_orchestrator::promote::Move;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::runs::proposal::{EarlierCommit, Form, Proposal, Words};

use super::repository::{BRANCH, Repository};
use super::server::Server;
use crate::scene::SKILLTUNE;

/// The subject of a commit, and the files after it.
type Task<'a> = (&'a str, &'a [(&'a str, &'a str)]);

const START: &[(&str, &str)] = &[("a", "1\n"), ("b", "1\n"), ("c", "1\n")];
/// The second task changes nothing. The third one takes back a part of the first one.
const THREE: &[Task<'_>] = &[
    ("One", &[("a", "2\n"), ("b", "9\n"), ("c", "1\n"), ("new", "x\n")]),
    ("Two", &[("a", "2\n"), ("b", "9\n"), ("c", "1\n"), ("new", "x\n")]),
    ("Three", &[("a", "2\n"), ("b", "1\n"), ("c", "2\n")]),
];
const OTHER: &[Task<'_>] = &[("Other", &[("a", "1\n"), ("b", "3\n"), ("c", "1\n")])];

fn begun() -> Repository {
    let repository = Repository::new();
    fs::create_dir(repository.path("app")).unwrap();
    for (name, text) in START {
        fs::write(repository.path("app").join(name), text).unwrap();
    }
    repository.commit("Begin");
    repository
}

fn propose(repository: &Repository, form: Form, tasks: &[Task<'_>]) -> Result<Proposal, ProposeError> {
    let scene = &repository.scene;
    let objects = Objects::at(scene.path("objects"));
    let tree = |files: &[(&str, &str)]| {
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        objects.put_files(&files).unwrap()
    };
    let message = |subject: &str| {
        format!("{subject}\n\nIt works.\n\nSkilltune-Run: r\nSkilltune-Candidate: {subject}\n")
    };
    let (last, earlier) = tasks.split_last().unwrap();
    let earlier = earlier
        .iter()
        .map(|(subject, files)| EarlierCommit { trees: vec![tree(files)], message: message(subject) });
    let at = Timestamp::from_second(1_800_000_000).unwrap();
    let wanted = Wanted {
        committed: Vec::new(),
        form,
        moves: vec![Move { path: repository.path("app"), from: tree(START), to: tree(last.1) }],
        earlier: earlier.collect(),
        words: Words { branch: BRANCH.to_owned(), message: message(last.0), at },
        patch: scene.path("series.patch").into(),
    };
    let env = [("PATH", "/usr/bin:/bin".to_owned()), ("HOME", scene.path("home").display().to_string())];
    let program = Program {
        path: "/usr/bin/git".into(),
        gh: Some(scene.path("bin/gh")).filter(|gh| gh.exists()),
        env: env.map(|(name, value)| (name.to_owned(), value)).into(),
    };
    let room = tempfile::tempdir().unwrap();
    let mark = ("SKILLTUNE_GUARDS".to_owned(), "a test".to_owned());
    let (pool, canceller) = (GuardianPool::new(SKILLTUNE, "guardian", mark, 1), Canceller::new().unwrap());
    let cancel_token = canceller.cancel_token();
    let git = Git::new(&program, room.path(), room.path(), &pool, &cancel_token);
    let made = git::propose(&git, &objects, &wanted);
    pool.close();
    made
}

/// Returns the subjects of the commits of the branch, the newest one first.
fn subjects(repository: &Repository) -> String {
    repository.git(&["log", "--format=%s", &format!("HEAD..{BRANCH}")])
}

/// Puts copies of commits on HEAD, one on the other, and returns them. `Mine` is a person's commit.
fn stacked(repository: &Repository, commits: &[&str]) -> Vec<String> {
    let mut made = vec![repository.git(&["rev-parse", "HEAD"]).trim().to_owned()];
    for commit in commits {
        let parent = made.last().unwrap();
        let (message, tree) = match *commit {
            "Mine" => ("Mine".to_owned(), format!("{parent}^{{tree}}")),
            ours => (repository.git(&["log", "-1", "--format=%B", ours]), format!("{ours}^{{tree}}")),
        };
        let copy = repository.git(&["commit-tree", "-p", parent, "-m", message.trim(), &tree]);
        made.push(copy.trim().to_owned());
    }
    made.split_off(1)
}

#[test]
fn each_task_that_changes_a_file_is_a_commit_on_the_one_before() {
    let repository = begun();
    let before = repository.users_of("app");
    let proposal = propose(&repository, Form::Branch, THREE).unwrap();
    assert_eq!(repository.users_of("app"), before);
    assert_eq!(subjects(&repository), "Three\nOne\n");
    let head = repository.git(&["rev-parse", "HEAD"]);
    assert_eq!(
        (&*proposal.base, &repository.git(&["rev-parse", &format!("{BRANCH}~2")])),
        (head.trim(), &head)
    );
    let first = format!("{BRANCH}~1");
    for (commit, changed) in [(first.as_str(), "app/a\napp/b\napp/new\n"), (BRANCH, "app/a\napp/c\n")] {
        assert_eq!(repository.git(&["diff", "--name-only", "HEAD", commit]), changed);
        let tree = repository.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
        let message = repository.git(&["log", "-1", "--format=%B", commit]);
        let ours = format!("\nSkilltune-Target: app\nSkilltune-Tree: {tree}");
        assert!(message.contains(&ours), "{message}");
    }

    let again = propose(&repository, Form::Branch, THREE).unwrap();
    assert_eq!(again, proposal);
    repository.git(&["branch", "-D", BRANCH]);
    let anew = propose(&repository, Form::Branch, THREE).unwrap();
    assert_eq!(anew, proposal, "made anew, it is the same");
}

#[test]
fn a_series_of_ours_is_replaced_unless_a_person_has_a_commit_in_it() {
    let repository = begun();
    propose(&repository, Form::Branch, THREE).unwrap();
    let [one, three] = [format!("{BRANCH}~1"), BRANCH.to_owned()]
        .map(|commit| repository.git(&["rev-parse", &commit]).trim().to_owned());
    let (one, three) = (one.as_str(), three.as_str());
    let on_top = Some("has commits that skilltune did not make");
    let lost = Some("has commits that no other branch has");
    for (commits, keeps, why) in [
        (&[one, three][..], false, None),
        (&[one, three, "Mine"][..], false, on_top),
        (&[one, "Mine", three][..], false, lost),
        (&["Mine", one, three][..], false, lost),
        (&[one, "Mine", three][..], true, None),
    ] {
        let made = stacked(&repository, commits);
        let tip = made.last().unwrap();
        repository.git(&["branch", "--force", BRANCH, tip]);
        if keeps {
            repository.git(&["branch", "kept", &made[1]]);
        }
        let proposal = propose(&repository, Form::Branch, OTHER).unwrap();
        let notes = proposal.notes.concat();
        match why {
            None => {
                assert_eq!((notes.as_str(), subjects(&repository).as_str()), ("", "Other\n"), "{commits:?}");
            }
            Some(why) => {
                assert!(notes.contains(why) && proposal.patch.is_some(), "{commits:?}: {notes}");
                assert_eq!(repository.git(&["rev-parse", BRANCH]).trim(), tip);
            }
        }
    }
}

#[test]
fn a_patch_of_a_series_is_taken_by_git_am() {
    let repository = begun();
    let proposal = propose(&repository, Form::Patch, THREE).unwrap();
    assert_eq!(proposal.patch.as_deref(), Some("series.patch"));
    assert!(!repository.has_branch());
    let patch = repository.scene.path("series.patch");
    repository.git(&["am", "--quiet", patch.to_str().unwrap()]);
    let subjects = repository.git(&["log", "--format=%s", &format!("{}..HEAD", proposal.base)]);
    assert_eq!(subjects, "Three\nOne\n");
    let tree = |commit: &str| repository.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
    assert_eq!(tree("HEAD"), tree(&proposal.commit));
}

#[test]
fn a_task_whose_changes_head_has_gets_no_commit() {
    let repository = begun();
    let tasks: &[Task<'_>] = &[
        ("One", &[("a", "2\n"), ("b", "1\n"), ("c", "1\n")]),
        ("Two", &[("a", "2\n"), ("b", "2\n"), ("c", "1\n")]),
    ];
    let proposal = propose(&repository, Form::Branch, tasks).unwrap();
    repository.git(&["merge", "--quiet", "--ff-only", &format!("{BRANCH}~1")]);
    let rest = propose(&repository, Form::Branch, tasks).unwrap();
    assert_eq!((&rest.commit, subjects(&repository).as_str()), (&proposal.commit, "Two\n"));
    repository.git(&["merge", "--quiet", "--ff-only", BRANCH]);
    let nothing = propose(&repository, Form::Branch, tasks).unwrap_err();
    assert_eq!(nothing.to_string(), "HEAD already has these changes");
}

#[test]
fn a_series_is_pushed_and_replaced_on_the_remote_unless_a_person_has_a_commit_in_it() {
    let server = Server::of(begun());
    let repository = &server.repository;
    propose(repository, Form::PullRequest, THREE).unwrap();
    assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()));
    assert_eq!(server.request()["title"], "Three");
    let three = server.local();
    let one = repository.git(&["rev-parse", &format!("{BRANCH}~1")]);

    let proposal = propose(repository, Form::PullRequest, OTHER).unwrap();
    assert!(proposal.notes.is_empty(), "{proposal:?}");
    assert_eq!(subjects(repository), "Other\n");
    assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()));
    assert_eq!(server.request()["title"], "Other");
    assert_eq!(server.changes(), 2, "{:?}", server.calls());

    let tip = stacked(repository, &[one.trim(), "Mine", &three]).pop().unwrap();
    repository.git(&["push", "--quiet", "--force", "origin", &format!("{tip}:refs/heads/{BRANCH}")]);
    let proposal = propose(repository, Form::PullRequest, OTHER).unwrap();
    let why = "branch skilltune/writer of origin has commits that no other branch has";
    assert!(proposal.notes.concat().contains(why), "{proposal:?}");
    assert_eq!(server.pushed(), Some(tip));
}
