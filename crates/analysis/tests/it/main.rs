//! Analysis as a whole: properties that hold for any recording, and simulations with known truth.

mod comparing;
mod covering;
mod diagnosing;
mod little;
mod properties;
mod simulation;
mod warming_up;
