//! The scripted MCP server of the test kit, so that the tests of this crate have tools that count what they do.

fn main() {
    adjourn_testkit::mcp::main();
}
