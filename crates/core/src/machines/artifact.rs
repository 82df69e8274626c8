//! The artifact: a numbered result of a roundtable.

use crate::machine::machine;

machine! {
    /// A numbered result of a roundtable, with its history.
    ArtifactMachine = "artifact";

    states ArtifactStatus {
        /// In force as it was first agreed, or as it was restored.
        Active = "active" is initial & stable,
        /// In force in a changed version; the earlier ones are kept.
        Amended = "amended" is stable,
        /// Replaced by a newer artifact.
        Superseded = "superseded" is terminal,
        /// Taken out, with a reason.
        Withdrawn = "withdrawn" is terminal,
    }
    triggers ArtifactTrigger {
        /// Changed in a later round.
        Amend = "amend",
        /// Restored to the version before the last amendment.
        Revert = "revert",
        /// Replaced.
        Supersede = "supersede",
        /// Taken out.
        Withdraw = "withdraw",
    }
    edges {
        Active | Amended: Amend => Amended by Facilitator | User, "in a later round than its own; by a person at any time";
        Amended: Revert => Active by Facilitator | User;
        Active | Amended: Supersede => Superseded by Facilitator | User, "by a newer artifact that is in force";
        Active | Amended: Withdraw => Withdrawn by Facilitator | User, "with a reason";
    }
}
