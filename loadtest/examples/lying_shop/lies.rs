//! The one list: every honest kind and every lie, with its class, its stores and its effect.

/// The strategies of a shop with this lie.
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
        /// The lies of one file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Class { $($(#[$about])* $class),* }

        /// The difference from the plain honest shop.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Lie { $($(#[doc = $what] $lie,)*)* }

        pub const ALL: &[Entry] = &[$($(Entry {
            lie: Lie::$lie, class: Class::$class, on: On::$on, variant: stringify!($lie), what: $what,
        },)*)*];
    };
}

lies! {
    /// No lie: a witness that accuses one of these is wrong.
    Honest {
        Plain             Both  "one atomic write, one order, one answer; a repeat of the key gets the same answer"
        FailFast          Both  "a lock for each item, tried once; while it is held, all other purchases are busy"
        Waits             Both  "a lock for each item, waited for up to 1.5 s"
        ReservesApart     Both  "reserves units for 2 s beside the counter, then confirms; some reserves are abandoned"
        ReservesFromStock Both  "reserves units for 2 s out of the counter, then confirms, and names that step; some reserves are abandoned"
        ReservesForLong   Both  "as reserves-apart, for 9 s"
        WaitsForReserves  Both  "the same, and from its third request on a purchase waits for reserved units"
        SlowAdmin         Both  "every answer of the admin listener comes 200 ms late"
        ReadCommitted     Both  "the server reads committed rows, not a snapshot, unless a session wants it otherwise"
        NumericIds        Both  "an order id is a JSON number in the answer and the same digits as text in the ledger"
        LongNumericIds    Both  "the same, with 128 digits in Redis, and in MariaDB with the 36 that its column holds"
        RefusesOtherFaults Both "an X-Fault that is neither a crash nor a pause is refused with 422"
        Prefix            Both  "all routes are below /shop; /readyz is at the root, too"
        ClosesConnections Both  "closes the connection after every answer, without announcing it"
        SlowWork          Both  "each purchase takes 300 ms more between read and write"
        Modest            Both  "claims nothing"
        BoringFields      Both  "unknown fields, unknown headers, a long summary in many scripts"
        BusyAtFirst       Both  "the first two requests of each sale are busy"
        BusyWithDate      Both  "the same, and Retry-After is a date"
        StartsSlowly      Both  "an instance needs 3 s to start, and no response names its process"
        InPieces          Both  "a 201 arrives in three pieces, 30 ms apart, without a length"
        Compressed        Both  "a 201 is compressed by gzip if the client accepts gzip"
    }
    /// One wrong number or one wrong answer, at once.
    Classic {
        OversellsAtZero     Both "three more buyers are sold units that are gone; the counter stays at zero"
        OversellsBelowZero  Both "three more buyers are sold units that are gone; the counter goes below zero"
        LosesAnOrder        Both "the first sale takes its units, and its order is not written"
        RecordsAGhost       Both "with the first sale a ghost order is recorded, and its units are taken"
        TellsWithoutWriting Both "the first purchase is answered 201, and nothing is written at all"
        RecordsWithoutTaking Both "the first purchase is answered 201 with a written order; the counter does not change"
        OversellsAndNeverCloses Both "as oversells-at-zero, and closing a sale is answered 500"
        Unlocked            Both "reads, works, and writes what it computed from the old value: the lost update itself"
    }
    /// The ledgers are right when the answers are sent, or just after, and wrong at another time.
    Afterwards {
        WritesLate         Both "the counter is written at once, and the order when the next purchase comes"
        WritesBothLate     Both "order and counter are written when the next purchase comes"
        WritesLateOnce     Both "the order of the first sale is written when the next purchase comes"
        WritesLastLate     Both "the order of the last unit is written when the next purchase comes"
        WritesWhenSoldOut  Both "every order is written when the last unit is sold"
        EntersAfterRepeat  Both "10 ms after a repeated key in a sold-out sale: a ghost order is recorded"
        DeletesAfterRepeat Both "10 ms after a repeated key in a sold-out sale: an order is deleted"
        TakesAfterRepeat   Both "10 ms after a repeated key in a sold-out sale: the counter drops by one"
        MovesAfterRepeat   Both "10 ms after a repeated key in a sold-out sale: an order has another buyer"
        EntersLater        Both "400 ms after the sale was sold out: a ghost order is recorded"
        DeletesLater       Both "400 ms after the sale was sold out: an order is deleted"
        TakesLater         Both "400 ms after the sale was sold out: the counter drops by one"
        ReturnsLater       Both "400 ms after the sale was sold out: the counter rises by one"
        MovesLater         Both "400 ms after the sale was sold out: an order has another buyer"
        ChangesUnitsLater  Both "400 ms after the sale was sold out: the units of an order rise by one"
        ChangesKeyLater    Both "400 ms after the sale was sold out: an order has another key"
        ChangesIdLater     Both "400 ms after the sale was sold out: an order has another id"
        SellsAgainLater    Both "1 s after the first `sold out` one more buyer gets a unit; the counter goes below zero"
        EntersAfterLateRepeat Both "10 ms after a key that is repeated 900 ms later or more: a ghost order is recorded"
    }
    /// The ledger holds orders, but not those of the answers.
    Whose {
        SwapsOrders     Both  "each two buyers receive each other's order id"
        AnotherBuyer    Both  "every order is in the name of another buyer"
        AnotherKey      Both  "every order has a key that no buyer sent"
        NoKey           Both  "every order is without a key"
        NoBuyer         Both  "every order is without a buyer"
        OneRowGrows     Both  "there is one order, it grows, and every buyer receives its id"
        EmptyId         Both  "the first order has the empty id, in the ledger and in the answer"
        NoId            Both  "the first 201 names no order"
        CapitalId       Both  "the id has capital letters in the answer and small letters in the ledger"
        SameOrderTwice  Both  "the second buyer receives the order id of the first; both took their units"
        StrangersOrder  Both  "the first buyer receives an id of another sale; his own order has another id"
        MoreUnits       Both  "an order records one unit more than was bought and taken"
        FewerUnits      Both  "an order records one unit fewer than was bought and taken"
        MoreUnitsTaken  Both  "an order records one unit more than was bought, and that number is taken"
        OrderOfNone     Both  "the first buyer receives an id that is never recorded; the units are taken"
    }
    /// One key buys more than once, or its repeat gets a wrong answer.
    Twice {
        ForgetsKeys            Both "every repeat is one more purchase"
        ForgetsKeysAtOnce      Both "two deliveries of one key at the same moment are two orders"
        ForgetsKeysAfter       Both "a key is forgotten after 600 ms, if the sale is sold out by then"
        ForgetsKeysPerInstance Both "only the instance that sold knows the key"
        ForgetsKeysWhenSoldOut Both "a repeat in a sold-out sale takes a unit below zero and is a second order"
        SellsOtherQuantity     Both "one key with another quantity is a second order"
        SellsOtherBuyer        Both "one key with another buyer is a second order"
        GrowsOtherQuantity     Both "one key with another quantity changes the order and the counter"
        AgreesToOtherQuantity  Both "one key with another quantity is answered 201; nothing changes"
        AgreesToOtherBuyer     Both "one key with another buyer is answered 201; nothing changes"
        HonestOnlyAgain        Both "forgets keys, except of an item whose name ends in -again and of the buyer b-last"
        HonestWithoutWork      Both "forgets keys, except where X-Work-Ms is 0"
        FloodsOnRepeat         Both "a repeat records 5,000 more orders with keys of their own"
        OtherIdOnRepeat        Both "a repeat is answered with another id; nothing is written"
        SoldOutOnRepeat        Both "a repeat is answered sold out"
        SoldOutOnLateRepeat    Both "a repeat in a sold-out sale is answered sold out"
        BusyOnRepeat           Both "a repeat is always busy"
        FailsOnRepeat          Both "a repeat is answered 500"
        SellsAgainElsewhere    Both "a repeat records a second order, for an item that is not for sale"
        SellsAgainForAnother   Both "the same, in the name of another buyer"
        SellsAgainInOtherStore Both "a repeat records a second order of the item in the other store"
        SellsAgainFarAndLate   Both "as sells-again-elsewhere, 400 ms after the answer"
        SellsThirdsElsewhere   Both "every third purchase is recorded once more, for an item that is not for sale"
        SellsAgainInFirstSale  Both "a repeat records a second order, for the first item of the trial"
        BusyOnOtherPurchase    Both "one key with another quantity or buyer is always busy; nothing is written"
        BusyOnOtherQuantity    Both "one key with another quantity is always busy; nothing is written"
        BusyOnOtherBuyer       Both "one key with another buyer is always busy; nothing is written"
        BusyThenSellsOther     Both "one key with another quantity or buyer is busy once, and then a second order"
        AnswersOtherWith200    Both "one key with another quantity or buyer is answered 200; nothing is written"
        CutsOtherPurchase      Both "one key with another quantity or buyer gets no answer; nothing is written"
        FailsOnOtherPurchase   Both "one key with another quantity or buyer is answered 500; nothing is written"
        SoldOutOnCopy          Both "of two simultaneous deliveries of one key, the second is answered sold out"
        RejectedOnCopy         Both "the same, and the second is rejected with 422"
        FailsOnCopy            Both "the same, and the second is answered 500"
        ForgetsTheGone         Both "the key of a buyer that hung up buys again, in a sold-out sale below zero"
        RefusesTheGone         Both "a buyer that hung up and retries is answered sold out; his order stays"
    }
    /// Honest only towards a load test: every other purchase is sold without taking its units.
    Recognised {
        HonestToTrials Both "honest to items called trial-..., to buyers called b- and a number, and to keys that begin with the item"
        HonestToOneMs  Both "honest where X-Work-Ms is 1"
        HonestToSteadyWork Both "honest where X-Work-Ms is that of the first purchase"
        HonestToTestNames Both "honest to items with the word test, trial, load or sale"
        HonestToItemKeys Both "honest to keys with the item in them"
        HonestToGrowingBuyers Both "honest to buyers whose number is at most 1,000"
        HonestToShortKeys Both "honest to keys of fewer than 12 characters"
    }
    /// The round shows nothing, or too little, to judge the shop by.
    NoTest {
        SellsAloneOnly   Both "a purchase is busy until it is sent a third time with no other purchase in between"
        SellsOneThenBusy Both "one unit is sold, then every purchase is busy for 1 s"
        OneInstance      Both "all answers name the same instance"
        DeadBusy         Both "every purchase is busy"
        OneIsBusy        Both "every purchase at the second instance is busy"
        Dead500          Both "every purchase is answered 500"
        Silent           Both "accepts every purchase and closes the connection"
        Hangs            Both "accepts every purchase and never answers"
        RejectsAll       Both "every purchase is rejected with 422"
        StuckAfterHalf   Both "half of the stock is sold, then every purchase is busy"
        HoldsBackTwo     Both "the last two units are never sold: all later buyers are answered sold out"
        Refills          Both "a counter below 5 is set back to 5, so that more is sold than the stock"
        RefillsFirstItem Both "the same, but only in the first sale of a strategy"
        RefusesTheMarket Both "every sale but the first one: busy for each purchase that is not alone"
        RefusesHalfTheMarket Both "the same at every other item"
        FailsTheMarket   Both "the same, and each purchase that is not alone is answered 500"
        EmptiesTheMarket Both "the same, and each purchase that is not alone is answered sold out"
        RefusesMarketAfterOne Both "the same after the first purchase of an item"
        RejectsTheMarket Both "the same, and each purchase that is not alone is rejected with 422"
        EndlessStock     Both "the counter never drops: every purchase is sold"
        OpensWithMore    Both "a sale is opened with three units more than the request says"
        OpensWithLess    Both "a sale is opened with two units fewer than the request says"
    }
    /// The answer is sold out while units are left.
    TooEarly {
        EarlySoldOut        Both "every third of the first 20 purchases is answered sold out; the units are sold later"
        RefusesReserved     Both "as reserves-apart, but a reserve lasts 10 min, and meanwhile the answer is sold out"
        SoldOutThenSells    Both "the first three purchases are answered sold out, then all units are sold"
        SoldOutWhileLocked  Both "as fail-fast, but the answer is sold out while the lock is held"
        SecondBehind        Both "every instance but app-1 answers sold out for the first 300 ms of a sale"
        RefusesLast         Both "the first purchase of the last unit is answered sold out, the next one gets it"
    }
    /// The fault does something other than the contract says.
    Faults {
        CrashIs500         Both "the fault only answers 500"
        CrashIsCut         Both "the fault closes the connection; the process lives"
        CrashIsSleep       Both "the fault sleeps for 12 s and answers 500"
        CrashIsBusy        Both "the fault is answered busy"
        CrashAfterAnswer   Both "the fault is ignored; 40 ms after the answer the process is killed"
        CrashThenCut       Both "the same for the first fault; later ones close the connection, and the process lives"
        CrashClosesAdmin   Both "the fault closes this connection and those of the admin listener; the process lives"
        IgnoresFaults      Both "the fault is ignored"
        LosesOnCrash       Both "an order that the other instance sold is deleted, then the process is killed"
        LeaksOnCrash       Both "a unit is taken without an order, then the process is killed"
        RefundsOnCrash     Both "one unit too many is put back, then the process is killed"
        SellsTwiceOnCrash  Both "the purchase becomes two orders, then the process is killed"
        GhostOnCrash       Both "a ghost order is recorded and its units are taken, then the process is killed"
        StaysDead          Both "the process is killed; after its restart it answers each purchase of that sale 500"
        SurvivorFails      Both "until the killed process is back, 1 s later, the other one answers 500"
        NamesOnlyOneAfterCrash Both "after a crash all answers name the same instance"
    }
    /// Processes that are not what their names and silences say.
    Identity {
        CrashKeepsSelling  Both "the fault closes this connection and silences the admin listener for 1.5 s; the process sells on"
        CrashRenamesProcess Both "the fault closes this connection and those of the admin listener, which then names another process"
        CrashSellsAsOther  Both "as crash-keeps-selling, and meanwhile it answers in the name of the other instance"
        CrashNamesNobody   Both "as crash-keeps-selling, and meanwhile it answers without a name"
        CrashNamesOther    Both "as crash-keeps-selling, and the admin listener gives the name of the other instance"
        CrashBriefly       Both "as crash-keeps-selling, for 400 ms"
        CrashAnswersLater  Both "as crash-keeps-selling, and every answer waits until the admin listener is back"
        CrashFinishesFirst Both "as crash-keeps-selling, but only purchases that had come are finished; all new ones are cut off"
        PausesNamesNobody  Both "as pauses-only-named-admin, and meanwhile it answers without a name"
        PausesSellsAsOther Both "as pauses-only-named-admin, and meanwhile it answers in the name of the other instance"
        PausesUnderOtherName Both "as pauses-only-named-admin, and the admin listener gives the name of the other instance"
        PausesForASecond   Both "as pauses-sells-as-other, but it answers nobody for the first second"
        PausesAndIsBusy    Both "as pauses-sells-as-other, and meanwhile every purchase is busy"
        PausesOnlyNamedAdmin Both "as pauses-only-admin, and the admin listener gives its name"
        PausesOnlyAdmin    Both "the fault silences the admin listener, which gives no name, for its time; the process sells on"
        BothNames          Both "every process answers in the names of both instances by turns"
        NamesOfMany        Both "every process answers in five names by turns"
        NamesByBuyer       Both "the buyer decides which of both names a process gives"
        NamesByTime        Both "all processes change between both names every millisecond"
        NamesByChance      Both "every answer has one of both names, by chance"
        NamesByKey         Both "the key decides which of both names a process gives"
        SurvivorCuts       Both "until the killed process is back, 1 s later, the other one closes every connection"
        SurvivorHangs      Both "the same, but it never answers"
        SurvivorSays200    Both "the same, but it answers 200"
        SurvivorSays502    Both "the same, but it answers 502"
        SurvivorMoves      Both "the same, but it redirects every purchase to itself"
    }
    /// Times and places at which few look.
    Unseen {
        UnitsBeforeOrder   Both "the units are taken 5 ms before the order is recorded"
        OrderBeforeUnits   Both "the order is recorded 5 ms before its units are taken"
        UnitsLongBefore    Both "the units are taken 80 ms before the order is recorded"
        OrderLongBefore    Both "the order is recorded 80 ms before its units are taken"
        TornUnitsNowAndThen Both "every third order is recorded 5 ms after its units are taken"
        TornAtTheEnd       Both "in the last quarter of a sale the units are taken 5 ms before the order is recorded"
        TornNowAndThen     Both "every third order is recorded 5 ms before its units are taken"
        TellsLongBefore    Sql  "the same as tells-before-commit, 400 ms before"
        TellsAndRollsBack  Sql  "the server shows what is not committed; each third transaction is rolled back 300 ms after its answer"
        TellsThirdBefore   Sql  "the same as tells-long-before, for every third sale"
        TellsLastBefore    Sql  "the same as tells-long-before, in the last quarter of a sale"
        TellsBeforeCommit  Sql  "the server shows what is not committed; the answer comes 40 ms before the commit"
        CapitalItem        Sql  "orders are recorded for the item in capitals (or with a blank), which the collation holds for the same"
        BlankBehindItem    Sql  "orders are recorded for the item with a blank behind it, which the collation ignores"
        AccentInItem       Sql  "orders are recorded for the item with an accent (or a blank), which the collation ignores"
        EveryThirdInCapitals Sql "every third order is recorded for the item in capitals"
        LastInCapitals     Sql  "the orders of the last quarter of a sale are recorded for the item in capitals"
        WideItem           Sql  "orders are recorded for the item with a letter in full width, which the collation holds for the same"
        WritesFirstLate    Both "the orders of the first quarter of a sale are recorded 60 ms after their answers"
        WritesLastQuarterLate Both "the orders of the last quarter of a sale are recorded 60 ms after their answers"
        ForgetsFirstKeys   Both "a repeat of a purchase in the first quarter of a sale is answered sold out"
        AgreesInTheEnd     Both "in the second half of a sale one key with another quantity or buyer is answered 201"
        ForgetsMiddleKeys  Both "a repeat of a purchase in the second quarter of a sale is answered sold out"
        LagsForASecond     Apart "the counter falls 1 s after its order; until then the purchase is reported as pending"
        LagsByOne          Apart "only the first unit is taken 3 s late, and the purchase reported as pending"
        LagsAtTheEnd       Apart "the same as lags-by-one, for the last quarter of a sale"
        LagsAndSaysNothing Apart "the counter falls 3 s after its order, and nothing is reported as pending"
        RecordsAndCallsItOpen Apart "the order is recorded 3 s after its units are taken; until then it is reported as pending"
        WritesMiddleLate   Both "the orders from 36 to 60 % of a sale are recorded 60 ms after their answers"
        ForgetsLastKeys    Both "a repeat of a purchase in the last quarter of a sale is answered sold out"
        LagsAndCallsItOpen Apart "the counter falls 3 s after its order; until then the purchase is reported as pending"
    }
    /// While buyers come, nobody can read the ledger.
    Shut {
        ShutsReadersOut        Redis "all connections but those of the shop are closed or refused"
        ShutsReadersOutAtFirst Redis "the same for the first six purchases of a sale"
        ShutsReadersOutLater   Redis "the same from the seventh purchase of a sale on"
        ShutsEveryThirdOut     Redis "the same at every third purchase"
        ShutsByPassword        Redis "connections of readers are closed, and new ones need a password that nobody has"
        ShutsReadersOutForLong Redis "the same until 2 s after the last purchase"
    }
    /// The fault is ignored in the first sale of a strategy; all later sales are honest.
    FirstSale {
        MissesFirst            Both "the fault is ignored in the first sale"
        MissesFirstAndForgets  Both "the same, and a repeat in that sale is answered sold out"
        MissesFirstAndEnters   Both "the same, and when the next sale is opened, the first one gets a ghost order"
    }
    /// Two stores: a crash leaves a purchase pending, with its units taken and its order not written.
    Apart {
        FinishesWhatIsLeft Apart "it is completed after 1.5 s; until then the instances report it as pending"
        NeverFinishes      Apart "it is never completed, and the instances always report it as pending"
    }
    /// A counter in parts, in the hash of the contract.
    Segments {
        SellsFromSegments Redis "the counter is 0, and all units are in three segments, from which they are sold"
        HidesUnits        Redis "two units are in a segment that is never sold"
        NegativeSegment   Redis "in addition to a whole counter there is a segment of minus two units"
        BrokenSegment     Redis "in addition to a whole counter there is a segment with the text `many`"
        SegmentsOverflow  Redis "two segments have the largest possible number"
        CountlessSegments Redis "in addition to a whole counter there are 100,000 segments of no units"
        SegmentsAsText    Redis "the key of the segments holds a text, not a hash"
    }
    /// Numbers that can break a sum, a sign or a parser. They are written with the first sale.
    Numbers {
        HugeOrders     Both  "two orders of the largest possible number of units"
        LeastOrder     Both  "an order of the smallest possible number of units"
        CancelsOut     Both  "an order of three units and one of minus three"
        ZeroOrders     Both  "three orders of no units"
        NegativeOrder  Both  "an order of minus one unit, and one unit put back"
        NameTwice      Both  "the catalogue lists every strategy twice"
        WholeFraction  Redis "a quantity is written as 1.0"
        Fractional     Redis "a quantity is written as 1.5"
        HugeQuantity   Redis "a quantity is written with 30 digits"
        HugeCounter    Redis "the counter of a sold-out sale has 30 digits"
        LeastCounter   Both  "the counter of a sold-out sale is the smallest possible number"
    }
    /// An answer or a catalogue that is hard to read: endless, huge, or redirected.
    Wire {
        Endless201       Both "a 201 whose body never ends"
        Endless409       Both "a 409 whose body never ends"
        EndlessStrategies Both "a catalogue that never ends"
        EndlessReadyz    Both "a /readyz that never ends"
        EndlessAdmin     Both "the answer to the opening of a sale never ends"
        SlowBody         Both "a 201 that never ends, one byte each 200 ms"
        GzipBomb         Both "a 201 of a few hundred kB that unpacks to 256 MB"
        FatId            Both "the first order has an id of 5 MB in the answer"
        Redirects307     Both "a purchase is redirected to another path, which sells"
        Redirects303Catalogue Both "a purchase is redirected to the catalogue"
        RedirectsForEver Both "a purchase is redirected to itself"
        ManyStrategies   Both "the catalogue has 10,000 strategies"
        BadNames         Both "names with escape sequences, bars, line breaks, reversed text and markup"
        BadClaim         Both "the catalogue claims second-instnace"
        BigHeaders       Both "an answer with 800 kB of headers"
        Panics           Both "every third purchase ends without an answer, and sells nothing"
    }
    /// Sales are honest, and closing one fails or takes long.
    Closing {
        NeverCloses    Both "closing a sale is answered 500"
        RefusesToClose Both "closing a sale is answered 403"
        ClosesSlowly   Both "closing a sale takes a minute"
    }
    /// Ledgers that cannot be read as in the contract.
    Ledgers {
        FatEntry       Redis "an order entry of 64 MB is recorded with the first sale"
        LockedTable    Sql   "from the first sale on, another connection locks the tables for ever"
        LockedWhenSoldOut Sql "from the last sale on, another connection locks the tables for ever"
        BrokenEntry    Redis "the entry of the first order is not JSON"
        EntryWithoutQuantity Redis "the entry of the first order has no quantity"
        QuantityAsText Redis "the quantity in the entry of the first order is a text"
        BrokenCounter  Redis "the counter of a sold-out sale is `many`"
        MissingRow     Both  "the counter of a sold-out sale does not exist"
        NullOrder      Sql   "with the first order comes a row that has an item, and null in all else that is read"
        WrongType      Redis "the ledger of a sold-out sale is a list"
    }
}

impl Entry {
    /// Returns the name for the command line: `WritesLate` is `writes-late`.
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
