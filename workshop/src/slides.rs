//! The slides of a workshop: one page without a network, from the texts of the labs.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pulldown_cmark::html::push_html;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::lab::Lab;
use crate::language::Language;

const STYLE: &str = include_str!("slides.css");
const SCRIPT: &str = include_str!("slides.js");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Returns the slides of these labs: the situation with its code, the question, and what happened.
pub fn slides(labs: &[Lab], language: Language) -> String {
    let minutes: u32 = labs.iter().map(|lab| lab.settings.minutes).sum();
    let page = html! {
        (DOCTYPE)
        html lang=(language.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { "Oversell" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                section {
                    h1 { (language.of("How a flash sale sells more than it has", "秒杀为什么会超卖")) }
                    ol { @for lab in labs { li { (lab.page(language).title) } } }
                    p { (minutes) (language.of(" minutes", " 分钟")) }
                }
                @for lab in labs { (of_lab(lab, language)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn of_lab(lab: &Lab, language: Language) -> Markup {
    let page = lab.page(language);
    let title = html! { h2 { (lab.nn()) " " (page.title) } };
    html! {
        section { (title) (rendered(&page.situation)) (rendered(&page.code)) }
        section {
            (title)
            (rendered(&page.question))
            ol.answers { @for answer in &page.answers { li { (rendered(&answer.text)) } } }
        }
        section.reveal {
            (title)
            (rendered(&page.reveal))
            ul { @for answer in &page.answers { li { b { (answer.letter) ") " } (rendered(&answer.why)) } } }
        }
    }
}

/// The pictures of the pages. A slide has no file beside it, so it holds them itself.
const PICTURES: [(&str, &str); 2] = [
    ("oversold.svg", include_str!("../../docs/oversold.svg")),
    ("cost.svg", include_str!("../../docs/cost.svg")),
];

/// Returns Markdown as HTML. A link leads to a file of the repository, which a slide does not have beside it: its text stays.
fn rendered(text: &str) -> Markup {
    let mut is_in_picture = false;
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Start(Tag::Link { .. }) | Event::End(TagEnd::Link) => None,
        Event::Start(Tag::Image { dest_url, .. }) => {
            is_in_picture = true;
            let picture = PICTURES.iter().find(|(name, _)| dest_url.ends_with(name));
            picture.map(|(_, svg)| Event::InlineHtml((*svg).into()))
        }
        Event::End(TagEnd::Image) => {
            is_in_picture = false;
            None
        }
        // The words for a reader who sees no picture are in it already.
        _ if is_in_picture => None,
        event => Some(event),
    });
    let mut html = String::new();
    push_html(&mut html, events);
    PreEscaped(html)
}
