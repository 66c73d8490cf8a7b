use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use super::*;

/// Runs a line of shell in the folder around the data folder; returns whether it succeeded.
fn run(folder: &Path, disk: &Disk, line: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).envs(disk.environment());
    shell.output().unwrap().status.success()
}

#[test]
fn no_file_in_the_data_folder_becomes_longer_while_the_disk_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let disk = Disk::new(folder.path(), "server", &data).unwrap().unwrap();
    let run = |line| run(folder.path(), &disk, line);
    assert!(run("printf 0123 > data/old"));
    disk.fill().unwrap();
    for (line, succeeds) in [
        ("printf x >> data/old", false),
        ("printf x > data/new", false),
        ("fallocate -l 5 data/old", false),
        ("printf 45678 | dd of=data/old bs=5 conv=notrunc", false),
        // Bytes that a file has can be overwritten, and removed.
        ("printf ab | dd of=data/old bs=1 seek=1 conv=notrunc", true),
        ("truncate -s 2 data/old", true),
        ("printf x > beside", true),
    ] {
        assert_eq!(run(line), succeeds, "{line}");
    }
    assert_eq!(disk.make_room().unwrap(), 4);
    assert!(run("printf 45 >> data/old"));
    assert_eq!(fs::read_to_string(data.join("old")).unwrap(), "0a45");
    assert_eq!(disk.failed().unwrap(), 0, "the count begins anew");
}

#[test]
fn calls_of_one_thread_fail_without_being_counted() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let disk = Disk::new(folder.path(), "server", &data).unwrap().unwrap();
    for (is_counted, failed) in [(true, 1), (false, 0)] {
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path()).envs(disk.environment());
        let mut shell = shell.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        if is_counted {
            disk.fill().unwrap();
        } else {
            disk.fill_without_counting(shell.id()).unwrap();
        }
        let mut lines = shell.stdin.take().unwrap();
        lines.write_all(b"printf x > data/new\n").unwrap();
        drop(lines);
        assert!(!shell.wait().unwrap().success());
        assert_eq!(disk.make_room().unwrap(), failed);
    }
}
