//! Writes suites in other formats: one writer for each, and a list of what it cannot express.

mod evals;
mod javascript;
mod plugin;
mod promptfoo;
mod toml;

use std::path::{Path, PathBuf};

use serde_json::Value;
use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::base::json;
use skilltune_phases::suites::checks::{Check, How};
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::scenario::Scenario;

use super::assemble::kind;
use super::note::{Note, Notes};
use super::{Format, Suite};

/// A suite in another format.
#[derive(Debug)]
pub struct Written {
    /// Texts by their paths below the new folder; the path is empty for a suite in one file.
    pub files: Vec<(String, String)>,
    pub lost: Vec<Note>,
    /// The number of scenarios in it, with drafts.
    pub scenarios: usize,
}

impl Suite {
    /// Returns the suite as a file or a folder at `out`.
    pub fn written(&self, format: Format, out: &Path) -> Written {
        let mut page = SuiteWriter { suite: self, folder: folder(format, out), lost: Notes::default() };
        if format != Format::Toml {
            for draft in &self.drafts {
                page.lost.add(Some(&draft.id), "a draft: it is left out");
            }
        }
        let queries = self.scenarios.iter().filter(|scenario| query_of(scenario).is_some());
        let scenarios = match format {
            Format::Toml => self.scenarios.len() + self.drafts.len(),
            Format::Triggers => queries.count(),
            Format::Evals | Format::Promptfoo | Format::Plugin => self.scenarios.len(),
        };
        let one = |text: String| vec![(String::new(), text)];
        let files = match format {
            Format::Toml => one(toml::text(&mut page)),
            Format::Evals => one(evals::text(&mut page, out)),
            Format::Triggers => one(triggers(&mut page)),
            Format::Promptfoo => one(promptfoo::text(&mut page)),
            Format::Plugin => plugin::files(&mut page),
        };
        Written { files, lost: page.lost.taken(), scenarios }
    }
}

/// Returns the folder that relative paths of the new suite start from.
fn folder(format: Format, out: &Path) -> PathBuf {
    let folder = if format == Format::Plugin { out } else { out.parent().unwrap_or(out) };
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// A suite during its conversion to another format.
struct SuiteWriter<'a> {
    suite: &'a Suite,
    folder: PathBuf,
    lost: Notes,
}

impl<'a> SuiteWriter<'a> {
    fn scenarios(&self) -> &'a [Scenario] {
        &self.suite.scenarios
    }

    fn lose(&mut self, scenario: &Scenario, what: &str) {
        self.lost.add(Some(&scenario.id), what);
    }

    /// Notes the fields of a scenario that the format does not have.
    fn lose_fields(&mut self, scenario: &Scenario, kept: &[&str]) {
        let plain = Scenario::new(scenario.id.clone(), "");
        let fields = [
            ("requirements", !scenario.requirements.is_empty()),
            ("input_args", !scenario.input_args.is_empty()),
            ("success_criteria", scenario.success_criteria != plain.success_criteria),
            ("expected", scenario.expected.is_some()),
            ("tags", !scenario.tags.is_empty()),
            ("held_out", scenario.held_out),
            ("files", !self.suite.starts.of(&scenario.id).is_empty()),
            ("setup", scenario.setup.is_some()),
            ("git", scenario.git),
            ("command", scenario.command.is_some()),
            ("tools", scenario.tools.is_some()),
        ];
        for (field, _) in fields.iter().filter(|(field, is_set)| *is_set && !kept.contains(field)) {
            self.lose(scenario, &format!("`{field}` is not converted"));
        }
    }

    /// Notes the terms of a demand that the format does not have.
    fn lose_terms(&mut self, scenario: &Scenario, demand: &Demand, kept: &[&str]) {
        let terms = [
            ("weight", demand.weight != 1),
            ("must_pass", demand.must_pass),
            ("member", demand.member.is_some()),
            ("id", !has_default_id(scenario, demand)),
        ];
        for (term, _) in terms.iter().filter(|(term, is_set)| *is_set && !kept.contains(term)) {
            self.lose(scenario, &format!("`{term}` of demands is not converted"));
        }
    }

    fn lose_demand(&mut self, scenario: &Scenario, demand: &Demand, why: &str) {
        let kind = match demand.how {
            How::Question { .. } => "expectations".to_owned(),
            How::Check(_) => format!("{} checks", kind(&demand.how)),
        };
        self.lose(scenario, &format!("{kind} are not converted: {why}"));
    }

    /// Returns paths as the new suite names them. A path outside its folder is lost.
    fn paths<'p>(
        &mut self,
        scenario: &Scenario,
        paths: impl Iterator<Item = &'p RelPath>,
        below: &Path,
    ) -> Vec<String> {
        let mut named = Vec::new();
        for path in paths {
            let full = self.suite.starts.base().join(path.as_path());
            match full.strip_prefix(below).ok().and_then(Path::to_str) {
                Some(path) => named.push(path.to_owned()),
                None => {
                    self.lose(
                        scenario,
                        &format!("{path} is not converted: it is outside the folder of the new suite"),
                    );
                }
            }
        }
        named
    }
}

/// Returns a trigger set: queries, and whether an agent should use the skill for each.
fn triggers(page: &mut SuiteWriter<'_>) -> String {
    let mut queries = Vec::new();
    for scenario in page.scenarios() {
        let Some((check, used)) = query_of(scenario) else {
            page.lose(scenario, "left out: no check says whether the skill should be used");
            continue;
        };
        page.lose_fields(scenario, &["tags"]);
        page.lose_terms(scenario, check, &[]);
        for demand in scenario.demands.iter().filter(|demand| demand.id != check.id) {
            page.lose_demand(scenario, demand, "a trigger set checks only skill use");
        }
        let mut query = serde_json::json!({
            "id": scenario.id.as_str(),
            "query": scenario.description,
            "should_trigger": used,
        });
        if !scenario.tags.is_empty() {
            query["tags"] = scenario.tags.iter().map(|tag| Value::from(&**tag)).collect();
        }
        queries.push(query);
    }
    pretty(&Value::Array(queries))
}

/// Returns the check that asks whether the skill is used, and whether it should be.
fn query_of(scenario: &Scenario) -> Option<(&Demand, bool)> {
    scenario.demands.iter().find_map(|demand| match demand.how.check()? {
        Check::Skill { used } => Some((demand, *used)),
        _ => None,
    })
}

/// Returns whether reading would assign the same id by default.
fn has_default_id(scenario: &Scenario, demand: &Demand) -> bool {
    let kind = kind(&demand.how);
    let before = scenario.demands.iter().take_while(|other| other.id != demand.id);
    let number = before.filter(|other| self::kind(&other.how) == kind).count() + 1;
    demand.id == format!("{kind}-{number}")
}

/// JSON for people to read.
fn pretty(value: &Value) -> String {
    json::page(value)
}
