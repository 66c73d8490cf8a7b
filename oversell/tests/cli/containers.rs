//! The image is built from the manifest and the folder of each crate, named one by one in two files.

use std::fs;

use crate::readme::root;

#[test]
fn the_files_of_the_image_name_every_crate_of_the_workspace() {
    let read = |file| fs::read_to_string(root().join(file)).unwrap();
    let (workspace, ignored, image) = (read("Cargo.toml"), read(".dockerignore"), read("Dockerfile"));
    let members = workspace
        .lines()
        .find_map(|line| line.strip_prefix("members = "))
        .unwrap();
    let members: Vec<String> = serde_json::from_str(members).unwrap();
    assert!(members.len() >= 7, "only {members:?} were found");
    for member in members {
        let kept = format!("!{member}");
        assert!(
            ignored.lines().any(|line| line == kept),
            ".dockerignore keeps {member} out of the image"
        );
        let copied = format!("COPY --from=sources /src/{member}/Cargo.toml {member}/");
        assert!(
            image.lines().any(|line| line == copied),
            "Dockerfile does not copy the manifest of {member}"
        );
    }
}
