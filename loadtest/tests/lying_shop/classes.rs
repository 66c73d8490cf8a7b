//! Every lie by its class, the threat under which it shows, and the finding that it must get.

use crate::expected::Expected::{self, Doubted, DoubtedOnce, EndsEarly, Found, FoundOnce, HoldsOnceMore, Refused};

const ALONE: &[&str] = &["one-buyer"];
pub const CROWD: &[&str] = &["second-instance"];
const CRASH: &[&str] = &["crashed-holder"];
const GONE: &[&str] = &["buyer-gone"];
const PAUSE: &[&str] = &["paused-holder"];

/// A lie, the threats under which it is tried, and the expected result.
pub type Row = (&'static str, &'static [&'static str], Expected);

const FORGOT: Expected = Doubted("a repeated purchase did not get its order again");
const NOT_REFUSED: Expected = Doubted("with another quantity or buyer was not refused");
const SILENT: Expected = Doubted("got no clear response");
const NEVER_STRUCK: Expected = Doubted("the fault never struck");
const DENIED: Expected = Doubted("answered");
const DENIED_ONCE: Expected = DoubtedOnce("answered");
const UNSEEN_LEDGER: Expected = Doubted("of the ledger failed although nothing was broken");
const NOTHING: Expected = Doubted("nothing was sold");

pub const CLASSIC: &[Row] = &[
    ("oversells-at-zero", CROWD, Found(&["oversold", "drift"])),
    ("oversells-below-zero", CROWD, Found(&["oversold"])),
    ("loses-an-order", ALONE, Found(&["lost", "drift"])),
    ("records-a-ghost", ALONE, Found(&["ghost"])),
    ("tells-without-writing", ALONE, Found(&["oversold", "lost"])),
    ("records-without-taking", ALONE, Found(&["oversold", "drift"])),
    ("oversells-and-never-closes", CROWD, Found(&["oversold", "drift"])),
    ("unlocked", CROWD, FoundOnce("oversold")),
];

pub const AFTERWARDS: &[Row] = &[
    ("writes-late", ALONE, Found(&["lost"])),
    ("writes-both-late", ALONE, Found(&["lost"])),
    ("writes-late-once", ALONE, Found(&["lost"])),
    // Its order is missing for a moment only: a look may come before the answer, which it does not deny then.
    ("writes-last-late", ALONE, Found(&["drift"])),
    ("writes-when-sold-out", CROWD, Found(&["lost"])),
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
    ("sells-again-later", CROWD, Found(&["oversold", "false_refusal"])),
    ("enters-after-late-repeat", CROWD, FoundOnce("ghost")),
];

pub const WHOSE: &[Row] = &[
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

pub const TWICE: &[Row] = &[
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
    ("fails-on-repeat", ALONE, SILENT),
    ("sells-again-elsewhere", ALONE, Found(&["duplicate"])),
    ("sells-again-for-another", ALONE, Found(&["duplicate"])),
    ("sells-again-in-other-store", ALONE, Found(&["duplicate"])),
    ("sells-again-far-and-late", ALONE, Found(&["duplicate"])),
    ("sells-thirds-elsewhere", ALONE, Found(&["duplicate"])),
    (
        "sells-again-in-first-sale",
        &["one-buyer", "second-instance"],
        FoundOnce("duplicate"),
    ),
    ("busy-on-other-purchase", ALONE, NOT_REFUSED),
    ("busy-on-other-quantity", ALONE, NOT_REFUSED),
    ("busy-on-other-buyer", ALONE, NOT_REFUSED),
    ("busy-then-sells-other", ALONE, Found(&["oversold", "duplicate"])),
    ("answers-other-with-200", ALONE, SILENT),
    ("cuts-other-purchase", ALONE, SILENT),
    ("fails-on-other-purchase", ALONE, SILENT),
    ("sold-out-on-copy", CROWD, FORGOT),
    ("rejected-on-copy", CROWD, FORGOT),
    ("fails-on-copy", CROWD, SILENT),
    ("forgets-the-gone", GONE, FoundOnce("duplicate")),
    ("refuses-the-gone", GONE, FoundOnce("ghost")),
];

pub const RECOGNISED: &[Row] = &[
    ("honest-to-trials", CROWD, Found(&["oversold", "drift"])),
    ("honest-to-one-ms", CROWD, Found(&["oversold", "drift"])),
    ("honest-to-steady-work", CROWD, Found(&["oversold", "drift"])),
    ("honest-to-test-names", CROWD, Found(&["oversold", "drift"])),
    ("honest-to-item-keys", CROWD, Found(&["oversold", "drift"])),
    ("honest-to-growing-buyers", CROWD, Found(&["oversold", "drift"])),
    ("honest-to-short-keys", CROWD, Found(&["oversold", "drift"])),
];

pub const NO_TEST: &[Row] = &[
    ("sells-alone-only", CROWD, Doubted(" purchase")),
    ("one-instance", CROWD, Doubted("the shop runs on 1 instance, not on 2")),
    ("dead-busy", CROWD, NOTHING),
    (
        "one-is-busy",
        CROWD,
        Doubted("only 1 of 2 instances sold anything or said sold out"),
    ),
    ("dead-500", CROWD, NOTHING),
    ("silent", CROWD, NOTHING),
    ("hangs", CROWD, NOTHING),
    ("rejects-all", CROWD, NOTHING),
    ("stuck-after-half", CROWD, Found(&["stuck"])),
    ("holds-back-two", CROWD, Found(&["undersold"])),
    ("refills", CROWD, Found(&["oversold", "drift"])),
    ("refills-first-item", CROWD, Found(&["oversold", "drift"])),
    ("refuses-the-market", CROWD, Doubted(" of 3 items: ")),
    ("refuses-half-the-market", CROWD, Doubted(" of 3 items: ")),
    ("fails-the-market", CROWD, Doubted(" of 3 items: ")),
    ("empties-the-market", CROWD, Found(&["undersold"])),
    ("refuses-market-after-one", CROWD, Doubted(" of 3 items: ")),
    ("rejects-the-market", CROWD, Doubted(" of 3 items: ")),
    ("endless-stock", CROWD, Found(&["oversold", "drift"])),
    ("opens-with-more", CROWD, Found(&["oversold"])),
    ("opens-with-less", CROWD, Found(&["drift"])),
];

pub const TOO_EARLY: &[Row] = &[
    ("early-sold-out", ALONE, Found(&["false_refusal"])),
    ("refuses-reserved", ALONE, Found(&["undersold"])),
    ("sold-out-then-sells", ALONE, Found(&["false_refusal"])),
    ("sold-out-while-locked", CROWD, Found(&["false_refusal"])),
    ("second-behind", ALONE, Found(&["false_refusal"])),
    ("refuses-last", ALONE, Found(&["false_refusal"])),
];

pub const FAULTS: &[Row] = &[
    ("crash-is-500", CRASH, NEVER_STRUCK),
    ("crash-is-cut", CRASH, NEVER_STRUCK),
    ("crash-is-sleep", CRASH, NEVER_STRUCK),
    ("crash-is-busy", CRASH, NEVER_STRUCK),
    ("crash-after-answer", CRASH, NEVER_STRUCK),
    ("crash-then-cut", CRASH, NEVER_STRUCK),
    ("crash-closes-admin", CRASH, NEVER_STRUCK),
    ("ignores-faults", CRASH, NEVER_STRUCK),
    ("loses-on-crash", CRASH, Found(&["lost"])),
    ("leaks-on-crash", CRASH, Found(&["drift"])),
    ("refunds-on-crash", CRASH, FoundOnce("oversold")),
    ("sells-twice-on-crash", CRASH, Found(&["duplicate"])),
    ("ghost-on-crash", CRASH, Found(&["ghost"])),
    ("stays-dead", CRASH, SILENT),
    ("survivor-fails", CRASH, Found(&["unavailable"])),
    ("names-only-one-after-crash", CRASH, Doubted("instance")),
];

pub const IDENTITY: &[Row] = &[
    ("crash-keeps-selling", CRASH, DENIED),
    ("crash-renames-process", CRASH, DENIED),
    ("crash-sells-as-other", CRASH, DENIED),
    ("pauses-only-admin", PAUSE, DENIED),
    ("pauses-only-named-admin", PAUSE, DENIED),
    ("crash-names-nobody", CRASH, DENIED),
    ("crash-names-other", CRASH, DENIED),
    ("crash-briefly", CRASH, NEVER_STRUCK),
    ("crash-answers-later", CRASH, DENIED),
    ("crash-finishes-first", CRASH, DENIED),
    ("pauses-names-nobody", PAUSE, DENIED),
    ("pauses-sells-as-other", PAUSE, DENIED),
    ("pauses-under-other-name", PAUSE, DENIED),
    ("pauses-for-a-second", PAUSE, DENIED),
    ("pauses-and-is-busy", PAUSE, DENIED),
    ("both-names", PAUSE, DENIED),
    ("names-of-many", PAUSE, DENIED),
    ("names-by-buyer", PAUSE, DENIED_ONCE),
    ("names-by-time", PAUSE, DENIED_ONCE),
    ("names-by-chance", PAUSE, DENIED_ONCE),
    ("names-by-key", PAUSE, DENIED_ONCE),
    ("survivor-cuts", CRASH, Found(&["unavailable"])),
    ("survivor-hangs", CRASH, Found(&["unavailable"])),
    ("survivor-says-200", CRASH, Found(&["unavailable"])),
    ("survivor-says-502", CRASH, Found(&["unavailable"])),
    ("survivor-moves", CRASH, Found(&["unavailable"])),
];

/// Lies about a part of a sale are tried alone where each round has to show them: in a crowd the shop and the witness count
/// its sales in different orders.
pub const UNSEEN: &[Row] = &[
    ("units-before-order", ALONE, Found(&["drift"])),
    ("order-before-units", ALONE, Found(&["drift"])),
    ("units-long-before", CROWD, Found(&["drift"])),
    ("order-long-before", CROWD, Found(&["drift"])),
    ("torn-units-now-and-then", ALONE, Found(&["drift"])),
    ("torn-at-the-end", ALONE, Found(&["drift"])),
    ("torn-now-and-then", ALONE, Found(&["drift"])),
    ("tells-long-before", CROWD, Found(&["lost"])),
    ("tells-and-rolls-back", ALONE, Found(&["lost"])),
    ("tells-third-before", CROWD, FoundOnce("lost")),
    ("tells-last-before", CROWD, FoundOnce("lost")),
    ("tells-before-commit", ALONE, Found(&["lost"])),
    ("capital-item", ALONE, Found(&["lost"])),
    ("blank-behind-item", ALONE, Found(&["lost"])),
    ("accent-in-item", ALONE, Found(&["lost"])),
    ("every-third-in-capitals", ALONE, Found(&["lost"])),
    ("last-in-capitals", ALONE, Found(&["lost"])),
    ("wide-item", ALONE, Found(&["lost"])),
    ("writes-first-late", CROWD, FoundOnce("lost")),
    ("writes-last-quarter-late", CROWD, FoundOnce("lost")),
    ("forgets-first-keys", ALONE, FORGOT),
    ("agrees-in-the-end", ALONE, NOT_REFUSED),
    ("forgets-middle-keys", ALONE, FORGOT),
    ("lags-for-a-second", CROWD, Found(&["drift"])),
    ("lags-by-one", CROWD, Found(&["drift"])),
    ("lags-at-the-end", CROWD, Found(&["drift"])),
    ("lags-and-says-nothing", CROWD, Found(&["drift"])),
    ("records-and-calls-it-open", CROWD, Found(&["lost"])),
    ("writes-middle-late", CROWD, FoundOnce("lost")),
    ("forgets-last-keys", ALONE, FORGOT),
    ("lags-and-calls-it-open", CROWD, Found(&["drift"])),
];

pub const SHUT: &[Row] = &[
    ("shuts-readers-out", CROWD, UNSEEN_LEDGER),
    ("shuts-readers-out-at-first", CROWD, UNSEEN_LEDGER),
    ("shuts-readers-out-later", CROWD, UNSEEN_LEDGER),
    ("shuts-every-third-out", CROWD, UNSEEN_LEDGER),
    ("shuts-by-password", CROWD, UNSEEN_LEDGER),
    ("shuts-readers-out-for-long", CROWD, UNSEEN_LEDGER),
];

pub const FIRST_SALE: &[Row] = &[
    ("misses-first", CRASH, HoldsOnceMore("the fault never struck")),
    ("misses-first-and-forgets", CRASH, NEVER_STRUCK),
    ("misses-first-and-enters", CRASH, Found(&["oversold", "ghost"])),
];

pub const IN_SEGMENTS: &[Row] = &[
    ("hides-units", CROWD, Found(&["undersold"])),
    ("negative-segment", CROWD, Found(&["drift"])),
    ("broken-segment", CROWD, Found(&["unreadable"])),
    ("segments-overflow", CROWD, Found(&["unreadable"])),
    ("countless-segments", CROWD, Found(&["unreadable"])),
    ("segments-as-text", CROWD, Found(&["unreadable"])),
];

pub const NUMBERS: &[Row] = &[
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

pub const WIRE: &[Row] = &[
    ("endless-201", ALONE, Doubted(" ")),
    ("endless-409", ALONE, Doubted(" ")),
    (
        "endless-strategies",
        CROWD,
        Refused("breaks off or is over 1048576 bytes"),
    ),
    ("slow-body", ALONE, NOTHING),
    ("gzip-bomb", ALONE, Doubted(" ")),
    ("fat-id", ALONE, Doubted(" ")),
    ("redirects-307", ALONE, NOTHING),
    ("redirects-303-catalogue", ALONE, NOTHING),
    ("redirects-for-ever", ALONE, NOTHING),
    ("many-strategies", CROWD, Refused("the catalogue at ")),
    ("bad-names", CROWD, Refused("is not a valid name")),
    ("bad-claim", CROWD, Refused("did you mean \"second-instance\"")),
    ("big-headers", ALONE, Doubted(" ")),
    ("panics", CROWD, SILENT),
];

pub const LEDGERS: &[Row] = &[
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
    ("null-order", CROWD, Found(&["unreadable"])),
    ("wrong-type", CROWD, Found(&["unreadable"])),
];
