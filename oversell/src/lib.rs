//! Empty: the program is `main.rs`. Cargo turns on the feature `bench` for the tests only through a library of this
//! package.
