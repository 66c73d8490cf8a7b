//! Idle connections of one store.

use std::sync::{Mutex, PoisonError};

/// A connection that is in use is not in this list. When its reading is cancelled, it is dropped and never used again.
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
