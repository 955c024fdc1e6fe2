//! How far a misspelt word is from a known one.

use std::mem;

/// Counts the letters that were added, removed or changed.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let changed = before + usize::from(x != y);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.chars().count()]
}
