//! Makes the list of threats.

#[path = "../build/lists.rs"]
mod lists;

fn main() {
    lists::write("threats", "Threat");
}
