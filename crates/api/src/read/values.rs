//! Values that many types have, for `#[serde(deserialize_with = "…")]`.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

/// A whole number from `LEAST` to `MOST`.
pub fn within<'de, const LEAST: u32, const MOST: u32, T: From<u32>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_i64(Within { least: LEAST, most: MOST }).map(T::from)
}

struct Within {
    least: u32,
    most: u32,
}

impl Within {
    fn outside(&self, number: impl fmt::Display) -> String {
        format!("should be a whole number from {} to {}, it is {number}", self.least, self.most)
    }
}

impl Visitor<'_> for Within {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {} to {}", self.least, self.most)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
        let fits = u32::try_from(number).ok().filter(|it| (self.least..=self.most).contains(it));
        fits.ok_or_else(|| E::custom(self.outside(number)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u32, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::custom(self.outside(number))),
        }
    }
}

/// A text, or an object with more about it. `expecting` says what both are, as in "the name of a role, or an object with `role`".
pub fn text_or_object<'de, T, O: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
    expecting: &'static str,
    of_text: fn(String) -> T,
    of_object: fn(O) -> T,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(TextOrObject { expecting, of_text, of_object, object: PhantomData })
}

struct TextOrObject<T, O> {
    expecting: &'static str,
    of_text: fn(String) -> T,
    of_object: fn(O) -> T,
    object: PhantomData<O>,
}

impl<'de, T, O: Deserialize<'de>> Visitor<'de> for TextOrObject<T, O> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        Ok((self.of_text)(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        O::deserialize(MapAccessDeserializer::new(members)).map(self.of_object)
    }
}
