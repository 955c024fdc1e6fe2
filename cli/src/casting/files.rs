//! The files that a command of the settings names. The command starts in the workspace of a call, where a path from the
//! settings file would lead nowhere, so its arguments get full paths before it starts.

use std::path::{Component, Path, PathBuf};

use skilltune_orchestrator::agent::{AgentSettings, Wrap};

use crate::settings::agent_settings::AgentEntry;
use crate::settings::origin::Origin;
use crate::terminal::environment::Environment;
use crate::trust::pinned::{Ground, file_names};

/// Why skilltune does not pass the file of an argument to a command.
#[derive(Debug, thiserror::Error)]
pub enum BadArgument {
    #[error("its argument {name:?} leads through a symlink, {}", .link.display())]
    Link { name: String, link: PathBuf },
    #[error("its argument {name:?} leads out of the project, to {}", .file.display())]
    Outside { name: String, file: PathBuf },
    #[error("its argument {name:?} names {}, a path that skilltune cannot pass on", .file.display())]
    Unusable { name: String, file: PathBuf },
}

/// The hint for each of them.
pub const FULL_PATH: &str = "write the full path of the file that you mean";

/// Returns the settings of an agent, with full paths in its command.
pub fn of_agent(entry: &AgentEntry, env: &Environment) -> Result<AgentSettings, BadArgument> {
    let mut settings = entry.settings.clone();
    if let Some(ground) = ground(entry, env) {
        settings.command = resolved(&settings.command, &entry.origin, &ground)?;
    }
    Ok(settings)
}

/// Returns where relative paths in the command of an agent start; none without a settings file.
pub fn ground(entry: &AgentEntry, env: &Environment) -> Option<Ground> {
    let folder = entry.origin.file().and_then(Path::parent)?;
    let writes = entry.settings.writes.iter().flatten();
    let writes = writes.filter_map(|place| match place.strip_prefix("~/") {
        Some(below) => Some(env.home.as_ref()?.join(below)),
        None => Some(PathBuf::from(place)),
    });
    Some(Ground::at(folder, writes.collect()))
}

/// Returns a command with the full path of each file that its arguments name: the files that trust is bound to.
pub fn resolved(command: &[String], origin: &Origin, ground: &Ground) -> Result<Vec<String>, BadArgument> {
    let arguments = command.iter().skip(1).map(|argument| match named(argument, ground) {
        Some(name) => {
            let before = &argument[..argument.len() - name.len()];
            full(name, origin, ground).map(|path| format!("{before}{path}"))
        }
        None => Ok(argument.clone()),
    });
    command.iter().take(1).cloned().map(Ok).chain(arguments).collect()
}

/// Returns the relative path of a file in an argument, if it names one. A placeholder is filled in later.
fn named<'a>(argument: &'a str, ground: &Ground) -> Option<&'a str> {
    let is_path = |name: &&str| Path::new(name).is_relative() && !has_placeholder(name);
    file_names(argument).filter(is_path).find(|name| ground.has(&ground.base.join(name)))
}

/// Returns the full path of a file. The author of a project must not choose a file that the path does not show.
fn full(name: &str, origin: &Origin, ground: &Ground) -> Result<String, BadArgument> {
    if origin.is_projects() {
        require_plain(name, ground)?;
    }
    let file: PathBuf = ground.base.join(name).components().collect();
    // A placeholder in the folder of the settings would be filled in too.
    let text = file.to_str().filter(|text| !has_placeholder(text)).map(str::to_owned);
    text.ok_or_else(|| BadArgument::Unusable { name: name.to_owned(), file })
}

/// Fails if the path leads through a symlink, or out of the project.
fn require_plain(name: &str, ground: &Ground) -> Result<(), BadArgument> {
    let mut here = ground.base.clone();
    for part in Path::new(name).components() {
        match part {
            Component::ParentDir => drop(here.pop()),
            Component::Normal(part) => here.push(part),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
        if here.is_symlink() {
            return Err(BadArgument::Link { name: name.to_owned(), link: here });
        }
    }
    if here.starts_with(&ground.root) {
        Ok(())
    } else {
        Err(BadArgument::Outside { name: name.to_owned(), file: here })
    }
}

fn has_placeholder(text: &str) -> bool {
    let mut placeholders = AgentSettings::PLACEHOLDERS.iter().chain(&Wrap::PLACEHOLDERS);
    placeholders.any(|placeholder| text.contains(*placeholder))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A project with a script and what a hostile author may put beside it.
    struct Project {
        root: tempfile::TempDir,
    }

    impl Project {
        fn new(folder: &str) -> Self {
            let project = Self { root: tempfile::tempdir().unwrap() };
            let base = project.path(folder);
            fs::create_dir_all(base.join("tools")).unwrap();
            for file in ["tools/agent.py", "run", "a=b"] {
                fs::write(base.join(file), "").unwrap();
            }
            fs::write(project.path("outside.py"), "").unwrap();
            symlink(project.path("outside.py"), base.join("out")).unwrap();
            symlink("tools/agent.py", base.join("inside")).unwrap();
            symlink("tools", base.join("folder")).unwrap();
            symlink("nowhere", base.join("dangling")).unwrap();
            project
        }

        fn path(&self, below: &str) -> PathBuf {
            self.root.path().canonicalize().unwrap().join(below)
        }

        /// Returns the command without the folder, or what is wrong with it.
        fn resolved(&self, folder: &str, command: &[&str], is_projects: bool, writes: &[&str]) -> String {
            let base = self.path(folder);
            let file = base.join("skilltune.toml");
            let origin = if is_projects { Origin::Project(file) } else { Origin::User(file) };
            let writes = writes.iter().map(|place| base.join(place)).collect();
            let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
            let text = match resolved(&command, &origin, &Ground::at(&base, writes)) {
                Ok(words) => words.join(" "),
                Err(bad) => bad.to_string(),
            };
            text.replace(self.path("").to_str().unwrap().trim_end_matches('/'), "")
        }
    }

    #[test]
    fn relative_arguments_that_are_files_of_the_project_get_full_paths_and_nothing_else_changes() {
        let project = Project::new("p");
        let of = |command: &[&str]| project.resolved("p", command, true, &[]);
        assert_eq!(of(&["python3", "-u", "tools/agent.py"]), "python3 -u /p/tools/agent.py");
        assert_eq!(of(&["sh", "./run", "--config=tools/agent.py"]), "sh /p/run --config=/p/tools/agent.py");
        assert_eq!(of(&["sh", "a=b", "tools/../run", "../p/run"]), "sh /p/a=b /p/tools/../run /p/../p/run");
        let same = ["run", "tools", "missing.py", "", "=", "-", "{model}", "{temp}/run", "dangling", "."];
        assert_eq!(of(&same), same.join(" "), "a program, a folder and what is no file");
        let absolute = project.path("p/run");
        assert_eq!(of(&["sh", absolute.to_str().unwrap()]), "sh /p/run");
        assert_eq!(of(&[]), "");
        // Trust is not bound to what the command writes.
        let writer = project.resolved("p", &["sh", "run", "tools/agent.py"], true, &["tools"]);
        assert_eq!(writer, "sh /p/run tools/agent.py");
    }

    #[test]
    fn no_symlink_of_a_project_and_no_file_outside_of_it_is_passed_on_in_silence() {
        let project = Project::new("p");
        let of = |argument: &str| project.resolved("p", &["python3", argument], true, &[]);
        for (argument, name, link) in [
            ("out", "out", "/p/out"),
            ("--log=inside", "inside", "/p/inside"),
            ("folder/agent.py", "folder/agent.py", "/p/folder"),
            ("folder/../run", "folder/../run", "/p/folder"),
        ] {
            assert_eq!(of(argument), format!("its argument {name:?} leads through a symlink, {link}"));
        }
        let outside = "its argument \"../outside.py\" leads out of the project, to /outside.py";
        assert_eq!(of("../outside.py"), outside);
        // In the user's own settings they are the user's own choice.
        let own = project.resolved("p", &["python3", "out", "../outside.py"], false, &[]);
        assert_eq!(own, "python3 /p/out /p/../outside.py");
    }

    #[test]
    fn no_part_of_a_path_is_taken_for_a_placeholder() {
        let project = Project::new("{model}");
        let of = |argument: &str| project.resolved("{model}", &["python3", argument], true, &[]);
        let refused = "its argument \"run\" names /{model}/run, a path that skilltune cannot pass on";
        assert_eq!(of("run"), refused);
        assert_eq!(of("missing"), "python3 missing");
    }
}
