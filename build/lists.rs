//! Makes a list out of the `mod` lines of a folder, so that a new file needs one line, and `cargo fmt` sees every file.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Writes the list of a folder to `OUT_DIR`: every `pub(super) const` of the type `entry` in the modules that
/// `src/{folder}/mod.rs` declares, in the order of its `mod` lines.
pub fn write(folder: &str, entry: &str) {
    let path = Path::new("src").join(folder);
    println!("cargo::rerun-if-changed={}", path.display());
    let mut list = String::new();
    for line in read(&path.join("mod.rs")).lines() {
        let Some(module) = line.strip_prefix("mod ").and_then(|line| line.strip_suffix(';')) else {
            continue;
        };
        let alone = path.join(module).with_extension("rs");
        let source = Some(alone).filter(|file| file.exists());
        let source = source.unwrap_or_else(|| path.join(module).join("mod.rs"));
        for line in read(&source).lines() {
            let constant = line.strip_prefix("pub(super) const ");
            if let Some((name, kind)) = constant.and_then(|constant| constant.split_once(": "))
                && kind.split(' ').next() == Some(entry)
            {
                list += &format!("    {module}::{name},\n");
            }
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names it"));
    let written = fs::write(out.join(folder).with_extension("rs"), format!("&[\n{list}]\n"));
    written.expect("cargo's folder can be written");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}
