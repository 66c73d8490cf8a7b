//! The headers of files, on a terminal.

use textwrap::{Options, fill, termwidth};

/// Lines longer than this are hard to read, however wide the terminal is.
const WIDEST: usize = 100;

/// Markdown for a terminal: paragraphs wrapped, code as it is and indented.
pub fn for_terminal(markdown: &str) -> String {
    let blocks = markdown.split("```");
    let rendered = blocks.enumerate().map(|(number, block)| {
        if number % 2 == 1 {
            let code = block.trim_start_matches("text").trim_matches('\n');
            code.lines().map(|line| format!("    {line}\n")).collect::<String>()
        } else {
            let paragraphs = block.trim().split("\n\n");
            let joined = paragraphs.map(|paragraph| wrapped(&paragraph.replace('\n', " "), "", ""));
            joined.collect::<Vec<_>>().join("\n\n") + "\n"
        }
    });
    rendered.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Text on lines no longer than the terminal is wide; `first` stands before the first of them, `others` before the rest.
pub fn wrapped(text: &str, first: &str, others: &str) -> String {
    let options = Options::new(termwidth().min(WIDEST))
        .initial_indent(first)
        .subsequent_indent(others)
        .break_words(false);
    fill(text, options)
}
