//! Divides scenarios into those that a search may learn from, and those kept for the final comparison.

use std::collections::BTreeMap;

use crate::base::id::Digest;
use crate::suites::scenario::Scenario;

/// Holds out this percentage, but at least `fewest`, as evenly as possible from scenarios with the same tags. If some
/// are already marked, or none would be left to search with, changes nothing and returns false. The result follows from
/// the scenarios and the seed, so the same suite is always divided alike.
pub fn split(scenarios: &mut [Scenario], percent: u32, fewest: usize, seed: u64) -> bool {
    if scenarios.len() <= fewest || scenarios.iter().any(|scenario| scenario.held_out) {
        return false;
    }
    let mut strata: BTreeMap<Vec<&str>, Vec<(Digest, usize)>> = BTreeMap::new();
    for (nth, scenario) in scenarios.iter().enumerate() {
        let mut tags: Vec<&str> = scenario.tags.iter().map(|tag| &**tag).collect();
        tags.sort_unstable();
        let parts = [&seed.to_le_bytes()[..], scenario.id.as_bytes(), scenario.description.as_bytes()];
        strata.entry(tags).or_default().push((Digest::of_parts(parts), nth));
    }
    let many = scenarios.len();
    let wanted = share(many, percent).clamp(fewest, many - 1);
    let (mut so_far, mut held_out) = (0, Vec::new());
    for stratum in strata.values_mut() {
        stratum.sort_unstable_by_key(|(digest, _)| *digest);
        for &(_, nth) in &*stratum {
            so_far += 1;
            // Counts across strata, so that strata of one take turns.
            if held_out.len() < (so_far * wanted + many / 2) / many {
                held_out.push(nth);
            }
        }
    }
    for &nth in &held_out {
        scenarios[nth].held_out = true;
    }
    !held_out.is_empty()
}

/// Rounds to the nearest whole number.
fn share(of: usize, percent: u32) -> usize {
    (of * percent as usize + 50) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(tags: &[&str]) -> Vec<Scenario> {
        let scenario = |(nth, tag): (usize, &&str)| Scenario {
            tags: vec![(*tag).into()],
            ..Scenario::new(format!("s{nth}").parse().unwrap(), format!("task {nth}"))
        };
        tags.iter().enumerate().map(scenario).collect()
    }

    fn held_out(scenarios: &[Scenario]) -> Vec<usize> {
        (0..scenarios.len()).filter(|&nth| scenarios[nth].held_out).collect()
    }

    #[test]
    fn the_fewest_are_held_out_first_and_of_each_tag_alike() {
        for (tags, percent, count) in [
            (&["a"; 5][..], 40, 4),
            (&["a"; 10], 40, 4),
            (&["a"; 20], 40, 8),
            (&["a"; 4], 40, 0),
            (&["a"; 6], 100, 5),
        ] {
            let mut scenarios = suite(tags);
            split(&mut scenarios, percent, 4, 0);
            assert_eq!(held_out(&scenarios).len(), count, "{tags:?}");
        }
        let mut scenarios = suite(&["a", "b", "a", "b", "a", "b", "a", "b", "a", "b"]);
        split(&mut scenarios, 40, 4, 0);
        let of_a = held_out(&scenarios).into_iter().filter(|nth| nth % 2 == 0).count();
        assert_eq!((held_out(&scenarios).len(), of_a), (4, 2));
    }

    #[test]
    fn the_order_of_a_suite_decides_nothing_and_the_seed_all() {
        let mut one = suite(&["a"; 20]);
        let mut other = one.iter().rev().cloned().collect::<Vec<_>>();
        split(&mut one, 40, 4, 7);
        split(&mut other, 40, 4, 7);
        other.reverse();
        assert_eq!(one, other);
        let mut third = suite(&["a"; 20]);
        split(&mut third, 40, 4, 8);
        assert_ne!(one, third);
    }

    #[test]
    fn what_is_marked_stays_as_it_is() {
        let mut scenarios = suite(&["a"; 10]);
        scenarios[3].held_out = true;
        split(&mut scenarios, 40, 4, 0);
        assert_eq!(held_out(&scenarios), [3]);
    }
}
