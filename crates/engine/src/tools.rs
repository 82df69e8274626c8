//! MCP tool servers: started once, shared by all runs, and started again when they die.
//!
//! [`ToolServers`] is made from declarations and starts nothing by itself. The first use of a server starts it, under the
//! supervisor and with the allow-listed environment, or connects to its URL; everybody after that shares it. A server that
//! died is started again for the next use, later and later if it keeps dying.
//!
//! What a call came to is one of four things, and no two of them are confused ([`Called`]): the tool did it, it did not, it
//! wants to know something first, or **nobody knows**. A call whose server died, whose time ran out or that was cancelled may
//! or may not have had its effect, and whoever made it must not make it again by itself. A call that was never handed to a
//! server is an error instead ([`ToolError`]).
//!
//! A tool that wants to know something first is not kept waiting. The call ends, with the question and all that is needed to
//! make it again, as plain data ([`Unfinished`]): another process can go on with it, weeks later. Servers that speak MCP
//! 2026-07-28 are made for that. Older ones ask in the middle of a call, which is then ended; made again with the answer at
//! hand, the same question is answered at once.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use adjourn_core::ToolCall;
//! use adjourn_engine::supervisor::Supervisor;
//! use adjourn_engine::tools::{Called, ServerOptions, ToolServers};
//! use serde_json::json;
//! use tokio_util::sync::CancellationToken;
//!
//! let mail = ServerOptions::command(["mcp-mail"], "/srv/mail");
//! let servers = ToolServers::new(Supervisor::current_exe()?, [("mail".to_owned(), mail)]);
//! let send = ToolCall {
//!     service: "mail".to_owned(),
//!     method: "send_mail".to_owned(),
//!     arguments: json!({"to": "grace@example.com"}),
//! };
//! match servers.call(&send, None, None, &CancellationToken::new()).await? {
//!     Called::Completed(result) => println!("sent: {result}"),
//!     Called::Failed(problem) => println!("not sent: {problem}"),
//!     Called::NeedsInput(unfinished) => println!("it asks: {:?}", unfinished.question()),
//!     Called::Lost(reason) => println!("nobody knows: {reason}"),
//! }
//! # Ok(()) }
//! ```
//!
//! The types of the protocol, and of the SDK that speaks it, do not leave this folder.

mod catalogue;
mod connection;
mod error;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod handler;
mod limits;
mod midcall;
mod options;
mod outcome;
mod policy;
mod process;
mod question;
mod restart;
mod server;
mod servers;
mod unfinished;

pub use catalogue::Tool;
pub use error::ToolError;
pub use limits::{ARGUMENTS_BYTES_MAX, DESCRIPTION_BYTES_MAX, RESULT_BYTES_MAX, TOOLS_MAX};
pub use options::{Place, ServerOptions};
pub use outcome::{Called, Lost};
pub use policy::{Hints, Policy, Treatment};
pub use server::PreparedCall;
pub use servers::ToolServers;
pub use unfinished::Unfinished;
