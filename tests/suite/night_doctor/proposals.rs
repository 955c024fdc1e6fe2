//! Whether a winner could become the branch or the pull request that its job wants, as the night would find it.

use std::os::unix::fs::symlink;

use super::*;

/// Creates nights in a repository that has the skill; the job wants this of a winner.
fn ward(apply: &str) -> Ward {
    let ward = Ward::installed(&format!("{JOB}apply = \"{apply}\"\n"), ("systemctl", SYSTEMCTL));
    let git = ["/usr/bin/git", "/bin/git"].into_iter().find(|path| Path::new(path).exists());
    symlink(git.expect("git is here"), ward.path("bin/git")).unwrap();
    ward.write("home/.gitconfig", "[user]\n\tname = A Person\n\temail = person@localhost\n");
    fs::remove_dir(ward.path("project/.git")).unwrap();
    ward.git(&["init", "--quiet", "--initial-branch=main"]);
    ward.commit();
    ward
}

impl Ward {
    fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.path("project")).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.path("home"));
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{arguments:?}: {ran:?}");
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "Something"]);
    }
}

#[test]
fn a_job_whose_winner_can_become_a_branch_or_a_patch_has_no_fault() {
    for (apply, shown) in [("branch", "a branch"), ("patch", "a patch")] {
        let ward = ward(apply);
        ward.assert_fine(&[]);
        let fine = ward.checks("fine", &[]);
        assert!(fine.contains(&format!("jobs: writer: a winner becomes {shown}")), "{fine:#?}");
    }
}

#[test]
fn what_keeps_a_winner_from_becoming_a_commit_is_a_fault() {
    let ward = ward("branch");
    fs::remove_file(ward.path("home/.gitconfig")).unwrap();
    insta::assert_snapshot!(ward.fault(&[]), @"jobs: writer: a winner would not be a branch: git does not know your name and email address; run `git config --global user.name NAME` and `git config --global user.email ADDRESS`");
    fs::remove_file(ward.path("bin/git")).unwrap();
    insta::assert_snapshot!(ward.fault(&[]), @"jobs: writer: a winner would not be a branch: `git` is not installed; install it where the night finds it");
}

#[test]
fn what_keeps_a_winner_from_becoming_a_pull_request_is_a_fault() {
    let ward = ward("pr");
    insta::assert_snapshot!(ward.fault(&[]), @r#"jobs: writer: a winner would be a branch, not a pull request: the repository has no remote; fix that, or set `apply = "branch"`"#);
    let hub = ward.path("hub.git").display().to_string();
    ward.git(&["init", "--quiet", "--bare", "--initial-branch=main", &hub]);
    ward.git(&["remote", "add", "origin", &hub]);
    insta::assert_snapshot!(ward.fault(&[]), @r#"jobs: writer: a winner would be a branch, not a pull request: HEAD has commits that origin does not have; push them first; fix that, or set `apply = "branch"`"#);
    ward.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    insta::assert_snapshot!(ward.fault(&[]), @r#"jobs: writer: a winner would be a branch, not a pull request: `gh` is not installed; fix that, or set `apply = "branch"`"#);
    ward.program("bin/gh", "#!/bin/sh\necho 'please run: gh auth login' >&2\nexit 4\n");
    ward.git(&["remote", "set-url", "origin", "https://github.com/acme/skills.git"]);
    ward.git(&["config", "--global", &format!("url.{hub}.insteadOf"), "https://github.com/acme/skills.git"]);
    insta::assert_snapshot!(ward.fault(&[]), @r#"jobs: writer: a winner would be a branch, not a pull request: `gh` failed: please run: gh auth login; fix that, or set `apply = "branch"`"#);
    ward.program("bin/gh", "#!/bin/sh\necho '[]'\n");
    ward.assert_fine(&[]);
}
