//! Kill and stop, played on MariaDB.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::os::unix::fs::MetadataExt;

mod world;

#[test]
fn a_mariadb_killed_right_after_its_start_comes_back_on_the_same_data() {
    let stores = world::stores();
    let mariadb = stores.mariadb().unwrap();
    let tablespace = mariadb.log().path.with_file_name("mariadb").join("ibdata1");
    let before = tablespace.metadata().unwrap().ino();
    mariadb.kill().unwrap();
    mariadb.restart().unwrap();
    mariadb.wait_ready(world::LIMIT).unwrap();
    assert_eq!(tablespace.metadata().unwrap().ino(), before);
}

#[test]
fn mariadb_ends_cleanly_when_it_is_stopped() {
    let stores = world::stores();
    let mariadb = stores.mariadb().unwrap();
    assert!(mariadb.stop(world::LIMIT).unwrap());
    assert!(
        mariadb.log().tail.contains("Shutdown complete"),
        "{}",
        mariadb.log().tail
    );
}
