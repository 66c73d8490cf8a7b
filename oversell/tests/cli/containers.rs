//! The image is built from the manifest and the folder of each crate, named one by one in two files.

use std::fs;

use stack::ServiceKind;

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

#[test]
fn every_service_that_only_some_strategies_need_is_a_profile_of_compose_and_has_a_url_there() {
    let read = |file| fs::read_to_string(root().join(file)).unwrap();
    let (services, urls) = (read("docker-compose.yml"), read("docker/with-keys"));
    let further = ServiceKind::ALL.into_iter().map(ServiceKind::name);
    for name in further.filter(|name| !["redis", "sql"].contains(name)) {
        let profile = format!("profiles: [{name}]");
        assert!(
            services.lines().any(|line| line.trim() == profile),
            "docker-compose.yml has no {profile}"
        );
        let given = format!("if starts {name}");
        assert!(
            urls.lines().any(|line| line.starts_with(&given)),
            "docker/with-keys gives no URL of {name}"
        );
    }
}
