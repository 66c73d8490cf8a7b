//! Links between packages. An absolute link has to lead into the root that the packages are unpacked into.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Makes each absolute link in `root` whose target was unpacked too a relative one, which stays right when `root` moves.
///
/// # Errors
///
/// When the folder cannot be read or written.
pub(super) fn keep_inside(root: &Path) -> Result<()> {
    within(root, root, &PathBuf::new()).with_context(|| format!("could not mend the links in {}", root.display()))
}

/// `up` leads from `folder` back to `root`.
fn within(root: &Path, folder: &Path, up: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            within(root, &path, &up.join(".."))?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&path)?;
            let Ok(inside) = target.strip_prefix("/") else { continue };
            if root.join(inside).symlink_metadata().is_ok() {
                fs::remove_file(&path)?;
                symlink(up.join(inside), &path)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_from_the_root_of_the_system_leads_into_the_root_of_the_packages_wherever_that_moves() {
        let place = tempfile::tempdir().unwrap();
        let (staged, moved) = (place.path().join("staged"), place.path().join("moved"));
        fs::create_dir_all(staged.join("usr/lib")).unwrap();
        fs::create_dir_all(staged.join("etc")).unwrap();
        fs::write(staged.join("etc/jvm.cfg"), "content").unwrap();
        symlink("/etc/jvm.cfg", staged.join("usr/lib/jvm.cfg")).unwrap();
        symlink("/etc/not-unpacked", staged.join("usr/lib/other")).unwrap();
        keep_inside(&staged).unwrap();
        fs::rename(&staged, &moved).unwrap();
        assert_eq!(fs::read_to_string(moved.join("usr/lib/jvm.cfg")).unwrap(), "content");
        let other = fs::read_link(moved.join("usr/lib/other")).unwrap();
        assert_eq!(other, Path::new("/etc/not-unpacked"));
    }
}
