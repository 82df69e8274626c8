//! What a machine is: one table of edges, and the one function that changes a status.
//!
//! Each machine of [`machines`](crate::machines) is declared as a table. The transition function, the refusals, the
//! exhaustive tests, the diagrams and the documents are all computed from it, so that a new edge is one new line.
//!
//! ```
//! use adjourn_core::{Actor, Machine, RunMachine, RunStatus, RunTrigger};
//!
//! let next = RunMachine::step(RunStatus::Queued, RunTrigger::TurnStarted, Actor::Scheduler);
//! assert_eq!(next, Ok(RunStatus::Running));
//!
//! let refused = RunMachine::step(RunStatus::Succeeded, RunTrigger::RunCanceled, Actor::User).unwrap_err();
//! assert_eq!(refused.to_string(), "a run that is succeeded takes no `run.canceled`: it is final");
//! ```

use std::fmt::{self, Debug, Display};

use crate::Actor;

/// A state of a machine, as the table declares it.
pub trait State: Copy + Eq + Debug + Display + 'static {
    /// Every state, in the order of the table.
    const ALL: &'static [Self];
    /// The name, on the wire and everywhere else.
    fn name(self) -> &'static str;
    /// What it means, in one sentence.
    fn doc(self) -> &'static str;
    /// What is special about it.
    fn traits(self) -> StateTraits;
}

/// What is special about a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StateTraits {
    /// Things begin here.
    pub initial: bool,
    /// Nothing leads out.
    pub terminal: bool,
    /// Things may stay here for any length of time.
    pub stable: bool,
}

/// What makes a machine move.
pub trait Trigger: Copy + Eq + Debug + Display + 'static {
    /// Every trigger, in the order of the table.
    const ALL: &'static [Self];
    /// The name, on the wire and everywhere else.
    fn name(self) -> &'static str;
    /// When it fires, in one sentence.
    fn doc(self) -> &'static str;
}

/// One row of a machine's table: from any of `from`, `trigger` leads to `to` when one of `actors` fires it.
#[derive(Debug)]
pub struct Edge<S: 'static, T> {
    /// The states it starts from.
    pub from: &'static [S],
    /// What fires it.
    pub trigger: T,
    /// Where it leads.
    pub to: S,
    /// Who may fire it.
    pub actors: &'static [Actor],
    /// A remark for the reader of the table, or nothing.
    pub note: &'static str,
}

/// A table and what follows from it.
pub trait Machine {
    /// The states.
    type State: State;
    /// The triggers.
    type Trigger: Trigger;
    /// What the machine describes, in one word.
    const NAME: &'static str;
    /// What it describes, in one sentence.
    const SUMMARY: &'static str;
    /// The table.
    const EDGES: &'static [Edge<Self::State, Self::Trigger>];

    /// The state that `trigger`, fired by `actor`, leads to. The only way a status changes anywhere.
    fn step(from: Self::State, trigger: Self::Trigger, actor: Actor) -> Result<Self::State, Refused> {
        let edge = Self::edge(from, trigger)?;
        if edge.actors.contains(&actor) {
            Ok(edge.to)
        } else {
            Err(Self::refused(from, trigger, Why::Actor { actor, allowed: edge.actors }))
        }
    }

    /// The row of the table that leads out of `from` by `trigger`: what a [`step`](Self::step) of the past followed.
    fn edge(
        from: Self::State,
        trigger: Self::Trigger,
    ) -> Result<&'static Edge<Self::State, Self::Trigger>, Refused> {
        match Self::EDGES.iter().find(|edge| edge.trigger == trigger && edge.from.contains(&from)) {
            Some(edge) => Ok(edge),
            None if from.traits().terminal => Err(Self::refused(from, trigger, Why::Terminal)),
            None => Err(Self::refused(from, trigger, Why::NoEdge { allowed: Self::allowed(from) })),
        }
    }

    /// The triggers that lead out of `from`, in the order of the table.
    fn allowed(from: Self::State) -> Vec<&'static str> {
        Self::EDGES.iter().filter(|edge| edge.from.contains(&from)).map(|edge| edge.trigger.name()).collect()
    }

    #[doc(hidden)]
    fn refused(from: Self::State, trigger: Self::Trigger, why: Why) -> Refused {
        Refused { machine: Self::NAME, state: from.name(), trigger: trigger.name(), why }
    }
}

/// A trigger that the table does not allow. Nothing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The machine that refused.
    pub machine: &'static str,
    /// The state it is in, and stays in.
    pub state: &'static str,
    /// The trigger it does not take.
    pub trigger: &'static str,
    /// Why, and what would have been allowed.
    pub why: Why,
}

/// Why a trigger was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The state is final.
    Terminal,
    /// No edge with this trigger leads out of the state.
    NoEdge {
        /// The triggers that do.
        allowed: Vec<&'static str>,
    },
    /// The edge exists, but not for this actor.
    Actor {
        /// Who tried.
        actor: Actor,
        /// Who may.
        allowed: &'static [Actor],
    },
}

impl Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, state, trigger, why } = self;
        let article = if machine.starts_with(['a', 'i']) { "an" } else { "a" };
        match why {
            Why::Terminal => {
                write!(f, "{article} {machine} that is {state} takes no `{trigger}`: it is final")
            }
            Why::NoEdge { allowed } => {
                write!(f, "{article} {machine} that is {state} takes {}, not `{trigger}`", allowed.join(", "))
            }
            Why::Actor { actor, allowed } => {
                let allowed: Vec<_> = allowed.iter().map(|actor| actor.name()).collect();
                write!(
                    f,
                    "`{trigger}` of {article} {machine} that is {state} is fired by {}, not by {actor}",
                    allowed.join(" or ")
                )
            }
        }
    }
}

impl std::error::Error for Refused {}

/// Declares a machine: its states, its triggers and its table.
macro_rules! machine {
    (
        $(#[doc = $summary:literal])+
        $Machine:ident = $name:literal;

        states $State:ident {
            $( $(#[doc = $sdoc:literal])+ $S:ident = $sname:literal $(is $($flag:ident)&+)? ),+ $(,)?
        }
        triggers $Trigger:ident {
            $( $(#[doc = $tdoc:literal])+ $T:ident = $tname:literal ),+ $(,)?
        }
        edges {
            $( $($from:ident)|+ : $trigger:ident => $to:ident by $($actor:ident)|+ $(, $note:literal)? ; )+
        }
    ) => {
        $crate::names::named! {
            #[doc = concat!("The states of the `", $name, "` machine.")]
            pub enum $State { $( $(#[doc = $sdoc])+ $S = $sname ),+ }
        }

        impl $State {
            /// What is special about this state.
            pub const fn traits(self) -> $crate::machine::StateTraits {
                // `mut` is unused for the states that are nothing special.
                #[allow(unused_mut)]
                match self {
                    $( Self::$S => {
                        let mut traits =
                            $crate::machine::StateTraits { initial: false, terminal: false, stable: false };
                        $( $( traits.$flag = true; )+ )?
                        traits
                    } ),+
                }
            }

            /// Nothing leads out of it.
            pub const fn is_terminal(self) -> bool {
                self.traits().terminal
            }
        }

        impl $crate::machine::State for $State {
            const ALL: &'static [Self] = Self::ALL;
            fn name(self) -> &'static str { self.name() }
            fn doc(self) -> &'static str { self.doc() }
            fn traits(self) -> $crate::machine::StateTraits { self.traits() }
        }

        $crate::names::named! {
            #[doc = concat!("The triggers of the `", $name, "` machine.")]
            pub enum $Trigger { $( $(#[doc = $tdoc])+ $T = $tname ),+ }
        }

        impl $crate::machine::Trigger for $Trigger {
            const ALL: &'static [Self] = Self::ALL;
            fn name(self) -> &'static str { self.name() }
            fn doc(self) -> &'static str { self.doc() }
        }

        $(#[doc = $summary])+
        #[derive(Debug, Clone, Copy)]
        pub enum $Machine {}

        impl $crate::machine::Machine for $Machine {
            type State = $State;
            type Trigger = $Trigger;
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $crate::names::first_line(&[$($summary),+]);
            const EDGES: &'static [$crate::machine::Edge<$State, $Trigger>] = &[
                $( $crate::machine::Edge {
                    from: &[ $( $State::$from ),+ ],
                    trigger: $Trigger::$trigger,
                    to: $State::$to,
                    actors: &[ $( $crate::Actor::$actor ),+ ],
                    note: concat!($( $note )?),
                } ),+
            ];
        }
    };
}
pub(crate) use machine;
