//! The items of a round, each with its own sale.

mod item;
mod load;
mod names;
pub(crate) mod sale_set;

pub(crate) use item::MOST_BUYERS;
pub use item::Sale;
pub use load::{Load, MAX_BUYERS, MAX_ITEMS, MAX_REQUESTS};
pub use names::Names;
pub use sale_set::SaleSet;
