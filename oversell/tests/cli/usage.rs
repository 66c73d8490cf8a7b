//! Wrong command lines and their messages, and the help.

use crate::harness::{output, oversell, stderr, stdout};

#[test]
fn a_wrong_command_line_ends_with_64() {
    for arguments in [
        &["--buyers", "0"][..],
        &["--buyers", "many"],
        &["--stock", "-1"],
        &["--quantity", "1.5"],
        &["--instances", "0"],
        &["--repeat", "0"],
        &["--host", "http://127.0.0.1:9"],
        &["--quantity", "5", "--stock", "4"],
        &["report", "/nowhere"],
        &["sell"],
        &["bench"],
    ] {
        let output = output(arguments);
        assert_eq!(output.status.code(), Some(64), "{arguments:?}: {}", stderr(&output));
        assert!(!output.stderr.is_empty() && output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_wrong_value_is_refused_with_what_would_be_right() {
    for (arguments, right) in [
        (&["--stock", "-1"][..], "a whole number from 1 to 1000000000"),
        (&["--stock", "many"], "a whole number from 1 to 1000000000"),
        (&["--buyers", "-1"], "a whole number from 1 to 5000"),
        (&["--instances", "1,17"], "a whole number from 1 to 16"),
        (&["--work-ms", "5001"], "a whole number from 0 to 5000"),
        (&["up", "--instances", "-1"], "a whole number from 1 to 16"),
        (&["bench", "lock", "--repeat", "0"], "a whole number from 1 to 100"),
        (&["--buyers", "5000"], "add --requests 5000"),
        (&["--buyers", "50", "--requests", "49"], "add --requests 50"),
        (&["--items", "0"], "a whole number from 1 to 1000"),
        (&["--items", "97"], "add --requests 97"),
        (&["--all", "--strategy", "lua@redis"], "--strategy"),
        (&["--soak", "0"], "a whole number from 1 to 10000000"),
        (&["--soak", "200", "--requests", "50"], "--requests"),
        (
            &["--soak", "200", "--seed", "-1"],
            "a whole number from 0 to 4294967295",
        ),
        (&["--seed", "7"], "--soak"),
        (&["--threat", "crowd,crashed_holder"], "did you mean crashed-holder?"),
        (&["--threat", "weather"], "no threat is called weather"),
        (
            &["strategies", "tokne"],
            "no mechanism is called tokne; did you mean token?",
        ),
        (&["threats", "crowds"], "did you mean crowd?"),
        (&["bench", "path", "--strategy", "lua@redsi"], "did you mean lua@redis?"),
    ] {
        let output = output(arguments);
        assert_eq!(output.status.code(), Some(64), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(right), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn help_documents_every_exit_status_of_every_command_that_can_end_with_one() {
    for command in [
        "", "run", "demo", "up", "buy", "crowd", "check", "serve", "health", "compare", "bench", "doctor",
    ] {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let output = output(&arguments);
        assert_eq!(output.status.code(), Some(0));
        for status in ["0  ", "1  ", "2  ", "64 ", "69 ", "78 ", "130 "] {
            assert!(
                stdout(&output).contains(&format!("\n  {status}")),
                "{command}: {status}"
            );
        }
    }
}

#[test]
fn the_help_of_run_names_every_threat() {
    let help = stdout(&output(&["run", "--help"]));
    let words: Vec<&str> = help.split([' ', ',', '.', '\n']).collect();
    for name in loadtest::threats::names() {
        assert!(words.contains(&name), "{name}: {help}");
    }
}

#[test]
fn the_steps_of_a_mechanism_are_those_of_the_chosen_store() {
    let steps = |name: &str| {
        let shown = stdout(&output(&["strategies", name]));
        let (_, rest) = shown.split_once("\nsteps ").unwrap();
        rest.split_once("\n\n").unwrap().0.to_owned()
    };
    let (redis, sql) = (steps("token@redis"), steps("token@sql"));
    assert!(redis.contains("set-nx") && !redis.contains("begin"), "{redis}");
    assert!(sql.contains("set-nx") && sql.contains("begin"), "{sql}");
    let both = steps("token");
    let [of_redis, of_sql] = ["@redis: ", "@sql: "].map(|store| both.find(store).unwrap());
    let begin = both.find("begin").unwrap();
    assert!(of_redis < of_sql && of_sql < begin, "{both}");
}

#[test]
fn demo_takes_a_mechanism_with_one_store_and_lists_the_strategies_of_one_with_several() {
    for (asked, why) in [
        (
            "none",
            "none means several strategies: choose one of none@redis, none@sql",
        ),
        ("tokne", "no mechanism is called tokne; did you mean token?"),
        ("conditional@redis", "did you mean conditional@sql?"),
    ] {
        let refused = output(&["demo", asked]);
        assert_eq!(refused.status.code(), Some(64), "{asked}: {}", stderr(&refused));
        assert!(stderr(&refused).contains(why), "{asked}: {}", stderr(&refused));
    }
}

#[test]
fn a_running_shop_without_the_url_of_a_store_is_refused() {
    let host = [
        "run",
        "--host",
        "http://127.0.0.1:9",
        "--admin",
        "http://127.0.0.1:9",
        "--admin-token",
        "x",
    ];
    let refused = output(&host);
    assert_eq!(refused.status.code(), Some(64), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("--redis, --sql, --pg or --cluster"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn every_store_that_can_be_read_has_an_option_for_its_url() {
    let help = stdout(&output(&["run", "--help"]));
    for store in loadtest::facts::STORES {
        assert!(help.contains(&format!("--{store} <URL>")), "{store}");
    }
}

#[test]
fn every_strategy_and_every_threat_is_listed_and_explained() {
    let lists = [stdout(&output(&["strategies"])), stdout(&output(&["threats"]))];
    for entry in app::strategies::Entry::all() {
        let mechanism = entry.mechanism.name;
        assert!(lists[0].contains(&format!("\n  {mechanism} ")), "{mechanism}");
        let explained = stdout(&output(&["strategies", &entry.name]));
        assert!(
            explained.contains(&entry.name) && explained.contains("Cost:"),
            "{explained}"
        );
    }
    for name in loadtest::threats::names() {
        assert!(lists[1].lines().any(|line| line.starts_with(name)), "{name}");
        let explained = stdout(&output(&["threats", name]));
        assert!(explained.lines().count() > 4, "{explained}");
    }
}

#[test]
fn a_shop_that_is_not_there_ends_with_69_and_is_named() {
    let results = tempfile::tempdir().unwrap();
    let url = "http://127.0.0.1:9";
    let output = output(&[
        "run",
        "--host",
        url,
        "--admin",
        url,
        "--admin-token",
        "secret-token",
        "--redis",
        "redis://127.0.0.1:9",
        "--sql",
        "mysql://127.0.0.1:9/x",
        "--results",
        results.path().to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(69), "{}", stderr(&output));
    assert!(
        stderr(&output).contains(&format!("--host: there is no shop at {url}")),
        "{}",
        stderr(&output)
    );
    assert!(!stderr(&output).contains("secret-token"));
}

#[test]
fn an_instance_that_cannot_reach_its_stores_says_which_and_shows_no_password() {
    let output = oversell(&["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .env("OVERSELL_REDIS_URL", "redis://:hidden@127.0.0.1:9")
        .env("OVERSELL_SQL_URL", "mysql://shop:hidden@127.0.0.1:9/shop")
        .env("OVERSELL_ADMIN_TOKEN", "hidden")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(69));
    assert!(stderr(&output).contains("redis"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("hidden"), "{}", stderr(&output));
}

#[test]
fn a_benchmark_without_its_redis_ends_with_69_and_leaves_nothing_behind() {
    let results = tempfile::tempdir().unwrap();
    let kept = results.path().to_str().unwrap();
    let output = output(&[
        "bench",
        "lock",
        "--redis",
        "redis://:hidden@127.0.0.1:9",
        "--results",
        kept,
    ]);
    assert_eq!(output.status.code(), Some(69), "{}", stderr(&output));
    assert!(stderr(&output).contains("--redis"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("hidden"), "{}", stderr(&output));
    assert_eq!(results.path().read_dir().unwrap().count(), 0);
}
