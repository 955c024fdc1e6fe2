//! `--rules FILE`: the user's own rules, in TOML or JSON.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use skilltune_phases::base::json;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::reflex::checks::Check;
use skilltune_phases::loops::reflex::criteria::{
    Criteria, Level, Rule, RuleId, Severity, Thresholds, Weights,
};
use skilltune_phases::suites::checks::fault;

use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::trust::TrustError;
use crate::trust::file::TextFile;
use crate::trust::pinned::{Pinned, programs, scripts};

/// The category of rules that name none.
pub const OWN: &str = "task";

/// The content of the file, and the file itself, because it may name commands.
#[derive(Debug)]
pub struct RulesFile {
    pub file: TextFile,
    page: RulesPage,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Page")]
struct RulesPage {
    /// The scores that pass levels A and B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thresholds: Option<[f64; 2]>,
    /// The ids of template rules that do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    remove: Vec<RuleId>,
    #[serde(default)]
    rules: Vec<Entry>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: Option<String>,
    description: String,
    severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<LevelName>,
    weight: Option<u32>,
    check: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum LevelName {
    #[serde(alias = "a")]
    A,
    #[serde(alias = "b")]
    B,
}

const HEAVIEST: u32 = 100;
const LONGEST: usize = 2000;
const EXAMPLE: &str = "example:\n\n    thresholds = [80, 90]\n    remove = [\"b.style.naming\"]\n\n    [[rules]]\n    \
                       id = \"a.completeness.ports\"\n    description = \"Every service is named with its port.\"\n    \
                       severity = \"fail\"\n    check = \"Look for the port of each service that the text names.\"\n\n    \
                       [[rules]]\n    description = \"The text is formatted.\"\n    \
                       command = [\"prettier\", \"--check\", \"artifact.md\"]\n";

impl RulesFile {
    pub fn read(path: &Path) -> Result<Self, Complaint> {
        let Some(file) = TextFile::read(path)? else {
            return Err(Complaint::input(format!("rules {} does not exist", path.display())));
        };
        let wrong = |what: String| Complaint::input(format!("{}: {what}", file.path.display())).hint(EXAMPLE);
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        let page = if is_json {
            serde_json::from_str(file.text()).map_err(|error| error.to_string())
        } else {
            file.toml()
        };
        let page = page.map_err(wrong)?;
        Ok(Self { file, page })
    }

    /// Returns whether a readable file is about rules, valid or not.
    pub fn is_one(path: &Path) -> bool {
        let Ok(Some(file)) = TextFile::read(path) else { return false };
        let keys: Vec<String> = if path.extension().is_some_and(|ending| ending == "json") {
            let page: serde_json::Map<_, _> = serde_json::from_str(file.text()).unwrap_or_default();
            page.into_iter().map(|(key, _)| key).collect()
        } else {
            file.toml::<toml::Table>().unwrap_or_default().into_iter().map(|(key, _)| key).collect()
        };
        keys.iter().any(|key| ["rules", "thresholds", "remove"].contains(&key.as_str()))
    }

    /// Replaces the rules of the same id, and appends the others.
    pub fn apply(&self, criteria: &mut Criteria, weights: Weights) -> Result<(), Complaint> {
        let path = self.file.path.display();
        let wrong = |what: String| Complaint::input(format!("{path}: {what}")).hint(EXAMPLE);
        for id in &self.page.remove {
            let before = criteria.rules.len();
            criteria.rules.retain(|rule| rule.id != *id);
            if criteria.rules.len() == before {
                return Err(wrong(format!("`remove` names `{id}`, which is not a rule of the template")));
            }
        }
        if let Some([a, b]) = self.page.thresholds {
            let score = |points| {
                Score::new(points).ok_or_else(|| wrong(format!("the threshold {points} is outside 0 to 100")))
            };
            criteria.thresholds = Thresholds { a: score(a)?, b: score(b)? };
        }
        let mut own = BTreeSet::new();
        for (entry, number) in self.page.rules.iter().zip(1..) {
            let rule = entry.rule(weights).map_err(|what| wrong(format!("rule {number}: {what}")))?;
            if !own.insert(rule.id.clone()) {
                return Err(wrong(format!("rule {number}: duplicate rule `{}`", rule.id)));
            }
            criteria.set(rule);
        }
        Ok(())
    }

    /// Returns the programs that it names, without repetition.
    pub fn programs(&self) -> Vec<String> {
        programs(self.commands())
    }

    /// Returns the project files that its commands name.
    pub fn scripts(&self, env: &Environment) -> Result<Vec<Pinned>, TrustError> {
        scripts(&self.file, self.commands(), env)
    }

    pub fn commands(&self) -> impl Iterator<Item = &Vec<String>> {
        self.page.rules.iter().filter_map(|entry| entry.command.as_ref())
    }
}

impl Entry {
    fn rule(&self, weights: Weights) -> Result<Rule, String> {
        let description = self.description.trim();
        if description.is_empty() || description.len() > LONGEST {
            return Err(format!("the description must have 1 to {LONGEST} characters"));
        }
        let level = match self.level {
            Some(LevelName::B) => Level::B,
            Some(LevelName::A) | None => Level::A,
        };
        let id = self.id.clone().map_or_else(|| RuleId::made(level, OWN, description), RuleId::new);
        let severity = self.severity.unwrap_or(Severity::Warn);
        let rule = Rule::new(id.as_str(), severity, weights, description).ok_or_else(|| {
            format!(
                "`{id}` is not a rule id; use `a` or `b`, a category and a name, such as a.completeness.ports"
            )
        })?;
        if self.level.is_some() && rule.level != level {
            return Err(format!("`{id}` is a rule of level {}, but `level` says {level}", rule.level));
        }
        if self.weight.is_some_and(|weight| weight > HEAVIEST) {
            return Err(format!("the weight must be 0 to {HEAVIEST}"));
        }
        let check = self.check.as_deref().unwrap_or_default().trim();
        if check.len() > LONGEST {
            return Err(format!("the check is longer than {LONGEST} characters"));
        }
        let weight = self.weight.unwrap_or(rule.weight);
        let rule = Rule { weight, check: check.into(), command: self.command.clone(), ..rule };
        match Check::given(&rule).and_then(|given| fault(given.how.check()?)) {
            Some(why) => Err(why),
            None => Ok(rule),
        }
    }
}

impl From<&Criteria> for RulesPage {
    fn from(criteria: &Criteria) -> Self {
        let rule = |rule: &Rule| Entry {
            id: Some(rule.id.to_string()),
            description: rule.description.to_string(),
            severity: Some(rule.severity),
            level: None,
            weight: Some(rule.weight),
            check: Some(rule.check.to_string()),
            command: rule.command.clone(),
        };
        Self {
            thresholds: Some([criteria.thresholds.a.points(), criteria.thresholds.b.points()]),
            remove: Vec::new(),
            rules: criteria.rules.iter().map(rule).collect(),
        }
    }
}

/// Returns the agreed rules in the format that `--rules` reads for another run.
pub fn written(criteria: &Criteria) -> String {
    json::page(&RulesPage::from(criteria))
}

#[cfg(test)]
mod tests;
