//! Text from outside: from a shop, from a store, or from an edited result.

use strsim::jaro_winkler;

/// The longest name that is accepted from a shop, in characters.
pub const MAX_NAME: usize = 64;

/// The most characters of a message that quotes text from outside.
const LONGEST_MESSAGE: usize = 200;

/// Returns whether a text can stand unchanged in a table, on a terminal and in a file name: 1 to [`MAX_NAME`]
/// characters of `A-Z a-z 0-9 . _ + @ -`.
pub fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_+@".contains(c);
    !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(plain)
}

/// Returns the text on one line, without control characters and direction marks, cut to `longest` characters. A
/// replaced character shows as `?`, and a cut shows as `...`.
pub fn one_line(text: &str, longest: usize) -> String {
    let mut shown: String = text.chars().take(longest).map(visible).collect();
    if text.chars().nth(longest).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Returns the message of a parser on one line. It quotes what it could not read, which may be any text.
pub fn why_unreadable(error: &serde_json::Error) -> String {
    one_line(&error.to_string(), LONGEST_MESSAGE)
}

/// Returns text with an escape such as `\u{1b}` for each character that could move a cursor or hide its neighbours. Letters
/// of all scripts stay as they are: a path can still be recognised.
pub fn printable(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        match c {
            '\'' | '"' | '\\' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    shown
}

/// Replaces every character outside of ASCII: it may be one of the many marks that change how their neighbours are
/// shown.
fn visible(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_ascii_graphic() || c == ' ' => c,
        _ => '?',
    }
}

/// Returns a number with its noun, such as `1 round` or `2 rounds`.
pub(crate) fn counted(number: usize, [one, many]: [&str; 2]) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Returns the known name that is most similar to a wrong one.
pub fn nearest<'a>(known: impl Iterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    // A name from outside may have any length.
    let name: String = name.chars().take(MAX_NAME).collect();
    known.max_by(|one, other| jaro_winkler(one, &name).total_cmp(&jaro_winkler(other, &name)))
}

#[cfg(test)]
mod tests {
    use super::{is_name, one_line, printable};

    #[test]
    fn a_name_holds_nothing_that_could_change_a_table_or_a_terminal() {
        for good in ["none@redis", "tcc@redis+sql", "compare-num@sql", "a", "A.b_c"] {
            assert!(is_name(good), "{good}");
        }
        let long = "x".repeat(65);
        for bad in [
            "",
            "a b",
            "a|b",
            "a\nb",
            "\u{1b}[31m",
            "a\u{202e}b",
            "<b>",
            "`a`",
            "ü",
            &long,
        ] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_strangers_text_stays_on_its_line_and_within_its_length() {
        assert_eq!(
            one_line("10.11-MariaDB\u{1b}[2J\u{202e}\nx", 40),
            "10.11-MariaDB?[2J? x"
        );
        assert_eq!(one_line("abcdef", 3), "abc...");
        assert_eq!(one_line("abc", 3), "abc");
    }

    #[test]
    fn a_path_keeps_its_letters_and_shows_what_could_move_a_cursor() {
        assert_eq!(printable("results/jürgen's \"run\"\\"), "results/jürgen's \"run\"\\");
        assert_eq!(
            printable("a\u{1b}[2J\u{9b}b\u{202e}\n\u{7f}"),
            "a\\u{1b}[2J\\u{9b}b\\u{202e}\\n\\u{7f}"
        );
    }
}
