//! Services that only some strategies need, started when one of them is to be played. One file each, and one list.

mod cluster;
mod etcd;
mod kind;
mod pg;
mod redis_nodes;
mod sql_2;
mod zookeeper;

use anyhow::{Context, Result};

pub(crate) use self::kind::{Kind, Running};

/// Every service that can be started here.
const ALL: &[Kind] = &[
    redis_nodes::KIND,
    sql_2::KIND,
    pg::KIND,
    cluster::KIND,
    zookeeper::KIND,
    etcd::KIND,
];

/// Returns the kind of that name.
pub(crate) fn find(name: &str) -> Result<&'static Kind> {
    let known = || ALL.iter().map(|kind| kind.of.name()).collect::<Vec<_>>().join(", ");
    let found = ALL.iter().find(|kind| kind.of.name() == name);
    found.with_context(|| format!("{name} cannot be started here, only {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_in_the_list_under_its_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/services");
        let entries = std::fs::read_dir(folder).unwrap();
        let files = entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned());
        let mut files: Vec<_> = files.filter(|file| !["mod", "kind"].contains(&file.as_str())).collect();
        let mut listed: Vec<_> = ALL.iter().map(|kind| kind.of.name().replace('-', "_")).collect();
        files.sort();
        listed.sort();
        assert_eq!(
            listed, files,
            "add each file to `mod` and to `ALL` in stack/src/services/mod.rs"
        );
    }
}
