//! A wrong URL is named at once by its option, and never with a password.

use std::net::TcpListener;

use crate::harness::{answering, interrupt, output, stderr, stdout, up, word};

#[test]
fn a_wrong_url_of_a_shop_that_runs_is_named_by_its_option() {
    let (mut child, said) = up(&["--instances", "1"]);
    let word = |of: &str| word(&said, of);
    let (host, admin) = (word("shop"), word("app-1"));
    // The system accepts connections there, but no program answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap();
    let other = answering("501 Not Implemented");
    let at = |url: &str| url.replace("http://", "");
    for (option, value, status, why) in [
        ("--host", at(&host), 64, "--host must be a URL such as http://"),
        ("--host", "http://hidden@".to_owned(), 64, "--host must be a URL"),
        ("--host", other.clone(), 69, "--host leads to no shop"),
        ("--admin", at(&admin), 64, "--admin must be a URL such as http://"),
        (
            "--admin",
            "http://127.0.0.1:9".to_owned(),
            69,
            "--admin: there is no admin listener at",
        ),
        (
            "--admin",
            host.clone(),
            69,
            "--admin does not lead to the admin listener",
        ),
        (
            "--admin",
            other.clone(),
            69,
            "--admin does not lead to the admin listener",
        ),
        (
            "--admin-token",
            "hidden".to_owned(),
            69,
            "--admin does not lead to the admin listener",
        ),
        (
            "--redis",
            "127.0.0.1:6379".to_owned(),
            64,
            "--redis must be a URL such as redis://",
        ),
        (
            "--redis",
            "redis://:hidden@127.0.0.1:9".to_owned(),
            69,
            "--redis: there is no Redis at 127.0.0.1:9",
        ),
        (
            "--redis",
            format!("redis://{}", at(&other)),
            69,
            "--redis: there is no Redis at",
        ),
        ("--redis", format!("redis://{silent}"), 69, "no answer"),
        (
            "--sql",
            "hidden@127.0.0.1".to_owned(),
            64,
            "--sql must be a URL such as mysql://",
        ),
        (
            "--sql",
            "mysql://shop:hidden@127.0.0.1:9/x".to_owned(),
            69,
            "--sql: there is no MariaDB at 127.0.0.1:9",
        ),
        ("--sql", format!("mysql://{silent}/x"), 69, "no answer"),
    ] {
        let results = tempfile::tempdir().unwrap();
        let mut arguments = vec![
            "run".to_owned(),
            "--results".to_owned(),
            results.path().display().to_string(),
        ];
        for (name, right) in [
            ("--host", &host),
            ("--admin", &admin),
            ("--admin-token", &word("token")),
            ("--redis", &word("redis")),
            ("--sql", &word("sql")),
        ] {
            let given = if name == option { &value } else { right };
            arguments.extend([name.to_owned(), given.clone()]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran = output(&arguments);
        let told = stderr(&ran);
        assert!(told.contains(why), "{option} {value}: {told}");
        assert_eq!(ran.status.code(), Some(status), "{option} {value}: {told}");
        assert!(!told.contains("hidden"), "{option} {value}: {told}");
    }
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_shop_with_one_store_needs_no_other_and_what_sells_from_another_is_skipped() {
    let (mut child, said) = up(&["--instances", "2"]);
    let word = |of: &str| word(&said, of);
    let results = tempfile::tempdir().unwrap();
    for (store, strategy, status) in [
        ("redis", "lua@redis", 0),
        ("sql", "conditional@sql", 0),
        ("redis", "conditional@sql", 2),
    ] {
        let [host, one, other, token, url] = ["shop", "app-1", "app-2", "token", store].map(word);
        let mut arguments = vec![
            "run",
            "--host",
            &host,
            "--admin",
            &one,
            "--admin",
            &other,
            "--admin-token",
            &token,
        ];
        let option = format!("--{store}");
        arguments.extend([
            option.as_str(),
            &url,
            "--strategy",
            strategy,
            "--threat",
            "second-instance",
            "--repeat",
            "1",
        ]);
        arguments.extend(["--results", results.path().to_str().unwrap()]);
        let ran = output(&arguments);
        let shown = stdout(&ran);
        assert_eq!(
            ran.status.code(),
            Some(status),
            "{store}, {strategy}: {shown}{}",
            stderr(&ran)
        );
        let other = if store == "redis" { "MariaDB" } else { "Redis" };
        assert!(!shown.contains(other), "{shown}");
        assert_eq!(
            shown.contains("its ledger cannot be read: --sql is not given"),
            status == 2,
            "{shown}"
        );
    }
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_store_that_is_not_there_is_named_before_anything_is_started() {
    for (option, url, why) in [
        (
            "--redis",
            "redis://:hidden@127.0.0.1:9",
            "--redis: there is no Redis at 127.0.0.1:9",
        ),
        (
            "--redis",
            "redis+unix:///nowhere?db=1",
            "--redis: there is no Redis at /nowhere",
        ),
        (
            "--sql",
            "mysql://shop:hidden@127.0.0.1:9/shop",
            "--sql: there is no MariaDB at 127.0.0.1:9",
        ),
        (
            "--sql",
            "mysql://shop:hidden@localhost/shop?socket=/nowhere",
            "--sql: there is no MariaDB at /nowhere",
        ),
    ] {
        let ran = output(&["up", option, url]);
        assert_eq!(ran.status.code(), Some(69), "{url}: {}", stderr(&ran));
        assert!(stderr(&ran).contains(why), "{url}: {}", stderr(&ran));
        assert!(!stderr(&ran).contains("hidden"), "{url}: {}", stderr(&ran));
    }
}
