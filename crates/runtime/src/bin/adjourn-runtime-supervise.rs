//! The supervisor alone. See [`adjourn_engine::supervisor`].

use std::process::ExitCode;

fn main() -> ExitCode {
    adjourn_engine::supervisor::main()
}
