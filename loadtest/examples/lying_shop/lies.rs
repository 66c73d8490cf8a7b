//! The one list: every honest kind and every lie, with its class, where it can be told, and what it does.

/// Which strategies a shop with this lie has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// `lie@redis` and `lie@sql`.
    Both,
    /// `lie@redis` only.
    Redis,
    /// `lie@sql` only.
    Sql,
    /// `lie@redis+sql` only.
    Apart,
}

/// A line of the list.
pub struct Entry {
    pub lie: Lie,
    pub class: Class,
    pub on: On,
    variant: &'static str,
    pub what: &'static str,
}

macro_rules! lies {
    ($($(#[$about:meta])* $class:ident { $($lie:ident $on:ident $what:literal)* })*) => {
        /// What the lies of one file have in common.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Class { $($(#[$about])* $class),* }

        /// What is done otherwise than by the plain honest shop.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Lie { $($(#[doc = $what] $lie,)*)* }

        pub const ALL: &[Entry] = &[$($(Entry {
            lie: Lie::$lie, class: Class::$class, on: On::$on, variant: stringify!($lie), what: $what,
        },)*)*];
    };
}

lies! {
    /// No lie at all: whoever accuses one of these is wrong.
    Honest {
        Plain             Both  "one atomic write, one order, one answer, and the same again to whoever asks again"
        FailFast          Both  "a lock per item, tried once; while it is held everybody else is told to wait"
        Waits             Both  "a lock per item, waited for up to 1.5 s"
        ReservesApart     Both  "reserve for 2 s beside the counter, then confirm; some reserves are abandoned"
        ReservesFromStock Both  "reserve for 2 s out of the counter, then confirm; some reserves are abandoned"
        NumericIds        Both  "an order id is a JSON number in the answer and its decimal text in the ledger"
        LongNumericIds    Both  "the same, with 128 digits, or with the 36 that fit into the column"
        RefusesOtherFaults Both "an X-Fault that is neither a crash nor a pause is refused with 422"
        Prefix            Both  "all routes are below /shop; /readyz is at the root, too"
        ClosesConnections Both  "closes the connection after every answer without having said so"
        SlowWork          Both  "each purchase takes 300 ms more between read and write"
        Modest            Both  "claims nothing"
        BoringFields      Both  "unknown fields, unknown headers, a long summary in many scripts"
        BusyAtFirst       Both  "the first two purchases of each sale are told to wait, once"
        BusyWithDate      Both  "the same, and Retry-After is a date"
        StartsSlowly      Both  "an instance needs 3 s to start, and no process names itself"
        InPieces          Both  "a 201 comes in three pieces, 30 ms apart, without a length"
        Compressed        Both  "a 201 is compressed by gzip for whoever accepts that"
    }
    /// One wrong number or one wrong answer, at once.
    Classic {
        OversellsAtZero     Both "three buyers more are sold units that are gone; the counter stays at zero"
        OversellsBelowZero  Both "three buyers more are sold units that are gone; the counter goes below zero"
        LosesAnOrder        Both "the first sale takes its units, and its order is not written"
        RecordsAGhost       Both "with the first sale comes an order that nobody asked for, and its units are taken"
        TellsWithoutWriting Both "the first sale is told, and nothing is written at all"
        RecordsWithoutTaking Both "the first sale is told and its order written, and the counter is not touched"
        Unlocked            Both "reads, works, writes what it had read: the lost update itself"
    }
    /// The ledgers are right when the answers come, or just after, and wrong at another moment.
    Afterwards {
        WritesLate         Both "the order is written 5 ms after its 201, the counter at once"
        WritesBothLate     Both "order and counter are written 5 ms after the 201"
        WritesLateOnce     Both "the order of the first sale only is written 5 ms after its 201"
        WritesLastLate     Both "the order of the last unit is written 5 ms after its 201"
        EntersAfterRepeat  Both "10 ms after a repeated key in a sold-out sale: an order of nobody"
        DeletesAfterRepeat Both "10 ms after a repeated key in a sold-out sale: an order is deleted"
        TakesAfterRepeat   Both "10 ms after a repeated key in a sold-out sale: the counter drops by one"
        MovesAfterRepeat   Both "10 ms after a repeated key in a sold-out sale: an order has another buyer"
        EntersLater        Both "700 ms after the sale was sold out: an order of nobody"
        DeletesLater       Both "700 ms after the sale was sold out: an order is deleted"
        TakesLater         Both "700 ms after the sale was sold out: the counter drops by one"
        ReturnsLater       Both "700 ms after the sale was sold out: the counter rises by one"
        MovesLater         Both "700 ms after the sale was sold out: an order has another buyer"
        ChangesUnitsLater  Both "700 ms after the sale was sold out: an order has one unit more"
        ChangesKeyLater    Both "700 ms after the sale was sold out: an order has another key"
        ChangesIdLater     Both "700 ms after the sale was sold out: an order has another id"
        SellsAgainLater    Both "1 s after the first `sold out` one buyer more is sold a unit; the counter goes below zero"
        EntersAfterLateRepeat Both "30 ms after a key that is repeated 900 ms later or more: an order of nobody"
    }
    /// The ledger holds orders, but not those that were told.
    Whose {
        SwapsOrders     Both  "buyers are told each other's order, two by two"
        AnotherBuyer    Both  "every order is in the name of another buyer"
        AnotherKey      Both  "every order has a key that nobody sent"
        NoKey           Both  "every order is without a key"
        NoBuyer         Both  "every order is without a buyer"
        OneRowGrows     Both  "there is one order, it grows, and everybody is told its id"
        EmptyId         Both  "the first order has the empty id, in the ledger and in the answer"
        NoId            Both  "the first 201 names no order"
        CapitalId       Both  "the id is told in capitals and recorded in small letters"
        SameOrderTwice  Both  "the second buyer is told the order of the first; both took their units"
        StrangersOrder  Both  "the first buyer is told an order of another sale; his own is recorded under another id"
        MoreUnits       Both  "an order says one unit more than was bought and taken"
        FewerUnits      Both  "an order says one unit fewer than was bought and taken"
        MoreUnitsTaken  Both  "an order says one unit more than was bought, and so many are taken"
        OrderOfNone     Both  "the first sale is told an id that is never recorded; its units are taken"
    }
    /// One key, and more or less than one purchase.
    Twice {
        ForgetsKeys            Both "every repeat is one more purchase"
        ForgetsKeysAtOnce      Both "two deliveries of one key at the same moment are two orders"
        ForgetsKeysAfter       Both "a key is forgotten after 600 ms"
        ForgetsKeysPerInstance Both "a key is known only to the instance that sold"
        ForgetsKeysWhenSoldOut Both "a repeat in a sold-out sale takes a unit below zero and is a second order"
        SellsOtherQuantity     Both "one key with another quantity is a second order"
        SellsOtherBuyer        Both "one key with another buyer is a second order"
        GrowsOtherQuantity     Both "one key with another quantity changes the order and the counter"
        AgreesToOtherQuantity  Both "one key with another quantity is told 201; nothing is changed"
        AgreesToOtherBuyer     Both "one key with another buyer is told 201; nothing is changed"
        HonestOnlyAgain        Both "forgets keys, but not of an item whose name ends in -again, nor of b-last"
        HonestWithoutWork      Both "forgets keys, but not where X-Work-Ms is 0"
        FloodsOnRepeat         Both "a repeat enters 5,000 more orders with keys of their own"
        OtherIdOnRepeat        Both "a repeat is told another id; nothing is written"
        SoldOutOnRepeat        Both "a repeat is told sold out"
        SoldOutOnLateRepeat    Both "a repeat in a sold-out sale is told sold out"
        BusyOnRepeat           Both "a repeat is told to wait, for ever"
        FailsOnRepeat          Both "a repeat is answered 500"
        FailsOnOtherPurchase   Both "one key with another quantity or buyer is answered 500; nothing is written"
        SoldOutOnCopy          Both "of two deliveries of one key at the same moment the second is told sold out"
        RejectedOnCopy         Both "the same, and the second is rejected with 422"
        FailsOnCopy            Both "the same, and the second is answered 500"
        ForgetsTheGone         Both "the key of a buyer who hung up buys again, in a sold-out sale below zero"
        RefusesTheGone         Both "a buyer who hung up and comes again is told sold out; his order stands"
    }
    /// There was nothing to be seen, or it was not looked at.
    NoTest {
        SellsAloneOnly   Both "whenever two purchases of an item are under way, both are told to wait"
        SellsOneThenBusy Both "one unit is sold, then everybody is told to wait for 1 s"
        OneInstance      Both "all answers name the same instance"
        DeadBusy         Both "everybody is told to wait"
        OneIsBusy        Both "the second instance tells everybody to wait"
        Dead500          Both "everybody is told that the server broke"
        Silent           Both "takes every purchase and cuts the connection"
        Hangs            Both "takes every purchase and never answers"
        RejectsAll       Both "nobody's purchase is one: 422"
        StuckAfterHalf   Both "half of the stock is sold, then everybody is told to wait"
        HoldsBackTwo     Both "the last two units are never sold: everybody is told sold out"
        Refills          Both "a counter below 5 is set back to 5: more is sold than there was"
        RefillsFirstItem Both "the same, but in the first sale of a strategy alone"
        EndlessStock     Both "the counter never drops: everybody is sold something"
        OpensWithMore    Both "a sale is opened with three units more than it was told"
        OpensWithLess    Both "a sale is opened with two units fewer than it was told"
    }
    /// "Sold out" was said while it was not so.
    TooEarly {
        EarlySoldOut        Both "every third of the first 20 purchases is told sold out; the units are sold later"
        RefusesReserved     Both "as reserves-apart, but sold out is told while units are on reserve"
        SoldOutThenSells    Both "the first three purchases are told sold out, then everything is sold"
        SoldOutWhileLocked  Both "as fail-fast, but sold out is told while the lock is held"
        SecondBehind        Both "every instance but app-1 says sold out for the first 300 ms of a sale"
        RefusesLast         Both "the first who asks for the last unit is told sold out, the next one gets it"
    }
    /// The fault does otherwise than the contract has it.
    Faults {
        CrashIs500         Both "the fault is an answer 500"
        CrashIsCut         Both "the fault cuts the connection; the process lives"
        CrashIsSleep       Both "the fault sleeps for 12 s and answers 500"
        CrashIsBusy        Both "the fault is answered with a request to wait"
        CrashAfterAnswer   Both "the fault is passed over; 40 ms after the answer the process is killed"
        CrashThenCut       Both "the same with the first fault; those that follow cut the connection, and the process lives"
        CrashClosesAdmin   Both "the fault cuts the purchase and all connections to the admin listener; the process lives"
        IgnoresFaults      Both "the fault is passed over"
        LosesOnCrash       Both "an order that the other instance sold is deleted, then the process is killed"
        LeaksOnCrash       Both "a unit is taken without an order, then the process is killed"
        RefundsOnCrash     Both "a unit too many is put back, then the process is killed"
        SellsTwiceOnCrash  Both "the purchase becomes two orders, then the process is killed"
        GhostOnCrash       Both "an order of nobody is entered and taken, then the process is killed"
        StaysDead          Both "the process is killed; the one that comes back answers every purchase of that sale with 500"
        SurvivorFails      Both "until the process that is killed is back, 1 s later, the other one answers 500"
        NamesOnlyOneAfterCrash Both "after a crash all answers name the same instance"
    }
    /// In the first sale of a strategy the fault is passed over; from then on all is honest.
    FirstSale {
        MissesFirst            Both "the fault is passed over in the first sale"
        MissesFirstAndForgets  Both "the same, and a repeat is told sold out in that sale"
        MissesFirstAndEnters   Both "the same, and when the next sale is opened: an order of nobody in that one"
    }
    /// Two stores: a crash leaves a purchase in between, its units taken and its order not written.
    Apart {
        FinishesWhatIsLeft Apart "it is finished after 1.5 s; until then the instances tell of it"
        NeverFinishes      Apart "it is never finished, and the instances tell of it for ever"
    }
    /// A counter in parts, in the hash that the contract names.
    Segments {
        SellsFromSegments Redis "the counter is 0, and all units are in three segments, which are sold"
        HidesUnits        Redis "two units are in a segment that is never sold"
        NegativeSegment   Redis "beside a whole counter there is a segment of minus two units"
        BrokenSegment     Redis "beside a whole counter there is a segment that says `many`"
        SegmentsOverflow  Redis "two segments have the largest number there is"
        CountlessSegments Redis "beside a whole counter there are 100,000 segments of no units"
        SegmentsAsText    Redis "what should be the hash of the segments is a text"
    }
    /// Numbers that a sum, a sign or a parser may stumble over. They come with the first sale.
    Numbers {
        HugeOrders     Both  "two orders of the largest number there is"
        LeastOrder     Both  "an order of the smallest number there is"
        CancelsOut     Both  "an order of three units and one of minus three"
        ZeroOrders     Both  "three orders of no units"
        NegativeOrder  Both  "an order of minus one unit, and a unit put back"
        NameTwice      Both  "the catalogue lists every strategy twice"
        WholeFraction  Redis "a quantity is written as 1.0"
        Fractional     Redis "a quantity is written as 1.5"
        HugeQuantity   Redis "a quantity is written with 30 digits"
        HugeCounter    Redis "the counter of a sold-out sale has 30 digits"
        LeastCounter   Both  "the counter of a sold-out sale is the smallest number there is"
    }
    /// An answer or a catalogue that is too much for who reads it.
    Wire {
        Endless201       Both "a 201 whose body never ends"
        Endless409       Both "a 409 whose body never ends"
        EndlessStrategies Both "a catalogue that never ends"
        EndlessReadyz    Both "a /readyz that never ends"
        EndlessAdmin     Both "the answer to the opening of a sale never ends"
        SlowBody         Both "a 201 of one byte each 200 ms, for ever"
        GzipBomb         Both "a 201 of a few hundred kB that unpacks to 256 MB"
        FatId            Both "the first order has an id of 5 MB in the answer"
        Redirects307     Both "a purchase is sent to another path, which sells"
        Redirects303Catalogue Both "a purchase is sent to the catalogue"
        RedirectsForEver Both "a purchase is sent to itself"
        ManyStrategies   Both "the catalogue has 10,000 strategies"
        BadNames         Both "names with escape sequences, bars, line breaks, reversed text and markup"
        BadClaim         Both "the catalogue claims second-instnace"
        BigHeaders       Both "an answer with 800 kB of headers"
        Panics           Both "every third purchase ends without an answer, and nothing is sold by it"
    }
    /// Ledgers that cannot be read as the contract has it.
    Ledgers {
        FatEntry       Redis "an order entry of 64 MB comes with the first sale"
        LockedTable    Sql   "from the first sale on somebody holds a lock on the tables, for ever"
        LockedWhenSoldOut Sql "from the last sale on somebody holds a lock on the tables, for ever"
        BrokenEntry    Redis "the entry of the first order is no JSON"
        EntryWithoutQuantity Redis "the entry of the first order has no quantity"
        QuantityAsText Redis "the entry of the first order has a text for a quantity"
        BrokenCounter  Redis "the counter of a sold-out sale is `many`"
        MissingRow     Both  "the counter of a sold-out sale is gone"
        NullOrder      Sql   "beside the first order comes a row that names the item, and is null in all else that is read"
        WrongType      Redis "the ledger of a sold-out sale is a list"
    }
}

impl Entry {
    /// `WritesLate` is `writes-late`, `Redirects303Catalogue` is `redirects-303-catalogue`.
    pub fn name(&self) -> String {
        let mut name = String::new();
        let mut before = '-';
        for letter in self.variant.chars() {
            let begins = letter.is_uppercase() || letter.is_ascii_digit() && !before.is_ascii_digit();
            if begins && !name.is_empty() {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
            before = letter;
        }
        name
    }
}

pub fn find(name: &str) -> Option<Lie> {
    ALL.iter().find(|entry| entry.name() == name).map(|entry| entry.lie)
}

pub fn entry(lie: Lie) -> &'static Entry {
    ALL.iter().find(|entry| entry.lie == lie).unwrap()
}

pub fn print_list() {
    for entry in ALL {
        let kind = if entry.class == Class::Honest { "honest" } else { "lie" };
        println!("{kind:<6} {:<24} {}", entry.name(), entry.what);
    }
}
