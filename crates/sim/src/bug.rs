//! Bugs that are planted on purpose, in what the simulator puts around the kernel: it has to find each of them.

/// A planted bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// The store says that a commit is durable one commit too early.
    AcknowledgesEarly,
    /// A turn is given to the engine twice.
    StartsTwice,
    /// A turn is not given to the engine.
    NeverStarts,
    /// A turn is given to the engine before the commit that announces it.
    StartsBeforeCommit,
    /// The kernel believes that there is one slot more.
    OneSlotTooMany,
    /// A run that ended still counts as holding its slot.
    LeaksSlot,
    /// Nobody tells the kernel that time passes.
    LosesTimers,
    /// The kernel's clock is ahead of everybody else's.
    FiresEarly,
    /// A reply is acknowledged and thrown away.
    LosesReply,
    /// The stream of a run skips the number of a frame.
    SkipsFrame,
    /// A restart does not find the runs that were running.
    ForgetsRunning,
    /// Whoever asks for a low priority gets a high one, and the other way round.
    TurnsPriorityAround,
    /// An irreversible call is made again after a restart without asking anybody.
    RepeatsCalls,
    /// A prune removes a run that another one continues.
    PrunesContinued,
    /// A prune forgets the key that a run was created with.
    ForgetsCreateKeys,
    /// A commit whose sync failed is refused, and is there after a crash.
    BringsRefusedBack,
    /// Durations are measured by the wall clock, so that nobody notices when it is set.
    MeasuresByTheWallClock,
    /// Each start of the process counts as a boot of the machine, so that a clock that is set meanwhile is not noticed.
    TakesStartsForBoots,
    /// Nobody tells the kernel that the disk is below its reserve.
    FillsTheDisk,
    /// Nobody tells the kernel that there is room on the disk again.
    ForgetsThatThereIsRoom,
    /// A run is created without the limit of its attempts.
    ForgetsTheLimitOfAttempts,
    /// A run that should be decided when nobody answers waits for ever.
    TakesEveryRunForStrict,
    /// The run of an agent is created a second time, under an id that its roundtable did not announce.
    CreatesActivationTwice,
    /// The answer of a participant is written into the journal twice.
    RecordsAnswerTwice,
    /// A roundtable is told what a run said before the end of that run is durable.
    HearsBeforeTheEnd,
    /// An agent that is still at work is reported lost, so that its round is recorded without its answer.
    RecordsRoundEarly,
    /// A restart does not find the roundtables that were active.
    ForgetsRoundtables,
}

impl Bug {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::AcknowledgesEarly,
        Self::StartsTwice,
        Self::NeverStarts,
        Self::StartsBeforeCommit,
        Self::OneSlotTooMany,
        Self::LeaksSlot,
        Self::LosesTimers,
        Self::FiresEarly,
        Self::LosesReply,
        Self::SkipsFrame,
        Self::ForgetsRunning,
        Self::TurnsPriorityAround,
        Self::RepeatsCalls,
        Self::PrunesContinued,
        Self::ForgetsCreateKeys,
        Self::BringsRefusedBack,
        Self::MeasuresByTheWallClock,
        Self::TakesStartsForBoots,
        Self::FillsTheDisk,
        Self::ForgetsThatThereIsRoom,
        Self::ForgetsTheLimitOfAttempts,
        Self::TakesEveryRunForStrict,
        Self::CreatesActivationTwice,
        Self::RecordsAnswerTwice,
        Self::HearsBeforeTheEnd,
        Self::RecordsRoundEarly,
        Self::ForgetsRoundtables,
    ];
}
