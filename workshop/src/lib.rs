//! The workshop: labs on lock pitfalls, each a page in two languages, and the progress of a learner.
//!
//! A lab is two pages in `docs/workshop`, and a line in [`all`]. The comment at the top of the English page says what is played;
//! the rest is text, which a reader can also follow by hand.

mod lab;
mod language;
mod list;
mod page;
mod progress;
mod sentences;
mod settings;
mod slides;

pub use lab::Lab;
pub use language::Language;
pub use list::all;
pub use page::{Answer, Page};
pub use progress::{Progress, State};
pub use settings::{Play, Schedule, Settings, Slower};
pub use slides::slides;
