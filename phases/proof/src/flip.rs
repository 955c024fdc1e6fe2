//! The exact sign-flip test of a mean of paired differences, and the bound that follows from it.
//!
//! If the true centre is `c`, each difference is as likely above it as below, by the same amount. The test counts how
//! many of all flips of signs give a sum at least as large as the observed one. To flip a subset lowers the sum by
//! twice the subset's own distance from `c`, so these are the subsets whose mean is at most `c`. Their number grows
//! with `c`: every rejected centre is below every centre that is not rejected.

use crate::FARTHEST;

/// Chances are sums of halves, exact up to 53 pairs and nearly exact beyond; no `alpha` in use is such a sum.
const SLACK: f64 = 1e-12;

/// Returns the lowest centre, in tenths, that the differences do not reject.
pub(super) fn lower_bound(tenths: &[i32], alpha: f64) -> i32 {
    let (Some(&least), Some(&most)) = (tenths.iter().min(), tenths.iter().max()) else {
        return -FARTHEST;
    };
    let (mut rejected, mut possible) = (least - 1, most);
    if !rejects(tenths, rejected, alpha) {
        return -FARTHEST;
    }
    while possible - rejected > 1 {
        let middle = rejected.midpoint(possible);
        if rejects(tenths, middle, alpha) {
            rejected = middle;
        } else {
            possible = middle;
        }
    }
    possible
}

/// Returns whether a centre as low as this is too unlikely to have given the differences.
pub(super) fn rejects(tenths: &[i32], centre: i32, alpha: f64) -> bool {
    let (mut sizes, mut above, mut below) = (Vec::with_capacity(tenths.len()), 0, 0);
    for gap in tenths.iter().map(|tenths| tenths - centre) {
        let size = gap.unsigned_abs() as usize;
        *(if gap > 0 { &mut above } else { &mut below }) += size;
        // A flip of a difference on the centre changes nothing.
        if size > 0 {
            sizes.push(size);
        }
    }
    // Otherwise at least every second flip gives the same amount.
    above > below && chance_of_at_most(below, &mut sizes) <= alpha + SLACK
}

/// Returns the share of all subsets whose sum is at most `most`.
fn chance_of_at_most(most: usize, sizes: &mut [usize]) -> f64 {
    sizes.sort_unstable();
    let (small, large) = sizes.split_at(sizes.partition_point(|size| *size <= most));
    // The chance of each sum, after each size was taken or not. Sums above `most` stay above it and are dropped.
    let (mut chances, mut next) = (vec![0.0; most + 1], vec![0.0; most + 1]);
    chances[0] = 1.0;
    let mut reach = 0;
    for &size in small {
        reach = most.min(reach + size);
        let (without, with) = (&chances[..=reach], &chances[..=reach - size]);
        for (next, without) in next[..size].iter_mut().zip(without) {
            *next = without * 0.5;
        }
        for ((next, without), with) in next[size..=reach].iter_mut().zip(&without[size..]).zip(with) {
            *next = (without + with) * 0.5;
        }
        std::mem::swap(&mut chances, &mut next);
    }
    let none_of_the_large: f64 = large.iter().map(|_| 0.5).product();
    chances[..=reach].iter().sum::<f64>() * none_of_the_large
}
