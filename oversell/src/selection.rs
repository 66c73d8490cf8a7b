//! The names and patterns of a command line, such as `token@redis` and `*@sql`, and the known names that they mean.

use wildmatch::WildMatch;

use crate::exit::Usage;

/// The least likeness, from 0 to 1, at which a wrong name is taken for a misspelt known one.
const ALIKE: f64 = 0.6;

/// Returns the names of `known` that `asked` means, in the order of `asked`, each once. `what` is what a name stands for, in
/// one word.
///
/// # Errors
/// When a name means nothing; the message suggests a known name.
pub fn select<'a>(what: &str, asked: &[String], known: &[&'a str]) -> Result<Vec<&'a str>, Usage> {
    let mut selected = Vec::new();
    for name in asked {
        let pattern = WildMatch::new(name);
        let meant: Vec<_> = known.iter().copied().filter(|known| pattern.matches(known)).collect();
        if meant.is_empty() {
            return Err(unknown(what, name, known));
        }
        for name in meant {
            if !selected.contains(&name) {
                selected.push(name);
            }
        }
    }
    Ok(selected)
}

/// Whether it is a pattern, which means whatever fits.
pub fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Returns the strategies that `asked` means: a mechanism stands for all its strategies.
///
/// # Errors
/// When it means none. A wrong mechanism is answered with mechanisms, a wrong store with strategies.
pub fn strategies_called<'a>(asked: &str, known: &[&'a str]) -> Result<Vec<&'a str>, Usage> {
    // A shop need not name a store.
    if let Some(known) = known.iter().find(|known| **known == asked) {
        return Ok(vec![known]);
    }
    let (mechanism, store) = asked.split_once('@').unwrap_or((asked, "*"));
    let mechanisms: Vec<_> = known.iter().filter_map(|known| known.split('@').next()).collect();
    select("mechanism", &[mechanism.to_owned()], &mechanisms)?;
    select("strategy", &[format!("{mechanism}@{store}")], known)
}

/// The stores that only some shops have.
const OPTIONAL: [&str; 2] = ["@pg", "@cluster"];

/// Returns the one strategy that `asked` means. A mechanism stands for its strategy on Redis or MariaDB, which every shop has, where
/// it has one there.
///
/// # Errors
/// When it means none, or several: the message lists them.
pub fn strategy_called<'a>(asked: &str, known: &[&'a str]) -> Result<&'a str, Usage> {
    let called = strategies_called(asked, known)?;
    let is_usual = |name: &&str| !OPTIONAL.iter().any(|store| name.ends_with(store));
    let usual: Vec<_> = called.iter().copied().filter(is_usual).collect();
    match (called.as_slice(), usual.as_slice()) {
        ([one], _) | (_, [one]) => Ok(one),
        (several, _) => Err(Usage(format!(
            "{asked} means several strategies: choose one of {}",
            several.join(", ")
        ))),
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Usage {
    let likeness = |known: &str| strsim::jaro_winkler(name, known);
    let nearest = known
        .iter()
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let hint = match nearest {
        Some(nearest) if likeness(nearest) >= ALIKE => format!("; did you mean {nearest}?"),
        _ => format!("; there are: {}", known.join(", ")),
    };
    Usage(format!("no {what} is called {name}{hint}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["none@redis", "none@sql", "token@redis", "lua@redis"];

    fn select_from_known(asked: &[&str]) -> Result<Vec<&'static str>, Usage> {
        let asked: Vec<_> = asked.iter().map(|&name| name.to_owned()).collect();
        select("strategy", &asked, &KNOWN)
    }

    #[test]
    fn a_pattern_means_all_that_it_matches_and_each_name_comes_once() {
        assert_eq!(select_from_known(&["lua@redis"]).unwrap(), ["lua@redis"]);
        assert_eq!(
            select_from_known(&["token@*", "*@redis"]).unwrap(),
            ["token@redis", "none@redis", "lua@redis"]
        );
        assert_eq!(select_from_known(&["*"]).unwrap(), KNOWN);
    }

    #[test]
    fn a_mechanism_means_its_strategy_where_it_has_one_and_the_choice_is_listed_where_it_has_several() {
        let known = [
            "none@redis",
            "none@sql",
            "two-phase@sql+sql",
            "plain",
            "lost@sql",
            "lost@pg",
            "own@pg",
            "lua@redis",
            "lua@cluster",
        ];
        for (asked, one) in [
            ("none@sql", "none@sql"),
            ("two-phase", "two-phase@sql+sql"),
            ("two-phase@sql+sql", "two-phase@sql+sql"),
            ("plain", "plain"),
            ("lost", "lost@sql"),
            ("own", "own@pg"),
            ("lua", "lua@redis"),
        ] {
            assert_eq!(strategy_called(asked, &known).unwrap(), one);
        }
        for (asked, why) in [
            (
                "none",
                "none means several strategies: choose one of none@redis, none@sql",
            ),
            ("nnoe", "no mechanism is called nnoe; did you mean none?"),
            ("none@etcd", "no strategy is called none@etcd; did you mean none@redis?"),
        ] {
            assert_eq!(strategy_called(asked, &known).unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn a_name_that_means_nothing_is_answered_with_what_was_meant() {
        let said = select_from_known(&["lua@redis", "tokne@redis"])
            .unwrap_err()
            .to_string();
        assert_eq!(said, "no strategy is called tokne@redis; did you mean token@redis?");
        let said = select_from_known(&["xyzzy"]).unwrap_err().to_string();
        assert!(said.contains("there are: none@redis, none@sql"), "{said}");
    }
}
