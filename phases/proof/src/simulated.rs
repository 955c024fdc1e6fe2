//! Simulates comparisons with a known truth: how often they err, and how far their claims are from it.

use super::*;
use crate::draw::Draw;
use crate::power::{Noise, Scatter, Size, needed, noise, smallest_visible};

/// The scatter of a trial's score around the worth of its scenario.
#[derive(Clone, Copy, Debug)]
enum World {
    /// A judge's noise of 15 points.
    Even,
    /// Four assertions worth 40, 30, 20 and 10, each passed or not.
    Assertions,
    /// Near the top, with a few that fail far below.
    Skewed,
}

const WORLDS: [World; 3] = [World::Even, World::Assertions, World::Skewed];

impl World {
    /// Returns one trial of a scenario of this worth in points, between 0 and 100.
    fn trial(self, worth: f64, draw: &mut Draw) -> f64 {
        let score = match self {
            Self::Even => worth + 15.0 * draw.normal(),
            Self::Assertions => {
                let mut passed = |points: f64| if draw.share() * 100.0 < worth { points } else { 0.0 };
                [40.0, 30.0, 20.0, 10.0].into_iter().map(&mut passed).sum()
            }
            Self::Skewed => worth + 25.0 - 4.0 * draw.normal().powi(4),
        };
        score.clamp(0.0, 100.0)
    }

    fn trials(self, worth: f64, count: u32, draw: &mut Draw) -> f64 {
        (0..count).map(|_| self.trial(worth, draw)).sum::<f64>() / f64::from(count)
    }

    fn worth(draw: &mut Draw) -> f64 {
        20.0 + 30.0 * draw.share()
    }

    /// Returns the difference of one pair, for a change in points that differs between scenarios by half.
    fn pair(self, change: f64, trials: u32, draw: &mut Draw) -> f64 {
        let worth = Self::worth(draw);
        let changed = worth + change * (1.0 + 0.5 * draw.normal());
        self.trials(changed, trials, draw) - self.trials(worth, trials, draw)
    }

    /// Returns the average measurement of such a change: less than the change if scores end at 100.
    fn expected(self, change: f64) -> f64 {
        if change <= 0.0 {
            return 0.0;
        }
        let mut draw = Draw::new(99, 0);
        (0..100_000).map(|_| self.pair(change, 3, &mut draw)).sum::<f64>() / 100_000.0
    }
}

/// Runs a comparison look by look, until one decides.
fn compare(world: World, change: f64, plan: &[InterimAnalysis], draw: &mut Draw) -> Effect {
    let (mut differences, mut differences_at) = (Vec::new(), Vec::new());
    let mut seen = effect(plan, &differences_at);
    for interim in plan {
        differences.resize_with(interim.pairs, || world.pair(change, 3, draw));
        differences_at.push(differences.clone());
        seen = effect(plan, &differences_at);
        if seen.conclusion() != Conclusion::Open {
            break;
        }
    }
    seen
}

/// Returns whether a challenger that is better by this number of points wins.
fn wins(world: World, change: f64, trials: u32, plan: &[InterimAnalysis], draw: &mut Draw) -> bool {
    let pairs = plan.last().map_or(0, |interim| interim.pairs);
    let tenths: Vec<i32> = (0..pairs).map(|_| in_tenths(world.pair(change, trials, draw))).collect();
    plan.iter().any(|interim| flip::rejects(&tenths[..interim.pairs], 0, interim.alpha))
}

/// A comparison that is extended while it stays open: each part tries every pair once more.
struct Extended {
    world: World,
    /// The worth of each pair's scenario with the start and with the challenger.
    worths: Vec<(f64, f64)>,
    alpha: f64,
    parts: u32,
}

impl Extended {
    fn new(world: World, change: f64, (pairs, parts): (usize, u32), draw: &mut Draw) -> Self {
        let worth = |_| {
            let worth = World::worth(draw);
            (worth, worth + change * (1.0 + 0.5 * draw.normal()))
        };
        let alpha = Confidence::P90.alpha() / f64::from(parts);
        Self { world, worths: (0..pairs).map(worth).collect(), alpha, parts }
    }

    fn difference(&self, (worth, changed): (f64, f64), draw: &mut Draw) -> f64 {
        self.world.trial(changed, draw) - self.world.trial(worth, draw)
    }

    fn try_again(&self, trials: &mut [Vec<f64>], draw: &mut Draw) -> Vec<f64> {
        for (pair, worths) in trials.iter_mut().zip(&self.worths) {
            pair.push(self.difference(*worths, draw));
        }
        let mean = |pair: &Vec<f64>| pair.iter().sum::<f64>() / pair.iter().map(|_| 1.0).sum::<f64>();
        trials.iter().map(mean).collect()
    }

    fn wins(&self, draw: &mut Draw) -> bool {
        let mut trials = vec![Vec::new(); self.worths.len()];
        let mut all = |draw: &mut Draw| -> Vec<i32> {
            self.try_again(&mut trials, draw).into_iter().map(in_tenths).collect()
        };
        let (first, plan) = (all(draw), interim_analyses_within(self.worths.len(), self.alpha));
        plan.iter().any(|interim| flip::rejects(&first[..interim.pairs], 0, interim.alpha))
            || (1..self.parts).any(|_| flip::rejects(&all(draw), 0, self.alpha))
    }

    /// Returns the last effect, with plain means or with fair ones.
    fn run(&self, is_fair: bool, draw: &mut Draw) -> Effect {
        let mut trials = vec![Vec::new(); self.worths.len()];
        let first = self.try_again(&mut trials, draw);
        let plan = interim_analyses_within(self.worths.len(), self.alpha);
        let (mut earlier, mut differences_at, mut seen) = (Vec::new(), Vec::new(), effect(&plan, &[]));
        for analysis in plan.iter().copied() {
            differences_at.push(first[..analysis.pairs].to_vec());
            seen = effect(&plan, &differences_at);
            if seen.conclusion() != Conclusion::Open {
                return seen;
            }
            earlier.push(EarlierLook { analysis, trials: 1 });
        }
        for part in 2..=self.parts {
            let differences = self.try_again(&mut trials, draw);
            let before = if is_fair { &earlier[..] } else { &[][..] };
            seen = extended_effect(self.alpha, &differences, &trials, before);
            if seen.conclusion() != Conclusion::Open {
                return seen;
            }
            let analysis = InterimAnalysis { pairs: self.worths.len(), alpha: self.alpha };
            earlier.push(EarlierLook { analysis, trials: part as usize });
        }
        seen
    }
}

/// The results of many comparisons of one change, in shares and mean points.
#[derive(Debug, Default)]
struct Tally {
    wins: f64,
    /// Claimed minus expected points, of all comparisons and of the wins alone.
    excess: f64,
    excess_of_wins: f64,
    /// How often each bound is on the right side of the expected value.
    lower_holds: f64,
    upper_holds: f64,
}

impl Tally {
    fn of(count: u32, expected: f64, mut compare: impl FnMut(u64) -> Effect) -> Self {
        let (mut tally, share) = (Self::default(), 1.0 / f64::from(count));
        for seen in (0..u64::from(count)).map(&mut compare) {
            let excess = (seen.points - expected) * share;
            tally.excess += excess;
            if seen.conclusion() == Conclusion::Win {
                tally.wins += share;
                tally.excess_of_wins += excess;
            }
            tally.lower_holds += if seen.lower <= expected { share } else { 0.0 };
            tally.upper_holds += if seen.upper >= expected { share } else { 0.0 };
        }
        tally.excess_of_wins /= tally.wins;
        tally
    }
}

/// Returns a calibration: twelve scenarios with three trials of the start each.
fn calibration(world: World, draw: &mut Draw) -> Noise {
    let scenario = |_| {
        let worth = World::worth(draw);
        (0..3).map(|_| world.trial(worth, draw)).collect()
    };
    noise(&(0..12).map(scenario).collect::<Vec<Vec<f64>>>()).expect("each scenario has three")
}

/// Returns how far above `alpha` a share of 4,000 may be by chance: two standard errors.
fn most_false_wins(alpha: f64) -> f64 {
    alpha + 2.0 * (alpha * (1.0 - alpha) / 4000.0).sqrt()
}

fn false_wins(world: World, pairs: usize, confidence: Confidence) -> f64 {
    let plan = interim_analyses(pairs, confidence);
    let wins = (0..4000).filter(|nth| wins(world, 0.0, 1, &plan, &mut Draw::new(pairs as u64, *nth)));
    f64::from(u32::try_from(wins.count()).expect("at most all")) / 4000.0
}

#[test]
fn a_useless_challenger_wins_no_more_often_than_the_confidence_allows() {
    for confidence in Confidence::ALL {
        for pairs in confidence.fewest_pairs()..=24 {
            let world = WORLDS[pairs % WORLDS.len()];
            let share = false_wins(world, pairs, confidence);
            assert!(share <= most_false_wins(confidence.alpha()), "{share} of {pairs} pairs at {confidence}");
        }
    }
}

#[test]
fn a_useless_challenger_wins_no_more_often_if_its_comparison_is_extended() {
    for (pairs, parts) in [(6, 2), (8, 3), (12, 2), (12, 4)] {
        for world in WORLDS {
            let wins = (0..4000).filter(|nth| {
                let mut draw = Draw::new(pairs as u64, *nth);
                Extended::new(world, 0.0, (pairs, parts), &mut draw).wins(&mut draw)
            });
            let share = f64::from(u32::try_from(wins.count()).expect("at most all")) / 4000.0;
            let most = most_false_wins(Confidence::P90.alpha());
            assert!(share <= most, "{share} of {pairs} pairs in {parts} parts, {world:?}");
        }
    }
}

#[test]
fn what_is_claimed_after_an_extension_is_what_is_true() {
    let (world, change) = (World::Even, 12.0);
    let excess = |is_fair| {
        let compare = |nth| {
            let mut draw = Draw::new(8, nth);
            Extended::new(world, change, (6, 2), &mut draw).run(is_fair, &mut draw)
        };
        Tally::of(1000, world.expected(change), compare).excess
    };
    // The plain mean claims more than a point too many.
    let (fair, plain) = (excess(true), excess(false));
    assert!(fair.abs() < 0.8 && plain > fair + 0.5, "{fair} {plain}");
}

#[test]
fn what_is_claimed_is_what_is_true_and_the_bounds_hold() {
    let confidence = Confidence::P90;
    // With plain means instead of fair ones, the second would claim 1.5 points too many.
    for (world, pairs, count) in [(World::Even, 5, 1000), (World::Assertions, 24, 200)] {
        let plan = interim_analyses(pairs, confidence);
        let noise = calibration(world, &mut Draw::new(1, 0));
        let smallest = smallest_visible(noise.scatter(), Size { pairs, trials: 3, confidence }, 60.0, 1)
            .expect("below 60");
        for change in [0.0, 0.5, 1.0, 2.0].map(|times| times * smallest) {
            let compare = |nth| compare(world, change, &plan, &mut Draw::new(2, nth));
            let tally = Tally::of(count, world.expected(change), compare);
            assert!(tally.excess.abs() < 1.0, "{change} with {pairs} pairs: {tally:?}");
            assert!(tally.lower_holds >= 0.88 && tally.upper_holds >= 0.88, "{change}: {tally:?}");
        }
    }
}

/// Returns the share of wins at the smallest visible change of many calibrations, and how many of these have one.
fn seen_of_the_smallest(world: World, pairs: usize, calibrations: u64, confidence: Confidence) -> (f64, u64) {
    let plan = interim_analyses(pairs, confidence);
    let (mut wins, mut visible) = (0.0, 0);
    for nth in 0..calibrations {
        let noise = calibration(world, &mut Draw::new(3, nth));
        let Some(change) =
            smallest_visible(noise.scatter(), Size { pairs, trials: 3, confidence }, 100.0 - noise.mean, nth)
        else {
            continue;
        };
        let compare = |again| compare(world, change, &plan, &mut Draw::new(nth, again));
        wins += Tally::of(40, 0.0, compare).wins;
        visible += 1;
    }
    (wins / f64::from(u32::try_from(visible).expect("few")), visible)
}

#[test]
fn the_smallest_visible_change_wins_three_of_four_times() {
    for (world, pairs) in [(World::Even, 5), (World::Assertions, 8), (World::Even, 12)] {
        let (wins, visible) = seen_of_the_smallest(world, pairs, 30, Confidence::P90);
        assert!(wins >= 0.75 && visible == 30, "{wins} of {visible} calibrations, {pairs} pairs, {world:?}");
    }
}

/// Returns how many open comparisons of five pairs name a larger size, and how many of twenty of these, each, then win.
fn seen_of_what_was_priced(world: World, change: f64) -> (usize, usize) {
    let now = Size { pairs: 5, trials: 3, confidence: Confidence::P90 };
    let (plan, mut priced, mut won) = (interim_analyses(now.pairs, now.confidence), 0, 0);
    for nth in 0..60 {
        let mut draw = Draw::new(4, nth);
        let noise = calibration(world, &mut draw);
        let differences: Vec<f64> = (0..now.pairs).map(|_| world.pair(change, 3, &mut draw)).collect();
        let seen = effect(&plan, std::slice::from_ref(&differences));
        let Some(scatter) = Scatter::of_pairs(&differences, seen.points, Some(&noise), 3) else { continue };
        let points = seen.points.abs();
        let needed =
            needed(points, scatter, now, nth).pairs.filter(|_| seen.conclusion() == Conclusion::Open);
        let Some(plan) = needed.map(|pairs| interim_analyses(pairs, now.confidence)) else { continue };
        won += (0..20).filter(|again| wins(world, points, 3, &plan, &mut Draw::new(nth, *again))).count();
        priced += 1;
    }
    (priced, won)
}

#[test]
fn a_comparison_of_the_size_that_was_priced_wins_four_of_five_times() {
    let (one, other) =
        (seen_of_what_was_priced(World::Even, 12.0), seen_of_what_was_priced(World::Assertions, 15.0));
    let (priced, won) = (one.0 + other.0, one.1 + other.1);
    assert!(priced > 25 && (15 * priced..19 * priced).contains(&won), "{won} of 20 times {priced}");
}

/// Prints everything as a table: `cargo test --release -p skilltune-phases --lib proof -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes, and prints a table"]
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
fn the_whole_table() {
    for confidence in Confidence::ALL {
        for world in WORLDS {
            let shares: Vec<f64> =
                (confidence.fewest_pairs()..=24).map(|pairs| false_wins(world, pairs, confidence)).collect();
            let most = shares.iter().copied().fold(0.0, f64::max);
            println!("| useless | {confidence} | {world:?} | most {most:.4} | {shares:.3?} |");
            assert!(most <= most_false_wins(confidence.alpha()));
        }
    }
    for world in WORLDS {
        for pairs in [4, 5, 6, 8, 12, 16, 24] {
            table_of_changes(world, pairs, Confidence::P90);
        }
    }
}

#[expect(clippy::print_stdout, reason = "the table is what it is for")]
fn table_of_changes(world: World, pairs: usize, confidence: Confidence) {
    let (plan, noise) = (interim_analyses(pairs, confidence), calibration(world, &mut Draw::new(1, 0)));
    let (wins, visible) = seen_of_the_smallest(world, pairs, 100, confidence);
    println!("| {world:?} | {pairs} | 100 calibrations | visible in {visible} | wins {wins:.3} |");
    let Some(smallest) =
        smallest_visible(noise.scatter(), Size { pairs, trials: 3, confidence }, 100.0 - noise.mean, 1)
    else {
        return;
    };
    for change in [0.0, 0.5, 1.0, 2.0].map(|times| times * smallest) {
        let expected = world.expected(change);
        let tally = Tally::of(4000, expected, |nth| compare(world, change, &plan, &mut Draw::new(2, nth)));
        println!("| {world:?} | {pairs} | {change:.1} | {expected:.1} | {tally:.3?} |");
        assert!(tally.excess.abs() < 1.0);
    }
}
