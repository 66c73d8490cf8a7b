//! Connections that wait to be used again.

use std::sync::{Mutex, PoisonError};

/// One that is in use is not among them: whoever is told to stop in the middle takes it along.
pub(super) struct Idle<C>(Mutex<Vec<C>>);

impl<C> Default for Idle<C> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C> Idle<C> {
    pub(super) fn pop(&self) -> Option<C> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(super) fn push(&self, connection: C) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}
