//! A lock in Redis that is handed from its holder to the next waiter.
