//! The charts and their drawings, tested through the public interface, in one binary.

mod formats;
mod geometry;
