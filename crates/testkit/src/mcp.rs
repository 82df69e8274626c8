//! A scripted MCP server: a real process whose tools count what they do, hang, die and ask.
//!
//! A test crate makes it a program of its own with an example that calls [`main`]. What its tools did is in a folder that is
//! given to it: a line in `effects` for each effect, a line in `starts` for each time it was started. What it reads there when
//! it is started is [`DESCRIPTIONS`], with which a test changes its tools or adds some.
//!
//! | tool | does |
//! |---|---|
//! | `count` | has an effect and says how many there were |
//! | `echo` | says the message again; has no effect |
//! | `fail`, `refuse` | says that it failed; is refused by the server |
//! | `hang`, `die` | has an effect, and then never answers; then ends the process |
//! | `ask`, `ask_twice` | asks one question, or two; has an effect once they are answered |
//! | `grow` | adds the tool `grown` to the list, and says so |
//! | `large` | answers with so many bytes |
//! | `environment` | lists the names of the variables that it sees |

mod handler;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use rmcp::ServiceExt;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use handler::{Handler, Shared};

/// The argument that makes it speak a protocol before 2026-07-28, which asks in the middle of calls.
pub const OLDER: &str = "--older";

/// The argument that makes it listen on loopback instead of its stdin; its address is the first line of its stdout.
pub const HTTP: &str = "--http";

/// The file in its folder that says how tools describe themselves from its next start on: an object of texts by the names of
/// tools. A tool that there is not yet is added; it does nothing.
pub const DESCRIPTIONS: &str = "descriptions.json";

/// Serves until the other side is gone; the arguments are the folder, and what else there is.
///
/// # Panics
///
/// If it cannot serve, which a test sees on its stderr.
pub fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().expect("the first argument is a folder"));
    let flags: Vec<_> = arguments.collect();
    let has = |flag: &str| flags.iter().any(|argument| argument == flag);
    let shared = Arc::new(Shared::new(folder, if has(OLDER) { Age::Older } else { Age::Newest }));
    shared.note("starts", "started");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let serve = async {
        if has(HTTP) {
            over_http(shared).await;
        } else {
            let service = Handler(shared).serve(stdio()).await.expect("the client shakes hands");
            service.waiting().await.expect("the service does not panic");
        }
    };
    runtime.expect("a runtime can be made").block_on(serve);
}

/// Which protocol it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    Newest,
    Older,
}

async fn over_http(shared: Arc<Shared>) {
    let service = StreamableHttpService::new(
        move || Ok(Handler(Arc::clone(&shared))),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("there is a free port");
    println!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    let router = Router::new().route_service("/mcp", service);
    axum::serve(listener, router).await.expect("it serves until it is killed");
}
