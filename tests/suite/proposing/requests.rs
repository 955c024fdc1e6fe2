//! `--apply pr` and `apply --as pr`: the branch is pushed, and a pull request is opened or updated. A person's changes
//! there stay, and a note reports what cannot be done.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::repository::{BRANCH, Repository, SKILL, TUNE};
use super::server::{ADDRESS, REQUEST, Server};
use crate::crash::{Steps, crashed};
use crate::scene::Ran;

#[test]
fn a_pull_request_is_opened_once_and_updated_in_place() {
    let server = Server::tuned();
    let output = server.apply();
    assert!(output.contains(&format!("is the pull request {REQUEST}; ")), "{output}");
    assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()));
    let create = "api repos/acme/skills/pulls --hostname github.com --method POST --input -";
    assert_eq!(server.calls().last().unwrap(), create);
    let request = server.request();
    let named = [&request["title"], &request["head"], &request["base"]];
    assert_eq!(named, ["Improve the skill writer", BRANCH, "main"]);
    let body = request["body"].as_str().unwrap();
    assert!(body.contains("Score: 39.6 before, 89.6 after.") && body.contains("\nSkilltune-Run: "), "{body}");

    let output = server.apply();
    assert!(output.contains(REQUEST), "{output}");
    assert_eq!(server.changes(), 1, "it says the same already: {:?}", server.calls());

    server.go_on("other.txt");
    server.push_head();
    let first = server.pushed();
    server.apply();
    assert_ne!(server.pushed(), first, "it is on the new HEAD");
    assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()));
    let edit = "api repos/acme/skills/pulls/1 --hostname github.com --method PATCH --input -";
    assert_eq!(server.calls().last().unwrap(), edit);
    assert_eq!(server.changes(), 2);

    let rollback = server.repository.scene.run(&["rollback"]);
    assert!(rollback.stderr.contains("`gh pr close --delete-branch "), "{rollback:?}");
    assert!(server.pushed().is_some());
}

#[test]
fn a_pull_request_from_a_branch_that_the_remote_does_not_have_is_for_its_default_branch() {
    let server = Server::tuned();
    server.repository.git(&["switch", "--quiet", "--create", "mine"]);
    assert!(server.apply().contains(REQUEST));
    assert_eq!(server.request()["base"], "trunk");
}

#[test]
fn a_persons_commit_on_the_branch_of_the_remote_stays() {
    let server = Server::tuned();
    server.apply();
    let other = server.repository.scene.path("other");
    let hub = server.repository.scene.path("hub.git");
    let other = other.to_str().unwrap();
    server.repository.git(&["clone", "--quiet", "--branch", BRANCH, hub.to_str().unwrap(), other]);
    fs::write(Path::new(other).join("theirs.txt"), "theirs\n").unwrap();
    server.repository.git(&["-C", other, "add", "--all"]);
    server.repository.git(&["-C", other, "commit", "--quiet", "--message", "Theirs"]);
    server.repository.git(&["-C", other, "push", "--quiet"]);
    let theirs = server.pushed();
    server.go_on("other.txt");
    server.push_head();

    let output = server.apply();
    assert!(output.contains("has commits that are not here; fetch them first"), "{output}");
    server.repository.git(&["fetch", "--quiet"]);
    let output = server.apply();
    assert!(output.contains("of origin has commits that skilltune did not make"), "{output}");
    assert!(output.contains("this is a branch, not a pull request"), "{output}");
    assert_eq!(server.pushed(), theirs);
    assert_eq!(server.changes(), 1, "{:?}", server.calls());
}

#[test]
fn a_pull_request_that_a_person_closed_is_not_opened_again_for_the_same_change() {
    for (state, word) in [("CLOSED", "closed"), ("MERGED", "merged")] {
        let server = Server::tuned();
        server.apply();
        let mut all: Value = serde_json::from_slice(&fs::read(server.file("all.json")).unwrap()).unwrap();
        all[0]["state"] = json!(state);
        server.list("all", &all);
        server.list("open", &json!([]));
        server.hub(&["branch", "-D", BRANCH]);
        for file in [None, Some("other.txt")] {
            if let Some(file) = file {
                server.go_on(file);
                server.push_head();
            }
            let output = server.apply();
            assert!(
                output.contains(&format!("a pull request for the same change was {word}: {REQUEST}")),
                "{output}"
            );
            assert!(server.pushed().is_none() && server.changes() == 1, "{:?}", server.calls());
        }
        // A pull request of another repository does not count.
        all[0]["isCrossRepository"] = json!(true);
        server.list("all", &all);
        server.apply();
        assert!(server.pushed().is_some() && server.changes() == 2, "{:?}", server.calls());
    }
}

#[test]
fn a_fourth_pull_request_is_not_opened() {
    let server = Server::tuned();
    let open = |branch: &str| json!({ "headRefName": branch, "isCrossRepository": false });
    let mut three = vec![open("skilltune/a"), open("mine"), open("skilltune/b"), open("skilltune/c")];
    server.list("open", &json!(three));
    let output = server.apply();
    assert!(output.contains("3 pull requests of skilltune are open; merge or close one first"), "{output}");
    assert!(server.pushed().is_none() && server.changes() == 0);
    three.pop();
    server.list("open", &json!(three));
    assert!(server.apply().contains(REQUEST));
}

#[test]
fn without_a_program_or_a_login_the_branch_is_pushed_and_a_note_says_so() {
    let pushed = "the branch is pushed to origin, but no pull request was made: ";
    let server = Server::tuned();
    let output = server.apply_without_gh();
    assert!(output.contains(&format!("{pushed}`gh` is not installed")), "{output}");
    assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()));

    fs::write(server.file("fails"), "To get started with GitHub CLI, please run: gh auth login\n").unwrap();
    let output = server.apply();
    assert!(output.contains(&format!("{pushed}`gh` failed: To get started")), "{output}");

    fs::remove_file(server.file("fails")).unwrap();
    fs::write(server.file("all.json"), "<html>").unwrap();
    let output = server.apply();
    assert!(output.contains(&format!("{pushed}cannot parse the output of `gh`")), "{output}");

    server.repository.git(&["remote", "set-url", "origin", "../hub.git"]);
    let output = server.apply();
    assert!(output.contains("the address of the remote does not name a repository on a server"), "{output}");
    assert!(output.contains(pushed), "the path is meant from the repository: {output}");
}

#[test]
fn where_nothing_can_be_pushed_it_is_a_branch_and_a_note_says_why() {
    let server = Server::tuned();
    let assert_branch = |why: &str| {
        let output = server.apply();
        assert!(
            output.contains("this is a branch, not a pull request: ") && output.contains(why),
            "{why}: {output}"
        );
        assert!(server.pushed().is_none() && server.changes() == 0, "{:?}", server.calls());
        assert!(!output.contains("secret"), "{output}");
    };
    server.hub(&["config", "receive.maxInputSize", "1"]);
    assert_branch("git cannot push to origin: ");
    server.hub(&["config", "receive.maxInputSize", "0"]);
    server.repository.git(&["remote", "set-url", "origin", "https://me:secret@127.0.0.1:1/acme/skills.git"]);
    assert_branch("git cannot read origin: ");
    server.repository.git(&["remote", "set-url", "origin", "ext::touch trap"]);
    assert_branch("git cannot read origin: transport 'ext' not allowed");
    server.repository.git(&["remote", "set-url", "origin", ADDRESS]);
    server.go_on("other.txt");
    assert_branch("HEAD has commits that origin does not have; push them first");
    server.repository.git(&["remote", "remove", "origin"]);
    assert_branch("the repository has no remote");
    server.repository.git(&["remote", "add", "one", ADDRESS]);
    server.repository.git(&["remote", "add", "two", ADDRESS]);
    assert_branch("the repository has several remotes; choose one with `git config remote.pushDefault NAME`");
    let journal = fs::read_to_string(server.repository.scene.run_folder().join("history.jsonl")).unwrap();
    assert!(journal.contains("git cannot read origin") && !journal.contains("secret"), "{journal}");
}

#[test]
fn no_program_of_the_repository_and_no_hook_runs_for_a_push() {
    let server = Server::tuned();
    let repository = &server.repository;
    let trap = repository.scene.path("trap");
    let touch = repository.program("touch", &format!("touch {}; exit 1", trap.display()));
    let hub = repository.scene.path("hub.git/hooks");
    for folder in [repository.path(".git/hooks"), hub] {
        fs::create_dir_all(&folder).unwrap();
        for hook in
            ["pre-push", "pre-receive", "update", "post-receive", "post-update", "reference-transaction"]
        {
            fs::copy(&touch, folder.join(hook)).unwrap();
        }
    }
    let lead = format!("url.ext::{touch}.pushInsteadOf");
    for (name, value) in [
        ("core.sshCommand", touch.as_str()),
        ("core.askPass", &touch),
        ("core.gitProxy", &touch),
        ("core.alternateRefsCommand", &touch),
        ("credential.helper", &touch),
        ("remote.origin.receivepack", &touch),
        ("remote.origin.uploadpack", &touch),
        ("remote.origin.vcs", &touch),
        ("remote.origin.mirror", "true"),
        ("push.gpgSign", "true"),
        ("gpg.program", &touch),
        ("push.followTags", "true"),
        ("push.pushOption", "x"),
        ("push.recurseSubmodules", "only"),
        ("protocol.ext.allow", "always"),
        (lead.as_str(), ADDRESS),
    ] {
        repository.git(&["-c", "core.hooksPath=/dev/null", "config", name, value]);
    }
    server.hub(&["-c", "core.hooksPath=/dev/null", "config", "core.alternateRefsCommand", &touch]);
    let output = server.apply();
    assert!(output.contains(REQUEST), "{output}");
    assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()));
    assert!(!trap.exists(), "a program ran: {output}");
    let heads = server.hub(&["for-each-ref", "--format=%(refname)"]);
    assert_eq!(heads, format!("refs/heads/main\nrefs/heads/{BRANCH}\n"), "nothing else is pushed");
    // Git itself does run them.
    let hub = repository.scene.path("hub.git");
    let plain = ["-c", "push.gpgSign=false", "-c", "push.pushOption=", "-c", "push.recurseSubmodules=no"];
    let push = ["push", "--no-verify", hub.to_str().unwrap(), "HEAD:refs/heads/other"];
    repository.output(&[&plain[..], &push].concat());
    assert!(trap.exists(), "a hook of the remote");
    fs::remove_file(&trap).unwrap();
    repository.output(&["config", "--unset", "remote.origin.vcs"]);
    repository.output(&["ls-remote", "origin"]);
    assert!(trap.exists(), "a program of the configuration");
}

#[test]
fn what_can_only_be_a_patch_is_not_pushed_and_uncommitted_work_stays() {
    let server = Server::tuned();
    let repository = &server.repository;
    fs::write(repository.path("notes.txt"), "staged\n").unwrap();
    repository.git(&["add", "notes.txt"]);
    fs::write(server.skill().join("mine.md"), "Not ready.\n").unwrap();
    let other = repository.scene.path("other");
    let other = other.to_str().unwrap();
    repository.git(&["worktree", "add", "--quiet", "-b", BRANCH, other]);
    let output = server.apply();
    assert!(
        output.contains("this is a patch, not a branch: branch skilltune/writer is checked out in "),
        "{output}"
    );
    assert!(server.pushed().is_none() && server.calls().is_empty(), "{:?}", server.calls());

    repository.git(&["worktree", "remove", "--force", other]);
    repository.git(&["branch", "-D", BRANCH]);
    let gpg = repository.program("gpg", "exit 1");
    repository.add_to_home(&format!("[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {gpg}\n"));
    let output = server.apply();
    assert!(output.contains("git could not sign the commit"), "{output}");
    assert!(server.pushed().is_none() && server.calls().is_empty(), "{:?}", server.calls());

    repository.add_to_home("[commit]\n\tgpgSign = false\n");
    assert!(server.apply().contains(REQUEST));
    let changed = server.hub(&["diff", "--name-only", "main", BRANCH]);
    assert_eq!(changed, ".claude/skills/writer/SKILL.md\n.claude/skills/writer/notes.md\n");
}

#[test]
fn a_skill_in_a_submodule_gets_its_pull_request_in_the_submodule() {
    let server = Server::new();
    let (repository, scene) = (&server.repository, &server.repository.scene);
    let outer = scene.path("outer");
    fs::create_dir(&outer).unwrap();
    let of_outer = |arguments: &[&str]| {
        let folder = outer.to_str().unwrap();
        repository.git(&[&["-C", folder, "-c", "protocol.file.allow=always"], arguments].concat())
    };
    of_outer(&["init", "--quiet", "--initial-branch=main"]);
    of_outer(&["submodule", "--quiet", "add", ADDRESS, "inner"]);
    of_outer(&["commit", "--quiet", "--message", "Add a module"]);
    let head = of_outer(&["rev-parse", "HEAD"]);
    let module = outer.join("inner").join(SKILL);
    let tune = ["tune", module.to_str().unwrap(), "write a page", "--yes", "--apply", "pr"];
    let ran = Ran::of(server.command(&tune).output().unwrap());
    assert!(ran.code == Some(0) && ran.stdout.contains(REQUEST), "{ran:?}");
    assert_eq!(server.pushed().as_deref(), Some(of_outer(&["-C", "inner", "rev-parse", BRANCH]).trim()));
    assert_eq!(of_outer(&["rev-parse", "HEAD"]), head);
    assert_eq!(of_outer(&["status", "--porcelain", "--untracked-files=no"]), "");
}

/// Imitates a server behind ssh: the last argument is the command to run there.
const SSH: &str = r#"here=$(dirname "$0")
echo "$*" >> "$here/ssh-calls"
for last do :; done
cd "$here/served" && exec sh -c "$last""#;

#[test]
fn a_server_is_reached_by_the_persons_own_ssh_without_questions() {
    let server = Server::tuned();
    let (repository, scene) = (&server.repository, &server.repository.scene);
    let trap = scene.path("trap");
    let touch = repository.program("touch", &format!("touch {}; exit 1", trap.display()));
    fs::create_dir_all(scene.path("served/acme")).unwrap();
    std::os::unix::fs::symlink(scene.path("hub.git"), scene.path("served/acme/skills.git")).unwrap();
    let ssh = repository.program("own-ssh", SSH);
    repository.add_to_home(&format!("[core]\n\tsshCommand = {ssh}\n[ssh]\n\tvariant = ssh\n"));
    repository.git(&["config", "core.sshCommand", &touch]);
    repository.git(&["remote", "set-url", "origin", "git@github.com:acme/skills.git"]);
    let output = server.apply();
    assert!(output.contains(REQUEST), "{output}");
    assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()));
    let calls = fs::read_to_string(scene.path("ssh-calls")).unwrap();
    assert!(
        calls.lines().count() == 2 && calls.lines().all(|call| call.contains("BatchMode=yes")),
        "{calls}"
    );
    assert!(!trap.exists(), "the repository's own program ran: {output}");
    repository.output(&["ls-remote", "origin"]);
    assert!(trap.exists(), "git itself runs it");
}

#[test]
fn gh_gets_what_it_needs_of_the_environment_and_no_repository() {
    let server = Server::tuned();
    let mut command = server.command(&["apply", "--as", "pr"]);
    command
        .env("GH_TOKEN", "a-token")
        .env("GH_REPO", "evil/evil")
        .env("GH_DEBUG", "api")
        .env("EDITOR", "evil");
    assert_eq!(Ran::of(command.output().unwrap()).code, Some(0));
    let env = fs::read_to_string(server.file("env")).unwrap();
    assert!(env.contains("GH_TOKEN=a-token\n") && env.contains("GH_PROMPT_DISABLED=1\n"), "{env}");
    assert!(!env.contains("evil") && !env.contains("GH_DEBUG") && !env.contains("GIT_DIR="), "{env}");
    let folders = fs::read_to_string(server.file("folders")).unwrap();
    let project = server.repository.path("");
    assert!(folders.lines().all(|folder| !Path::new(folder).starts_with(&project)), "{folders}");
}

#[test]
fn what_gh_says_of_a_key_is_told_without_it() {
    let server = Server::tuned();
    let likely = ["ghp", "_", &"q7Rt2Xw9Kb4Zm1Vc8Ln5".repeat(2)[..36]].concat();
    fs::write(server.file("fails"), format!("not logged in with my-own-token and {likely}\n")).unwrap();
    let mut command = server.command(&["apply", "--as", "pr"]);
    let ran = Ran::of(command.env("GH_TOKEN", "my-own-token").output().unwrap());
    assert!(ran.stderr.contains("not logged in with [hidden] and [hidden]"), "{ran:?}");
}

#[test]
fn a_file_of_git_lfs_is_not_pushed_without_its_content() {
    let repository = Repository::uncommitted();
    repository.add_to_home("[filter \"lfs\"]\n\tclean = tr a-z A-Z\n\tsmudge = cat\n\trequired = true\n");
    fs::write(repository.path(".gitattributes"), "*.md filter=lfs\n").unwrap();
    repository.commit("Add the skill");
    let server = Server::of(repository);
    server.repository.tuned();
    let output = server.apply();
    assert!(output.contains("SKILL.md is stored with Git LFS, which skilltune does not push"), "{output}");
    assert!(server.pushed().is_none() && server.changes() == 0);
    assert!(server.skill().is_dir());
}

#[test]
fn a_shallow_clone_pushes_what_is_new() {
    let server = Server::new();
    server.go_on("other.txt");
    server.push_head();
    let repository = &server.repository;
    fs::remove_dir_all(repository.path(".git")).unwrap();
    let hub = format!("file://{}", repository.scene.path("hub.git").display());
    repository.git(&["-C", "..", "clone", "--quiet", "--depth=1", "--no-checkout", &hub, "clone"]);
    fs::rename(repository.scene.path("clone/.git"), repository.path(".git")).unwrap();
    repository.git(&["reset", "--quiet"]);
    repository.git(&["remote", "set-url", "origin", ADDRESS]);
    repository.tuned();
    assert!(server.apply().contains(REQUEST));
    assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()));
}

#[test]
fn a_run_killed_while_it_makes_a_pull_request_is_resumed_and_makes_one() {
    let tune = [&TUNE[..], &["--apply", "pr"]].concat();
    let first = Server::new();
    let steps = Steps::of(&first.repository.scene, first.command(&tune));
    assert_eq!(first.changes(), 1);
    let mut visited = 0;
    for at in steps.visited_since("proposal: before the branch is set", 12) {
        let server = Server::new();
        let before = server.repository.users();
        assert!(crashed(server.command(&tune), at), "point {at} is not reached");
        let mut resume = server.command(&["resume", "--yes", "--format", "json"]);
        let ran = Ran::of(resume.output().unwrap());
        let json = ran.json();
        assert_eq!((ran.code, &json["outcome"]), (Some(0), &json!("proposed")), "{at}: {ran:?}");
        assert_eq!(json["proposal"]["pull_request"], json!(REQUEST), "{at}: {ran:?}");
        assert_eq!(json["proposal"]["remote"], json!("origin"), "{at}: {ran:?}");
        assert_eq!(server.repository.users(), before, "point {at}");
        assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()), "point {at}");
        assert_eq!(server.changes(), 1, "point {at}: {:?}", server.calls());
        let report =
            fs::read_to_string(server.repository.scene.run_folder().join("final-report.md")).unwrap();
        assert!(report.contains("is the pull request ") && report.contains("/pull/1"), "{report}");
        visited += 1;
    }
    eprintln!("crash test: a pull request of a run: aborted at {visited} durable steps");
    assert!(visited > 7, "{visited}");
}

#[test]
fn an_apply_killed_while_it_makes_a_pull_request_is_finished_by_the_next() {
    let server = Server::tuned();
    let command = || server.command(&["apply", "--as", "pr"]);
    let steps = Steps::of(&server.repository.scene, command());
    let mut visited = 0;
    for at in steps.visited_since("proposal: before the branch is set", usize::MAX) {
        server.repository.git(&["branch", "-D", BRANCH]);
        server.hub(&["branch", "-D", BRANCH]);
        server.list("all", &json!([]));
        server.list("open", &json!([]));
        let before = server.changes();
        // If the journal already has it, there are fewer steps.
        visited += u32::from(crashed(command(), at));
        assert!(server.apply().contains(REQUEST), "point {at}");
        assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()), "point {at}");
        assert_eq!(server.changes(), before + 1, "point {at}: {:?}", server.calls());
    }
    assert!(visited >= 6, "{visited}");
}
