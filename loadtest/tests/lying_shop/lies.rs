//! Each lie, the threat under which it shows, and what it has to be called.

use loadtest::audit::Verdict;
use loadtest::load::Load;
use loadtest::result::RoundResult;

use crate::court::{Court, LOAD, Trial, Tried, known};

const ALONE: &[&str] = &["one-buyer"];
const CROWD: &[&str] = &["second-instance"];
const CRASH: &[&str] = &["crashed-holder"];

/// What has to come of a trial.
enum Expected {
    /// Every round is violated, and all of these are found in it.
    Found(&'static [&'static str]),
    /// At least one round is violated with this finding: in the others the accident may stay away.
    FoundOnce(&'static str),
    /// No round holds, and each is inconclusive for a reason with these words.
    Doubted(&'static str),
    /// The shop is not tried at all, for a reason with these words.
    Refused(&'static str),
    /// The run ends early for a reason with these words, and no round holds.
    EndsEarly(&'static str),
    /// It takes minutes to see that nothing comes: tried by hand.
    TooLong,
}

use Expected::{Doubted, EndsEarly, Found, FoundOnce, Refused, TooLong};

type Row = (&'static str, &'static [&'static str], Expected);

const FORGOT: Expected = Doubted("a buyer who clicked again was not told of the same order");
const NOT_REFUSED: Expected = Doubted("with another quantity or buyer was not refused");
const NEVER_STRUCK: Expected = Doubted("the fault never struck");
const NOTHING: Expected = Doubted("nothing was sold");

/// Each test takes a class of lies.
const CLASSIC: &[Row] = &[
    ("oversells-at-zero", CROWD, Found(&["oversold", "drift"])),
    ("oversells-below-zero", CROWD, Found(&["oversold"])),
    ("loses-an-order", ALONE, Found(&["lost", "drift"])),
    ("records-a-ghost", ALONE, Found(&["ghost"])),
    ("tells-without-writing", ALONE, Found(&["oversold", "lost"])),
    ("records-without-taking", ALONE, Found(&["oversold", "drift"])),
    ("unlocked", CROWD, FoundOnce("oversold")),
];

const AFTERWARDS: &[Row] = &[
    ("writes-late", ALONE, Found(&["lost"])),
    ("writes-both-late", ALONE, Found(&["lost"])),
    ("writes-late-once", ALONE, Found(&["lost"])),
    ("writes-last-late", ALONE, Found(&["lost"])),
    ("enters-after-repeat", CROWD, Found(&["oversold", "ghost"])),
    ("deletes-after-repeat", CROWD, Found(&["lost"])),
    ("takes-after-repeat", CROWD, Found(&["drift"])),
    ("moves-after-repeat", CROWD, Found(&["lost", "ghost"])),
    ("enters-later", CROWD, Found(&["oversold", "ghost"])),
    ("deletes-later", CROWD, Found(&["lost"])),
    ("takes-later", CROWD, Found(&["drift"])),
    ("returns-later", CROWD, Found(&["drift"])),
    ("moves-later", CROWD, Found(&["lost", "ghost"])),
    ("changes-units-later", CROWD, Found(&["lost", "ghost"])),
    ("changes-key-later", CROWD, Found(&["lost", "ghost"])),
    ("changes-id-later", CROWD, Found(&["lost", "ghost"])),
];

const WHOSE: &[Row] = &[
    ("swaps-orders", ALONE, Found(&["lost", "ghost"])),
    ("another-buyer", CROWD, Found(&["lost", "ghost"])),
    ("another-key", CROWD, Found(&["lost"])),
    ("no-key", CROWD, Found(&["lost", "ghost"])),
    ("no-buyer", CROWD, Found(&["lost", "ghost"])),
    ("one-row-grows", CROWD, Found(&["lost", "ghost"])),
    ("empty-id", ALONE, Found(&["lost", "ghost"])),
    ("no-id", ALONE, Found(&["lost"])),
    ("capital-id", CROWD, Found(&["lost", "ghost"])),
    ("same-order-twice", ALONE, Found(&["lost", "drift"])),
    ("strangers-order", ALONE, Found(&["lost", "ghost"])),
    ("more-units", CROWD, Found(&["lost", "ghost", "oversold"])),
    ("fewer-units", CROWD, Found(&["lost", "ghost", "drift"])),
    ("more-units-taken", CROWD, Found(&["lost", "ghost"])),
    ("order-of-none", ALONE, Found(&["lost", "drift"])),
];

const TWICE: &[Row] = &[
    ("forgets-keys", ALONE, Found(&["duplicate"])),
    ("forgets-keys-at-once", CROWD, FoundOnce("duplicate")),
    ("forgets-keys-after", ALONE, FORGOT),
    ("forgets-keys-per-instance", ALONE, FoundOnce("duplicate")),
    ("forgets-keys-when-sold-out", ALONE, Found(&["oversold", "duplicate"])),
    ("sells-other-quantity", ALONE, Found(&["duplicate"])),
    ("sells-other-buyer", ALONE, Found(&["duplicate"])),
    ("grows-other-quantity", ALONE, Found(&["lost", "ghost"])),
    ("agrees-to-other-quantity", ALONE, NOT_REFUSED),
    ("agrees-to-other-buyer", ALONE, NOT_REFUSED),
    ("honest-only-again", CROWD, Found(&["duplicate"])),
    ("honest-without-work", ALONE, Found(&["duplicate"])),
    ("floods-on-repeat", ALONE, Found(&["ghost"])),
    ("other-id-on-repeat", ALONE, Found(&["oversold", "lost"])),
    ("sold-out-on-repeat", ALONE, FORGOT),
    ("sold-out-on-late-repeat", ALONE, FORGOT),
    ("busy-on-repeat", ALONE, FORGOT),
    ("fails-on-repeat", ALONE, FORGOT),
];

const NO_TEST: &[Row] = &[
    ("sells-alone-only", CROWD, Doubted(" purchases ")),
    ("one-instance", CROWD, Doubted("the shop runs on 1 instances, not on 2")),
    ("dead-busy", CROWD, NOTHING),
    ("dead-500", CROWD, NOTHING),
    ("silent", CROWD, NOTHING),
    ("hangs", CROWD, TooLong),
    ("rejects-all", CROWD, NOTHING),
    ("stuck-after-half", CROWD, Found(&["stuck"])),
    ("holds-back-two", CROWD, Found(&["undersold"])),
    ("refills", CROWD, Found(&["oversold", "drift"])),
    ("endless-stock", CROWD, Found(&["oversold", "drift"])),
    ("opens-with-more", CROWD, Found(&["oversold"])),
    ("opens-with-less", CROWD, Found(&["drift"])),
];

const TOO_EARLY: &[Row] = &[
    ("early-sold-out", ALONE, Found(&["false_refusal"])),
    ("refuses-reserved", ALONE, Found(&["undersold"])),
    ("sold-out-then-sells", ALONE, Found(&["false_refusal"])),
    ("sold-out-while-locked", CROWD, Found(&["false_refusal"])),
    ("second-behind", ALONE, Found(&["false_refusal"])),
    ("refuses-last", ALONE, Found(&["false_refusal"])),
];

const FAULTS: &[Row] = &[
    ("crash-is-500", CRASH, NEVER_STRUCK),
    ("crash-is-cut", CRASH, NEVER_STRUCK),
    ("crash-is-sleep", CRASH, NEVER_STRUCK),
    ("crash-is-busy", CRASH, NEVER_STRUCK),
    ("crash-closes-admin", CRASH, NEVER_STRUCK),
    ("ignores-faults", CRASH, NEVER_STRUCK),
    ("loses-on-crash", CRASH, FoundOnce("lost")),
    ("leaks-on-crash", CRASH, Found(&["drift"])),
    ("refunds-on-crash", CRASH, FoundOnce("oversold")),
    ("sells-twice-on-crash", CRASH, Found(&["duplicate"])),
    ("ghost-on-crash", CRASH, Found(&["ghost"])),
    ("stays-dead", CRASH, Doubted(" ")),
    (
        "names-only-one-after-crash",
        CRASH,
        Doubted("only 1 of 2 instances ever answered"),
    ),
];

const NUMBERS: &[Row] = &[
    ("huge-orders", CROWD, Found(&["oversold", "ghost"])),
    ("least-order", CROWD, Found(&["ghost", "drift"])),
    ("cancels-out", CROWD, Found(&["ghost"])),
    ("zero-orders", CROWD, Found(&["ghost"])),
    ("negative-order", CROWD, Found(&["ghost"])),
    ("name-twice", CROWD, Refused("it names lie@redis twice")),
    ("whole-fraction", CROWD, Found(&["unreadable"])),
    ("fractional", CROWD, Found(&["unreadable"])),
    ("huge-quantity", CROWD, Found(&["unreadable"])),
    ("huge-counter", CROWD, Found(&["unreadable"])),
    ("least-counter", CROWD, Found(&["drift"])),
];

const WIRE: &[Row] = &[
    ("endless-201", ALONE, Doubted(" ")),
    ("endless-409", ALONE, Doubted(" ")),
    (
        "endless-strategies",
        CROWD,
        Refused("breaks off or is over 1048576 bytes"),
    ),
    ("slow-body", ALONE, TooLong),
    ("gzip-bomb", ALONE, Doubted(" ")),
    ("fat-id", ALONE, Doubted(" ")),
    ("redirects-307", ALONE, NOTHING),
    ("redirects-303-catalogue", ALONE, NOTHING),
    ("redirects-for-ever", ALONE, NOTHING),
    ("many-strategies", CROWD, Refused("the catalogue at ")),
    ("bad-names", CROWD, Refused("is no name")),
    ("bad-claim", CROWD, Refused("did you mean \"second-instance\"")),
    ("big-headers", ALONE, Doubted(" ")),
    ("panics", CROWD, Doubted("answers never came")),
];

const BOOKS: &[Row] = &[
    ("fat-entry", CROWD, Found(&["ghost"])),
    (
        "locked-table",
        CROWD,
        EndsEarly("is the store, a table or a row locked?"),
    ),
    (
        "locked-when-sold-out",
        CROWD,
        EndsEarly("is the store, a table or a row locked?"),
    ),
    ("broken-entry", CROWD, Found(&["unreadable"])),
    ("entry-without-quantity", CROWD, Found(&["unreadable"])),
    ("quantity-as-text", CROWD, Found(&["unreadable"])),
    ("broken-counter", CROWD, Found(&["unreadable"])),
    ("missing-row", CROWD, Found(&["unreadable"])),
    ("wrong-type", CROWD, Found(&["unreadable"])),
];

/// Nothing is wrong with these: what never ends is a body that is not read, and who is told to wait comes again.
const HARMLESS: &[&str] = &["endless-readyz", "endless-admin", "sells-one-then-busy"];

#[test]
fn every_lie_that_the_shop_knows_is_tried() {
    let classes = [
        CLASSIC, AFTERWARDS, WHOSE, TWICE, NO_TEST, TOO_EARLY, FAULTS, NUMBERS, WIRE, BOOKS,
    ];
    let rows = classes.into_iter().flatten().map(|(name, ..)| *name);
    let mut tried: Vec<&str> = rows.chain(HARMLESS.iter().copied()).collect();
    tried.sort_unstable();
    let known = known();
    let lies = known.iter().filter(|(kind, _)| kind == "lie");
    let mut known: Vec<&str> = lies.map(|(_, name)| name.as_str()).collect();
    known.sort_unstable();
    assert_eq!(tried, known);
}

#[test]
fn what_every_witness_must_see() {
    each_is_found(CLASSIC);
}

#[test]
fn books_that_are_right_at_one_moment_and_wrong_at_another() {
    each_is_found(AFTERWARDS);
}

#[test]
fn orders_that_are_not_those_that_were_told() {
    each_is_found(WHOSE);
}

#[test]
fn keys_that_buy_twice_or_are_not_known_again() {
    each_is_found(TWICE);
}

#[test]
fn rounds_that_are_no_test() {
    each_is_found(NO_TEST);
}

#[test]
fn sold_out_told_too_early() {
    each_is_found(TOO_EARLY);
}

#[test]
fn faults_that_strike_otherwise_or_not_at_all() {
    each_is_found(FAULTS);
}

#[test]
fn numbers_that_fit_nowhere() {
    each_is_found(NUMBERS);
}

#[test]
fn answers_and_catalogues_that_are_too_much() {
    each_is_found(WIRE);
}

#[test]
fn ledgers_that_cannot_be_read() {
    each_is_found(BOOKS);
}

#[test]
fn what_is_only_odd_is_not_accused() {
    let court = Court::open();
    for lie in HARMLESS {
        let tried = court.try_shop(&trial(lie, CROWD));
        let verdicts: Vec<Verdict> = tried.run.rounds.iter().map(|round| round.verdict).collect();
        assert_eq!((tried.error, verdicts), (None, vec![Verdict::Holds; 2]), "{lie}");
    }
}

fn trial<'a>(lie: &'a str, threats: &'a [&'a str]) -> Trial<'a> {
    // It lies only to those who leave it time to.
    let work_ms = u64::from(lie == "honest-without-work");
    Trial {
        lie,
        threats,
        instances: 2,
        load: Load { work_ms, ..LOAD },
    }
}

/// Tries each lie of a class and says of all at once where the witness was wrong.
fn each_is_found(class: &[Row]) {
    let court = Court::open();
    let mut wrong = Vec::new();
    for (lie, threats, expected) in class {
        if matches!(expected, TooLong) {
            continue;
        }
        let tried = court.try_shop(&trial(lie, threats));
        if let Err(why) = check(&tried, expected) {
            wrong.push(format!("{lie}: {why}\n{}", shown(&tried)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check(tried: &Tried, expected: &Expected) -> Result<(), String> {
    let rounds = &tried.run.rounds;
    let all = |is_so: &dyn Fn(&RoundResult) -> bool| !rounds.is_empty() && rounds.iter().all(is_so);
    let none_holds = rounds.iter().all(|round| round.verdict != Verdict::Holds);
    let (is_so, expected) = match expected {
        Found(names) => {
            let has_all = |round: &RoundResult| names.iter().all(|name| has(round, name));
            (all(&has_all), format!("{names:?} in every round"))
        }
        FoundOnce(name) => {
            let once = rounds.iter().any(|round| has(round, name));
            (once, format!("{name} once"))
        }
        Doubted(words) => {
            let doubted = |round: &RoundResult| doubt(round).contains(words) && round.findings.named().is_empty();
            (all(&doubted), format!("doubt because of \"{words}\" in every round"))
        }
        Refused(words) => {
            let said = tried.error.as_ref().is_some_and(|error| error.contains(words));
            (said && rounds.is_empty(), format!("a refusal with \"{words}\""))
        }
        EndsEarly(words) => {
            let said = tried.run.ended_early.as_ref().is_some_and(|why| why.contains(words));
            (said && none_holds, format!("an early end with \"{words}\""))
        }
        TooLong => (true, String::new()),
    };
    if is_so {
        Ok(())
    } else {
        Err(format!("expected {expected}"))
    }
}

/// Why a round proves nothing.
fn doubt(round: &RoundResult) -> &str {
    assert_eq!(
        round.verdict == Verdict::Inconclusive,
        round.inconclusive.is_some() || round.skipped.is_some()
    );
    let why = round.inconclusive.as_ref().or(round.skipped.as_ref());
    why.map_or("holds or is violated", String::as_str)
}

fn has(round: &RoundResult, finding: &str) -> bool {
    round.findings.named().iter().any(|(name, _)| *name == finding)
}

fn shown(tried: &Tried) -> String {
    let rounds = tried.run.rounds.iter().map(|round| {
        let (verdict, named) = (round.verdict, round.findings.named());
        format!(
            "    {} {} {verdict:?} {named:?} {:?}",
            round.strategy, round.threat, round.inconclusive
        )
    });
    let error = tried.error.iter().map(|error| format!("    {error}"));
    rounds.chain(error).collect::<Vec<_>>().join("\n")
}
