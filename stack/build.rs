//! Builds the library that makes the clock of a process run ahead, see `src/clock`.

use std::env;
use std::path::{Path, PathBuf};

const SOURCE: &str = "src/clock/clock.c";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names it"));
    let library = folder.join("clock.so");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        compile(&library);
    } else {
        // Other systems preload in other ways; no clock runs ahead there.
        std::fs::write(&library, []).expect("cargo's folder can be written");
    }
}

fn compile(library: &Path) {
    let compiler = cc::Build::new().opt_level(2).get_compiler();
    let mut command = compiler.to_command();
    command.args(["-shared", "-fPIC", "-o"]);
    let status = command.arg(library).arg(SOURCE).args(["-ldl", "-pthread"]).status();
    let status = status.unwrap_or_else(|why| panic!("{} cannot be run: {why}", compiler.path().display()));
    assert!(status.success(), "{SOURCE} does not compile");
}
