//! Policies on simulated stacks whose truth is known.

mod find;
