use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::journal::Journal;
use super::*;

/// A data folder with two files on disk, and the journal of the processes that a script runs.
struct Disk {
    folder: TempDir,
    unsynced: Unsynced,
}

impl Disk {
    fn new() -> Disk {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("old"), "0123456789").unwrap();
        fs::write(data.join("other"), "other").unwrap();
        let unsynced = Unsynced::new(folder.path(), "disk", &data).unwrap().unwrap();
        unsynced.begin().unwrap();
        Disk { folder, unsynced }
    }

    fn run(&self, script: &str) {
        let mut shell = Command::new("sh");
        shell.args(["-ec", script]).current_dir(self.folder.path().join("data"));
        let done = shell.envs(self.unsynced.environment()).status().unwrap();
        assert!(done.success(), "{script}");
    }

    /// The content of every file after a loss of power.
    fn lose(&self) -> (Loss, BTreeMap<String, String>) {
        let loss = self.unsynced.lose().unwrap();
        let entries = fs::read_dir(self.folder.path().join("data")).unwrap();
        let files = entries.map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let content = if path.is_dir() {
                "folder".into()
            } else {
                fs::read_to_string(path).unwrap()
            };
            (name, content)
        });
        (loss, files.collect())
    }

    fn after(script: &str) -> BTreeMap<String, String> {
        let disk = Disk::new();
        disk.run(script);
        disk.lose().1
    }
}

fn files<const N: usize>(files: [(&str, &str); N]) -> BTreeMap<String, String> {
    files
        .map(|(name, content)| (name.to_owned(), content.to_owned()))
        .into()
}

const OLD: (&str, &str) = ("old", "0123456789");
const OTHER: (&str, &str) = ("other", "other");

#[test]
fn a_write_without_a_sync_is_gone_and_one_with_a_sync_is_there() {
    assert_eq!(Disk::after("echo more >> old; echo all > other"), files([OLD, OTHER]));
    for sync in ["sync old", "sync -d old"] {
        let kept = ("old", "0123456789more\n");
        assert_eq!(Disk::after(&format!("echo more >> old; {sync}")), files([kept, OTHER]));
        let script = format!("echo more >> old; {sync}; echo late >> old; echo all > other");
        assert_eq!(Disk::after(&script), files([kept, OTHER]));
    }
}

#[test]
fn bytes_in_the_middle_a_size_and_an_emptied_file_come_back() {
    let middle = "printf AB | dd of=old bs=1 seek=3 conv=notrunc status=none";
    let written = ("old", "012AB56789");
    assert_eq!(Disk::after(middle), files([OLD, OTHER]));
    assert_eq!(Disk::after(&format!("{middle}; sync old")), files([written, OTHER]));
    assert_eq!(
        Disk::after(&format!(
            "{middle}; sync old; {middle}; truncate -s 2 old; echo x > old"
        )),
        files([written, OTHER])
    );
    assert_eq!(Disk::after("truncate -s 20 old"), files([OLD, OTHER]));
}

#[test]
fn a_write_that_syncs_by_itself_is_there() {
    let script = "printf AB | dd of=old oflag=dsync conv=notrunc status=none; echo more >> old";
    assert_eq!(Disk::after(script), files([("old", "AB23456789"), OTHER]));
}

#[test]
fn a_sync_of_one_file_carries_no_bytes_of_another() {
    let script = "echo more >> old; echo more >> other; sync other";
    assert_eq!(Disk::after(script), files([OLD, ("other", "othermore\n")]));
}

#[test]
fn names_without_a_sync_are_as_before_and_those_before_any_sync_are_kept() {
    let script = "echo new > new; mkdir made; mv other old; rm new";
    let changed = files([("made", "folder"), ("old", "other")]);
    assert_eq!(Disk::after(script), files([OLD, OTHER]));
    assert_eq!(Disk::after(&format!("{script}; sync .")), changed);
    assert_eq!(Disk::after(&format!("{script}; sync old")), changed);
    let later = format!("{script}; sync .; rm old; rmdir made; echo new > new");
    assert_eq!(Disk::after(&later), changed);
}

#[test]
fn a_file_that_was_written_synced_and_renamed_has_its_old_name_until_a_sync() {
    let write = "echo new > temp; sync temp; mv temp old";
    assert_eq!(Disk::after(write), files([OLD, OTHER, ("temp", "new\n")]));
    assert_eq!(
        Disk::after(&format!("{write}; sync .")),
        files([("old", "new\n"), OTHER])
    );
    // The name is on disk, the bytes are not.
    let unsynced = "echo new > temp; mv temp old; sync .";
    assert_eq!(Disk::after(unsynced), files([("old", ""), OTHER]));
}

#[test]
fn a_loss_counts_what_was_not_synced_and_knows_whether_anything_was() {
    let disk = Disk::new();
    disk.run("echo more >> old");
    assert!(!disk.unsynced.is_synced().unwrap());
    disk.run("sync old; echo never > temp");
    assert!(disk.unsynced.is_synced().unwrap());
    let length = disk.unsynced.length().unwrap();
    disk.run("echo 1 >> old; echo 23 >> other; mv other third");
    assert!(!disk.unsynced.is_synced().unwrap());
    let (loss, _) = disk.lose();
    assert_eq!((loss.writes, loss.bytes, loss.files, loss.names), (3, 11, 3, 2));
    assert!(loss.is_all_since(length) && !loss.is_all_since(0));
    // The journal is gone: what is written now stays.
    disk.run("echo kept >> old");
    assert!(disk.unsynced.lose().is_err());
}

#[test]
fn a_file_outside_of_the_folder_is_left_alone() {
    let disk = Disk::new();
    disk.run("cd ..; echo 1 > outside; mv outside elsewhere");
    assert_eq!(disk.lose().0, Loss::default());
    assert_eq!(fs::read_to_string(disk.folder.path().join("elsewhere")).unwrap(), "1\n");
}

#[test]
fn a_file_that_is_written_through_a_stream_is_an_error_that_names_it() {
    let mut record: Vec<u8> = [7_u64, 3, 0, 0, 0, 0].into_iter().flat_map(u64::to_ne_bytes).collect();
    record.extend(b"/x\0");
    let said = Journal::read(&record).unwrap_err().to_string();
    assert!(said.starts_with("/x was written"), "{said}");
    // One that was cut off by the kill is none.
    assert!(Journal::read(&record[..record.len() - 1]).is_ok());
}

#[test]
fn a_file_that_a_stream_appends_to_is_an_error() {
    let disk = Disk::new();
    disk.run("python3 -c 'import ctypes; ctypes.CDLL(None).fopen(b\"old\", b\"a\")'");
    let said = disk.unsynced.lose().unwrap_err().to_string();
    assert!(said.contains("old was written"), "{said}");
}

#[test]
fn a_file_that_a_stream_emptied_and_wrote_is_as_before_until_a_sync() {
    // sed writes through streams of the C library.
    let script = "sed -n 'w other' old; sed -n 'w new' old";
    assert_eq!(Disk::after(script), files([OLD, OTHER]));
    let same = OLD.1;
    assert_eq!(
        Disk::after(&format!("{script}; sync new")),
        files([OLD, OTHER, ("new", same)])
    );
    assert_eq!(
        Disk::after(&format!("{script}; sync old")),
        files([OLD, OTHER, ("new", "")])
    );
}

#[test]
fn a_file_that_got_a_second_name_has_one_until_a_sync() {
    assert_eq!(Disk::after("ln old new"), files([OLD, OTHER]));
    assert_eq!(Disk::after("ln old new; sync ."), files([OLD, OTHER, ("new", OLD.1)]));
}

#[test]
fn a_stream_that_could_not_be_opened_has_written_nothing() {
    let missed = Disk::new();
    missed.run("! sed -n 'w missing/new' old 2>/dev/null");
    assert_eq!(missed.lose().1, files([OLD, OTHER]));
}

#[test]
fn a_folder_that_is_no_journal_is_never_removed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine"), "mine").unwrap();
    let files = JournalFiles::of(folder.path(), folder.path()).unwrap();
    assert!(files.begin().unwrap_err().to_string().contains("is no journal"));
    assert_eq!(fs::read_to_string(folder.path().join("mine")).unwrap(), "mine");
}
