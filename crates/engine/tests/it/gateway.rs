//! The gateway, with a scripted toolbox behind it: agents get there through their engines, and so do the tests.

mod calls;
mod door;
mod over_acp;
mod real;
mod toolbox;
mod turns;
mod visit;

pub(crate) use toolbox::Scripted;
