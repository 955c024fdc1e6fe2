//! Common tools for copies of a folder, used as in their manuals, without the user's settings.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    run(Command::new("cp").arg("-a").args([from, to]))
}

/// A repository outside the work tree, so that the skill does not contain it.
pub(crate) struct Git<'a> {
    root: &'a Path,
    repository: PathBuf,
}

impl<'a> Git<'a> {
    pub(crate) fn new(root: &'a Path, repository: PathBuf) -> Option<Self> {
        is_there("git").then_some(Self { root, repository })
    }

    pub(crate) fn init(&self) -> Result<()> {
        run(Command::new("git").args(["init", "--quiet", "--bare"]).arg(&self.repository))
    }

    pub(crate) fn commit(&self) -> Result<()> {
        run(self.git().args(["add", "--all"]))?;
        run(self.git().args(["commit", "--quiet", "--allow-empty", "--message", "a capture"]))
    }

    /// Restores the state before the last commit.
    pub(crate) fn restore(&self) -> Result<()> {
        run(self.git().args(["reset", "--quiet", "--hard", "HEAD~1"]))?;
        run(self.git().args(["clean", "--quiet", "-ffdx"]))
    }

    fn git(&self) -> Command {
        let mut git = Command::new("git");
        git.current_dir(self.root).env("GIT_DIR", &self.repository).env("GIT_WORK_TREE", self.root);
        plain(&mut git);
        git
    }
}

/// Runs git in a project that is its own repository.
pub(crate) fn project_git(root: &Path, arguments: &[&str]) -> Result<()> {
    let mut git = Command::new("git");
    git.current_dir(root);
    plain(&mut git);
    run(git.args(arguments))
}

fn plain(git: &mut Command) {
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    git.args(["-c", "user.name=a bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]);
}

pub(crate) struct Restic<'a> {
    root: &'a Path,
    repository: PathBuf,
}

impl<'a> Restic<'a> {
    pub(crate) fn new(root: &'a Path, repository: PathBuf) -> Option<Self> {
        is_there("restic").then_some(Self { root, repository })
    }

    pub(crate) fn init(&self) -> Result<()> {
        fs::create_dir(&self.repository)?;
        run(self.restic().arg("init"))
    }

    pub(crate) fn backup(&self) -> Result<()> {
        run(self.restic().arg("backup").arg(self.root))
    }

    fn restic(&self) -> Command {
        let mut restic = Command::new("restic");
        restic.args(["--quiet", "--repo"]).arg(self.repository.join("repository"));
        restic.arg("--cache-dir").arg(self.repository.join("cache"));
        restic.env("RESTIC_PASSWORD", "a bench");
        restic
    }
}

fn is_there(program: &str) -> bool {
    let mut ask = Command::new(program);
    ask.arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into())
}
