//! The built-in improver: makes the one kind of repair that gains most. It may also try repairs that are only
//! suggestions elsewhere, because the trials decide.

use serde_json::{Value, json};

use super::judge::structural;
use crate::base::material::Body;
use crate::judging::contract::Contract;
use crate::judging::score::Score;
use crate::skills::lint::{self, File, Files, Fix, Rule};
use crate::skills::skill::same_but_for_white_space;

/// A skill with one kind of repair made, and the improver's report of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Improved {
    pub files: Files,
    pub report: Value,
}

/// Makes the repairs of one rule, unless the same was tried before. Returns none if nothing needs a repair.
pub fn improve(contract: &Contract, files: &Files, tried: &[String]) -> Option<Improved> {
    let found = lint::lint(files);
    let before = structural(contract, files).composite;
    let open = Rule::ALL.iter().copied().filter(|rule| {
        rule.fix() != Fix::ByHand
            && *rule != Rule::NameFolder // A run may not change a name: people and other skills call it.
            && found.iter().any(|diagnostic| diagnostic.rule == *rule)
            && !tried.contains(&summary(*rule))
    });
    let drafts = open.map(|rule| (rule, lint::fix_rule(files, rule)));
    // A draft that no gate accepts would be tried again in every round.
    let drafts = drafts.filter(|(_, fixed)| !same_words(files, &fixed.files));
    let drafts = drafts.map(|(rule, fixed)| {
        let after = structural(contract, &fixed.files).composite;
        (gain(before, after), rule, fixed)
    });
    // The first of equal gains, because the order of the rules is fixed.
    let (_, rule, fixed) = drafts.min_by_key(|(gain, ..)| std::cmp::Reverse(*gain))?;
    let changes = fixed.done.iter().map(
        |repair| json!({ "description": format!("{} ({})", rule.how(), repair.count), "file": repair.path }),
    );
    let report = json!({ "summary": summary(rule), "changes": changes.collect::<Vec<_>>() });
    Some(Improved { files: fixed.files, report })
}

/// Returns whether two versions differ only in white space: every agent reads them alike.
fn same_words(before: &Files, after: &Files) -> bool {
    let same = |(old, new): (&File, &File)| match (&old.body, &new.body) {
        (Body::Text(a), Body::Text(b)) => {
            (&old.path, old.executable) == (&new.path, new.executable) && same_but_for_white_space(a, b)
        }
        _ => old == new,
    };
    before.files().len() == after.files().len() && before.files().iter().zip(after.files()).all(same)
}

/// Returns the name of this kind of change. It is always the same, so that a change tried before is recognized.
fn summary(rule: Rule) -> String {
    format!("{rule}: {}", rule.how())
}

/// Returns the gain in millionths of a point. A skill without a score gains by getting one.
fn gain(before: Option<Score>, after: Option<Score>) -> Option<i64> {
    let points = |score: Score| (score.points() * 1e6).round();
    #[expect(clippy::cast_possible_truncation, reason = "a score has at most a hundred million millionths")]
    after.map(|after| (points(after) - before.map_or(0.0, points)) as i64)
}
