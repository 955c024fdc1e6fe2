//! Repairs that need no judgement: one rule at a time, and only what makes nothing else worse.
//!
//! A repair is accepted when its rule has fewer findings afterwards and no other rule has more. So the number of
//! findings falls with every repair, and mending comes to an end at which there is nothing left to do.

use std::ops::Range;

use super::reading::Reading;
use super::{File, Files, Mend, Rule, contents, front, links, lint, prose, split, text};
use crate::material::Body;

/// How far mending may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// What keeps the meaning of every word.
    Keeps,
    /// What moves text as well.
    Moves,
}

/// What was mended in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    pub rule: Rule,
    pub path: String,
    /// How many places were changed.
    pub count: usize,
}

/// Files after some repairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    pub files: Files,
    pub done: Vec<Repair>,
}

/// In this order what one repair leaves is read by the next.
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

/// Everything within reach, until there is nothing left to do.
pub fn mend_all(files: &Files, reach: Reach) -> Mended {
    let mut mended = Mended { files: files.clone(), done: Vec::new() };
    loop {
        let before = mended.done.len();
        let mut found = tally(&mended.files);
        for rule in ORDER.into_iter().filter(|rule| reach.covers(*rule)) {
            if found[rule as usize] > 0 {
                found = mend_one(&mut mended, found, rule);
            }
        }
        if mended.done.len() == before {
            mended.done = summed(mended.done);
            return mended;
        }
    }
}

/// What one rule finds, as far as that can be mended.
pub fn mend(files: &Files, rule: Rule) -> Mended {
    let mut mended = Mended { files: files.clone(), done: Vec::new() };
    mend_one(&mut mended, tally(files), rule);
    mended.done = summed(mended.done);
    mended
}

/// Mends until nothing more is accepted, and returns what is found then.
fn mend_one(mended: &mut Mended, mut found: Tally, rule: Rule) -> Tally {
    loop {
        let edits = edits(&Reading::of(&mended.files), rule);
        if edits.is_empty() {
            return found;
        }
        match accept(mended, &found, rule, &edits) {
            Some(after) => found = after,
            None => return found,
        }
    }
}

impl Reach {
    pub fn covers(self, rule: Rule) -> bool {
        match rule.mend() {
            Mend::Keeps => true,
            Mend::Moves => self == Self::Moves,
            Mend::ByHand => false,
        }
    }
}

/// The change of one file, and what it needs besides.
#[derive(Debug)]
pub(super) struct Edit {
    path: String,
    count: usize,
    /// In the place of those with the same path, or new.
    files: Vec<File>,
}

impl Edit {
    pub(super) fn of_text(file: &File, text: String, count: usize) -> Self {
        let changed = File { body: Body::Text(text), ..file.clone() };
        Self { path: file.path.clone(), count, files: vec![changed] }
    }

    /// Puts other words at some places, none of which overlap; nothing when there are none.
    pub(super) fn of_places(
        file: &File,
        text: &str,
        mut places: Vec<(Range<usize>, String)>,
    ) -> Option<Self> {
        places.sort_by_key(|(at, _)| at.start);
        let mut made = String::with_capacity(text.len());
        let mut done = 0;
        for (at, words) in &places {
            made.push_str(&text[done..at.start]);
            made.push_str(words);
            done = at.end;
        }
        made.push_str(&text[done..]);
        (!places.is_empty()).then(|| Self::of_text(file, made, places.len()))
    }

    pub(super) fn executable(file: &File) -> Self {
        let files = vec![File { executable: true, ..file.clone() }];
        Self { path: file.path.clone(), count: 1, files }
    }

    pub(super) fn with(mut self, file: File) -> Self {
        self.files.push(file);
        self
    }
}

fn edits(reading: &Reading, rule: Rule) -> Vec<Edit> {
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
        | Rule::Secret => Vec::new(),
    }
}

/// Takes all edits if they do no harm; else each half of them by itself, down to the one that does.
fn accept(mended: &mut Mended, found: &Tally, rule: Rule, edits: &[Edit]) -> Option<Tally> {
    let mut tried = mended.files.clone();
    tried.put(edits.iter().flat_map(|edit| edit.files.iter().cloned()));
    let after = tally(&tried);
    if is_better(found, &after, rule) {
        let repair = |edit: &Edit| Repair { rule, path: edit.path.clone(), count: edit.count };
        mended.done.extend(edits.iter().map(repair));
        mended.files = tried;
        return Some(after);
    }
    let (left, right) = edits.split_at(edits.len() / 2);
    if left.is_empty() {
        return None;
    }
    let after = accept(mended, found, rule, left);
    let both = accept(mended, after.as_ref().unwrap_or(found), rule, right);
    both.or(after)
}

/// The number of findings of each rule.
type Tally = Vec<usize>;

fn tally(files: &Files) -> Tally {
    let mut tally = vec![0; Rule::ALL.len()];
    for finding in lint(files) {
        tally[finding.rule as usize] += 1;
    }
    tally
}

fn is_better(before: &Tally, after: &Tally, mended: Rule) -> bool {
    Rule::ALL.iter().all(|rule| {
        let (before, after) = (before[*rule as usize], after[*rule as usize]);
        if *rule == mended { after < before } else { after <= before }
    })
}

/// One entry for each rule and file, in the order in which they came.
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
impl Mended {
    pub(super) fn text(&self, path: &str) -> &str {
        super::reading::text(self.files.get(path).unwrap()).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::skill;
    use super::*;

    #[test]
    fn every_rule_that_can_be_mended_has_its_place_in_the_order() {
        let mendable = Rule::ALL.iter().filter(|rule| rule.mend() != Mend::ByHand);
        let mut order = ORDER.to_vec();
        order.sort();
        assert_eq!(mendable.copied().collect::<Vec<_>>(), order);
    }

    #[test]
    fn what_would_make_another_rule_worse_is_not_done_but_the_rest_is() {
        // The name of this folder is a valid one, and reserved.
        let files = skill("Do it. \n").in_folder("claude-demo");
        let mended = mend_all(&files, Reach::Moves);
        let rules: Vec<_> = mended.done.iter().map(|repair| repair.rule).collect();
        assert_eq!(rules, [Rule::TrailingBlanks]);
    }
}
