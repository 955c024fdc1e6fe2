//! Finds the lines that differ between two texts, like git's histogram diff.
//!
//! The longest common run around the rarest line splits both texts in two, and each half is split again. Then every
//! hunk moves down as far as equal lines allow, or to the place where it meets a hunk of the other text (`slide`). A
//! merge depends on the exact place of each hunk, so both steps follow git. The hunks may differ only if all common
//! lines of a part occur more than 64 times: git falls back to a variant of Myers' algorithm there, and this module to
//! the one of `similar`.

use std::ops::Range;

use super::slide;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Lines of one text that replace lines of the other. Either may be empty, but not both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) before: Range<usize>,
    pub(super) after: Range<usize>,
}

/// Lines that occur more often are not used as anchors.
const MOST_OCCURRENCES: usize = 64;

/// Returns the hunks. Lines are given as numbers below the number of different lines.
pub(super) fn hunks(before: &[usize], after: &[usize]) -> Vec<Hunk> {
    let mut diff = Diff::of(before, after);
    let mut parts = vec![(0..before.len(), 0..after.len())];
    while let Some((old, new)) = parts.pop() {
        diff.part(old, new, &mut parts);
    }
    let Diff { mut removed, mut added, .. } = diff;
    slide::settle(before, &mut removed, &added);
    slide::settle(after, &mut added, &removed);
    listed(&removed, &added)
}

struct Diff<'a> {
    before: &'a [usize],
    after: &'a [usize],
    removed: Vec<bool>,
    added: Vec<bool>,
    /// For each line: its first position in the part of `before`, and its number of occurrences.
    first: Vec<Option<usize>>,
    count: Vec<usize>,
    /// For each position in `before`: the next position of the same line in the part.
    next: Vec<Option<usize>>,
}

/// The result of searching for a run that splits a part.
enum Split {
    /// The parts have no line in common.
    Nothing,
    /// All common lines occur too often.
    TooCommon,
    Run(Run),
}

#[derive(Clone, Copy)]
struct Run {
    old: usize,
    new: usize,
    len: usize,
}

impl<'a> Diff<'a> {
    fn of(before: &'a [usize], after: &'a [usize]) -> Self {
        let names = before.iter().chain(after).max().map_or(0, |most| most + 1);
        Self {
            before,
            after,
            removed: vec![false; before.len()],
            added: vec![false; after.len()],
            first: vec![None; names],
            count: vec![0; names],
            next: vec![None; before.len()],
        }
    }

    /// Marks the differences in a part of each text, or adds the two smaller parts that remain.
    fn part(&mut self, old: Range<usize>, new: Range<usize>, parts: &mut Vec<(Range<usize>, Range<usize>)>) {
        if old.is_empty() || new.is_empty() {
            return self.mark(old, new);
        }
        self.index(&old);
        let split = self.split(&old, &new);
        self.forget(&old);
        match split {
            Split::Nothing => self.mark(old, new),
            Split::TooCommon => self.fall_back(&old, &new),
            Split::Run(run) => {
                parts.push((old.start..run.old, new.start..run.new));
                parts.push((run.old + run.len..old.end, run.new + run.len..new.end));
            }
        }
    }

    fn mark(&mut self, old: Range<usize>, new: Range<usize>) {
        self.removed[old].fill(true);
        self.added[new].fill(true);
    }

    fn index(&mut self, old: &Range<usize>) {
        for at in old.clone().rev() {
            let name = self.before[at];
            self.next[at] = self.first[name].replace(at);
            self.count[name] += 1;
        }
    }

    fn forget(&mut self, old: &Range<usize>) {
        for name in &self.before[old.clone()] {
            self.first[*name] = None;
            self.count[*name] = 0;
        }
    }

    fn split(&self, old: &Range<usize>, new: &Range<usize>) -> Split {
        let (mut best, mut rarest) = (None::<Run>, MOST_OCCURRENCES + 1);
        let (mut at, mut has_common) = (new.start, false);
        while at < new.end {
            let name = self.after[at];
            let mut end = at + 1;
            has_common |= self.count[name] > 0;
            let mut place = self.first[name].filter(|_| self.count[name] <= rarest);
            while let Some(found) = place {
                let (run, count) = self.grown(found, at, old, new);
                end = end.max(run.new + run.len);
                // Of equally rare runs, takes the longest; of equally long ones, the first.
                if best.map_or(1, |best| best.len) < run.len || count < rarest {
                    (best, rarest) = (Some(run), count);
                }
                place = self.next[found];
                while let Some(within) = place.filter(|place| *place < run.old + run.len) {
                    place = self.next[within];
                }
            }
            at = end;
        }
        match best.filter(|_| rarest <= MOST_OCCURRENCES) {
            Some(run) => Split::Run(run),
            None if has_common => Split::TooCommon,
            None => Split::Nothing,
        }
    }

    /// Returns the longest common run around a common line, and the number of occurrences of its rarest line.
    fn grown(&self, old_at: usize, new_at: usize, old: &Range<usize>, new: &Range<usize>) -> (Run, usize) {
        let (mut start, mut end) = ((old_at, new_at), (old_at + 1, new_at + 1));
        let mut count = self.count[self.before[old_at]];
        while start.0 > old.start
            && start.1 > new.start
            && self.before[start.0 - 1] == self.after[start.1 - 1]
        {
            start = (start.0 - 1, start.1 - 1);
            count = count.min(self.count[self.before[start.0]]);
        }
        while end.0 < old.end && end.1 < new.end && self.before[end.0] == self.after[end.1] {
            count = count.min(self.count[self.before[end.0]]);
            end = (end.0 + 1, end.1 + 1);
        }
        (Run { old: start.0, new: start.1, len: end.0 - start.0 }, count)
    }

    fn fall_back(&mut self, old: &Range<usize>, new: &Range<usize>) {
        let ops = capture_diff_slices(Algorithm::Myers, &self.before[old.clone()], &self.after[new.clone()]);
        for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
            let (gone, came) = (op.old_range(), op.new_range());
            let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
            self.mark(moved(gone, old.start), moved(came, new.start));
        }
    }
}

/// Turns the marks of both texts into hunks.
fn listed(removed: &[bool], added: &[bool]) -> Vec<Hunk> {
    let (mut old, mut new, mut hunks) = (0, 0, Vec::new());
    let marked =
        |marks: &[bool], from: usize| marks[from..].iter().take_while(|is_marked| **is_marked).count();
    while old < removed.len() || new < added.len() {
        let (gone, came) = (marked(removed, old), marked(added, new));
        if gone + came > 0 {
            hunks.push(Hunk { before: old..old + gone, after: new..new + came });
        }
        // The line after a hunk is the same in both.
        (old, new) = (old + gone + 1, new + came + 1);
    }
    hunks
}
