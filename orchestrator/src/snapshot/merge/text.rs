//! Merges two edits of one text line by line, with the result of `git merge`.
//!
//! Hunks of the two sides that overlap or touch form one region. It is a conflict unless both sides have the same lines
//! there.

use std::collections::HashMap;
use std::ops::Range;

use super::ConflictKind;
use super::histogram::{Hunk, hunks};

/// More than any skill's text has. In the worst case, a comparison takes time quadratic in the number of lines.
pub(crate) const MOST_BYTES: u64 = 4 << 20;
const MOST_LINES: usize = 20_000;

/// The number of bytes in which git looks for a NUL byte.
const HEAD: usize = 8000;

/// Merges the lines with their ends: a line with a carriage return differs from one without.
pub(crate) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Vec<u8>, ConflictKind> {
    if [base, ours, theirs].iter().any(|text| text[..text.len().min(HEAD)].contains(&0)) {
        return Err(ConflictKind::Binary);
    }
    let mut names = HashMap::new();
    let [base, ours, theirs] = [base, ours, theirs].map(|text| Text::of(text, &mut names));
    if [&base, &ours, &theirs].iter().any(|text| text.lines.len() > MOST_LINES) {
        return Err(ConflictKind::TooLarge);
    }
    let sides = [Side::of(&base, &ours), Side::of(&base, &theirs)];
    let mut merged = Vec::new();
    let mut at = 0;
    for region in regions(&sides) {
        let said = sides.each_ref().map(|side| side.said(&region));
        base.copy(at..region.start, &mut merged);
        at = region.end;
        match said {
            [Some(one), Some(other)] if ours.names[one.clone()] != theirs.names[other.clone()] => {
                return Err(ConflictKind::Text);
            }
            [Some(range), _] => ours.copy(range, &mut merged),
            [None, Some(range)] => theirs.copy(range, &mut merged),
            [None, None] => {}
        }
    }
    base.copy(at..base.lines.len(), &mut merged);
    Ok(merged)
}

/// The lines of a text, with a number for each: equal lines have equal numbers.
struct Text<'a> {
    lines: Vec<&'a [u8]>,
    names: Vec<usize>,
}

impl<'a> Text<'a> {
    fn of(text: &'a [u8], names: &mut HashMap<&'a [u8], usize>) -> Self {
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let mut name = |line: &&'a [u8]| {
            let next = names.len();
            *names.entry(*line).or_insert(next)
        };
        let names = lines.iter().map(&mut name).collect();
        Self { lines, names }
    }

    fn copy(&self, lines: Range<usize>, into: &mut Vec<u8>) {
        into.extend(self.lines[lines].iter().flat_map(|line| line.iter()));
    }
}

/// The changes of one side, in the order of the lines.
struct Side {
    hunks: Vec<Hunk>,
}

impl Side {
    fn of(base: &Text<'_>, text: &Text<'_>) -> Self {
        Self { hunks: hunks(&base.names, &text.names) }
    }

    /// Returns the lines of this side that correspond to a region of the base, if it changed any of it.
    fn said(&self, region: &Range<usize>) -> Option<Range<usize>> {
        let is_in = |hunk: &&Hunk| region.start <= hunk.before.start && hunk.before.end <= region.end;
        let first = self.hunks.iter().find(is_in)?;
        let last = self.hunks.iter().rfind(is_in)?;
        let start = first.after.start - (first.before.start - region.start);
        Some(start..last.after.end + (region.end - last.before.end))
    }
}

/// Returns the regions of the base that either side changed. Hunks that overlap or touch are in one region.
fn regions(sides: &[Side; 2]) -> Vec<Range<usize>> {
    let mut hunks: Vec<_> =
        sides.iter().flat_map(|side| &side.hunks).map(|hunk| hunk.before.clone()).collect();
    hunks.sort_by_key(|lines| (lines.start, lines.end));
    let mut regions: Vec<Range<usize>> = Vec::new();
    for lines in hunks {
        match regions.last_mut().filter(|last| lines.start <= last.end) {
            Some(last) => last.end = last.end.max(lines.end),
            None => regions.push(lines),
        }
    }
    regions
}
