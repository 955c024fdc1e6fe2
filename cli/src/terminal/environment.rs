//! The environment: folders, variables and terminal, read once in `main` and passed down.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use skilltune_orchestrator::snapshot::Indexes;

/// The name of a settings file, in a project and under the user's configuration.
pub const SETTINGS_FILE: &str = "skilltune.toml";

#[derive(Clone, Debug)]
pub struct Environment {
    pub cwd: PathBuf,
    pub home: Option<PathBuf>,
    /// The folder of the user's settings.
    pub config: PathBuf,
    /// The folder of locks, pending promotions and trust.
    pub state: PathBuf,
    /// The folder of the workspaces of trials, and of the indexes of captured folders.
    pub cache: PathBuf,
    pub vars: BTreeMap<String, String>,
    pub terminal: Terminal,
    /// The real path of `--project`.
    pub project: Option<PathBuf>,
}

/// Which streams are terminals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    pub stdin: bool,
    pub stdout: bool,
    pub stderr: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum FoldersError {
    #[error("neither {0} nor HOME is set to an absolute path")]
    Homeless(&'static str),
    #[error("cannot find the current folder")]
    Cwd(#[source] io::Error),
    #[error("cannot use {} as the project folder", .path.display())]
    Project { path: PathBuf, source: io::Error },
}

impl Environment {
    pub fn read(project: Option<&Path>) -> Result<Self, FoldersError> {
        let cwd = std::env::current_dir().map_err(FoldersError::Cwd)?;
        // A value that is not UTF-8 cannot be passed on by name, and is not one of our settings.
        let env = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let terminal = Terminal {
            stdin: io::stdin().is_terminal(),
            stdout: io::stdout().is_terminal(),
            stderr: io::stderr().is_terminal(),
        };
        Self { terminal, ..Self::new(cwd, env.collect())? }.within(project)
    }

    fn new(cwd: PathBuf, vars: BTreeMap<String, String>) -> Result<Self, FoldersError> {
        let absolute = |name| vars.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let ours = |variable, below_home| {
            let base = absolute(variable).or_else(|| Some(home.as_ref()?.join(below_home)));
            base.map(|base| base.join("skilltune")).ok_or(FoldersError::Homeless(variable))
        };
        Ok(Self {
            config: ours("XDG_CONFIG_HOME", ".config")?,
            state: ours("XDG_STATE_HOME", ".local/state")?,
            cache: ours("XDG_CACHE_HOME", ".cache")?,
            cwd,
            home,
            vars,
            terminal: Terminal::default(),
            project: None,
        })
    }

    /// Returns the environment of a program that is started there with these variables.
    pub fn elsewhere(
        cwd: PathBuf,
        env: BTreeMap<String, String>,
        project: Option<&Path>,
    ) -> Result<Self, FoldersError> {
        Self::new(cwd, env)?.within(project)
    }

    fn within(self, project: Option<&Path>) -> Result<Self, FoldersError> {
        let Some(path) = project else { return Ok(self) };
        let refused = |source| FoldersError::Project { path: path.to_owned(), source };
        let real = self.cwd.join(path).canonicalize().map_err(refused)?;
        if !real.is_dir() {
            return Err(refused(io::ErrorKind::NotADirectory.into()));
        }
        Ok(Self { project: Some(real), ..self })
    }

    /// Returns the project of a target: `--project`, else the nearest folder above it with settings or `.git`, else the
    /// project of the current folder.
    ///
    /// A marker in the target itself does not make it a project: a skill with its own repository is one of many, and we
    /// write none of our files into it.
    pub fn project_of(&self, target: &Path) -> PathBuf {
        let above = || nearest_marked(target.parent()?);
        self.project.clone().or_else(above).unwrap_or_else(|| self.project_here())
    }

    /// Returns the indexes of captured folders, which save reading them again.
    pub fn indexes(&self) -> Indexes {
        Indexes::at(&self.cache.join("indexes"))
    }

    /// Returns the absolute folders of PATH, so that no program is run just because it is in a repository.
    pub fn search_path(&self) -> OsString {
        let path = self.vars.get("PATH").map_or("", String::as_str);
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        std::env::join_paths(folders).unwrap_or_default()
    }

    /// Returns the project for commands without a target.
    pub fn project_here(&self) -> PathBuf {
        let found = || nearest_marked(&self.cwd);
        self.project.clone().or_else(found).unwrap_or_else(|| self.cwd.clone())
    }

    /// Returns whether a real path is the home, or a folder above it: it holds all files of a person.
    pub fn holds_everything(&self, real: &Path) -> bool {
        let home = self.home.as_ref().and_then(|home| home.canonicalize().ok());
        real.parent().is_none() || home.is_some_and(|home| home.starts_with(real))
    }

    /// Returns whether there is a person to ask.
    pub fn is_interactive(&self) -> bool {
        self.terminal.stdin && self.terminal.stderr && !self.is_ci() && !self.is_dumb()
    }

    pub fn is_ci(&self) -> bool {
        self.vars.get("CI").is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
    }

    pub fn is_dumb(&self) -> bool {
        self.vars.get("TERM").is_some_and(|value| value == "dumb")
    }

    /// Returns whether the locale can show all characters. The first of its variables that is set decides.
    pub fn is_utf8(&self) -> bool {
        let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(|name| self.is_set(name));
        let charset = set.map(|name| self.vars[name].to_lowercase().replace('-', ""));
        charset.is_some_and(|charset| charset.ends_with("utf8"))
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.vars.get(name).is_some_and(|value| !value.is_empty())
    }
}

/// Returns the nearest folder with settings or `.git`: this one or one above it.
pub fn nearest_marked(folder: &Path) -> Option<PathBuf> {
    let marked = |folder: &&Path| folder.join(SETTINGS_FILE).exists() || folder.join(".git").exists();
    folder.ancestors().find(marked).map(Path::to_owned)
}

#[cfg(test)]
impl Environment {
    /// Returns an environment below one folder, without a terminal.
    pub fn fake(root: impl AsRef<Path>, vars: &[(&str, &str)]) -> Self {
        let root = root.as_ref();
        let home = root.join("home").to_str().unwrap().to_owned();
        let mut env =
            BTreeMap::from([("HOME".to_owned(), home), ("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        env.extend(vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Self::new(root.to_owned(), env).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::complaint::{Complaint, ErrorKind};

    #[test]
    fn folders_follow_the_environment_and_fall_back_to_home() {
        let env = Environment::fake("/w", &[("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "relative")]);
        assert_eq!(env.config, Path::new("/w/home/.config/skilltune"));
        assert_eq!(env.state, Path::new("/s/skilltune"));
        assert_eq!(env.cache, Path::new("/w/home/.cache/skilltune"), "a relative path is to be ignored");
    }

    #[test]
    fn without_a_home_the_missing_variable_is_named() {
        let error = Environment::new("/".into(), BTreeMap::new()).unwrap_err();
        assert_eq!(error.to_string(), "neither XDG_CONFIG_HOME nor HOME is set to an absolute path");
        assert_eq!(Complaint::from(error).kind, ErrorKind::Input);
    }

    #[test]
    fn the_project_is_the_nearest_marked_ancestor_of_the_target() {
        let root = tempfile::tempdir().unwrap();
        let skill = root.path().join("repo/sub/skills/a");
        std::fs::create_dir_all(&skill).unwrap();
        std::fs::create_dir(root.path().join("repo/.git")).unwrap();
        let env = Environment::fake("/elsewhere", &[]);
        assert_eq!(env.project_of(&skill), root.path().join("repo"));
        std::fs::write(root.path().join("repo/sub/skilltune.toml"), "").unwrap();
        assert_eq!(env.project_of(&skill), root.path().join("repo/sub"));
        assert_eq!(env.project_of(Path::new("/")), Path::new("/elsewhere"));
    }

    #[test]
    fn what_marks_a_target_itself_makes_no_project_of_it() {
        let root = tempfile::tempdir().unwrap();
        let skill = root.path().join("home/skills/a");
        std::fs::create_dir_all(skill.join(".git")).unwrap();
        std::fs::write(skill.join("skilltune.toml"), "").unwrap();
        let project = root.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let env = Environment::fake(project.join("sub"), &[]);
        assert_eq!(env.project_of(&skill), project, "nothing above it is marked: that of the current folder");
        std::fs::create_dir(root.path().join("home/.git")).unwrap();
        assert_eq!(env.project_of(&skill), root.path().join("home"), "a home under version control is one");
        let inside = Environment::fake(&skill, &[]);
        assert_eq!(inside.project_here(), skill, "whoever stands in it means it");
    }

    #[test]
    fn a_named_project_wins_and_must_be_a_folder() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("file"), "").unwrap();
        let env = || Environment::fake(root.path(), &[]);
        let named = env().within(Some(Path::new("."))).unwrap();
        assert_eq!(named.project_of(Path::new("/")), root.path().canonicalize().unwrap());
        for bad in ["missing", "file"] {
            let error = env().within(Some(Path::new(bad))).unwrap_err();
            assert_eq!(error.to_string(), format!("cannot use {bad} as the project folder"));
        }
    }

    #[test]
    fn the_first_variable_of_the_locale_decides_which_letters_there_are() {
        let shows = |vars: &[_]| Environment::fake("/w", vars).is_utf8();
        assert!(shows(&[("LANG", "de_AT.UTF-8")]));
        assert!(shows(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!shows(&[("LC_ALL", "C"), ("LANG", "C.UTF-8")]));
        assert!(!shows(&[]));
    }

    #[test]
    fn nobody_is_asked_in_a_pipeline_or_in_ci() {
        let all = Terminal { stdin: true, stdout: true, stderr: true };
        let asks =
            |terminal, vars: &[_]| Environment { terminal, ..Environment::fake("/w", vars) }.is_interactive();
        assert!(asks(all, &[]));
        assert!(asks(Terminal { stdout: false, ..all }, &[]), "data may go into a pipe");
        assert!(!asks(Terminal { stdin: false, ..all }, &[]));
        assert!(!asks(Terminal { stderr: false, ..all }, &[]));
        assert!(!asks(all, &[("CI", "1")]));
    }
}
