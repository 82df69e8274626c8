//! Who does things: the parties that may fire an edge of a machine.

use crate::names::named;

named! {
    /// A party that changes a status. Recorded with every contract transition and checked against the edge.
    pub enum Actor {
        /// The node of the reasoning engine that calls the model.
        ReasoningNode = "reasoning_node",
        /// The node that runs tools.
        ToolNode = "tool_node",
        /// The node that puts a question to a person.
        EcsNode = "ecs_node",
        /// The runner that takes a graph from checkpoint to checkpoint.
        GraphRunner = "graph_runner",
        /// A person, through any surface.
        User = "user",
        /// Adjourn, deciding in place of a person who did not answer.
        AutoDecide = "auto_decide",
        /// Adjourn, putting things right after a restart.
        Recovery = "recovery",
        /// Adjourn itself, for everything that has no more particular name.
        System = "system",
        /// The part that hands out slots.
        Scheduler = "scheduler",
        /// The engine that executes a turn.
        Engine = "engine",
        /// The agent that leads a roundtable.
        Facilitator = "facilitator",
    }
}
