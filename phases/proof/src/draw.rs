//! Random numbers from a seed, the same on every machine.

/// A splitmix64 generator.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// Creates the `nth` of many independent series.
    pub fn new(seed: u64, nth: u64) -> Self {
        Self(Self(seed).number() ^ Self(!nth).number())
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number from 0 to below 1.
    pub fn share(&mut self) -> f64 {
        let bits = u32::try_from(self.number() >> 32).expect("the upper half");
        f64::from(bits) / 4_294_967_296.0
    }

    /// Returns a nearly normal number with mean 0 and deviation 1: a sum of twelve, so that no library rounds it
    /// differently.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    /// Returns a whole number below `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.number() % count as u64).expect("below a length")
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
