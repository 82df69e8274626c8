//! The documents: which results stand where. Every kind has its place in each, so that nothing is left out.

use crate::names::named;
use crate::roundtable::id::ArtifactKind;

named! {
    /// What comes out of a roundtable.
    pub enum Document {
        /// What has to be built, topic by topic.
        Requirements = "requirements",
        /// How it is built, with a record of each decision.
        Architecture = "architecture",
        /// What came up.
        Brainstorm = "brainstorm",
    }
}

/// A section of a document.
pub(super) struct Section {
    pub(super) heading: &'static str,
    pub(super) kinds: &'static [ArtifactKind],
    pub(super) form: Form,
}

/// How the results of a section are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// What it says and where it comes from.
    Entry,
    /// A decision record, kept when it is no longer in force: what was once decided explains what was decided since.
    Record,
}

const fn section(heading: &'static str, kinds: &'static [ArtifactKind]) -> Section {
    Section { heading, kinds, form: Form::Entry }
}

const fn records(heading: &'static str) -> Section {
    Section { heading, kinds: &[ArtifactKind::Decision], form: Form::Record }
}

impl Document {
    /// What it is called.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Requirements => "Requirements",
            Self::Architecture => "Architecture",
            Self::Brainstorm => "Brainstorm",
        }
    }

    /// Its sections, in order.
    pub(super) const fn sections(self) -> &'static [Section] {
        use ArtifactKind::{
            BusinessRule, Component, Decision, Exclusion, Idea, Interface, Mitigation, Quality, Requirement,
            Risk,
        };
        match self {
            Self::Requirements => {
                const {
                    &[
                        section("Requirements", &[Requirement]),
                        section("Business rules", &[BusinessRule]),
                        section("Qualities", &[Quality]),
                        section("Out of scope", &[Exclusion]),
                        section("Decisions", &[Decision]),
                        section("Components and interfaces", &[Component, Interface]),
                        section("Risks and mitigations", &[Risk, Mitigation]),
                        section("Ideas", &[Idea]),
                    ]
                }
            }
            Self::Architecture => {
                const {
                    &[
                        section("Components", &[Component]),
                        section("Interfaces", &[Interface]),
                        records("Decision records"),
                        section("Qualities", &[Quality]),
                        section("Requirements and rules", &[Requirement, BusinessRule]),
                        section("Risks and mitigations", &[Risk, Mitigation]),
                        section("Out of scope", &[Exclusion]),
                        section("Ideas", &[Idea]),
                    ]
                }
            }
            Self::Brainstorm => {
                const {
                    &[
                        section("Ideas", &[Idea]),
                        section("Risks and mitigations", &[Risk, Mitigation]),
                        section("Decisions", &[Decision]),
                        section("Requirements and rules", &[Requirement, BusinessRule, Quality]),
                        section("Components and interfaces", &[Component, Interface]),
                        section("Out of scope", &[Exclusion]),
                    ]
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ArtifactKind, Document};

    #[test]
    fn every_kind_has_one_place_in_every_document() {
        for document in Document::ALL {
            for kind in ArtifactKind::ALL {
                let places = document.sections().iter().filter(|section| section.kinds.contains(kind));
                assert_eq!(places.count(), 1, "{kind} in {document}");
            }
        }
    }
}
