//! A scene whose project is a repository, and everything in it that belongs to the user.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;

use crate::finished::Finished;
use crate::scene::{Listing, Ran, Scene, listing};

pub(crate) const SKILL: &str = ".claude/skills/writer";
pub(crate) const BRANCH: &str = "skilltune/writer";

/// The run whose journal is the same each time.
pub(crate) const TUNE: [&str; 10] =
    ["tune", "writer", "write a page", "--yes", "--format", "json", "--jobs", "1", "--seed", "7"];

pub(crate) struct Repository {
    pub(crate) scene: Scene,
}

/// The state that must not change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Users {
    status: String,
    index: Option<Vec<u8>>,
    stash: String,
    head: Vec<u8>,
    refs: String,
    hooks: Listing,
    config: Vec<u8>,
    folder: Listing,
}

impl Repository {
    /// Commits the skill in a repository with a configured user.
    pub(crate) fn new() -> Self {
        let new = Self::uncommitted();
        new.commit("Add the skill");
        new
    }

    /// Like `new`, with a search whose champion was not applied.
    pub(crate) fn with_run() -> Self {
        static TUNED: Finished = Finished::new(|| {
            let repository = Repository::new();
            repository.tuned();
            repository.scene
        });
        let repository = Self { scene: TUNED.scene() };
        // The index has times and inode numbers of files, and restored files have others.
        repository.git(&["update-index", "-q", "--refresh"]);
        repository
    }

    pub(crate) fn uncommitted() -> Self {
        Self::of(Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } })))
    }

    pub(crate) fn of(scene: Scene) -> Self {
        fs::remove_dir(scene.path("project/.git")).unwrap();
        let new = Self { scene };
        new.write_home("[user]\n\tname = A Person\n\temail = person@localhost\n");
        new.git(&["init", "--quiet", "--initial-branch=main"]);
        new
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.scene.path("project").join(below)
    }

    pub(crate) fn write_home(&self, config: &str) {
        fs::write(self.scene.path("home/.gitconfig"), config).unwrap();
    }

    pub(crate) fn add_to_home(&self, config: &str) {
        let own = fs::read_to_string(self.scene.path("home/.gitconfig")).unwrap();
        self.write_home(&[&own, config].concat());
    }

    pub(crate) fn output(&self, arguments: &[&str]) -> Output {
        Command::new("git")
            .args(arguments)
            .current_dir(self.path(""))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.scene.path("home"))
            .env("GIT_OPTIONAL_LOCKS", "0")
            .output()
            .expect("git is here")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let ran = self.output(arguments);
        assert!(ran.status.success(), "{arguments:?}: {ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Runs a search whose champion is not applied, and returns the id of the run.
    pub(crate) fn tuned(&self) -> String {
        self.scene.tune("writer", &["--apply", "never"]);
        self.scene.run_id()
    }

    pub(crate) fn apply_as(&self, form: &str) -> Ran {
        self.scene.run(&["apply", "--as", form])
    }

    /// Returns the user's state, without our branches.
    pub(crate) fn users(&self) -> Users {
        self.users_of(SKILL)
    }

    pub(crate) fn users_of(&self, folder: &str) -> Users {
        let folder = self.path(folder);
        let dir = self.git(&["rev-parse", "--absolute-git-dir"]);
        let dir = Path::new(dir.trim_end());
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let own = refs.lines().filter(|line| !line.starts_with("refs/heads/skilltune/"));
        Users {
            index: fs::read(dir.join("index")).ok(),
            status: self.git(&["status", "--porcelain"]),
            stash: self.git(&["stash", "list"]),
            head: fs::read(dir.join("HEAD")).unwrap(),
            refs: own.collect::<Vec<_>>().join("\n"),
            hooks: listing(&dir.join("hooks")),
            config: fs::read(dir.join("config")).unwrap(),
            folder: if folder.is_dir() { listing(&folder) } else { Vec::new() },
        }
    }

    /// Returns the page of the skill in a revision.
    pub(crate) fn page(&self, revision: &str) -> String {
        self.git(&["show", &format!("{revision}:{SKILL}/SKILL.md")])
    }

    pub(crate) fn has_branch(&self) -> bool {
        self.output(&["rev-parse", "--verify", "--quiet", BRANCH]).status.success()
    }

    /// Returns the patch of the run.
    pub(crate) fn patch(&self) -> Option<PathBuf> {
        let files = fs::read_dir(self.scene.run_folder()).unwrap().map(|file| file.unwrap().path());
        files.into_iter().find(|path| path.extension().is_some_and(|end| end == "patch"))
    }

    /// Writes a program into the scene.
    pub(crate) fn program(&self, name: &str, script: &str) -> String {
        let path = self.scene.path(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}
