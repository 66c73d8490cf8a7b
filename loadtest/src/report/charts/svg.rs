//! Writes SVG: rectangles, lines and text without a background, in colours that are legible on white and dark pages.

use std::fmt::Write;

use crate::text::one_line;

/// The width of a chart. It is narrow, so that the text is still legible when a telephone shrinks it to 360 pixels.
pub(super) const WIDTH: i64 = 520;

/// The longest text, in characters.
const LONGEST: usize = 64;

/// A colour with a contrast of more than 4 to white and to GitHub's dark page: a picture cannot know the theme of its
/// page.
pub(super) const INK: &str = "#737b85";
/// Vermilion and blue, which colour-blind readers tell apart.
pub(super) const WRONG: &str = "#d4600c";
pub(super) const RIGHT: &str = "#1f83c4";

/// The font of a text.
#[derive(Clone, Copy)]
pub(super) enum Font {
    Title,
    Plain,
    /// Letters of one width, 8.4 pixels each, so that every name of a given length fits.
    Name,
    Value,
}

impl Font {
    fn attributes(self) -> &'static str {
        match self {
            Self::Title => r#"font-family="system-ui,'DejaVu Sans',sans-serif" font-size="18" font-weight="bold""#,
            Self::Plain => r#"font-family="system-ui,'DejaVu Sans',sans-serif" font-size="14""#,
            Self::Name => r#"font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14""#,
            Self::Value => r#"font-family="system-ui,'DejaVu Sans',sans-serif" font-size="15" font-weight="bold""#,
        }
    }
}

/// An unfinished chart.
pub(super) struct Svg {
    body: String,
}

impl Svg {
    pub(super) fn new() -> Self {
        Self { body: String::new() }
    }

    /// Writes text that begins at `x`, on the line `y`.
    pub(super) fn text(&mut self, (x, y): (i64, i64), font: Font, colour: &str, text: &str) {
        self.anchored("start", (x, y), font, colour, text);
    }

    /// Writes text with its middle at `x`.
    pub(super) fn centred(&mut self, (x, y): (i64, i64), font: Font, colour: &str, text: &str) {
        self.anchored("middle", (x, y), font, colour, text);
    }

    fn anchored(&mut self, anchor: &str, (x, y): (i64, i64), font: Font, colour: &str, text: &str) {
        let (font, text) = (font.attributes(), escaped(text));
        self.push(format_args!(
            r#"<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" {font}>{text}</text>"#
        ));
    }

    pub(super) fn bar(&mut self, (x, y): (i64, i64), (width, height): (i64, i64), colour: &str) {
        self.push(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}"/>"#
        ));
    }

    pub(super) fn line(&mut self, (x1, y1): (i64, i64), (x2, y2): (i64, i64), colour: &str) {
        self.push(format_args!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="2"/>"#
        ));
    }

    /// Writes a title and lines below it, and returns the first free `y`.
    pub(super) fn head(&mut self, title: &str, lines: &[String]) -> i64 {
        self.text((16, 32), Font::Title, INK, title);
        let mut y = 36;
        for line in lines {
            y += 20;
            self.text((16, y), Font::Plain, INK, line);
        }
        y + 20
    }

    /// Returns the file. Screen readers read out `title` and `description`.
    pub(super) fn finish(self, height: i64, title: &str, description: &str) -> String {
        let (title, body) = (escaped(title), self.body);
        let description = description.lines().map(escaped).collect::<Vec<_>>().join("\n");
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>\n{body}</svg>\n"
        )
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a string takes everything");
    }
}

/// Escapes text from elsewhere: it can neither end its element nor begin another one.
fn escaped(text: &str) -> String {
    let mut shown = String::new();
    for c in one_line(text, LONGEST).chars() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            c => shown.push(c),
        }
    }
    shown
}
