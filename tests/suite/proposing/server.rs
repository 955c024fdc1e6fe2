//! A repository with a remote, and a `gh` that imitates the server of both.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::repository::{BRANCH, Repository, SKILL};
use crate::scene::Ran;

pub(crate) const ADDRESS: &str = "https://github.com/acme/skills.git";
pub(crate) const REQUEST: &str = "https://github.com/acme/skills/pull/1";

/// A repository whose user configuration redirects the address of the remote to a folder.
pub(crate) struct Server {
    pub(crate) repository: Repository,
}

/// Stores its requests, and one pull request in the form in which `gh pr list` prints it.
const GH: &str = r#"here=$(dirname "$0")/../gh
echo "$*" >> "$here/calls"
pwd >> "$here/folders"
env >> "$here/env"
if [ -e "$here/fails" ]; then cat "$here/fails" >&2; exit 1; fi
case "$*" in
"pr list "*"--state all"*) cat "$here/all.json" ;;
"pr list "*) cat "$here/open.json" ;;
"pr view "*) sed 's/.*\("state":"[A-Z]*"\).*/{\1}/' "$here/all.json" ;;
"api repos/acme/skills/pulls"*)
    cat > "$here/request"
    body=$(sed 's/.*\("body":"\([^"\\]\|\\.\)*"\).*/\1/' "$here/request")
    one='{"number":1,"url":"https://github.com/acme/skills/pull/1","state":"OPEN","headRefName":"skilltune/writer"'
    printf '[%s,"isCrossRepository":false,%s}]' "$one" "$body" > "$here/all.json"
    cp "$here/all.json" "$here/open.json"
    echo '{"number":1,"html_url":"https://github.com/acme/skills/pull/1"}' ;;
"api repos/acme/skills "*) echo '{"default_branch":"trunk"}' ;;
*) exit 2 ;;
esac"#;

impl Server {
    /// Commits and pushes the skill.
    pub(crate) fn new() -> Self {
        Self::of(Repository::new())
    }

    pub(crate) fn of(repository: Repository) -> Self {
        let scene = &repository.scene;
        for folder in ["bin", "gh", "hub.git"] {
            fs::create_dir(scene.path(folder)).unwrap();
        }
        symlink(which("git"), scene.path("bin/git")).unwrap();
        repository.program("bin/gh", GH);
        let new = Self { repository };
        new.list("all", &json!([]));
        new.list("open", &json!([]));
        new.hub(&["init", "--quiet", "--bare", "--initial-branch=main"]);
        let hub = new.repository.scene.path("hub.git");
        let lead = format!("[url \"{}\"]\n\tinsteadOf = {ADDRESS}\n", hub.display());
        new.repository.add_to_home(&lead);
        new.repository.git(&["remote", "add", "origin", ADDRESS]);
        new.push_head();
        new
    }

    /// Like `new`, with a search whose champion was not applied.
    pub(crate) fn tuned() -> Self {
        Self::of(Repository::with_run())
    }

    pub(crate) fn push_head(&self) {
        self.repository.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    }

    pub(crate) fn hub(&self, arguments: &[&str]) -> String {
        let hub = self.repository.scene.path("hub.git");
        self.repository.git(&[&["-C", hub.to_str().unwrap()], arguments].concat())
    }

    /// Returns the commit of the branch at the remote.
    pub(crate) fn pushed(&self) -> Option<String> {
        let found = self.hub(&["for-each-ref", "--format=%(objectname)", &format!("refs/heads/{BRANCH}")]);
        Some(found.trim().to_owned()).filter(|found| !found.is_empty())
    }

    pub(crate) fn local(&self) -> String {
        self.repository.git(&["rev-parse", BRANCH]).trim().to_owned()
    }

    pub(crate) fn list(&self, which: &str, requests: &Value) {
        fs::write(self.file(&format!("{which}.json")), requests.to_string()).unwrap();
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.repository.scene.path("gh").join(name)
    }

    /// Returns the calls of `gh` so far.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.file("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    /// Returns the last pull request that `gh` had to create or change.
    pub(crate) fn request(&self) -> Value {
        serde_json::from_slice(&fs::read(self.file("request")).unwrap()).unwrap()
    }

    pub(crate) fn changes(&self) -> usize {
        self.calls().iter().filter(|call| call.contains(" --method ")).count()
    }

    /// Returns a command with only git and `gh` on the PATH.
    pub(crate) fn command(&self, arguments: &[&str]) -> std::process::Command {
        let scene = &self.repository.scene;
        let mut command = scene.command(arguments);
        command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
        command
    }

    /// Fails unless a commit was made and the user's state is unchanged.
    pub(crate) fn apply(&self) -> String {
        self.applied(self.command(&["apply", "--as", "pr"]))
    }

    pub(crate) fn apply_without_gh(&self) -> String {
        self.applied(self.command_without_gh(&["apply", "--as", "pr"]))
    }

    /// Returns a command with only git on the PATH.
    pub(crate) fn command_without_gh(&self, arguments: &[&str]) -> std::process::Command {
        let scene = &self.repository.scene;
        fs::create_dir(scene.path("git")).unwrap();
        symlink(which("git"), scene.path("git/git")).unwrap();
        let mut command = scene.command(arguments);
        command.env("PATH", scene.path("git"));
        command
    }

    fn applied(&self, mut command: std::process::Command) -> String {
        let before = self.repository.users();
        let ran = Ran::of(command.output().unwrap());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
        assert_eq!(self.repository.users(), before, "{ran:?}");
        ran.stderr
    }

    /// Adds a person's commit on HEAD.
    pub(crate) fn go_on(&self, file: &str) {
        fs::write(self.repository.path(file), "other\n").unwrap();
        self.repository.commit("Another file");
    }

    pub(crate) fn skill(&self) -> PathBuf {
        self.repository.path(SKILL)
    }
}

fn which(name: &str) -> PathBuf {
    let folders = ["/usr/bin", "/bin"];
    folders
        .iter()
        .map(|folder| PathBuf::from(folder).join(name))
        .find(|path| path.exists())
        .expect("it is here")
}
