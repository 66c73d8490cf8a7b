//! Markdown for a terminal: the headers of source files.

use std::io::{IsTerminal, stdout};

use textwrap::{Options, WordSplitter, fill, termwidth};

/// The longest line of running text: longer ones are hard to read, however wide the terminal is.
const WIDEST: usize = 100;

/// The indent of preformatted text, where there is room for it.
const CODE: usize = 4;

/// The indent that stays before a second column that is moved to the left.
const SECOND_COLUMN: usize = 4;

/// Renders paragraphs wrapped, and preformatted text as [`preformatted`] does.
pub fn for_terminal(markdown: &str) -> String {
    let code_width = if stdout().is_terminal() {
        termwidth()
    } else {
        usize::MAX
    };
    let blocks = markdown.split("```");
    let rendered = blocks.enumerate().map(|(number, block)| {
        if number % 2 == 1 {
            preformatted(block.trim_start_matches("text").trim_matches('\n'), code_width)
        } else {
            let paragraphs = block.trim().split("\n\n");
            let joined = paragraphs.map(|paragraph| wrapped(&paragraph.replace('\n', " "), "", ""));
            joined.collect::<Vec<_>>().join("\n\n") + "\n"
        }
    });
    rendered.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Wraps text to the width of the terminal; `first` stands before its first line, `others` before the rest.
pub fn wrapped(text: &str, first: &str, others: &str) -> String {
    fill(text, options(termwidth().min(WIDEST), first, others))
}

fn options<'a>(width: usize, first: &'a str, others: &'a str) -> Options<'a> {
    Options::new(width)
        .initial_indent(first)
        .subsequent_indent(others)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation)
}

/// Keeps each line whole where `width` allows it. Where a line is too wide, the indent goes first, then the second column
/// moves to the left. A line that is still too wide goes on below itself, deeper: a terminal would break it within a word.
fn preformatted(code: &str, width: usize) -> String {
    let lines = || {
        code.lines()
            .map(|line| line.split_at(line.len() - line.trim_start().len()))
    };
    let widest = code.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let indent = CODE.min(width.saturating_sub(widest));
    let too_wide = widest.saturating_sub(width);
    let moved = lines().map(|(space, text)| {
        let left = space.len().saturating_sub(too_wide).max(SECOND_COLUMN.min(space.len()));
        let first = " ".repeat(indent + left);
        let line = if first.len() + text.chars().count() <= width {
            format!("{first}{text}")
        } else {
            fill(text, options(width, &first, &format!("{first}      ")))
        };
        line + "\n"
    });
    moved.collect()
}

#[cfg(test)]
mod tests {
    use app::strategies::Entry;

    use super::*;

    const TWO_COLUMNS: &str = "A: SET a -> OK\n                    B: SET b -> nil ... -> OK\n";

    #[test]
    fn preformatted_text_that_fits_keeps_its_lines_and_the_second_column_moves_before_a_line_is_broken() {
        assert_eq!(
            preformatted(TWO_COLUMNS, 80),
            "    A: SET a -> OK\n                        B: SET b -> nil ... -> OK\n"
        );
        assert_eq!(preformatted(TWO_COLUMNS, 45), TWO_COLUMNS);
        assert_eq!(
            preformatted(TWO_COLUMNS, 40),
            "A: SET a -> OK\n               B: SET b -> nil ... -> OK\n"
        );
        assert_eq!(
            preformatted(TWO_COLUMNS, 25),
            "A: SET a -> OK\n    B: SET b -> nil ...\n          -> OK\n"
        );
    }

    #[test]
    fn no_interleaving_is_wider_than_a_terminal_of_80_columns() {
        for entry in Entry::all() {
            let header = entry.mechanism.header();
            for block in header.split("```").skip(1).step_by(2) {
                let shown = preformatted(block.trim_start_matches("text").trim_matches('\n'), 80);
                assert!(
                    shown.lines().all(|line| line.chars().count() <= 80),
                    "{}:\n{shown}",
                    entry.name
                );
            }
        }
    }
}
