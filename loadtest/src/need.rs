//! What a threat can need of a deployment besides a shop.

use std::fmt;

use stack::ServerKind;

use crate::catalogue::Store;

/// Something that has to be started here, so that it can be told to pause, to die or to be slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The processes of the instances.
    Instances,
    /// The process of a store.
    Service(Store),
    /// A relay before a store for each instance.
    Relay(Store),
}

impl Need {
    /// The store before which a relay has to stand, if it is that.
    pub(crate) fn relay(self) -> Option<ServerKind> {
        match self {
            Self::Relay(store) => Some(server(store)),
            Self::Instances | Self::Service(_) => None,
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instances => f.write_str("a shop that is started here: leave out --host"),
            Self::Service(store) | Self::Relay(store) => {
                let option = match store {
                    Store::Redis => "--redis",
                    Store::Sql => "--sql",
                };
                let kind = server(*store);
                write!(f, "a {kind} that is started here: leave out --host and {option}")
            }
        }
    }
}

/// The server that keeps a store.
pub fn server(store: Store) -> ServerKind {
    match store {
        Store::Redis => ServerKind::Redis,
        Store::Sql => ServerKind::MariaDb,
    }
}
