//! Suites: scenarios to try a skill on, in every format that is in use.
//!
//! ```text
//! path --> document --> one reader per format --> cases --> assemble --> Suite
//! ```
//!
//! The format of a file is detected from its structure, not from its name alone. The author may be hostile: sizes and
//! numbers are bounded, symlinks are not followed, and no path leads out of the suite's folder.

mod append;
mod assemble;
mod case;
mod claude_plugin;
mod document;
mod drafted;
mod files;
mod note;
mod placed;
mod promptfoo;
mod script_pattern;
mod skill_creator;
mod toml_suite;
mod triggers;
mod untouched;
mod withheld;
mod write;

pub use crate::inputs::suite::append::{Appended, CASES, append, appendable, has_task};
pub use crate::inputs::suite::drafted::{drafted, from_trial};
pub use crate::inputs::suite::files::Starts;
pub use crate::inputs::suite::note::Note;
pub use crate::inputs::suite::withheld::answers;
pub use crate::inputs::suite::write::Written;

use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::{self, SafePath};
use skilltune_phases::base::name::Name;
use skilltune_phases::base::spelling::nearest;
use skilltune_phases::suites::checks::{Check, How};
use skilltune_phases::suites::scenario::{Scenario, Tools};

use crate::inputs::suite::assemble::{Assembled, assemble};
use crate::inputs::suite::case::Reading;
use crate::inputs::suite::document::{Document, Shape};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::shell_path;
use crate::trust::TrustError;
use crate::trust::file::TextFile;
use crate::trust::pinned::{Pinned, Pins, each_once, programs, scripts};

/// The scenarios of a suite, and the files that they bring.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The suite's file or folder.
    pub path: PathBuf,
    pub format: Format,
    /// The file of a `suite.toml`, the only format that may name commands: trust is bound to it.
    pub file: Option<TextFile>,
    /// The scenarios that count.
    pub scenarios: Vec<Scenario>,
    /// The scenarios that no person has reviewed.
    pub drafts: Vec<Scenario>,
    pub starts: Starts,
    /// Lost or odd parts, one line each.
    pub notes: Vec<Note>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `suite.toml`
    Toml,
    /// `evals.json`, as skill-creator has it
    Evals,
    /// Queries that should or should not make an agent use the skill
    Triggers,
    /// Cases of `claude plugin eval`
    Plugin,
    Promptfoo,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Self::Toml => "suite.toml",
            Self::Evals => "evals.json",
            Self::Triggers => "trigger set",
            Self::Plugin => "claude plugin eval",
            Self::Promptfoo => "promptfoo",
        }
    }
}

/// The folder in which skills keep their suites. Its files are tests, not part of the skill.
pub const EVALS: &str = "evals";
/// The path of a skill's own suite.
const OWN: &str = "evals/evals.json";
/// The file of a project's own suite, which `init`, `suite new` and `suite add` write.
pub const SUITE_FILE: &str = "suite.toml";

impl Suite {
    pub fn read(path: &Path) -> Result<Self, Complaint> {
        if path.is_dir() {
            return Self::of_folder(path);
        }
        let Some(file) = TextFile::read(path)? else {
            return Err(missing(path));
        };
        Self::of_file(file)
    }

    /// Returns true if a skill brings a suite.
    pub fn is_beside(skill: &Path) -> bool {
        SafePath::below(skill, OWN).is_file()
    }

    /// Reads the suite that a skill brings, if it has one.
    pub fn beside(skill: &Path) -> Result<Option<Self>, Complaint> {
        if !Self::is_beside(skill) {
            return Ok(None);
        }
        let own = Self::read(&skill.join(OWN));
        own.map(Some).map_err(|complaint| complaint.hint("pass --suite FILE to use another suite"))
    }

    fn of_folder(path: &Path) -> Result<Self, Complaint> {
        if let (true, Some(own)) = (path.join("SKILL.md").is_file(), Self::beside(path)?) {
            return Ok(own);
        }
        let real = path.canonicalize();
        let real = real
            .map_err(|error| Complaint::input(format!("cannot read {}", path.display())).caused_by(error))?;
        let wrong = |what: &str| Complaint::input(format!("{}: {what}", real.display()));
        let cases = claude_plugin::read(&real).map_err(|what| wrong(&what))?;
        let cases = cases.ok_or_else(|| {
            wrong("no suite in this folder")
                .hint("pass a suite's file, or a folder with cases of `claude plugin eval`")
        })?;
        Self::new(real.clone(), Format::Plugin, cases).map_err(|what| wrong(&what))
    }

    fn of_file(file: TextFile) -> Result<Self, Complaint> {
        let wrong = |what: &str| Complaint::input(format!("{}: {what}", file.path.display()));
        let base = file.path.parent().expect("a file is in a folder");
        let (format, cases) = match Document::of(&file) {
            Document::Toml => {
                let again = || format!("then run `skilltune suite check {}`", shell_path(&file.path));
                let shown = |what: String| {
                    wrong(&what).hint(meant(&what).unwrap_or(EXAMPLE.to_owned())).hint(again())
                };
                let page = toml_suite::page(&file).map_err(shown)?;
                (Format::Toml, toml_suite::read(page, base).map_err(|what| wrong(&what))?)
            }
            Document::Faulty(what) => return Err(wrong(&what)),
            Document::Unknown => return Err(wrong("neither TOML nor JSON nor YAML").hint(WHAT)),
            Document::Value(value) => {
                match document::shape(&value).map_err(|what| wrong(&what).hint(WHAT))? {
                    Shape::Evals(entries) => {
                        (Format::Evals, skill_creator::read(&value, &entries, &file.path))
                    }
                    Shape::Triggers(queries) => (Format::Triggers, triggers::read(queries, base)),
                    Shape::Promptfoo => (Format::Promptfoo, promptfoo::read(&value, base)),
                }
            }
        };
        let suite = Self::new(file.path.clone(), format, cases).map_err(|what| wrong(&what))?;
        Ok(Self { file: (format == Format::Toml).then_some(file), ..suite })
    }

    fn new(path: PathBuf, format: Format, cases: Reading) -> Result<Self, String> {
        let Assembled { scenarios, drafts, starts, notes } = assemble(cases)?;
        if scenarios.is_empty() && drafts.is_empty() {
            let why = notes.first().map_or_else(String::new, |note| format!(": {note}"));
            return Err(format!("no scenarios{why}"));
        }
        Ok(Self { path, format, file: None, scenarios, drafts, starts, notes })
    }

    /// Returns the project's files that its commands name, and the files of its graders.
    pub fn scripts(&self, env: &Environment) -> Result<Vec<Pinned>, TrustError> {
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        let named = scripts(file, self.commands(), env)?;
        each_once([Ok(named), Ok(self.starts.pinned().cloned().collect())].into_iter())
    }

    /// Returns pins for the scripts that are read again at each start. Graders are left out, because a run keeps a
    /// copy.
    pub fn pins(&self, scripts: Vec<Pinned>, env: &Environment) -> Option<Pins> {
        let is_grader = |file: &Pinned| self.starts.pinned().any(|grader| grader == file);
        let files = scripts.into_iter().filter(|file| !is_grader(file)).collect();
        self.file.as_ref().map(|file| Pins::of(file, files, env))
    }

    /// Returns the programs that it runs, each once, and whether an executor may run any.
    pub fn programs(&self) -> Vec<String> {
        let shell = self.scenarios.iter().any(|scenario| scenario.tools == Some(Tools::Shell));
        programs(self.commands()).into_iter().chain(shell.then(|| SHELL.to_owned())).collect()
    }

    fn commands(&self) -> impl Iterator<Item = &Vec<String>> {
        self.scenarios.iter().flat_map(|scenario| {
            let checks = scenario.demands.iter().filter_map(|demand| command(&demand.how));
            scenario.command.iter().chain(&scenario.setup).chain(checks)
        })
    }
}

/// Reports a suite that is not there, with the file of the folder that may be meant.
fn missing(path: &Path) -> Complaint {
    let names = path.parent().and_then(|folder| disk::names(folder).ok()).unwrap_or_default();
    let names: Vec<String> = names.into_iter().filter_map(|name| name.into_string().ok()).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let near = nearest(&name, names.iter().map(String::as_str));
    let near = near.map(|near| format!("did you mean {near}?"));
    let complaint = Complaint::input(format!("suite {} does not exist", path.display()));
    near.into_iter().fold(complaint, Complaint::hint).hint("`skilltune suite new SKILL` drafts a suite")
}

/// Returns a guess at the field that an error of the reader of TOML calls unknown.
fn meant(what: &str) -> Option<String> {
    let (field, known) = what.split_once("unknown field `")?.1.split_once('`')?;
    let near = nearest(field, known.split('`').skip(1).step_by(2))?;
    Some(format!("did you mean `{near}`?"))
}

/// Returns the arguments of a check that runs a program.
pub fn command(how: &How) -> Option<&Vec<String>> {
    match how {
        How::Check(Check::Command { argv, .. }) => Some(argv),
        How::Check(_) | How::Question { .. } => None,
    }
}

/// A suite that asks for this needs trust, like one with commands.
pub const SHELL: &str = "a shell for the executor";

const EXAMPLE: &str = "example:\n\n    [[scenarios]]\n    id = \"short\"\n    description = \"Write a short text about the sea\"\n    expectations = [\"It has at most 100 words\"]\n";

const WHAT: &str = "pass a suite.toml, an evals.json, a trigger set, a promptfoo configuration or a folder of `claude plugin eval` cases";

/// Returns the id of a scenario that has none of its own.
pub fn numbered(number: impl std::fmt::Display) -> Name {
    format!("scenario-{number}").parse().expect("a number is plain")
}

#[cfg(test)]
mod tests;
