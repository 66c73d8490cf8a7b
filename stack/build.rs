//! Builds the libraries that are preloaded into servers, see `src/clock`, `src/disk` and `src/unsynced`.

use std::env;
use std::path::{Path, PathBuf};

/// Each source, and the width of pointers that it is for, in bits; one of them splits no number of 64 bits for the kernel.
const SOURCES: [(&str, Option<&str>); 3] = [
    ("src/clock/clock.c", None),
    ("src/disk/disk.c", None),
    ("src/unsynced/unsynced.c", Some("64")),
];

fn main() {
    println!("cargo::rerun-if-changed=src/clock/clock.c");
    println!("cargo::rerun-if-changed=src/disk/disk.c");
    println!("cargo::rerun-if-changed=src/unsynced");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names it"));
    let target = |name| env::var(name).unwrap_or_default();
    for (source, width) in SOURCES {
        let source = Path::new(source);
        let library = folder.join(source.with_extension("so").file_name().expect("each is a file"));
        let fits = width.is_none_or(|width| target("CARGO_CFG_TARGET_POINTER_WIDTH") == width);
        if target("CARGO_CFG_TARGET_OS") == "linux" && fits {
            compile(source, &library);
        } else {
            // Other systems preload in other ways.
            std::fs::write(&library, []).expect("cargo's folder can be written");
        }
    }
}

fn compile(source: &Path, library: &Path) {
    let compiler = cc::Build::new().opt_level(2).get_compiler();
    let mut command = compiler.to_command();
    command.args(["-shared", "-fPIC", "-o"]);
    let status = command.arg(library).arg(source).args(["-ldl", "-pthread"]).status();
    let status = status.unwrap_or_else(|why| panic!("{} cannot be run: {why}", compiler.path().display()));
    assert!(status.success(), "{} does not compile", source.display());
}
