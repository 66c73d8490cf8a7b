//! The page of the explorer: what each search found, and its shortest schedule as a picture.

use maud::html;

use super::document;
use super::timeline::Timeline;
use crate::report::story::in_words;
use crate::trace::Story;

const SCRIPT: &str = include_str!("schedules.js");

/// What one search found.
pub struct Searched {
    /// `mechanism@store`
    pub strategy: String,
    /// The event that may happen, in words.
    pub event: &'static str,
    /// The number of schedules, in words.
    pub schedules: String,
    /// The number of schedules that break a promise.
    pub violated: u64,
    /// The findings of the shortest of these, and its story: times are numbers of choices, times 1,000.
    pub shortest: Option<(String, Story)>,
}

/// Returns the page of these searches.
pub fn schedules(searched: &[Searched]) -> String {
    let title = "Every interleaving, one step at a time";
    // A search with an event may find the same schedule as that without one.
    let mut drawn: Vec<&Searched> = Vec::new();
    for row in searched.iter().filter(|row| row.shortest.is_some()) {
        if !drawn.iter().any(|other| row.shows_the_same_as(other)) {
            drawn.push(row);
        }
    }
    let place = |row: &Searched| drawn.iter().position(|other| row.shows_the_same_as(other));
    let content = html! {
        h1 { (title) }
        p {
            "Each purchase asks for one unit, and there is one unit less than there are purchases. A row is a search: all schedules "
            "with events of one kind at most. A picture is the shortest schedule that breaks a promise. One choice is one step, or one event."
        }
        div.wide tabindex="0" role="region" aria-label="The searches" {
            table {
                thead { tr { @for head in ["strategy", "event", "schedules", "break a promise", "the shortest of these"] { th scope="col" { (head) } } } }
                tbody {
                    @for row in searched {
                        tr {
                            th scope="row" { (row.strategy) }
                            td { (row.event) }
                            td { (row.schedules) }
                            td { (row.violated) }
                            td {
                                @if let (Some((findings, _)), Some(place)) = (&row.shortest, place(row)) {
                                    a href={ "#schedule-" (place) } { (findings) }
                                }
                            }
                        }
                    }
                }
            }
        }
        @for (place, row) in drawn.iter().enumerate() {
            @if let Some((findings, _)) = &row.shortest {
                section id={ "schedule-" (place) } { h2 { (row.strategy) ", event: " (row.event) "; " (findings) } }
            }
        }
    };
    let stories = drawn.iter().filter_map(|row| row.shortest.as_ref());
    let timelines: Vec<Timeline> = stories.map(|(_, story)| Timeline::of(story, told(story))).collect();
    document(title, &content, &timelines, &[SCRIPT])
}

impl Searched {
    fn shows_the_same_as(&self, other: &Self) -> bool {
        self.strategy == other.strategy && self.shortest == other.shortest
    }
}

/// Returns the story in one sentence. Its events have no times in milliseconds, so the sentence is without them.
fn told(story: &Story) -> String {
    let steps = Story {
        events: Vec::new(),
        ..story.clone()
    };
    in_words(&steps, 1, None, &str::to_owned)
}
