//! Numbers that look random and are the same in every run with the same seed.

/// SplitMix64: eight lines, and good enough to shuffle test cases.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// One of `choices`, which are not empty.
    pub fn one_of<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        let index = self.below(choices.len() as u64);
        &choices[usize::try_from(index).expect("it is below a length")]
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
