//! Policies on simulated stacks whose truth is known.

mod compare;
mod conditions;
mod find;
mod kept;
mod made_up;
mod no_answer;
mod short_windows;
mod sweep;
mod tried_again;
