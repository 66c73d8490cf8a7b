//! Makes the lists of guards and strategies.

#[path = "../build/lists.rs"]
mod lists;

fn main() {
    lists::write("guards", "GuardEntry");
    lists::write("strategies", "NativeEntry");
}
