//! The difference between a text and its last version, with the version that added or removed each line.

use serde::Serialize;

use super::lines::{Marks, Names, compare};

/// The number of equal lines that are kept on each side of a changed one.
const CONTEXT: usize = 3;

/// A line of a difference. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlamedLine {
    pub kind: BlamedKind,
    pub text: String,
    /// Its number in the first text, if it is there.
    pub old: Option<usize>,
    /// Its number in the last text, if it is there.
    pub new: Option<usize>,
    /// The round of the version that added or removed it.
    pub round: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlamedKind {
    Added,
    Removed,
    Kept,
    /// Stands for equal lines between two parts of the difference.
    Gap,
}

/// Where a line of a version comes from: its place in the first text, or the round that added it.
#[derive(Clone, Copy)]
enum Source {
    Start(usize),
    Round(u32),
}

/// Returns the difference between a text and the last of its versions, each with the round that made it. A line that one
/// round removed and a later one restored counts as kept.
pub fn blame(start: &str, versions: &[(u32, String)]) -> Vec<BlamedLine> {
    let mut names = Names::default();
    let first = names.numbered(start.as_bytes());
    let mut removed_by = vec![None; first.len()];
    let mut last = first.clone();
    let mut sources: Vec<Source> = (0..first.len()).map(Source::Start).collect();
    for (round, text) in versions {
        let next = names.numbered(text.as_bytes());
        let marks = compare(&last, &next);
        let mut kept = Vec::new();
        for (source, is_removed) in sources.into_iter().zip(marks.removed) {
            match source {
                Source::Start(at) if is_removed => removed_by[at] = Some(*round),
                Source::Round(_) if is_removed => {}
                Source::Start(_) | Source::Round(_) => kept.push(source),
            }
        }
        let mut kept = kept.into_iter();
        let source = |is_added: bool| {
            let kept = if is_added { None } else { kept.next() };
            kept.unwrap_or(Source::Round(*round))
        };
        sources = marks.added.into_iter().map(source).collect();
        last = next;
    }
    let marks = aligned(&first, &last, &sources);
    let end = versions.last().map_or(start, |(_, text)| text);
    parts(&listed([start, end], &marks, &removed_by, &sources))
}

/// Returns the lines that are only in the first or only in the last text. Lines that stayed all the time are in both, and
/// the lines between them are compared, so that restored ones are too. Both lists end with an unmarked place.
fn aligned(first: &[usize], last: &[usize], sources: &[Source]) -> Marks {
    let stayed = sources.iter().enumerate().filter_map(|(new, source)| match source {
        Source::Start(old) => Some((*old, new)),
        Source::Round(_) => None,
    });
    let mut marks = Marks { removed: Vec::new(), added: Vec::new() };
    for (old, new) in stayed.chain([(first.len(), last.len())]) {
        let between = compare(&first[marks.removed.len()..old], &last[marks.added.len()..new]);
        marks.removed.extend(between.removed.into_iter().chain([false]));
        marks.added.extend(between.added.into_iter().chain([false]));
    }
    marks
}

/// Returns all lines of both texts.
fn listed(
    texts: [&str; 2],
    marks: &Marks,
    removed_by: &[Option<u32>],
    sources: &[Source],
) -> Vec<BlamedLine> {
    let [first, last] = texts.map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let (mut lines, mut old, mut new) = (Vec::new(), 0, 0);
    while old < first.len() || new < last.len() {
        let is_removed = marks.removed[old];
        let is_added = !is_removed && marks.added[new];
        let (kind, text, round) = match (is_removed, is_added) {
            (true, _) => (BlamedKind::Removed, first[old], removed_by[old]),
            (false, true) => (BlamedKind::Added, last[new], added_by(sources[new])),
            (false, false) => (BlamedKind::Kept, last[new], None),
        };
        let number = |at: usize, is_there: bool| is_there.then_some(at + 1);
        let (at_old, at_new) = (number(old, !is_added), number(new, !is_removed));
        let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
        lines.push(BlamedLine { kind, text, old: at_old, new: at_new, round });
        (old, new) = (old + usize::from(!is_added), new + usize::from(!is_removed));
    }
    lines
}

fn added_by(source: Source) -> Option<u32> {
    match source {
        Source::Round(round) => Some(round),
        Source::Start(_) => None,
    }
}

/// Keeps the changed lines and those around them, with a gap between two parts.
fn parts(lines: &[BlamedLine]) -> Vec<BlamedLine> {
    let (mut kept, mut is_gap) = (Vec::new(), false);
    for (at, line) in lines.iter().enumerate() {
        let around = &lines[at.saturating_sub(CONTEXT)..lines.len().min(at + CONTEXT + 1)];
        if around.iter().all(|line| line.kind == BlamedKind::Kept) {
            is_gap = !kept.is_empty();
            continue;
        }
        if std::mem::take(&mut is_gap) {
            let text = String::new();
            kept.push(BlamedLine { kind: BlamedKind::Gap, text, old: None, new: None, round: None });
        }
        kept.push(line.clone());
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(line: &BlamedLine) -> String {
        let number = |number: Option<usize>| number.map_or("-".to_owned(), |number| number.to_string());
        let mark = match line.kind {
            BlamedKind::Added => '+',
            BlamedKind::Removed => '-',
            BlamedKind::Kept => ' ',
            BlamedKind::Gap => return "...".to_owned(),
        };
        let by = line.round.map_or(String::new(), |round| format!(" by {round}"));
        format!("{} {} {mark}{}{by}", number(line.old), number(line.new), line.text)
    }

    fn blamed(start: &str, versions: &[(u32, &str)]) -> Vec<String> {
        let versions: Vec<_> = versions.iter().map(|(round, text)| (*round, (*text).to_owned())).collect();
        blame(start, &versions).iter().map(shown).collect()
    }

    #[test]
    fn each_line_names_the_round_that_added_or_removed_it() {
        let versions = [(2, "a\nB\nc\nd\n"), (5, "a\nB\nC\nd\ne\n"), (7, "B\nC\nd\ne\n")];
        let expected = [
            "1 - -a by 7",
            "2 - -b by 2",
            "3 - -c by 5",
            "- 1 +B by 2",
            "- 2 +C by 5",
            "4 3  d",
            "- 4 +e by 5",
        ];
        assert_eq!(blamed("a\nb\nc\nd\n", &versions), expected);
    }

    #[test]
    fn what_a_later_round_undid_is_no_change() {
        assert_eq!(blamed("a\nb\nc\n", &[(1, "a\nc\n"), (2, "a\nb\nc\n")]), [""; 0]);
        assert_eq!(blamed("a\n", &[(1, "a\nx\n"), (2, "a\n")]), [""; 0]);
        // Only the restored line is kept.
        let expected = ["1 1  a", "2 2  b", "- 3 +x by 2"];
        assert_eq!(blamed("a\nb\n", &[(1, "a\n"), (2, "a\nb\nx\n")]), expected);
        assert_eq!(blamed("a\n", &[]), [""; 0]);
    }

    #[test]
    fn a_file_that_came_or_went_has_all_its_lines() {
        assert_eq!(blamed("", &[(3, "a\nb")]), ["- 1 +a by 3", "- 2 +b by 3"]);
        assert_eq!(blamed("a\n", &[(3, "")]), ["1 - -a by 3"]);
    }

    #[test]
    fn three_lines_around_a_change_are_kept_and_gaps_marked() {
        let lines: Vec<String> = (1..=20).map(|line| line.to_string() + "\n").collect();
        let start = lines.concat();
        let version = start.replace("5\n6\n", "5\nsix\n").replace("19\n", "");
        let expected = [
            "3 3  3",
            "4 4  4",
            "5 5  5",
            "6 - -6 by 1",
            "- 6 +six by 1",
            "7 7  7",
            "8 8  8",
            "9 9  9",
            "...",
            "16 16  16",
            "17 17  17",
            "18 18  18",
            "19 - -19 by 1",
            "20 19  20",
        ];
        assert_eq!(blamed(&start, &[(1, &version)]), expected);
    }

    proptest! {
        #[test]
        fn every_changed_line_has_a_round(texts in prop::collection::vec("([abc]\n){0,8}", 1..6)) {
            let versions: Vec<_> = (1..).zip(texts[1..].iter().cloned()).collect();
            let lines = blame(&texts[0], &versions);
            for line in &lines {
                let is_change = matches!(line.kind, BlamedKind::Added | BlamedKind::Removed);
                prop_assert_eq!(line.round.is_some(), is_change);
            }
            let count = |kind| lines.iter().filter(|line| line.kind == kind).count();
            let (first, last) = (texts[0].lines().count(), texts[texts.len() - 1].lines().count());
            prop_assert_eq!(first + count(BlamedKind::Added), last + count(BlamedKind::Removed));
        }
    }
}
