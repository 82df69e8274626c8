//! Starts the scripted model by hand: `model_server SCRIPT.json`.
//!
//! Prints its address, then a line of JSON for each request: how it was answered, and what was asked. For the format of
//! the file see `adjourn_testkit::model::Script`.

use std::process::ExitCode;
use std::time::Duration;

use adjourn_testkit::model::{ModelServer, Outcome, Script};
use serde_json::json;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: model_server SCRIPT.json");
        return ExitCode::from(2);
    };
    let script = std::fs::read_to_string(&path).map_err(|error| error.to_string());
    let script =
        script.and_then(|text| serde_json::from_str::<Script>(&text).map_err(|error| error.to_string()));
    let server = script.and_then(|script| ModelServer::start(script).map_err(|error| error.to_string()));
    match server {
        Ok(server) => report(&server),
        Err(error) => {
            eprintln!("error: {}: {error}", path.to_string_lossy());
            ExitCode::FAILURE
        }
    }
}

/// Until it is ended from outside.
fn report(server: &ModelServer) -> ! {
    println!("{}", server.url());
    let mut shown = 0;
    loop {
        for request in server.requests().into_iter().skip(shown) {
            let answered = match request.outcome {
                Outcome::Reply(index) => format!("reply {index}"),
                Outcome::Side(purpose) => format!("on the side: {purpose}"),
                Outcome::Refused(problem) => format!("refused: {problem}"),
                Outcome::Served => "served".to_owned(),
            };
            let asked = format!("{} {}", request.method, request.path);
            println!("{}", json!({"request": asked, "answered": answered, "body": request.body}));
            shown += 1;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
