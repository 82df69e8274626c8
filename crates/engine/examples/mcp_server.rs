//! The scripted tool server as a program, which the tests of this crate start.

fn main() {
    adjourn_testkit::mcp::main();
}
