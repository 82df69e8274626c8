//! Time, as it is written down. Nobody in this crate asks what time it is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment: milliseconds since 1970-01-01 UTC. In the journal a number, on the wire RFC 3339 with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment that many milliseconds after the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The moment `seconds` later, or the last one there is.
    pub const fn plus_seconds(self, seconds: u32) -> Self {
        Self(self.0.saturating_add(seconds as i64 * 1000))
    }

    /// The moment `millis` later, earlier where they are negative; at most the last or the first one there is.
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this moment: negative where `earlier` is later.
    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// How far the wall clock has to be set before deadlines follow it.
///
/// Less than this comes from a clock that is corrected while it runs, from leap seconds, and from reading two clocks one
/// after the other. Two seconds early or late do not matter to a person's deadline.
const CLOCK_STEP_MIN_MS: i64 = 2000;

/// A boot of the machine, and when that was by the wall clock.
///
/// Nobody has set the wall clock between two looks at it if it puts the same boot at the same time. So a deadline that is
/// kept with the boot it was set in can be put right after the clock was set, by any process, until the machine is booted
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boot {
    /// Tells this boot from others.
    pub id: u64,
    /// The wall time of the boot, which is the wall time of a look minus the time since the boot.
    pub at: Timestamp,
}

impl Boot {
    /// By how many milliseconds the wall clock was set forward since `earlier`; negative where it was set back. None where
    /// it was not set, and where the machine was booted in between, so that nobody can tell.
    pub fn clock_set_since(self, earlier: Self) -> Option<i64> {
        let by_ms = self.at.millis_since(earlier.at);
        (self.id == earlier.id && by_ms.saturating_abs() >= CLOCK_STEP_MIN_MS).then_some(by_ms)
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339, UTC, with milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            // Outside of the years -9999 to 9999 there is no written form.
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

/// Serde for the wire: `#[serde(with = "wire")]` writes RFC 3339 where the journal writes a number.
pub(crate) mod wire {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Timestamp;

    pub(crate) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(time)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        Written::deserialize(deserializer).map(|Written(time)| time)
    }

    /// A moment as the wire has it.
    struct Written(Timestamp);

    impl<'de> Deserialize<'de> for Written {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
            let time: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
            Ok(Self(Timestamp::from_millis(time.as_millisecond())))
        }
    }

    pub(crate) mod option {
        use serde::{Deserialize, Deserializer, Serializer};

        use super::{Timestamp, Written};

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Timestamp>, D::Error> {
            Ok(Option::<Written>::deserialize(deserializer)?.map(|Written(time)| time))
        }

        pub(crate) fn serialize<S: Serializer>(
            time: &Option<Timestamp>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match time {
                Some(time) => serializer.collect_str(time),
                None => serializer.serialize_none(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn a_moment_is_written_as_rfc_3339_with_milliseconds() {
        assert_eq!(Timestamp::from_millis(1_700_000_000_120).to_string(), "2023-11-14T22:13:20.120Z");
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_millis(i64::MAX).to_string(), "9223372036854775807ms");
    }
}
