//! `suite.toml`, our own format: strict, and the only one that may name commands.

mod check;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use skilltune_orchestrator::snapshot::{Brought, RelPath};
use skilltune_phases::base::name::Name;
use skilltune_phases::suites::checks::{How, fault};
use skilltune_phases::suites::scenario::Tools;

use crate::inputs::suite::toml_suite::check::CheckEntry;
use crate::trust::file::TextFile;

use super::assemble::{HEAVIEST, is_plain, kind};
use super::case::{Ask, Case, Reading};
use super::files::{inside, is_there};
use super::numbered;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SuiteFile {
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
    /// The description of a good result.
    expected: Option<String>,
    #[serde(default)]
    expectations: Vec<Expectation>,
    #[serde(default)]
    checks: Vec<CheckEntry>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    held_out: bool,
    /// Files and folders beside the suite.
    #[serde(default)]
    files: Vec<String>,
    setup: Option<Vec<String>>,
    #[serde(default)]
    git: bool,
    command: Option<Vec<String>>,
    tools: Option<Tools>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "an expectation is a text, or a table with `text`, `id`, `weight`, `must_pass` and `member`"
)]
enum Expectation {
    Text(String),
    Table(ExpectationTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectationTable {
    text: String,
    id: Option<String>,
    weight: Option<u32>,
    #[serde(default)]
    must_pass: bool,
    member: Option<String>,
}

/// The fields of a demand that do not depend on its kind.
struct Terms {
    id: Option<String>,
    weight: Option<u32>,
    must_pass: bool,
    member: Option<String>,
}

/// Parses the file's structure.
pub(super) fn page(file: &TextFile) -> Result<SuiteFile, String> {
    let page: SuiteFile = file.toml()?;
    if page.scenarios.is_empty() { Err("no scenarios".to_owned()) } else { Ok(page) }
}

/// Reads the scenarios of a parsed file.
pub(super) fn read(page: SuiteFile, base: &Path) -> Result<Reading, String> {
    let mut ids = BTreeSet::new();
    let mut cases = Vec::new();
    for (entry, number) in page.scenarios.into_iter().zip(1..) {
        let id = entry.id.clone().unwrap_or_else(|| numbered(number).to_string());
        let case = entry.case(&id, base)?;
        if !ids.insert(id.clone()) {
            return Err(format!("duplicate scenario id `{id}`"));
        }
        cases.push(case);
    }
    Ok(Reading { base: base.to_owned(), cases, notes: Vec::new() })
}

impl Entry {
    fn case(self, id: &str, base: &Path) -> Result<Case, String> {
        named(id)?;
        if self.description.trim().is_empty() {
            return Err(format!("the description of `{id}` is empty"));
        }
        for (what, argv) in [("command", &self.command), ("setup", &self.setup)] {
            if !argv.as_deref().is_none_or(is_command) {
                return Err(format!("the {what} of `{id}` {NO_COMMAND}"));
            }
        }
        let mut case = Case::new(self.description);
        case.id = Some(id.to_owned());
        case.is_draft = self.draft;
        let scenario = &mut case.scenario;
        scenario.requirements = self.requirements;
        scenario.input_args = self.input_args;
        if let Some(criteria) = self.success_criteria {
            scenario.success_criteria = criteria;
        }
        scenario.expected = self.expected.map(Into::into);
        scenario.tags = self.tags.into_iter().map(Into::into).collect();
        scenario.held_out = self.held_out;
        (scenario.setup, scenario.git, scenario.command) = (self.setup, self.git, self.command);
        scenario.tools = self.tools;
        let files = |names: &[String]| files(names, base);
        let brought = files(&self.files).map_err(|what| format!("`files` of `{id}`: {what}"))?;
        case.files = brought.into_iter().map(Brought::flat).collect();
        let mut demands = Vec::new();
        for (check, number) in self.checks.into_iter().zip(1..) {
            let at = |what: String| format!("check {number} of `{id}`: {what}");
            let terms = check.terms();
            let (check, grader) = check.check(base).map_err(at)?;
            if let Some(why) = fault(&check) {
                return Err(at(why));
            }
            let grader = files(&grader).map_err(|what| at(format!("`grader`: {what}")))?;
            demands.push(terms.ask(How::Check(check), grader).map_err(at)?);
        }
        for (expectation, number) in self.expectations.into_iter().zip(1..) {
            let at = |what: String| format!("expectation {number} of `{id}`: {what}");
            demands.push(expectation.ask().map_err(at)?);
        }
        let mut ids = BTreeMap::new();
        for demand in &demands {
            let Some(own) = &demand.id else { continue };
            if let Some(other) = ids.insert(own, kind(&demand.how)) {
                return Err(format!("duplicate id `{own}` in `{id}`: a {other} and a {}", kind(&demand.how)));
            }
        }
        case.demands = demands;
        Ok(case)
    }
}

impl Expectation {
    fn ask(self) -> Result<Ask, String> {
        let (text, terms) = match self {
            Self::Text(text) => (text, Terms { id: None, weight: None, must_pass: false, member: None }),
            Self::Table(ExpectationTable { text, id, weight, must_pass, member }) => {
                (text, Terms { id, weight, must_pass, member })
            }
        };
        if text.trim().is_empty() {
            return Err("the text is empty".to_owned());
        }
        terms.ask(How::Question { text: text.into() }, Vec::new())
    }
}

impl Terms {
    fn ask(self, how: How, grader: Vec<RelPath>) -> Result<Ask, String> {
        let weight = self.weight.unwrap_or(1);
        if !(1..=HEAVIEST).contains(&weight) {
            return Err(format!("`weight` must be a whole number from 1 to {HEAVIEST}"));
        }
        self.id.as_deref().map(named).transpose()?;
        let member = self.member.map(|member| member.parse::<Name>().map_err(|error| error.to_string()));
        let ask = Ask { must_pass: self.must_pass, member: member.transpose()?, grader, ..Ask::new(how) };
        Ok(ask.named(self.id).weighing(f64::from(weight)))
    }
}

/// Returns paths in the suite's own folder.
fn files(names: &[String], base: &Path) -> Result<Vec<RelPath>, String> {
    let mut own = BTreeSet::new();
    let found = |name: &String| {
        let path = inside(name).ok_or_else(|| format!("{name:?} is outside the suite's folder"))?;
        if !is_there(base, &path) {
            return Err(format!("{name:?} is not a file or folder in the suite's folder"));
        }
        if !own.insert(path.name().to_owned()) {
            return Err(format!("duplicate name {}", path.name().display()));
        }
        Ok(path)
    };
    names.iter().map(found).collect()
}

/// Fails unless an id can be a folder's name.
fn named(id: &str) -> Result<(), String> {
    if is_plain(id) {
        return Ok(());
    }
    Err(format!("invalid id `{id}`: use up to 64 letters, digits, `-` and `_`"))
}

const NO_COMMAND: &str = "must be a list of a program and its arguments";

fn is_command(argv: &[String]) -> bool {
    argv.first().is_some_and(|program| !program.is_empty()) && argv.iter().all(|word| !word.contains('\0'))
}
