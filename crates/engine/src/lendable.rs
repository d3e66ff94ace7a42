//! A value that its owner lends away for a while: a script that has its turn has the recorder, and a worker all else.

use std::ops::{Deref, DerefMut};

/// A value that is here, except while it is lent.
#[derive(Debug)]
pub(crate) struct Lendable<T>(Option<Box<T>>);

const AWAY: &str = "its owner does nothing with what is lent before it is back";

impl<T> Lendable<T> {
    pub(crate) fn new(value: T) -> Lendable<T> {
        Lendable(Some(Box::new(value)))
    }

    /// Gives the value away until [`Self::put_back`].
    pub(crate) fn lend(&mut self) -> Box<T> {
        self.0.take().expect(AWAY)
    }

    pub(crate) fn put_back(&mut self, value: Box<T>) {
        self.0 = Some(value);
    }
}

impl<T> Deref for Lendable<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().expect(AWAY)
    }
}

impl<T> DerefMut for Lendable<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_deref_mut().expect(AWAY)
    }
}
