//! What the loops ask of their rounds. Only rounds of one series are compared: those of the same judge in the same era.

/// Returns the round with the highest rank; of equals the first.
pub fn best<T, R: PartialOrd>(series: impl Iterator<Item = T>, rank: impl Fn(&T) -> R) -> Option<T> {
    let ranked = series.map(|round| (rank(&round), round));
    ranked.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, round)| round)
}
