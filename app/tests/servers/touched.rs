//! The data of a sale that a command touches, by its text in the log of a store.

use app::probe::{Data, Effect};

/// The commands of Redis that write nothing.
const READS: [&str; 18] = [
    "EXISTS",
    "GET",
    "HEXISTS",
    "HGET",
    "HGETALL",
    "HLEN",
    "HMGET",
    "LINDEX",
    "LLEN",
    "MGET",
    "PTTL",
    "SISMEMBER",
    "TIME",
    "TTL",
    "UNWATCH",
    "WATCH",
    "ZRANGE",
    "ZSCORE",
];

/// The begins of keys in Redis, and the data there. A further key with an item in braces, such as `lock:{sku}`, belongs to the lock.
const KEYS: [(&str, Data); 13] = [
    ("stock:", Data::STOCK),
    ("slots:", Data::STOCK),
    ("segments:", Data::STOCK),
    ("opened:", Data::STOCK),
    ("fence:", Data::STOCK),
    ("version:", Data::STOCK),
    ("hot-stock", Data::STOCK),
    ("orders:", Data::ORDERS),
    ("claimed:", Data::ORDERS),
    ("taken:", Data::LOG),
    ("saga", Data::LOG),
    ("tcc", Data::LOG),
    ("once:", Data::LOCK),
];

/// The tables of MariaDB, and the data there. A further table keeps what a transaction knows of itself.
const TABLES: [(&str, Data); 6] = [
    ("store", Data::STOCK),
    ("stock_units", Data::STOCK),
    ("orders", Data::ORDERS),
    ("one_per_buyer", Data::ORDERS),
    ("locks", Data::LOCK),
    ("bare_locks", Data::LOCK),
];

/// Returns what a line of MONITOR touches: `1339518083.1 [0 lua] "get" "stock:{sku}"`.
pub fn by_redis(line: &str) -> Effect {
    let words: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
    let Some((command, arguments)) = words.split_first() else {
        return Effect::NONE;
    };
    let command = command.to_uppercase();
    // The commands inside a script are lines of their own.
    if ["EVALSHA", "EVAL", "PUBLISH", "ECHO", "SCRIPT"].contains(&&*command) {
        return Effect::NONE;
    }
    let touched = arguments.iter().filter_map(|argument| key(argument));
    effect(READS.contains(&&*command), touched.fold(Data::NONE, Data::and))
}

fn key(argument: &str) -> Option<Data> {
    let known = KEYS.iter().find(|(begin, _)| argument.starts_with(begin));
    let known = known.map(|(_, data)| *data);
    known.or_else(|| argument.contains(":{").then_some(Data::LOCK))
}

/// Returns what a statement touches.
pub fn by_sql(statement: &str) -> Effect {
    let statement = statement.to_lowercase();
    let words: Vec<&str> = statement
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let locks = ["get_lock(", "release_lock(", "pg_advisory_"];
    let is_lock = locks.iter().any(|lock| statement.contains(lock));
    if is_lock {
        return effect(false, Data::LOCK);
    }
    let named = words
        .windows(2)
        .filter(|pair| ["from", "join", "into", "update"].contains(&pair[0]));
    // `for update` is no table, and neither is what a statement brings along.
    let locks_rows = ["for update", "for no key update"]
        .iter()
        .any(|lock| statement.contains(lock));
    let brought = ["json_table", "jsonb_array_elements_text", "jsonb_to_recordset"];
    let named = named.filter(|pair| !(pair[0] == "update" && locks_rows || brought.contains(&pair[1])));
    let touched = named.map(|pair| {
        let known = TABLES.iter().find(|(table, _)| *table == pair[1]);
        known.map_or(Data::LOG, |(_, data)| *data)
    });
    let is_read = words.first() == Some(&"select") && !locks_rows;
    effect(is_read, touched.fold(Data::NONE, Data::and))
}

fn effect(is_read: bool, touched: Data) -> Effect {
    if is_read {
        Effect {
            reads: touched,
            writes: Data::NONE,
        }
    } else {
        Effect {
            reads: Data::NONE,
            writes: touched,
        }
    }
}

#[test]
fn a_command_is_known_by_what_it_touches() {
    let both = Data::STOCK.and(Data::ORDERS);
    for (line, reads, writes) in [
        ("1.5 [0 127.0.0.1:1] \"GET\" \"stock:{sku}\"", Data::STOCK, Data::NONE),
        ("1.5 [0 lua] \"set\" \"lock:{sku}\" \"1\"", Data::NONE, Data::LOCK),
        (
            "1.5 [0 lua] \"EVALSHA\" \"0a\" \"1\" \"stock:{sku}\"",
            Data::NONE,
            Data::NONE,
        ),
        ("1.5 [0 lua] \"TIME\"", Data::NONE, Data::NONE),
    ] {
        assert_eq!(by_redis(line), Effect { reads, writes }, "{line}");
    }
    for (statement, reads, writes) in [
        ("select s.num from store s left join orders o on 1", both, Data::NONE),
        ("select num from store where id = ? for update", Data::NONE, Data::STOCK),
        ("update store set num = ? where id = ?", Data::NONE, Data::STOCK),
        (
            "insert ignore into bare_locks (item) values (?)",
            Data::NONE,
            Data::LOCK,
        ),
        ("select get_lock(?, 1)", Data::NONE, Data::LOCK),
        ("delete from undo_log where id = ?", Data::NONE, Data::LOG),
        ("commit", Data::NONE, Data::NONE),
    ] {
        assert_eq!(by_sql(statement), Effect { reads, writes }, "{statement}");
    }
}
