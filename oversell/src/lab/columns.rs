//! Columns of text, whose words become those of another language.

use textwrap::core::display_width;

/// The least space between two columns.
const GAP: &str = "  ";

/// Says the words of each cell anew, and lets each column begin where it did. Cells stand at least two spaces apart.
pub fn in_columns(text: &str, say: &dyn Fn(&str) -> String) -> String {
    let mut said = String::new();
    for line in text.lines() {
        let mut row = String::new();
        let mut rest = line;
        while !rest.is_empty() {
            let cell = rest.trim_start();
            let column = line.len() - cell.len();
            let (words, after) = cell.split_at(cell.find(GAP).unwrap_or(cell.len()));
            let space = column.saturating_sub(display_width(&row));
            // A cell that became too wide moves the next one.
            row += &" ".repeat(if row.is_empty() { space } else { space.max(GAP.len()) });
            row += &say(words);
            rest = after;
        }
        said += row.trim_end();
        said.push('\n');
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_wide_characters_begin_where_those_of_narrow_ones_did() {
        let said = in_columns("A: x        B: y\n            so\n\nend\n", &|words| match words {
            "A: x" => "甲乙丙".to_owned(),
            "so" => "如此".to_owned(),
            other => other.to_owned(),
        });
        assert_eq!(said, "甲乙丙      B: y\n            如此\n\nend\n");
    }
}
