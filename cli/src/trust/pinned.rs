//! The files that trust is bound to: a settings file, a suite or rules, and the project files that its commands name.
//!
//! A command is trusted with the script that it runs. Files that such a script loads are not checked.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skilltune_orchestrator::disk;
use skilltune_phases::base::id::Digest;

use crate::terminal::environment::Environment;
use crate::trust::TrustError;
use crate::trust::file::TextFile;

/// A larger script is not trusted.
const LARGEST: u64 = 64 << 20;

/// A file and its current digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pinned {
    pub path: PathBuf,
    pub digest: Digest,
}

/// The files of a project that the commands of one of its files name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// The settings, suite or rules with these commands.
    pub named_in: PathBuf,
    /// The project.
    pub root: PathBuf,
    pub files: Vec<Pinned>,
}

/// The folder where a command starts, and which of its files someone else could change.
#[derive(Debug)]
pub struct Ground {
    /// The start of relative paths.
    pub base: PathBuf,
    /// The project, as a real path.
    pub root: PathBuf,
    /// The paths that the command itself writes.
    pub writes: Vec<PathBuf>,
}

impl From<&TextFile> for Pinned {
    fn from(file: &TextFile) -> Self {
        Self { path: file.path.clone(), digest: file.digest }
    }
}

/// Returns all files in order, without repetition.
pub fn each_once(
    files: impl Iterator<Item = Result<Vec<Pinned>, TrustError>>,
) -> Result<Vec<Pinned>, TrustError> {
    let mut all = files.collect::<Result<Vec<_>, _>>()?.concat();
    all.sort();
    all.dedup();
    Ok(all)
}

/// Returns the programs of some commands, without repetition.
pub fn programs<'a>(commands: impl Iterator<Item = &'a Vec<String>>) -> Vec<String> {
    commands.filter_map(|command| command.first()).collect::<BTreeSet<_>>().into_iter().cloned().collect()
}

/// Returns the parts of an argument that can be a path: all of it, and what follows its first `=`.
pub fn file_names(argument: &str) -> impl Iterator<Item = &str> {
    let value = argument.split_once('=').map(|(_, value)| value);
    std::iter::once(argument).chain(value).filter(|name| !name.is_empty())
}

/// Returns the project files that the commands of a file name.
pub fn scripts<'a>(
    file: &TextFile,
    commands: impl Iterator<Item = &'a Vec<String>>,
    env: &Environment,
) -> Result<Vec<Pinned>, TrustError> {
    let base = file.path.parent().expect("a file is in a folder").to_owned();
    let ground = Ground { base, root: root_of(file, env), writes: Vec::new() };
    each_once(commands.map(|command| ground.named_by(command)))
}

/// Returns the project of a file, as a real path.
fn root_of(file: &TextFile, env: &Environment) -> PathBuf {
    let base = file.path.parent().expect("a file is in a folder");
    let root = env.project_of(&file.path).canonicalize().ok();
    root.filter(|root| base.starts_with(root)).unwrap_or_else(|| base.to_owned())
}

impl Pins {
    pub fn of(file: &TextFile, files: Vec<Pinned>, env: &Environment) -> Self {
        Self { named_in: file.path.clone(), root: root_of(file, env), files }
    }
}

/// Returns the digest of a project file, or of the target path of a symlink that leads out of the project; `None` if
/// there is no such file.
pub fn digest_of(path: &Path, root: &Path) -> Result<Option<Digest>, TrustError> {
    let Ok(real) = path.canonicalize() else { return Ok(None) };
    // Reading a pipe from a repository would block forever.
    if !real.is_file() {
        return Ok(None);
    }
    if real.starts_with(root) {
        let unreadable = |source: io::Error| TrustError::Unreadable { path: real.clone(), source };
        return Ok(Some(Digest::of(&disk::read(&real, LARGEST).map_err(unreadable)?)));
    }
    let leads_out = path.starts_with(root);
    Ok(leads_out.then(|| Digest::of_parts([b"a link to".as_slice(), real.as_os_str().as_encoded_bytes()])))
}

impl Ground {
    /// Returns the ground of a command in the settings file of this folder.
    pub fn at(folder: &Path, writes: Vec<PathBuf>) -> Self {
        Self { base: folder.to_owned(), root: folder.to_owned(), writes }
    }

    pub fn named_by(&self, command: &[String]) -> Result<Vec<Pinned>, TrustError> {
        let words = command.iter().enumerate();
        let named = words.flat_map(|(at, word)| file_names(word).map(move |name| (at, name)));
        each_once(named.map(|(at, name)| Ok(self.pin(&self.base.join(name), at == 0)?.into_iter().collect())))
    }

    /// Returns whether an argument names a file that the command does not write itself.
    pub fn has(&self, path: &Path) -> bool {
        let real = path.canonicalize().ok().filter(|real| real.is_file());
        real.is_some_and(|real| !self.writes.iter().any(|place| real.starts_with(place)))
    }

    /// Pins a project file, unless the command writes it itself.
    fn pin(&self, path: &Path, is_program: bool) -> Result<Option<Pinned>, TrustError> {
        if !is_program && !self.has(path) {
            return Ok(None);
        }
        let path: PathBuf = path.components().collect();
        Ok(digest_of(&path, &self.root)?.map(|digest| Pinned { path, digest }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    struct Project {
        root: tempfile::TempDir,
    }

    impl Project {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("project/tools")).unwrap();
            let project = Self { root };
            project.write("tools/agent.py", "print(1)");
            project
        }

        fn path(&self, below: &str) -> PathBuf {
            self.root.path().canonicalize().unwrap().join("project").join(below)
        }

        fn write(&self, below: &str, text: &str) {
            fs::write(self.path(below), text).unwrap();
        }

        fn ground(&self, writes: &[&str]) -> Ground {
            let writes = writes.iter().map(|place| self.path(place)).collect();
            Ground { base: self.path(""), root: self.path(""), writes }
        }

        fn named(&self, writes: &[&str], command: &[&str]) -> Vec<Pinned> {
            let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
            self.ground(writes).named_by(&command).unwrap()
        }

        fn paths(&self, writes: &[&str], command: &[&str]) -> Vec<String> {
            let root = self.path("");
            let pinned = self.named(writes, command).into_iter();
            pinned.map(|file| file.path.strip_prefix(&root).unwrap().display().to_string()).collect()
        }
    }

    #[test]
    fn the_program_the_script_and_values_of_options_are_found_and_nothing_that_is_no_file() {
        let project = Project::new();
        project.write("run", "");
        project.write("config.toml", "");
        let absolute = project.path("tools/agent.py").display().to_string();
        let named = |command: &[&str]| project.paths(&[], command);
        assert_eq!(named(&["./run", "tools", "missing", "", "=", "{model}"]), ["run"]);
        assert_eq!(named(&["python3", "-u", "tools/agent.py", "tools/agent.py"]), ["tools/agent.py"]);
        assert_eq!(named(&["python3", &absolute]), ["tools/agent.py"]);
        assert_eq!(named(&["sh", "--config=config.toml"]), ["config.toml"]);
        assert_eq!(named(&["/bin/sh", "../project/run"]).len(), 1);
        assert_eq!(named(&["/bin/sh", "/etc/passwd", "../../x"]), [""; 0]);
    }

    #[test]
    fn what_the_agent_writes_is_its_own_and_its_program_is_not() {
        let project = Project::new();
        project.write("tools/log", "");
        let command = ["tools/agent.py", "--log=tools/log"];
        assert_eq!(project.paths(&[], &command), ["tools/agent.py", "tools/log"]);
        assert_eq!(project.paths(&["tools/log"], &command), ["tools/agent.py"]);
        assert_eq!(project.paths(&["tools"], &command), ["tools/agent.py"], "who runs is always looked at");
    }

    #[test]
    fn another_byte_and_another_way_of_a_link_are_another_file() {
        let project = Project::new();
        let digest = |name: &str| project.named(&[], &["python3", name])[0].digest;
        let before = digest("tools/agent.py");
        project.write("tools/agent.py", "print(2)");
        assert_ne!(digest("tools/agent.py"), before);
        symlink(project.path("tools/agent.py"), project.path("inside")).unwrap();
        let inside = digest("inside");
        project.write("tools/agent.py", "print(3)");
        assert_ne!(digest("inside"), inside, "the file that it leads to counts");
        for name in ["a", "b"] {
            fs::write(project.root.path().join(name), "the same").unwrap();
        }
        let lead = |name: &str| {
            let _ = fs::remove_file(project.path("out"));
            symlink(project.root.path().join(name), project.path("out")).unwrap();
            digest("out")
        };
        let (first, second) = (lead("a"), lead("b"));
        assert_ne!(first, second, "a link that leads out is where it leads");
        fs::write(project.root.path().join("b"), "another").unwrap();
        assert_eq!(digest("out"), second, "a file outside is the user's own");
    }

    #[test]
    fn a_pipe_is_never_waited_for() {
        let project = Project::new();
        let made = std::process::Command::new("mkfifo").arg(project.path("pipe")).status().unwrap();
        assert!(made.success());
        assert_eq!(project.paths(&[], &["sh", "pipe"]), [""; 0]);
    }
}
