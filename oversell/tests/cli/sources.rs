//! The page of sources links to lines of code, and quotes a part of each line.

use std::fs;

use crate::readme::root;

/// A link to a line: the quoted code, the file and the number of the line.
struct Quoted<'a> {
    code: &'a str,
    file: &'a str,
    line: usize,
}

/// Returns the links of a page such as ``[`code`](../app/src/guards/token.rs#L68)``.
fn quoted(page: &str) -> Vec<Quoted<'_>> {
    let links = page.split("[`").skip(1).filter_map(|rest| {
        let (code, rest) = rest.split_once("`](../")?;
        let (target, _) = rest.split_once(')')?;
        let (file, line) = target.split_once("#L")?;
        let line = line.parse().ok()?;
        Some(Quoted { code, file, line })
    });
    links.collect()
}

#[test]
fn every_line_that_the_page_of_sources_links_to_holds_the_code_that_it_quotes() {
    let page = fs::read_to_string(root().join("docs/sources.md")).unwrap();
    let links = quoted(&page);
    assert!(links.len() >= 40, "only {} links were found", links.len());
    let mut wrong = Vec::new();
    for Quoted { code, file, line } in links {
        let source = fs::read_to_string(root().join(file)).unwrap_or_default();
        let is_there = |(_, text): &(usize, &str)| text.contains(code);
        let places: Vec<usize> = source
            .lines()
            .enumerate()
            .filter(is_there)
            .map(|(at, _)| at + 1)
            .collect();
        if !places.contains(&line) {
            wrong.push(format!(
                "{file}#L{line} has no `{code}`; it stands in the lines {places:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "docs/sources.md:\n{}", wrong.join("\n"));
}
