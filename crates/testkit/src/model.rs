//! A scripted model: a real HTTP server on loopback that says what it is told to.
//!
//! One [`Script`] serves all wire formats. Which reply comes next is told by the request alone: as many replies of the
//! script as it carries, so many were said. So a resumed conversation proves that it was carried over, and one that lost
//! its history is refused with status 400.
//!
//! ```no_run
//! use adjourn_testkit::model::{ModelServer, Reply, Script};
//!
//! # fn main() -> std::io::Result<()> {
//! let server = ModelServer::start(Script::new([Reply::text("Which colour?"), Reply::text("Blue it is.")]))?;
//! println!("{}", server.url());
//! # Ok(())
//! # }
//! ```

mod answer;
mod anthropic;
mod chat;
mod conversation;
mod gemini;
mod progress;
mod requests;
mod responses;
mod script;
mod server;
mod side;
mod stream;
mod wire;

pub use requests::{Outcome, Recorded};
pub use script::{Call, Conversations, Fault, Reply, Script, Usage};
pub use server::ModelServer;
