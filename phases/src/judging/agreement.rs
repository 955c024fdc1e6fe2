//! Agreement of judges beyond chance: Krippendorff's alpha for nominal verdicts.

use std::collections::HashMap;
use std::hash::Hash;

/// Returns 1 for judges who always agree, and 0 if they agree as often as by chance. Each item holds its verdicts, one
/// per judge; items with fewer than two are ignored. Returns `None` if the verdicts could not have differed.
pub fn alpha<V: Copy + Eq + Hash>(items: &[Vec<V>]) -> Option<f64> {
    let items = || items.iter().filter(|item| item.len() > 1);
    let mut totals: HashMap<V, f64> = HashMap::new();
    let mut observed = 0.0;
    for item in items() {
        let differing = item.iter().flat_map(|one| item.iter().filter(move |other| *other != one)).count();
        observed += count(differing) / (count(item.len()) - 1.0);
        for verdict in item {
            *totals.entry(*verdict).or_default() += 1.0;
        }
    }
    let all: f64 = totals.values().sum();
    let expected: f64 = totals.values().map(|own| own * (all - own)).sum();
    (expected > 0.0).then(|| 1.0 - (all - 1.0) * observed / expected)
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, twelve units,
    /// five categories, nominal data with missing ones.
    #[test]
    fn the_published_example_comes_to_the_published_figure() {
        let (a, b, c, d): ([u8; 12], [u8; 12], [u8; 12], [u8; 12]) = (
            [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
            [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
        );
        let items: Vec<Vec<u8>> = (0..12)
            .map(|unit| [a, b, c, d].iter().map(|one| one[unit]).filter(|value| *value > 0).collect())
            .collect();
        assert!((alpha(&items).unwrap() - 0.743).abs() < 0.0005, "{:?}", alpha(&items));
    }

    #[test]
    fn agreement_is_one_and_opposition_is_below_chance() {
        assert_eq!(alpha(&[vec![true, true], vec![false, false]]), Some(1.0));
        assert!(alpha(&[vec![true, false], vec![false, true]]).unwrap() < 0.0);
    }

    #[test]
    fn where_nothing_differs_or_one_judge_spoke_there_is_no_figure() {
        assert_eq!(alpha(&[vec![true, true], vec![true, true]]), None);
        assert_eq!(alpha(&[vec![true], vec![false]]), None);
        assert_eq!(alpha::<bool>(&[]), None);
    }
}
