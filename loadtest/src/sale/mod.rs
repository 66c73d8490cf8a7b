//! What is sold in a round: one item or several, each with its own sale.

mod item;
mod load;
pub(crate) mod sale_set;

pub(crate) use item::MOST_BUYERS;
pub use item::Sale;
pub use load::{Load, MAX_BUYERS, MAX_ITEMS, MAX_REQUESTS};
pub use sale_set::SaleSet;
