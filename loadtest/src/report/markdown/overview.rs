//! The first table of a document: well-known strategies under common threats.

use super::language::Language;
use super::matrix::whole;
use super::table::{code, table};
use super::with_warning;
use crate::result::RunResult;
use crate::result::cell::{COST_UNDER, Cell, Spread};
use crate::result::choice::{Candidate, Choice, Stores, choose, threats_of};
use crate::result::conclusion::Conclusions;

/// The strategies of the first table, each with its mechanism in English and in Chinese.
const STRATEGIES: [(&str, &str, &str); 12] = [
    ("none@redis", "no lock", "不加锁"),
    ("mutex@redis", "process mutex", "进程内互斥锁"),
    ("setnx@sql", "bare SETNX", "裸 SETNX"),
    ("token@sql", "lease lock", "租约锁"),
    ("watchdog@sql", "Redisson's lock", "Redisson 看门狗"),
    ("redlock@sql", "Redlock", "Redlock"),
    ("fenced@sql", "lease and fence", "租约加围栏令牌"),
    ("for-update@sql", "row lock", "行锁"),
    ("compare-num@sql", "optimistic lock", "乐观锁"),
    ("conditional@sql", "single UPDATE", "单条 UPDATE"),
    ("lua@redis", "Lua script", "Lua 脚本"),
    ("outbox@redis+sql", "Lua, then SQL", "Lua 加发件箱"),
];

/// The columns: a word for threats as `choose` knows it, and its head in both languages.
const COLUMNS: [(&str, &str, &str); 5] = [
    (COST_UNDER, "2 instances", "两个实例"),
    ("crash", "crash", "崩溃"),
    ("pause", "long pause", "长停顿"),
    ("redis-failover", "Redis fails over", "Redis 故障转移"),
    ("click", "second click", "重复点击"),
];

/// The threats of the recommendation in a document.
const SURVIVE: [&str; 2] = ["crash", "pause"];

/// The number of strategies that a document recommends for each choice of stores.
const FASTEST: usize = 3;

/// Returns the table. `place` is the path from the document to the whole run.
pub fn overview(run: &RunResult, language: Language, place: &str) -> String {
    let cells = Cell::all(run);
    let conclusions = Conclusions::of(&cells);
    let heads = [language.of("strategy", "策略")]
        .into_iter()
        .chain(COLUMNS.map(|(_, english, chinese)| language.of(english, chinese)))
        .chain([language.of("sales/s", "成交/秒"), language.of("mechanism", "机制")])
        .map(str::to_owned);
    let rows = STRATEGIES.iter().map(|(strategy, english, chinese)| {
        let words = COLUMNS.iter().map(|(word, ..)| {
            let threats = threats_of(word).unwrap_or_default();
            language.word(conclusions.under(strategy, &threats))
        });
        let cost = [
            sales_per_s(&cells, strategy),
            language.of(*english, *chinese).to_owned(),
        ];
        [code(strategy)].into_iter().chain(words).chain(cost).collect()
    });
    let table = table(heads.collect(), rows.collect());
    let legend = match language {
        Language::English => format!(
            "**Bold** fails; `stuck`: units are left and nobody can buy; `data loss`: only the store lost what it had \
             confirmed; `-`: does not apply. A long pause is longer than the lease. After the `@`: where stock and orders lie (`token@sql`: a lock in Redis, stock \
             in MariaDB). [Every strategy and every threat](docs/matrix.md), from [this run]({place})."
        ),
        Language::Chinese => format!(
            "**粗体**为失败；卡死：还有货，却再也没有人买得到；丢数据：只是存储丢了它确认过的数据；`-`：不适用。长停顿：比租约还长。`@` 后面是存放库存和\
             订单的地方（`token@sql`：锁在 Redis 里，库存在 MariaDB 里）。[所有策略和所有威胁](docs/matrix.md)（英文），出自[这次运行]({place})。"
        ),
    };
    with_warning(run, format!("{table}\n\n{legend}"))
}

fn sales_per_s(cells: &[Cell], strategy: &str) -> String {
    let cost = cells.iter().find(|cell| cell.strategy == strategy && cell.is_cost());
    let sales = cost.and_then(|cell| Spread::of(cell.rounds.iter().map(|round| round.sales_per_s)));
    sales.map_or_else(|| "-".to_owned(), |sales| whole(sales.median))
}

/// Returns the fastest strategies that hold, for stock and orders in Redis, in SQL or in both.
pub fn choices(run: &RunResult, language: Language) -> String {
    let survive: Vec<_> = SURVIVE
        .iter()
        .flat_map(|word| threats_of(word).unwrap_or_default())
        .collect();
    let choices = Stores::of_run(run).into_iter();
    let choices: Vec<Choice> = choices.flat_map(|stores| choose(run, stores, &survive)).collect();
    let heads = [
        language.of("stock and orders in", "库存和订单放在"),
        language.of("the fastest that hold", "最快的可靠策略"),
        language.of("sales/s", "成交/秒"),
        language.of("median ms", "中位延迟 ms"),
        "p99 ms",
        language.of("× the slowest that holds", "是最慢的可靠策略的"),
    ];
    let rows = choices.iter().flat_map(|choice| {
        let slowest = choice.holds.last().map_or(1.0, |last| last.sales_per_s);
        let shown = choice.holds.iter().take(FASTEST).enumerate();
        let rows = shown.map(move |(place, candidate)| {
            let stores = if place == 0 {
                stores(choice.stores, language)
            } else {
                ""
            };
            row(stores, candidate, slowest, language)
        });
        rows.collect::<Vec<_>>()
    });
    let table = table(heads.map(str::to_owned).to_vec(), rows.collect());
    let parts = [table, held(&choices, language), useless(&choices, language)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

fn stores(stores: Stores, language: Language) -> &'static str {
    match stores {
        Stores::Redis => "Redis",
        Stores::Sql => "MariaDB",
        Stores::Pg => "PostgreSQL",
        Stores::Cluster => "Redis Cluster",
        Stores::Both => language.of("Redis and MariaDB", "Redis 和 MariaDB"),
    }
}

fn row(stores: &str, candidate: &Candidate, slowest: f64, language: Language) -> Vec<String> {
    let times = candidate.sales_per_s / slowest;
    vec![
        stores.to_owned(),
        code(&candidate.strategy),
        whole(candidate.sales_per_s),
        format!("{:.1}", candidate.median_ms),
        format!("{:.1}", candidate.p99_ms),
        language.of(format!("{times:.1}"), format!("{times:.1} 倍")),
    ]
}

/// Returns the number of strategies that hold, for each choice of stores.
fn held(choices: &[Choice], language: Language) -> String {
    let count = |choice: &Choice| {
        let held = choice.holds.len() + choice.useless.len();
        (
            held,
            held + choice.data_loss.len() + choice.fails.len() + choice.untested.len(),
        )
    };
    let counts = choices.iter().map(|choice| {
        let ((held, all), stores) = (count(choice), stores(choice.stores, language));
        language.of(
            format!("{held} of {all} hold in {stores}"),
            format!("{stores} 里 {all} 个策略中有 {held} 个可靠"),
        )
    });
    let counts = counts.collect::<Vec<_>>().join(language.of(", ", "，"));
    language.of(
        format!("Under a crash and a pause longer than the lease, {counts}."),
        format!("在崩溃和超过租约的停顿之下，{counts}。"),
    )
}

fn useless(choices: &[Choice], language: Language) -> String {
    let useless = choices.iter().flat_map(|choice| &choice.useless).map(|slow| {
        let (name, sales) = (code(&slow.strategy), whole(slow.sales_per_s));
        language.of(
            format!("{name} holds as well and is useless: {sales} sales/s, less than a hundredth of the fastest."),
            format!("{name} 也可靠，但没有实用价值：每秒只成交 {sales} 笔，不到最快者的百分之一。"),
        )
    });
    useless.collect::<Vec<_>>().join(language.of(" ", ""))
}
