//! The improver: the one kind of repair that gains most. It may try those too that are only suggestions elsewhere: the
//! trials decide.

use serde_json::{Value, json};

use super::judge::structural;
use crate::contract::Contract;
use crate::lint::{self, File, Files, Fix, Rule};
use crate::material::Body;
use crate::score::Score;
use crate::skill::same_but_for_white_space;

/// A skill with one kind of repair made, and the improver's report of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Improved {
    pub files: Files,
    pub report: Value,
}

/// Makes the repairs of one rule, unless the same was tried before; nothing when there is nothing to repair.
pub fn improve(contract: &Contract, files: &Files, tried: &[String]) -> Option<Improved> {
    let found = lint::lint(files);
    let before = structural(contract, files).composite;
    let open = Rule::ALL.iter().copied().filter(|rule| {
        rule.fix() != Fix::ByHand
            && *rule != Rule::NameFolder // A run may not change a name: people and other skills call it.
            && found.iter().any(|finding| finding.rule == *rule)
            && !tried.contains(&summary(*rule))
    });
    let drafts = open.map(|rule| (rule, lint::fix_rule(files, rule)));
    // What no gate lets through would be tried again in every round.
    let drafts = drafts.filter(|(_, fixed)| !same_words(files, &fixed.files));
    let drafts = drafts.map(|(rule, fixed)| {
        let after = structural(contract, &fixed.files).composite;
        (gain(before, after), rule, fixed)
    });
    // The first of those that gain the same: the rules stand in one order.
    let (_, rule, fixed) = drafts.min_by_key(|(gain, ..)| std::cmp::Reverse(*gain))?;
    let changes = fixed.done.iter().map(
        |repair| json!({ "description": format!("{} ({})", rule.how(), repair.count), "file": repair.path }),
    );
    let report = json!({ "summary": summary(rule), "changes": changes.collect::<Vec<_>>() });
    Some(Improved { files: fixed.files, report })
}

/// Whether two versions differ in nothing but white space: no agent reads them differently.
fn same_words(before: &Files, after: &Files) -> bool {
    let same = |(old, new): (&File, &File)| match (&old.body, &new.body) {
        (Body::Text(a), Body::Text(b)) => {
            (&old.path, old.executable) == (&new.path, new.executable) && same_but_for_white_space(a, b)
        }
        _ => old == new,
    };
    before.files().len() == after.files().len() && before.files().iter().zip(after.files()).all(same)
}

/// What a change of this kind is called: the same words every time, so that one that was tried is known again.
fn summary(rule: Rule) -> String {
    format!("{rule}: {}", rule.how())
}

/// In millionths of a point; a skill that had no score gains by having one.
fn gain(before: Option<Score>, after: Option<Score>) -> Option<i64> {
    let points = |score: Score| (score.points() * 1e6).round();
    #[expect(clippy::cast_possible_truncation, reason = "a score has at most a hundred million millionths")]
    after.map(|after| (points(after) - before.map_or(0.0, points)) as i64)
}
