//! The longest time in which no buyer could buy, by the answers of a round. Times are multiples of one answer's length.

use std::time::Duration;

use loadtest::responses::Responses;
use loadtest::responses::busy;
use loadtest::shop::response::{Response, ResponseKind};

use crate::fixture::{ANSWER, Fixture};

/// Creates an answer to purchase `place`, sent and ended this many answer lengths after the start.
fn response(control: &Fixture, place: usize, kind: ResponseKind, sent: u32, ended: u32) -> Response {
    let mut response = control.response(place, kind, None);
    response.sent += ANSWER * sent;
    response.ended = control.start + ANSWER * ended;
    response
}

/// An answer of the attack: its kind, when it was sent, and when it ended.
type Said = (ResponseKind, u32, u32);

/// The name of a row, the answers of the attack and of the follow-up, and the expected time.
type Row<'a> = (&'a str, &'a [Said], &'a [Said], Option<u32>);

fn longest(attack: &[Said], follow_up: &[Said]) -> Option<u32> {
    let control = Fixture::exact();
    let said = |place: usize, (kind, sent, ended): &Said| response(&control, place, *kind, *sent, *ended);
    let responses = Responses {
        attack: attack.iter().enumerate().map(|(place, all)| said(place, all)).collect(),
        // One buyer that retries.
        follow_up: follow_up.iter().map(|all| said(99, all)).collect(),
        ..Responses::default()
    };
    let longest: Duration = busy::longest(&responses)?;
    Some((longest.as_micros() / ANSWER.as_micros()) as u32)
}

#[test]
fn the_busy_time_lasts_from_one_sale_to_the_next_around_a_busy_or_missing_answer() {
    use ResponseKind::{Busy, Rejected, Sold, SoldOut, Unknown};
    let table: [Row; 11] = [
        ("nobody is refused", &[(Sold, 0, 1), (Sold, 0, 90)], &[], None),
        (
            "sold out is no refusal",
            &[(Sold, 0, 1), (SoldOut, 0, 50), (Sold, 0, 90)],
            &[],
            None,
        ),
        (
            "nor is a rejection",
            &[(Sold, 0, 1), (Rejected, 0, 50), (Sold, 0, 90)],
            &[],
            None,
        ),
        ("busy", &[(Sold, 0, 1), (Busy, 0, 50), (Sold, 0, 90)], &[], Some(89)),
        (
            "no answer",
            &[(Sold, 0, 1), (Unknown, 0, 50), (Sold, 0, 90)],
            &[],
            Some(89),
        ),
        ("to the first sale", &[(Busy, 0, 50), (Sold, 0, 60)], &[], Some(60)),
        ("not after the last", &[(Sold, 0, 1), (Busy, 0, 50)], &[], None),
        (
            "others are sold to",
            &[(Sold, 0, 20), (Busy, 0, 25), (Sold, 0, 30), (Sold, 0, 90)],
            &[],
            Some(10),
        ),
        (
            "nobody asks from 50 to 80",
            &[(Sold, 0, 1), (Busy, 0, 50), (Sold, 80, 90)],
            &[],
            Some(59),
        ),
        (
            "who comes again asks",
            &[(Sold, 0, 1)],
            &[(Busy, 10, 20), (Busy, 70, 80), (Sold, 90, 95)],
            Some(85),
        ),
        (
            "the longest of several",
            &[
                (Busy, 0, 9),
                (Sold, 0, 10),
                (Busy, 0, 40),
                (Sold, 0, 50),
                (Busy, 0, 55),
                (Sold, 0, 60),
            ],
            &[],
            Some(40),
        ),
    ];
    for (name, attack, follow_up, expected) in table {
        assert_eq!(longest(attack, follow_up), expected, "{name}");
    }
}

#[test]
fn a_buyer_that_hung_up_does_not_count_as_unanswered() {
    let control = Fixture::exact();
    let mut gone = response(&control, 1, ResponseKind::Unknown, 0, 50);
    gone.hung_up = true;
    let sold = response(&control, 2, ResponseKind::Sold, 0, 90);
    let responses = Responses {
        attack: vec![gone, sold],
        ..Responses::default()
    };
    assert_eq!(busy::longest(&responses), None);
    assert_eq!(busy::longest(&Responses::default()), None);
}
