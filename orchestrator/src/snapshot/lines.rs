//! Compares two texts line by line, without the code of the merge that the census checks.
//!
//! Lines that occur once in both texts are anchors, and the parts between them are compared again. In a part without an
//! anchor, the first occurrence of a line is paired with the first, the second with the second, and so on. The result is
//! not always the shortest, but no input takes time quadratic in its lines.

use std::collections::HashMap;
use std::rc::Rc;

/// Rounds of anchors within anchors.
const MOST_ROUNDS: u32 = 16;
/// The number of bytes in which a NUL byte makes a file a binary.
const HEAD: usize = 8000;

/// Gives equal lines the same number.
#[derive(Default)]
pub(super) struct Names {
    numbers: HashMap<Rc<[u8]>, usize>,
    lines: Vec<Rc<[u8]>>,
}

impl Names {
    /// Returns the number of each line. Lines keep their ends.
    pub(super) fn numbered(&mut self, text: &[u8]) -> Vec<usize> {
        text.split_inclusive(|byte| *byte == b'\n').map(|line| self.number(line)).collect()
    }

    pub(super) fn number(&mut self, line: &[u8]) -> usize {
        if let Some(number) = self.numbers.get(line) {
            return *number;
        }
        let (line, number) = (Rc::<[u8]>::from(line), self.lines.len());
        self.numbers.insert(Rc::clone(&line), number);
        self.lines.push(line);
        number
    }

    /// Returns the line for people, without its end.
    pub(super) fn shown(&self, number: usize) -> Box<str> {
        const MOST_SHOWN: usize = 200;
        let text = String::from_utf8_lossy(&self.lines[number]);
        text.trim().chars().take(MOST_SHOWN).collect::<String>().into()
    }

    /// Returns true if the line has more than spaces and punctuation.
    pub(super) fn is_substantial(&self, number: usize) -> bool {
        self.lines[number].iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
    }
}

pub(super) fn is_binary(text: &[u8]) -> bool {
    text[..text.len().min(HEAD)].contains(&0)
}

/// How often each line occurs.
pub(super) fn counts(text: impl IntoIterator<Item = usize>) -> HashMap<usize, usize> {
    let mut counts = HashMap::new();
    for line in text {
        *counts.entry(line).or_insert(0) += 1;
    }
    counts
}

/// For each line of two texts, whether only that text has it.
pub(super) struct Marks {
    pub(super) removed: Vec<bool>,
    pub(super) added: Vec<bool>,
}

/// Returns the lines that only the second text has, with their numbers.
pub fn added_lines<'t>(before: &str, after: &'t str) -> Vec<(u32, &'t str)> {
    let mut names = Names::default();
    let (old, new) = (names.numbered(before.as_bytes()), names.numbered(after.as_bytes()));
    let lines = (1_u32..).zip(after.lines()).zip(compare(&old, &new).added);
    lines.filter(|(_, is_added)| *is_added).map(|(line, _)| line).collect()
}

/// Numbers of lines that are equal: one of the first text, one of the second.
type Pairs = Vec<(usize, usize)>;

pub(super) fn compare(before: &[usize], after: &[usize]) -> Marks {
    let mut marks = Marks { removed: vec![true; before.len()], added: vec![true; after.len()] };
    let mut parts = vec![(0..before.len(), 0..after.len(), MOST_ROUNDS)];
    while let Some((mut old, mut new, rounds)) = parts.pop() {
        while !old.is_empty() && !new.is_empty() && before[old.start] == after[new.start] {
            marks.pair(old.start, new.start);
            (old.start, new.start) = (old.start + 1, new.start + 1);
        }
        while !old.is_empty() && !new.is_empty() && before[old.end - 1] == after[new.end - 1] {
            (old.end, new.end) = (old.end - 1, new.end - 1);
            marks.pair(old.end, new.end);
        }
        let (pairs, is_done) = common(&before[old.clone()], &after[new.clone()], rounds);
        let mut open = (old.start, new.start);
        for (at_old, at_new) in pairs {
            let next = (old.start + at_old, new.start + at_new);
            marks.pair(next.0, next.1);
            if !is_done {
                parts.push((open.0..next.0, open.1..next.1, rounds - 1));
            }
            open = (next.0 + 1, next.1 + 1);
        }
        if !is_done {
            parts.push((open.0..old.end, open.1..new.end, rounds - 1));
        }
    }
    marks
}

impl Marks {
    fn pair(&mut self, old: usize, new: usize) {
        self.removed[old] = false;
        self.added[new] = false;
    }
}

/// Returns lines that both parts have in the same order, and whether the parts between them need no comparison.
fn common(old: &[usize], new: &[usize], rounds: u32) -> (Pairs, bool) {
    if old.is_empty() || new.is_empty() {
        return (Vec::new(), true);
    }
    let pairs = by_occurrence(old, new);
    let (in_old, in_new) = (counts(old.iter().copied()), counts(new.iter().copied()));
    let is_anchor = |(at, _): &&(usize, usize)| in_old[&old[*at]] == 1 && in_new[&old[*at]] == 1;
    let anchors: Pairs = pairs.iter().filter(is_anchor).copied().collect();
    if rounds == 0 || anchors.is_empty() {
        return (increasing(&pairs), true);
    }
    (increasing(&anchors), false)
}

/// Pairs the n-th occurrence of each line with the n-th one in the other text, in the order of the second text.
fn by_occurrence(old: &[usize], new: &[usize]) -> Pairs {
    let places: HashMap<(usize, usize), usize> = occurrences(old).into_iter().zip(0..).collect();
    let new = occurrences(new).into_iter().zip(0..);
    new.filter_map(|(line, at)| Some((*places.get(&line)?, at))).collect()
}

/// Returns each line with the number of times that it occurred up to there.
fn occurrences(text: &[usize]) -> Vec<(usize, usize)> {
    let mut counts = HashMap::new();
    let mut nth = |line: &usize| {
        let count = counts.entry(*line).or_insert(0_usize);
        *count += 1;
        (*line, *count)
    };
    text.iter().map(&mut nth).collect()
}

/// Returns a longest part of the pairs in which the first numbers increase too.
fn increasing(pairs: &[(usize, usize)]) -> Pairs {
    // For each length, the pair with the smallest number that ends a chain of that length.
    let mut ends = Vec::<usize>::new();
    let mut previous = Vec::with_capacity(pairs.len());
    for (at, (old, _)) in pairs.iter().enumerate() {
        let len = ends.partition_point(|end| pairs[*end].0 < *old);
        previous.push(len.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(len) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut chain: Pairs =
        std::iter::successors(ends.last().copied(), |at| previous[*at]).map(|at| pairs[at]).collect();
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {

    use super::*;

    /// Returns the lines that stay, and checks that they are the same in both texts.
    fn kept(before: &[usize], after: &[usize]) -> Vec<usize> {
        let marks = compare(before, after);
        let unmarked = |text: &[usize], marks: &[bool]| -> Vec<usize> {
            text.iter().zip(marks).filter(|(_, is_marked)| !**is_marked).map(|(line, _)| *line).collect()
        };
        let kept = unmarked(before, &marks.removed);
        assert_eq!(unmarked(after, &marks.added), kept);
        kept
    }

    #[test]
    fn the_lines_that_stay_are_common_to_both_texts() {
        assert_eq!(kept(&[], &[1, 2]), [] as [usize; 0]);
        assert_eq!(kept(&[1, 2, 3], &[1, 2, 3]), [1, 2, 3]);
        assert_eq!(kept(&[1, 2, 3], &[0, 1, 3, 4]), [1, 3]);
        assert_eq!(kept(&[1, 9, 2, 9, 3, 9], &[1, 9, 5, 9, 2, 9, 3, 9]), [1, 9, 2, 9, 3, 9]);
    }

    /// 300 functions with equal last lines; one more at the start, one less at the end.
    #[test]
    fn anchors_keep_the_repeated_lines_between_them() {
        let function = |name: usize| [name, 1_000_000, 1_000_001];
        let before: Vec<usize> = (0..300).flat_map(function).collect();
        let after: Vec<usize> = [500].into_iter().chain(0..299).flat_map(function).collect();
        assert_eq!(kept(&before, &after), before[..897]);
    }

    #[test]
    fn added_lines_have_their_numbers() {
        for (before, after, added) in [
            ("", "", &[][..]),
            ("a\nb\n", "b\n", &[]),
            ("a\nb\n", "a\r\nx\nb\ny", &[(1_u32, "a"), (2, "x"), (4, "y")]),
            ("", "\n\na", &[(1, ""), (2, ""), (3, "a")]),
        ] {
            assert_eq!(added_lines(before, after), added, "{after:?}");
        }
    }

    #[test]
    fn hostile_texts_of_a_megabyte_are_compared_at_once() {
        let lines = 1 << 19;
        let equal = vec![7; lines];
        assert_eq!(kept(&equal, &equal[..lines - 9]).len(), lines - 9);
        let turns = |by: usize| -> Vec<usize> { (0..lines).map(|at| (at + by) % 2).collect() };
        assert!(kept(&turns(0), &turns(1)).len() >= lines / 2);
        let with_ends = |one: usize, other: usize| [&[one][..], equal.as_slice(), &[other]].concat();
        assert_eq!(kept(&with_ends(1, 2), &with_ends(3, 4)).len(), lines);
        let rising: Vec<usize> = (0..lines).collect();
        let falling: Vec<usize> = rising.iter().rev().copied().collect();
        assert_eq!(kept(&rising, &falling).len(), 1);
    }

    #[test]
    fn only_lines_with_a_letter_or_a_digit_count() {
        let mut names = Names::default();
        let numbers = names.numbered("}\n\n  );\nx\n\u{e4}\n".as_bytes());
        let counted: Vec<bool> = numbers.iter().map(|number| names.is_substantial(*number)).collect();
        assert_eq!(counted, [false, false, false, true, true]);
        assert_eq!(&*names.shown(numbers[2]), ");");
    }
}
