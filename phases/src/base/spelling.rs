//! Finds the known word nearest to a misspelt one.

/// The longest word that is compared, in bytes: others may have written it, and comparing costs time and memory.
const LONGEST: usize = 200;

/// Returns the nearest known word, if it is near enough to be a likely match.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known = known.into_iter().filter(|_| word.len() <= LONGEST);
    let ranked = known.map(|candidate| (distance(word, candidate), candidate));
    let (distance, candidate) = ranked.min_by_key(|(distance, _)| *distance)?;
    (distance <= reach(word)).then_some(candidate)
}

/// Returns the known dotted key with the nearest last name; at the same distance, prefers the same table.
pub fn nearest_key<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (table, name) = split(key);
    let rank = |candidate: &'a str| {
        let (its_table, its_name) = split(candidate);
        ((distance(name, its_name), its_table != table), candidate)
    };
    let ((distance, _), candidate) = known.into_iter().map(rank).min_by_key(|(rank, _)| *rank)?;
    (distance <= reach(name)).then_some(candidate)
}

fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

/// Returns the maximum distance: a third of a word may be wrong.
pub fn reach(word: &str) -> usize {
    (word.chars().count() / 3).max(1)
}

/// Counts the letters that were added, removed, changed or swapped with their neighbour.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEYS: [&str; 5] = ["tune.preset", "tune.threshold", "roles.improver", "timeouts.improver", "tune"];

    fn misspelt(name: &str, at: usize, letter: char, kind: u8) -> String {
        let mut letters: Vec<char> = name.chars().collect();
        let at = at % letters.len();
        match kind {
            0 => letters.insert(at, letter),
            1 => drop(letters.remove(at)),
            _ => letters[at] = letter,
        }
        letters.into_iter().collect()
    }

    proptest! {
        #[test]
        fn one_slip_in_a_key_suggests_that_key(
            key in prop::sample::select(&KEYS[..]), at in 0..20_usize, letter in "[a-z]", kind in 0..3_u8,
        ) {
            let (table, name) = split(key);
            let slip = misspelt(name, at, letter.chars().next().unwrap(), kind);
            let slip = if table.is_empty() { slip } else { format!("{table}.{slip}") };
            prop_assert_eq!(nearest_key(&slip, KEYS), Some(key));
        }

        #[test]
        fn the_distance_is_symmetric_and_zero_only_for_the_same(a in "[abc]{0,6}", b in "[abc]{0,6}") {
            prop_assert_eq!(distance(&a, &b), distance(&b, &a));
            prop_assert_eq!(distance(&a, &b) == 0, a == b);
        }
    }

    #[test]
    fn swapped_letters_are_one_slip() {
        assert_eq!(distance("preset", "perset"), 1);
        assert_eq!(nearest("wirter", ["reader", "writer"]), Some("writer"));
    }

    #[test]
    fn a_key_in_the_wrong_table_is_found() {
        assert_eq!(nearest_key("threshold", KEYS), Some("tune.threshold"));
        assert_eq!(nearest_key("timeouts.improve", KEYS), Some("timeouts.improver"));
    }

    #[test]
    fn what_is_like_nothing_suggests_nothing() {
        assert_eq!(nearest_key("tune.colour", KEYS), None);
        assert_eq!(nearest("xyz", ["writer"]), None);
        assert_eq!(nearest("", []), None);
        assert_eq!(nearest(&"a".repeat(LONGEST + 1), ["a".repeat(LONGEST).as_str()]), None);
    }
}
