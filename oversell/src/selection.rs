//! Names that were asked for, and what they mean: a name, or a pattern with `*` in it.

use wildmatch::WildMatch;

use crate::exit::Usage;

/// How alike two names have to be for one to have been meant, from 0 to 1.
const ALIKE: f64 = 0.6;

/// Those of `known` that the names mean, in the order in which they were asked for, each once. `what` is what they are, in
/// a word.
///
/// # Errors
/// When a name means nothing; the message says what may have been meant.
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
    fn a_name_that_means_nothing_is_answered_with_what_was_meant() {
        let said = select_from_known(&["lua@redis", "tokne@redis"])
            .unwrap_err()
            .to_string();
        assert_eq!(said, "no strategy is called tokne@redis; did you mean token@redis?");
        let said = select_from_known(&["xyzzy"]).unwrap_err().to_string();
        assert!(said.contains("there are: none@redis, none@sql"), "{said}");
    }
}
