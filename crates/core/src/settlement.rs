//! What a person says of a call whose result was lost.

use crate::names::named;

named! {
    /// What became of a call whose result was lost, as a person found out.
    pub enum Settlement {
        /// It took effect: it is not made again.
        Happened = "happened",
        /// It did not, and may be tried again.
        DidNotHappen = "did_not_happen",
    }
}

impl Settlement {
    /// As the journal has it.
    pub const fn of(happened: bool) -> Self {
        if happened { Self::Happened } else { Self::DidNotHappen }
    }

    /// For the journal.
    pub const fn happened(self) -> bool {
        match self {
            Self::Happened => true,
            Self::DidNotHappen => false,
        }
    }
}
