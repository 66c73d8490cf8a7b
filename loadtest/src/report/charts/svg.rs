//! SVG, written by hand: rectangles, lines and text without a ground, in colours that read on a white page and on a dark one.

use std::fmt::Write;

use crate::text::one_line;

/// Narrow, so that the letters are still of a readable size when a telephone shrinks the picture to 360 pixels.
pub(super) const WIDTH: i64 = 520;

/// The longest text that is shown in one piece.
const LONGEST: usize = 64;

/// A contrast of more than 4 to white and to GitHub's dark page. A picture in a page cannot know the theme of that page.
pub(super) const INK: &str = "#737b85";
/// Vermilion and blue, which colour-blind readers tell apart.
pub(super) const WRONG: &str = "#d4600c";
pub(super) const RIGHT: &str = "#1f83c4";

/// How a text looks.
#[derive(Clone, Copy)]
pub(super) enum Font {
    Title,
    Plain,
    /// Letters of one width, 8.4 pixels each, so that a name fits whatever it is.
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

/// A chart in the making.
pub(super) struct Svg {
    body: String,
}

impl Svg {
    pub(super) fn new() -> Self {
        Self { body: String::new() }
    }

    /// Text that begins at `x`, on the line `y`.
    pub(super) fn text(&mut self, (x, y): (i64, i64), font: Font, colour: &str, text: &str) {
        self.anchored("start", (x, y), font, colour, text);
    }

    /// The same with its middle at `x`.
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

    /// A title and what is said below it; the first line on which anything else can stand.
    pub(super) fn head(&mut self, title: &str, lines: &[String]) -> i64 {
        self.text((16, 32), Font::Title, INK, title);
        let mut y = 36;
        for line in lines {
            y += 20;
            self.text((16, y), Font::Plain, INK, line);
        }
        y + 20
    }

    /// The file. `title` and `description` are for those who do not see it.
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

/// Text that was written elsewhere, made so that it can neither end its element nor begin another one.
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
