//! Tests of the crate as a whole.

mod path_of_a_run;
