//! The scripted agent of the test kit, so that the tests of this crate have one to talk to.

use std::process::ExitCode;

fn main() -> ExitCode {
    adjourn_testkit::acp::main()
}
