//! Adjourn's own loop, over a scripted model on loopback and a scripted toolbox.

mod bad;
mod crashes;
mod recorded;
mod scene;
mod talking;
mod toolbox;
mod waiting;
