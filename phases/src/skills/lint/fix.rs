//! Fixes that lint can make, one rule at a time; a fix must not make other rules worse.
//!
//! Each fix is safe or a suggestion: its rule says which, and a single edit of a safe rule may still be a suggestion.
//!
//! A fix is accepted if its rule then has fewer diagnostics and no other rule has more. So every fix reduces the number
//! of diagnostics, and fixing ends.

use super::edit::Edit;
use super::reading::Reading;
use super::{Files, Fix, Rule, contents, front, links, lint, prose, split, text};

/// Which fixes to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only safe fixes.
    Safe,
    /// Safe fixes and suggestions.
    All,
}

/// A possible fix in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub rule: Rule,
    pub path: String,
    /// The lines to change; empty if the fix is about the whole file.
    pub lines: Vec<usize>,
    /// The messages of the diagnostics that it fixes on these lines; empty if it fixes all of its rule there.
    pub messages: Vec<String>,
    pub is_safe: bool,
}

/// The files after one fix that a person must decide on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    pub files: Files,
    pub repair: Repair,
}

/// The fixes made in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    pub rule: Rule,
    pub path: String,
    /// The number of changed places.
    pub count: usize,
}

/// Files after some fixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    pub files: Files,
    pub done: Vec<Repair>,
}

/// The order of the rules, so that a later rule reads the result of an earlier fix.
const ORDER: [Rule; 11] = [
    Rule::ByteOrderMark,
    Rule::LineEndings,
    Rule::TrailingBlanks,
    Rule::NameFolder,
    Rule::ScriptMode,
    Rule::LinkDangling,
    Rule::ParagraphRepeated,
    Rule::HeadingJump,
    Rule::DescriptionLong,
    Rule::BodyLong,
    Rule::ContentsMissing,
];

/// Fixes everything within reach until no more fixes are accepted.
pub fn fix_all(files: &Files, reach: Reach) -> Fixed {
    let mut fixed = Fixed { files: files.clone(), done: Vec::new() };
    loop {
        let before = fixed.done.len();
        let mut found = tally(&fixed.files);
        for rule in ORDER {
            if found[rule as usize] > 0 {
                found = fix_while_better(&mut fixed, found, rule, reach);
            }
        }
        if fixed.done.len() == before {
            fixed.done = summed(fixed.done);
            return fixed;
        }
    }
}

/// Fixes the diagnostics of one rule, including suggestions.
pub fn fix_rule(files: &Files, rule: Rule) -> Fixed {
    let mut fixed = Fixed { files: files.clone(), done: Vec::new() };
    fix_while_better(&mut fixed, tally(files), rule, Reach::All);
    fixed.done = summed(fixed.done);
    fixed
}

/// Returns all possible fixes before checking whether they would make another rule worse.
pub fn offers(files: &Files) -> Vec<Offer> {
    let reading = Reading::of(files);
    let of = |rule| edits(&reading, rule).into_iter().map(move |edit| (rule, edit));
    let offer = |(rule, edit): (Rule, Edit)| Offer {
        rule,
        path: edit.path,
        lines: edit.lines,
        messages: edit.messages,
        is_safe: edit.is_safe,
    };
    ORDER.into_iter().flat_map(of).map(offer).collect()
}

/// Returns the first fix that is not safe, skipping unwanted rules and the refused pairs of rule and file.
pub fn suggestion(
    files: &Files,
    is_wanted: impl Fn(Rule) -> bool,
    refused: &[(Rule, String)],
) -> Option<Suggestion> {
    let (reading, found) = (Reading::of(files), tally(files));
    let is_refused =
        |rule: Rule, edit: &Edit| refused.iter().any(|(of, path)| (*of, path) == (rule, &edit.path));
    ORDER.into_iter().filter(|rule| is_wanted(*rule)).find_map(|rule| {
        let open = edits(&reading, rule).into_iter().filter(|edit| !edit.is_safe && !is_refused(rule, edit));
        open.into_iter().find_map(|edit| {
            let mut fixed = Fixed { files: files.clone(), done: Vec::new() };
            accept(&mut fixed, &found, rule, &[edit])?;
            Some(Suggestion { files: fixed.files, repair: fixed.done.pop()? })
        })
    })
}

/// Fixes one rule until no more fixes are accepted, and returns the remaining diagnostics.
fn fix_while_better(fixed: &mut Fixed, mut found: Tally, rule: Rule, reach: Reach) -> Tally {
    loop {
        let mut edits = edits(&Reading::of(&fixed.files), rule);
        edits.retain(|edit| edit.is_safe || reach == Reach::All);
        if edits.is_empty() {
            return found;
        }
        match accept(fixed, &found, rule, &edits) {
            Some(after) => found = after,
            None => return found,
        }
    }
}

/// Returns the edits of a rule, each marked safe or not.
fn edits(reading: &Reading, rule: Rule) -> Vec<Edit> {
    let mut edits = made(reading, rule);
    for edit in &mut edits {
        edit.is_safe &= rule.fix() == Fix::Safe && !reading.is_material(&edit.path);
    }
    edits
}

fn made(reading: &Reading, rule: Rule) -> Vec<Edit> {
    match rule {
        Rule::ByteOrderMark => text::without_marks(reading),
        Rule::LineEndings => text::with_line_feeds(reading),
        Rule::TrailingBlanks => text::without_blanks(reading),
        Rule::ScriptMode => text::executable(reading),
        Rule::NameFolder => front::renamed(reading),
        Rule::DescriptionLong => front::trimmed(reading),
        Rule::LinkDangling => links::repointed(reading),
        Rule::ParagraphRepeated => prose::said_once(reading),
        Rule::HeadingJump => prose::levelled(reading),
        Rule::ContentsMissing => contents::added(reading),
        Rule::BodyLong => split::split(reading),
        Rule::MainFile
        | Rule::MainFileCase
        | Rule::FrontMatter
        | Rule::FrontMatterForm
        | Rule::FieldDuplicate
        | Rule::FieldKind
        | Rule::FieldPortable
        | Rule::FieldUnknown
        | Rule::Name
        | Rule::NameReserved
        | Rule::Description
        | Rule::DescriptionMarkup
        | Rule::DescriptionWhen
        | Rule::DescriptionPerson
        | Rule::Compatibility
        | Rule::ListingCut
        | Rule::ListingBudget
        | Rule::BodyEmpty
        | Rule::PathMissing
        | Rule::ReferenceNested
        | Rule::FileOrphan
        | Rule::FileUnread
        | Rule::PathAbsolute
        | Rule::PathOutside
        | Rule::PathOtherSkill
        | Rule::FrontMatterStrict
        | Rule::Spec
        | Rule::Secret
        | Rule::AnswerKey => Vec::new(),
    }
}

/// Accepts all edits if they do no harm; otherwise tries each half separately, down to the harmful edit.
fn accept(fixed: &mut Fixed, found: &Tally, rule: Rule, edits: &[Edit]) -> Option<Tally> {
    let mut tried = fixed.files.clone();
    tried.put(edits.iter().flat_map(|edit| edit.files.iter().cloned()));
    let after = tally(&tried);
    if is_better(found, &after, rule) {
        let repair = |edit: &Edit| Repair { rule, path: edit.path.clone(), count: edit.count };
        fixed.done.extend(edits.iter().map(repair));
        fixed.files = tried;
        return Some(after);
    }
    let (left, right) = edits.split_at(edits.len() / 2);
    if left.is_empty() {
        return None;
    }
    let after = accept(fixed, found, rule, left);
    let both = accept(fixed, after.as_ref().unwrap_or(found), rule, right);
    both.or(after)
}

/// The number of diagnostics of each rule.
type Tally = Vec<usize>;

fn tally(files: &Files) -> Tally {
    let mut tally = vec![0; Rule::ALL.len()];
    for diagnostic in lint(files) {
        tally[diagnostic.rule as usize] += 1;
    }
    tally
}

fn is_better(before: &Tally, after: &Tally, fixed: Rule) -> bool {
    Rule::ALL.iter().all(|rule| {
        let (before, after) = (before[*rule as usize], after[*rule as usize]);
        if *rule == fixed { after < before } else { after <= before }
    })
}

/// Sums the fixes of each rule and file, in their original order.
fn summed(done: Vec<Repair>) -> Vec<Repair> {
    let mut sums: Vec<Repair> = Vec::new();
    for repair in done {
        match sums.iter_mut().find(|sum| sum.rule == repair.rule && sum.path == repair.path) {
            Some(sum) => sum.count += repair.count,
            None => sums.push(repair),
        }
    }
    sums
}

#[cfg(test)]
impl Fixed {
    pub(super) fn text(&self, path: &str) -> &str {
        self.files.get(path).unwrap().text().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::skill;
    use super::*;

    #[test]
    fn every_rule_that_can_be_fixed_has_its_place_in_the_order() {
        let fixable = Rule::ALL.iter().filter(|rule| rule.fix() != Fix::ByHand);
        let mut order = ORDER.to_vec();
        order.sort();
        assert_eq!(fixable.copied().collect::<Vec<_>>(), order);
    }

    #[test]
    fn what_would_make_another_rule_worse_is_not_done_but_the_rest_is() {
        // This folder's name is valid and reserved.
        let files = skill("Do it. \n").in_folder("claude-demo");
        let fixed = fix_all(&files, Reach::All);
        let rules: Vec<_> = fixed.done.iter().map(|repair| repair.rule).collect();
        assert_eq!(rules, [Rule::TrailingBlanks]);
    }
}
