//! Enums that are their names: one macro, so that the name on the wire, in the journal, in the database and in a
//! message is always the same one.

/// Defines a field-less enum whose variants each have one fixed name.
///
/// The name is what `Display`, serde and [`FromStr`](std::str::FromStr) use; `ALL` lists the variants in order, and the
/// first line of a variant's doc comment is its `doc()`.
#[macro_export]
macro_rules! named {
    (
        $(#[$meta:meta])*
        pub enum $Enum:ident {
            $( $(#[doc = $doc:literal])+ $Variant:ident = $name:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $Enum { $( $(#[doc = $doc])+ $Variant ),+ }

        impl $Enum {
            /// Every variant, in the order of its declaration.
            pub const ALL: &'static [Self] = &[ $( Self::$Variant ),+ ];

            /// The one name of this variant, everywhere.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$Variant => $name ),+ }
            }

            /// What it means, in one sentence.
            pub const fn doc(self) -> &'static str {
                match self { $( Self::$Variant => $crate::first_line(&[$($doc),+]) ),+ }
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $Enum {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                match name {
                    $( $name => Ok(Self::$Variant), )+
                    _ => Err($crate::UnknownName {
                        given: name.to_owned(),
                        known: &[ $( $name ),+ ],
                    }),
                }
            }
        }

        $crate::named_schema!($Enum);

        impl serde::Serialize for $Enum {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $Enum {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                name.parse().map_err(|unknown: $crate::UnknownName| {
                    serde::de::Error::unknown_variant(&unknown.given, unknown.known)
                })
            }
        }
    };
}
pub(crate) use named;

/// The schema of an enum that is its names.
#[cfg(feature = "openapi")]
#[doc(hidden)]
#[macro_export]
macro_rules! named_schema {
    ($Enum:ident) => {
        impl $crate::openapi::utoipa::PartialSchema for $Enum {
            fn schema() -> $crate::openapi::utoipa::openapi::RefOr<$crate::openapi::utoipa::openapi::Schema> {
                $crate::openapi::one_of(Self::ALL.iter().map(|variant| (variant.name(), variant.doc())))
            }
        }

        impl $crate::openapi::utoipa::ToSchema for $Enum {}
    };
}

/// Without the feature, an enum has no schema.
#[cfg(not(feature = "openapi"))]
#[doc(hidden)]
#[macro_export]
macro_rules! named_schema {
    ($Enum:ident) => {};
}

/// A name that none of the variants has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not one of {}", known.join(", "))]
pub struct UnknownName {
    /// What was given.
    pub given: String,
    /// What would have been right.
    pub known: &'static [&'static str],
}

/// The first paragraph line of a doc comment, without the space that `///` leaves in front. For [`named!`] only.
#[doc(hidden)]
pub const fn first_line(doc: &'static [&'static str]) -> &'static str {
    doc[0].trim_ascii()
}
