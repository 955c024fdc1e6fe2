//! A suite: a file of scenarios.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::{Limits, Objects, RelPath, gather};
use skilltune_phases::name::Name;
use skilltune_phases::scenario::{Scenario, Tools};

use crate::terminal::complaint::{Complaint, Kind};
use crate::terminal::environment::Environment;
use crate::trust::TrustError;
use crate::trust::file::TextFile;
use crate::trust::pinned::{Pinned, programs, scripts};

/// The scenarios of a file, and the file itself, for it may name commands.
#[derive(Debug)]
pub struct Suite {
    pub file: TextFile,
    pub scenarios: Vec<Scenario>,
    pub starts: Starts,
}

/// The files that scenarios bring, by the scenario's id.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    /// The suite's folder, in which all of them are.
    base: PathBuf,
    files: BTreeMap<Name, Vec<RelPath>>,
}

impl Starts {
    /// The scenarios with what they bring, as it is now.
    pub fn scenarios(&self, scenarios: &[Scenario], objects: &Objects) -> Result<Vec<Scenario>, Complaint> {
        let mut scenarios = scenarios.to_vec();
        for scenario in &mut scenarios {
            let Some(paths) = self.files.get(&scenario.id) else { continue };
            let tree = gather(objects, &self.base, paths, Limits::default()).map_err(|error| {
                Complaint::of(Kind::Input, &error)
                    .hint(format!("look at `files` of scenario `{}`", scenario.id))
            })?;
            scenario.files = Some(tree);
        }
        Ok(scenarios)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    #[serde(default)]
    scenarios: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: Option<String>,
    description: String,
    #[serde(default)]
    requirements: Vec<String>,
    #[serde(default)]
    input_args: String,
    success_criteria: Option<String>,
    /// Files and folders beside the suite.
    #[serde(default)]
    files: Vec<String>,
    setup: Option<Vec<String>>,
    #[serde(default)]
    git: bool,
    command: Option<Vec<String>>,
    tools: Option<Tools>,
}

impl Suite {
    pub fn read(path: &Path) -> Result<Self, Complaint> {
        let Some(file) = TextFile::read(path)? else {
            return Err(Complaint::input(format!("suite {} does not exist", path.display())));
        };
        let wrong = |what: &str| Complaint::input(format!("{}: {what}", file.path.display()));
        let page: Page = file.toml().map_err(|what| wrong(&what).hint(EXAMPLE))?;
        if page.scenarios.is_empty() {
            return Err(wrong("no scenarios").hint(EXAMPLE));
        }
        let base = file.path.parent().expect("a suite is in a folder").to_owned();
        let mut starts = Starts { base, files: BTreeMap::new() };
        let mut scenarios = Vec::new();
        for (entry, number) in page.scenarios.into_iter().zip(1..) {
            let names = entry.files.clone();
            let scenario = entry.scenario(number).map_err(|what| wrong(&what))?;
            let paths = starts.found(&scenario.id, &names).map_err(|what| wrong(&what))?;
            if !paths.is_empty() {
                starts.files.insert(scenario.id.clone(), paths);
            }
            scenarios.push(scenario);
        }
        let mut ids = BTreeSet::new();
        for scenario in &scenarios {
            check(scenario).map_err(|what| wrong(&what))?;
            if !ids.insert(&scenario.id) {
                return Err(wrong(&format!("duplicate scenario id `{}`", scenario.id)));
            }
        }
        Ok(Self { file, scenarios, starts })
    }

    /// The files of the project that its commands name.
    pub fn scripts(&self, around: &Environment) -> Result<Vec<Pinned>, TrustError> {
        scripts(&self.file, self.commands(), around)
    }

    /// The programs that it has run, without repetition, and whether an executor is to run any.
    pub fn programs(&self) -> Vec<String> {
        let shell = self.scenarios.iter().any(|scenario| scenario.tools == Some(Tools::Shell));
        programs(self.commands()).into_iter().chain(shell.then(|| SHELL.to_owned())).collect()
    }

    fn commands(&self) -> impl Iterator<Item = &Vec<String>> {
        self.scenarios.iter().flat_map(|scenario| scenario.command.iter().chain(&scenario.setup))
    }
}

/// A suite that asks for it is trusted as one with commands.
pub const SHELL: &str = "a shell for the executor";

const EXAMPLE: &str = "example:\n\n    [[scenarios]]\n    id = \"short\"\n    description = \"Write a short text about the sea\"\n    requirements = [\"at most 100 words\"]\n";

impl Entry {
    fn scenario(self, number: u32) -> Result<Scenario, String> {
        let id = self.id.map_or_else(|| Ok(numbered(number)), |id| named(&id))?;
        let mut scenario = Scenario::new(id, self.description);
        scenario.requirements = self.requirements;
        scenario.input_args = self.input_args;
        if let Some(criteria) = self.success_criteria {
            scenario.success_criteria = criteria;
        }
        (scenario.setup, scenario.git, scenario.command) = (self.setup, self.git, self.command);
        scenario.tools = self.tools;
        Ok(scenario)
    }
}

impl Starts {
    /// A file of the suite's own folder, reached through no link: a suite that came with a repository hands over nothing else.
    fn found(&self, id: &Name, names: &[String]) -> Result<Vec<RelPath>, String> {
        let mut own = BTreeSet::new();
        let found = |name: &String| {
            let path =
                RelPath::parse(name.trim_end_matches('/').as_bytes()).ok().filter(|path| !path.is_reserved());
            let path = path
                .ok_or_else(|| format!("`files` of `{id}`: {name:?} is no path below the suite's folder"))?;
            let place = SafePath::below(&self.base, path.as_path());
            if !place.is_file() && !place.is_folder() {
                return Err(format!("`files` of `{id}`: {name:?} is no file or folder beside the suite"));
            }
            if !own.insert(path.name().to_owned()) {
                return Err(format!("`files` of `{id}`: two of the name {}", path.name().display()));
            }
            Ok(path)
        };
        names.iter().map(found).collect()
    }
}

/// The id of a scenario without one of its own.
pub fn numbered(number: impl std::fmt::Display) -> Name {
    format!("scenario-{number}").parse().expect("a number is plain")
}

/// An id names folders.
fn named(id: &str) -> Result<Name, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let name = id.parse().ok().filter(|_| id.len() <= 64 && id.bytes().all(plain));
    name.ok_or_else(|| format!("invalid id `{id}`: use up to 64 letters, digits, `-` and `_`"))
}

/// A command names a program.
fn check(scenario: &Scenario) -> Result<(), String> {
    let id = &scenario.id;
    if scenario.description.trim().is_empty() {
        return Err(format!("the description of `{id}` is empty"));
    }
    let is_command = |argv: &Vec<String>| {
        argv.first().is_some_and(|program| !program.is_empty())
            && argv.iter().all(|word| !word.contains('\0'))
    };
    for (what, argv) in [("command", &scenario.command), ("setup", &scenario.setup)] {
        if !argv.as_ref().is_none_or(is_command) {
            return Err(format!("the {what} of `{id}` must be a list of a program and its arguments"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Suite, Complaint> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.toml");
        std::fs::write(&path, text).unwrap();
        Suite::read(&path)
    }

    #[test]
    fn every_scenario_of_the_file_is_read_with_its_defaults() {
        let suite = read(
            "[[scenarios]]\ndescription = 'one'\n[[scenarios]]\nid = 'two'\ndescription = 'b'\n\
             requirements = ['r']\ncommand = ['sh', 'run.sh']\n",
        );
        let suite = suite.unwrap();
        assert_eq!(suite.scenarios[0], Scenario::new(numbered(1), "one"));
        assert_eq!(suite.scenarios[1].id, "two");
        assert_eq!(suite.scenarios[1].requirements, ["r"]);
        assert_eq!(suite.programs(), ["sh"]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let told = |text: &str| read(text).unwrap_err().what;
        assert!(told("").ends_with("suite.toml: no scenarios"));
        let unknown = told("[[scenarios]]\ndescription = 'a'\nprompt = 'b'\n");
        assert!(unknown.contains("line 3: unknown field `prompt`"), "{unknown}");
        let twice = "[[scenarios]]\nid = 'a'\ndescription = 'a'\n".repeat(2);
        assert!(told(&twice).ends_with("duplicate scenario id `a`"));
        for id in ["../x", "a b", "", "é"] {
            assert!(
                told(&format!("[[scenarios]]\nid = '{id}'\ndescription = 'a'\n")).contains("invalid id"),
                "{id}"
            );
        }
        assert!(
            told("[[scenarios]]\ndescription = 'a'\ncommand = []\n").contains("must be a list of a program")
        );
        assert!(
            told("[[scenarios]]\ndescription = ' '\n").ends_with("the description of `scenario-1` is empty")
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let missing = Suite::read(Path::new("/nowhere/suite.toml")).unwrap_err().what;
        assert_eq!(missing, "suite /nowhere/suite.toml does not exist");
    }
}
