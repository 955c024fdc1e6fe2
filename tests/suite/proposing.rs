//! `apply --as`: a commit on a branch or in a patch, in realistic repositories. Whatever the state of a repository, the
//! user's part stays unchanged, byte for byte.

mod interrupted;
mod lfs;
pub(crate) mod repository;
mod requests;
mod runs;
mod series;
pub(crate) mod server;

use std::fs;

use repository::{BRANCH, Repository, SKILL};

use crate::scene::Ran;

/// The files that the improver changes.
const CHANGED: &str = ".claude/skills/writer/SKILL.md\n.claude/skills/writer/notes.md\n";

/// Fails unless the command succeeded and left the user's files and refs unchanged.
fn assert_proposed(repository: &Repository, form: &str) -> String {
    let before = repository.users();
    let ran = repository.apply_as(form);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(repository.users(), before, "{ran:?}");
    ran.stderr
}

fn assert_refused(repository: &Repository, form: &str, why: &str) -> Ran {
    let before = repository.users();
    let ran = repository.apply_as(form);
    assert!(ran.code == Some(2) && ran.stderr.contains(why), "{why}: {ran:?}");
    assert_eq!(repository.users(), before, "{ran:?}");
    assert!(!repository.has_branch() && repository.patch().is_none(), "{ran:?}");
    ran
}

#[test]
fn a_branch_has_one_commit_on_head_that_tells_verdict_figures_and_run() {
    let repository = Repository::with_run();
    let id = repository.scene.run_id();
    let output = assert_proposed(&repository, "branch");
    assert!(output.contains("`git merge skilltune/writer` merges it"), "{output}");
    assert_eq!(repository.git(&["rev-parse", &format!("{BRANCH}^")]), repository.git(&["rev-parse", "HEAD"]));
    assert_eq!(
        repository.git(&["diff", "--name-only", "HEAD", BRANCH]),
        CHANGED,
        "only what the candidate changed"
    );
    assert!(repository.page(BRANCH).contains("Quality: 90"));
    let message = repository.git(&["log", "-1", "--format=%an <%ae>%n%B", BRANCH]);
    let tree = repository.git(&["rev-parse", &format!("{BRANCH}^{{tree}}")]);
    let shown = repository.scene.normalized(&message.replace(tree.trim(), "TREE"));
    insta::assert_snapshot!(shown, @r"
    A Person <person@localhost>
    Improve the skill writer

    It scored higher than the version before it, which is weak evidence.
    Score: 39.6 before, 89.6 after.

    Skilltune-Run: RUN
    Skilltune-Candidate: HASH
    Skilltune-Verdict: higher
    Skilltune-Target: .claude/skills/writer
    Skilltune-Tree: TREE
    ");
    let trailers = repository.git(&["log", "-1", "--format=%(trailers:key=Skilltune-Run,valueonly)", BRANCH]);
    assert_eq!(trailers.trim(), id);
}

#[test]
fn a_fifo_in_a_repository_is_named_before_git_waits_for_it() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let repository = Repository::with_run();
    let fifo = repository.path(".git/refs/heads/other");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let ran = repository.apply_as("branch");
    let message = format!("git would hang: {} is not a regular file", fifo.display());
    assert!(ran.code == Some(2) && ran.stderr.contains(&message), "{ran:?}");
}

#[test]
fn the_same_proposal_again_is_the_same_commit() {
    let repository = Repository::with_run();
    assert_proposed(&repository, "branch");
    let first = repository.git(&["rev-parse", BRANCH]);
    assert_proposed(&repository, "branch");
    assert_eq!(repository.git(&["rev-parse", BRANCH]), first);
    repository.git(&["branch", "-D", BRANCH]);
    assert_proposed(&repository, "branch");
    assert_eq!(repository.git(&["rev-parse", BRANCH]), first, "made anew, it is the same");
}

#[test]
fn a_patch_is_taken_by_git_am_and_leaves_no_branch() {
    let repository = Repository::new();
    repository.add_to_home("[diff]\n\tnoprefix = true\n[format]\n\tsignOff = true\n\tattach = x\n");
    repository.tuned();
    let output = assert_proposed(&repository, "patch");
    let patch = repository.patch().expect("the run has it");
    assert!(output.contains("`git am ") && output.contains(".patch` applies it"), "{output}");
    assert!(!repository.has_branch());
    repository.git(&["am", "--quiet", patch.to_str().unwrap()]);
    assert_eq!(repository.scene.quality("writer"), 90);
    let message = repository.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.starts_with("Improve the skill writer\n") && message.contains("Skilltune-Run: "),
        "{message}"
    );
}

#[test]
fn uncommitted_work_is_not_committed() {
    let repository = Repository::new();
    fs::write(repository.path("notes.txt"), "staged\n").unwrap();
    repository.git(&["add", "notes.txt"]);
    fs::write(repository.path(SKILL).join("mine.md"), "Not ready.\n").unwrap();
    fs::write(repository.path(SKILL).join("references/style.md"), "Be very brief.\n").unwrap();
    fs::write(repository.path("stashed.txt"), "stashed\n").unwrap();
    repository.git(&["stash", "push", "--quiet", "--include-untracked", "--", "stashed.txt"]);
    repository.tuned();
    assert_proposed(&repository, "branch");
    assert_eq!(
        repository.git(&["diff", "--name-only", "HEAD", BRANCH]),
        CHANGED,
        "neither the person's edit nor their new files"
    );
}

#[test]
fn commits_of_a_person_during_the_run_are_kept_where_they_fit_and_refused_where_not() {
    let repository = Repository::with_run();
    let page = repository.path(SKILL).join("SKILL.md");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace("See references/style.md.\n", "See references/style.md.\n\nAsk first.\n"))
        .unwrap();
    repository.commit("Ask first");
    assert_proposed(&repository, "branch");
    let merged = repository.page(BRANCH);
    assert!(merged.contains("Quality: 90") && merged.contains("Ask first."), "{merged}");

    repository.git(&["branch", "-D", BRANCH]);
    fs::write(&page, text.replace("Quality: 40", "Quality: 41")).unwrap();
    repository.commit("Better");
    assert_refused(&repository, "branch", "HEAD and the run changed the same lines or files: SKILL.md");
}

#[test]
fn an_older_proposal_is_replaced_and_a_persons_commit_is_not() {
    let repository = Repository::with_run();
    assert_proposed(&repository, "branch");
    let first = repository.git(&["rev-parse", BRANCH]);
    fs::write(repository.path("other.txt"), "other\n").unwrap();
    repository.commit("Another file");
    assert_proposed(&repository, "branch");
    let second = repository.git(&["rev-parse", BRANCH]);
    assert_ne!(first, second, "it is on the new HEAD");

    // A person commits on top of it.
    repository.git(&["checkout", "--quiet", BRANCH]);
    fs::write(repository.path("mine.txt"), "mine\n").unwrap();
    repository.commit("Mine");
    repository.git(&["checkout", "--quiet", "main"]);
    let mine = repository.git(&["rev-parse", BRANCH]);
    let output = assert_proposed(&repository, "branch");
    assert!(output.contains("has commits that skilltune did not make"), "{output}");
    assert_eq!(repository.git(&["rev-parse", BRANCH]), mine);
    assert!(repository.patch().is_some(), "the proposal is a patch instead");

    // A person amends it and keeps its message.
    repository.git(&["branch", "--force", BRANCH, second.trim()]);
    repository.git(&["checkout", "--quiet", BRANCH]);
    fs::write(repository.path("mine.txt"), "mine\n").unwrap();
    repository.git(&["add", "mine.txt"]);
    repository.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    repository.git(&["checkout", "--quiet", "main"]);
    let amended = repository.git(&["rev-parse", BRANCH]);
    assert_proposed(&repository, "branch");
    assert_eq!(repository.git(&["rev-parse", BRANCH]), amended);
}

#[test]
fn a_branch_that_a_worktree_has_checked_out_is_left_alone() {
    let repository = Repository::with_run();
    let other = repository.scene.path("other");
    repository.git(&["worktree", "add", "--quiet", "-b", BRANCH, other.to_str().unwrap()]);
    let before = repository.git(&["rev-parse", BRANCH]);
    let output = assert_proposed(&repository, "branch");
    assert!(output.contains("branch skilltune/writer is checked out in "), "{output}");
    assert_eq!(repository.git(&["rev-parse", BRANCH]), before);
    assert!(repository.patch().is_some());
}

#[test]
fn who_signs_gets_a_signed_commit_or_a_patch_within_a_deadline() {
    let signature = "-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----";
    let signs =
        format!("cat > /dev/null; printf '[GNUPG:] SIG_CREATED D\\n' >&2; printf -- '{signature}\\n'");
    for (script, is_signed) in [(signs.as_str(), true), ("exit 1", false), ("exec sleep 600", false)] {
        let repository = Repository::with_run();
        let gpg = repository.program("gpg", script);
        repository.add_to_home(&format!("[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {gpg}\n"));
        let output = assert_proposed(&repository, "branch");
        assert_eq!(repository.has_branch(), is_signed, "{script}: {output}");
        if is_signed {
            assert!(repository.git(&["cat-file", "commit", BRANCH]).contains("gpgsig -----BEGIN"));
            let first = repository.git(&["rev-parse", BRANCH]);
            repository.program("gpg", &signs.replace("\\nx\\n", "\\ny\\n"));
            assert_proposed(&repository, "branch");
            assert_eq!(repository.git(&["rev-parse", BRANCH]), first, "it is not signed twice");
        } else {
            assert!(
                output.contains("this is a patch, not a branch: git could not sign the commit"),
                "{output}"
            );
            assert!(repository.patch().is_some());
        }
    }
}

#[test]
fn no_hook_and_no_program_of_the_repository_runs() {
    let repository = Repository::with_run();
    let trap = repository.scene.path("trap");
    let touch = repository.program("touch", &format!("touch {}; exit 1", trap.display()));
    for hook in ["pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"] {
        let hook = repository.path(".git/hooks").join(hook);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::copy(&touch, hook).unwrap();
    }
    for name in [
        "core.pager",
        "core.editor",
        "core.fsmonitor",
        "diff.external",
        "diff.x.textconv",
        "gpg.program",
        "gpg.ssh.program",
        "gpg.ssh.defaultKeyCommand",
        "filter.x.clean",
        "filter.x.process",
        "merge.x.driver",
    ] {
        repository.git(&["-c", "core.fsmonitor=false", "config", name, &touch]);
    }
    repository.git(&["-c", "core.fsmonitor=false", "config", "filter.x.required", "true"]);
    fs::write(repository.path(".git/info/attributes"), "* diff=x merge=x\n").unwrap();
    // `repository.users()` calls git, which would run them, so it is not used here.
    let ran = repository.apply_as("branch");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!trap.exists(), "a program of the repository ran: {ran:?}");
    repository.git(&["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "branch", "-D", BRANCH]);
    fs::write(repository.path(".git/info/attributes"), "*.md filter=x\n").unwrap();
    let ran = repository.apply_as("branch");
    assert!(ran.code == Some(2) && ran.stderr.contains("needs the filter \"x\""), "{ran:?}");
    assert!(!trap.exists() && !repository.has_branch(), "{ran:?}");
}

#[test]
fn a_filter_of_the_persons_own_converts_what_is_committed() {
    let repository = Repository::uncommitted();
    repository.add_to_home("[filter \"upper\"]\n\tclean = tr a-z A-Z\n\tsmudge = cat\n\trequired = true\n");
    fs::write(repository.path(".gitattributes"), "*.md filter=upper\n").unwrap();
    repository.commit("Add the skill");
    repository.tuned();
    assert_proposed(&repository, "branch");
    let page = repository.page(BRANCH);
    assert!(page.contains("QUALITY: 90") && !page.contains("Quality"), "{page}");
}

#[test]
fn line_ends_are_committed_as_git_converts_them() {
    let repository = Repository::uncommitted();
    fs::write(repository.path(".gitattributes"), "* text=auto eol=crlf\n").unwrap();
    let page = repository.path(SKILL).join("SKILL.md");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace('\n', "\r\n")).unwrap();
    repository.commit("Add the skill");
    repository.tuned();
    assert_proposed(&repository, "branch");
    let page = repository.page(BRANCH);
    assert!(page.contains("Quality: 90\n") && !page.contains('\r'), "{page:?}");
    assert_proposed(&repository, "patch");
    let patch = repository.patch().unwrap();
    repository.git(&["am", "--quiet", patch.to_str().unwrap()]);
    assert_eq!(repository.page("HEAD"), page);
}

#[test]
fn a_shallow_clone_is_as_good_as_a_whole_one() {
    let repository = Repository::new();
    fs::write(repository.path("other.txt"), "other\n").unwrap();
    repository.commit("Another file");
    let origin = format!("file://{}", repository.path("").display());
    fs::rename(repository.path(".git"), repository.scene.path("origin.git")).unwrap();
    let origin = origin.replace("/project", "/origin.git");
    repository.git(&["-C", "..", "clone", "--quiet", "--depth=1", "--no-checkout", &origin, "clone"]);
    fs::rename(repository.scene.path("clone/.git"), repository.path(".git")).unwrap();
    repository.git(&["reset", "--quiet"]);
    assert_eq!(repository.git(&["rev-list", "--count", "HEAD"]), "1\n");
    repository.tuned();
    assert_proposed(&repository, "branch");
    assert!(repository.page(BRANCH).contains("Quality: 90"));
}

#[test]
fn a_sparse_checkout_loses_nothing() {
    let repository = Repository::new();
    fs::create_dir(repository.path("far")).unwrap();
    fs::write(repository.path("far/away.txt"), "away\n").unwrap();
    repository.commit("Another folder");
    repository.git(&["sparse-checkout", "set", "--sparse-index", SKILL]);
    assert!(!repository.path("far").exists());
    repository.tuned();
    assert_proposed(&repository, "branch");
    assert_eq!(repository.git(&["diff", "--name-only", "HEAD", BRANCH]), CHANGED);
}

#[test]
fn a_skill_in_a_submodule_is_committed_in_the_submodule() {
    let repository = Repository::new();
    let outer = repository.scene.path("outer");
    fs::create_dir(&outer).unwrap();
    let of_outer = |arguments: &[&str]| {
        let folder = outer.to_str().unwrap();
        repository.git(&[&["-C", folder, "-c", "protocol.file.allow=always"], arguments].concat())
    };
    of_outer(&["init", "--quiet", "--initial-branch=main"]);
    let inner = repository.path("");
    of_outer(&["submodule", "--quiet", "add", inner.to_str().unwrap(), "inner"]);
    of_outer(&["commit", "--quiet", "--message", "Add a module"]);
    let head = of_outer(&["rev-parse", "HEAD"]);
    let module = outer.join("inner").join(SKILL);
    let scene = &repository.scene;
    scene.run(&["tune", module.to_str().unwrap(), "write a page", "--yes", "--apply", "never"]);
    let project = outer.join("inner");
    let apply = scene.command(&["apply", "--as", "branch"]).current_dir(&project).output().unwrap();
    let ran = Ran::of(apply);
    assert!(ran.code == Some(0) && ran.stderr.contains("the folder is in a submodule of "), "{ran:?}");
    let page = format!("{BRANCH}:{SKILL}/SKILL.md");
    assert!(of_outer(&["-C", "inner", "show", &page]).contains("Quality: 90"));
    assert_eq!(of_outer(&["rev-parse", "HEAD"]), head);
    assert_eq!(of_outer(&["status", "--porcelain", "--untracked-files=no"]), "");
    assert!(!repository.has_branch(), "the repository that it was cloned from has none");
}

#[test]
fn a_repository_without_what_a_commit_needs_is_refused_in_one_line() {
    let no_commit = Repository::uncommitted();
    no_commit.tuned();
    assert!(no_commit.output(&["status"]).status.success());
    let ran = no_commit.apply_as("branch");
    assert!(ran.code == Some(2) && ran.stderr.contains("the repository has no commit yet"), "{ran:?}");

    let not_there = Repository::uncommitted();
    not_there.git(&["commit", "--quiet", "--allow-empty", "--message", "Empty"]);
    not_there.tuned();
    assert_refused(&not_there, "branch", "HEAD does not have .claude/skills/writer");

    let without_identity = Repository::with_run();
    without_identity.write_home("");
    assert_refused(&without_identity, "branch", "git does not know your name and email address");

    let bare = Repository::with_run();
    bare.git(&["config", "core.bare", "true"]);
    let ran = bare.apply_as("branch");
    assert!(ran.code == Some(2) && ran.stderr.contains("is not in a working tree"), "{ran:?}");

    let none = Repository::with_run();
    fs::remove_dir_all(none.path(".git")).unwrap();
    let ran = none.apply_as("patch");
    assert!(ran.code == Some(2) && ran.stderr.contains("is not in a git repository"), "{ran:?}");
    assert!(none.patch().is_none());
}

#[test]
fn a_file_that_is_in_the_way_of_a_new_folder_is_a_conflict() {
    let repository = Repository::with_run();
    let skill = repository.path(SKILL);
    fs::remove_file(skill.join("SKILL.md")).unwrap();
    fs::create_dir(skill.join("SKILL.md")).unwrap();
    fs::write(skill.join("SKILL.md/page"), "Odd.\n").unwrap();
    repository.commit("Odd");
    assert_refused(&repository, "branch", "HEAD and the run changed the same lines or files: SKILL.md");
}

#[test]
fn a_rollback_leaves_the_branch_and_says_how_to_delete_it() {
    let repository = Repository::with_run();
    assert_proposed(&repository, "branch");
    let before = repository.users();
    let ran = repository.scene.run(&["rollback"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("`git branch -D skilltune/writer` deletes it"), "{ran:?}");
    assert!(repository.has_branch());
    assert_eq!(repository.users(), before);
    let history = repository.scene.run(&["history"]).stdout;
    assert!(history.contains("someone made a commit on branch skilltune/writer"), "{history}");
}
