//! One rule, and the form of its id, which contains its level and category.

use serde::{Deserialize, Serialize};

use super::{Level, RuleId, Severity, Weights};

/// The categories of the templates' rules, and of those that an agent may propose. The rules of one category and level
/// are judged in one call, so every other category would cost a call for each version of the text.
pub const CATEGORIES: [&str; 5] = ["correctness", "completeness", "quality", "style", "security"];

const LONGEST_ID: usize = 80;
const LONGEST_NAME: usize = 40;

/// One requirement for the artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub id: RuleId,
    /// The condition that holds when the rule is met.
    pub description: Box<str>,
    pub severity: Severity,
    pub weight: u32,
    pub level: Level,
    /// The way a person would check it.
    pub check: Box<str>,
    /// A person's own check, which ends with 0 when the rule is met. No agent is asked for another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
}

impl Rule {
    /// Returns a rule; none if its id has the wrong form.
    pub fn new(id: &str, severity: Severity, weights: Weights, description: &str) -> Option<Self> {
        let (level, _) = parts(id)?;
        Some(Self {
            id: id.into(),
            description: description.into(),
            severity,
            weight: weights.of(severity),
            level,
            check: "".into(),
            command: None,
        })
    }

    /// Returns the category, which is the middle of its id.
    pub fn category(&self) -> &str {
        parts(self.id.as_str()).map_or("", |(_, category)| category)
    }

    #[must_use]
    pub fn of_severity(mut self, severity: Severity, weights: Weights) -> Self {
        (self.severity, self.weight) = (severity, weights.of(severity));
        self
    }
}

impl RuleId {
    /// Makes an id for a rule that has none, from a handy length of its text.
    pub fn made(level: Level, category: &str, says: &str) -> Self {
        let lower = says.to_lowercase();
        let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let mut name = String::new();
        for word in words.take_while(|word| word.len() <= LONGEST_NAME) {
            if name.len() + 1 + word.len() > LONGEST_NAME {
                break;
            }
            let hyphen = if name.is_empty() { "" } else { "-" };
            name = name + hyphen + word;
        }
        let name = if name.is_empty() { "rule" } else { &name };
        let level = level.to_string().to_lowercase();
        Self::new(format!("{level}.{category}.{name}"))
    }

    /// Returns the same id with a number, for when the first is taken.
    #[must_use]
    pub fn numbered(&self, number: usize) -> Self {
        Self::new(format!("{self}-{number}"))
    }
}

/// Returns the level and the category of an id such as `a.correctness.endpoints`.
fn parts(id: &str) -> Option<(Level, &str)> {
    let is_ours = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let (level, rest) = id.split_once('.')?;
    let (category, name) = rest.split_once('.')?;
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(is_ours);
    let level = match level {
        "a" => Level::A,
        "b" => Level::B,
        _ => return None,
    };
    (id.len() <= LONGEST_ID && is_word(category) && is_word(name)).then_some((level, category))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_level_category_and_subject_and_nothing_else() {
        let level = |id: &str| Rule::new(id, Severity::Warn, Weights::default(), "").map(|rule| rule.level);
        assert_eq!(level("a.correctness.ports"), Some(Level::A));
        assert_eq!(level("b.task.x-2"), Some(Level::B));
        let long = format!("a.style.{}", "x".repeat(LONGEST_ID));
        for id in [
            "",
            "a",
            "a.b",
            "c.style.x",
            "A.style.x",
            "a.style.",
            "a..x",
            "a.st yle.x",
            "a.style.x.y",
            "a.style.\n",
            &long,
        ] {
            assert_eq!(level(id), None, "{id:?}");
        }
    }

    #[test]
    fn an_id_is_made_from_what_a_rule_says() {
        let made = |says: &str| RuleId::made(Level::B, "task", says).as_str().to_owned();
        assert_eq!(made("Every port is named."), "b.task.every-port-is-named");
        assert_eq!(made("\u{1b}[2J Ärger: ¿?"), "b.task.2j-rger");
        assert_eq!(made("…"), "b.task.rule");
        let long = made(&"word ".repeat(100));
        assert!(parts(&long).is_some(), "{long}");
        let whole = made(&"x".repeat(100));
        assert_eq!(whole, "b.task.rule");
    }

    #[test]
    fn the_categories_are_those_of_the_templates() {
        use super::super::{Criteria, Template};
        let all =
            Template::ALL.map(|template| Criteria::of(template, Weights::default(), template.thresholds()));
        let named: std::collections::BTreeSet<_> =
            all.iter().flat_map(|criteria| &criteria.rules).map(Rule::category).collect();
        assert_eq!(named, CATEGORIES.into());
    }
}
