//! How long nobody could buy, as the answers of a round have it. Times are multiples of one answer's length.

use std::time::Duration;

use loadtest::answer::{Answer, Word};
use loadtest::busy;
use loadtest::told::Told;

use crate::fixture::{ANSWER, Fixture};

/// An answer to purchase `place`, sent and ended so many answers after the start.
fn answer(scene: &Fixture, place: usize, word: Word, sent: u32, ended: u32) -> Answer {
    let mut answer = scene.answer(place, word, None);
    answer.sent += ANSWER * sent;
    answer.ended = scene.start + ANSWER * ended;
    answer
}

/// What was said in the attack: word, sent, ended.
type Said = (Word, u32, u32);

/// Its name, what was said in the attack and after it, and what comes of it.
type Row<'a> = (&'a str, &'a [Said], &'a [Said], Option<u32>);

fn longest(attack: &[Said], follow_up: &[Said]) -> Option<u32> {
    let scene = Fixture::exact();
    let said = |place: usize, (word, sent, ended): &Said| answer(&scene, place, *word, *sent, *ended);
    let told = Told {
        attack: attack.iter().enumerate().map(|(place, all)| said(place, all)).collect(),
        // One buyer, who comes again.
        follow_up: follow_up.iter().map(|all| said(99, all)).collect(),
        ..Told::default()
    };
    let longest: Duration = busy::longest(&told)?;
    Some((longest.as_micros() / ANSWER.as_micros()) as u32)
}

#[test]
fn nobody_can_buy_from_one_sale_to_the_next_where_a_buyer_was_told_busy_or_got_no_answer_in_between() {
    use Word::{Busy, Rejected, Sold, SoldOut, Unknown};
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
fn who_hung_up_was_not_left_without_an_answer() {
    let scene = Fixture::exact();
    let mut gone = answer(&scene, 1, Word::Unknown, 0, 50);
    gone.hung_up = true;
    let sold = answer(&scene, 2, Word::Sold, 0, 90);
    let told = Told {
        attack: vec![gone, sold],
        ..Told::default()
    };
    assert_eq!(busy::longest(&told), None);
    assert_eq!(busy::longest(&Told::default()), None);
}
