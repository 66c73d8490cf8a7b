//! Units oversold, by number of instances, for three strategies: one that oversells on one instance, one that oversells
//! only on several, and the fastest one that holds.

use super::Chart;
use super::safe_strategies::{of_rounds, safe_strategies, strategies};
use super::svg::{Font, INK, RIGHT, Svg, WIDTH, WRONG};
use crate::audit::Finding;
use crate::result::RunResult;
use crate::result::cell::{COST_UNDER, Cell, Spread};
use crate::text::one_line;

/// Characters of a strategy's name that are shown: three names stand side by side.
const NAME: usize = 17;

/// The height of a bar that shows the most units that can be oversold.
const HIGHEST: i64 = 160;

/// Numbers of instances that are shown.
const MOST: usize = 4;

const TITLE: &str = "Units oversold, by number of instances";

pub(super) struct Oversold;

impl Chart for Oversold {
    fn file_name(&self) -> &'static str {
        "oversold.svg"
    }

    fn draw(&self, run: &RunResult) -> String {
        let cells = Cell::all(run);
        let mut svg = Svg::new();
        let Some(crowds) = Crowds::of(&cells) else {
            let height = svg.head(TITLE, &["Nothing was tried with many buyers at once.".to_owned()]);
            return svg.finish(height, TITLE, "");
        };
        let top = svg.head(TITLE, &crowds.explanation());
        let ground = top + 24 + HIGHEST;
        let shown = crowds.examples(&cells);
        let mut description = Vec::new();
        for (strategy, place) in shown.iter().zip(0..) {
            let width = (WIDTH - 32) / 3;
            let bars = crowds.bars(strategy);
            draw_group(
                &mut svg,
                strategy,
                &bars,
                (16 + place * width, width),
                ground,
                crowds.most,
            );
            for (instances, units) in bars {
                let units = units.map_or("not tried".to_owned(), |units| units.median.round().to_string());
                description.push(format!("{strategy}, {instances} instances: {units}"));
            }
        }
        svg.finish(ground + 64, TITLE, &description.join("\n"))
    }
}

/// The trials with many buyers at once and without a fault.
struct Crowds<'a> {
    cells: Vec<&'a Cell<'a>>,
    /// Numbers of instances, ascending.
    counts: Vec<usize>,
    /// The most units that can be oversold, or were.
    most: f64,
}

impl<'a> Crowds<'a> {
    fn of(cells: &'a [Cell<'a>]) -> Option<Self> {
        let is_crowd = |cell: &&Cell| ["crowd", COST_UNDER].contains(&cell.threat) && !cell.rounds.is_empty();
        let cells: Vec<&Cell> = cells.iter().filter(is_crowd).collect();
        let round = cells.first()?.rounds.first()?;
        let mut counts: Vec<usize> = cells.iter().map(|cell| cell.instances).collect();
        counts.sort_unstable();
        counts.dedup();
        counts.truncate(MOST);
        let found = cells.iter().filter_map(|cell| Some(oversold(cell)?.max));
        let most = found.fold(round.demand.saturating_sub(round.all_stock()).max(1) as f64, f64::max);
        Some(Self { cells, counts, most })
    }

    fn bars(&self, strategy: &str) -> Vec<(usize, Option<Spread>)> {
        let of = |count: usize| {
            let mut cells = self.cells.iter();
            oversold(cells.find(|cell| (cell.strategy, cell.instances) == (strategy, count))?)
        };
        self.counts.iter().map(|count| (*count, of(*count))).collect()
    }

    fn examples(&self, cells: &'a [Cell<'a>]) -> Vec<&'a str> {
        let sells_too_much = |strategy: &str, bars: std::ops::Range<usize>| {
            self.bars(strategy)[bars]
                .iter()
                .any(|(_, units)| units.is_some_and(|units| units.max > 0.0))
        };
        let (all, last) = (strategies(cells), self.counts.len());
        let at_once = all.iter().find(|strategy| sells_too_much(strategy, 0..1));
        let later = all
            .iter()
            .find(|strategy| !sells_too_much(strategy, 0..1) && sells_too_much(strategy, 1..last));
        let never = safe_strategies(cells).first().map(|first| first.strategy);
        at_once.into_iter().chain(later).copied().chain(never).collect()
    }

    fn explanation(&self) -> Vec<String> {
        let first = self.cells[0].rounds[0];
        let (buyers, demand, stock) = (first.buyers, first.demand, first.stock_in_words());
        vec![
            format!("{buyers} buyers at once ask for {demand} of {stock} units."),
            format!(
                "Median {} (line: smallest to largest); 0 is right.",
                of_rounds(self.cells[0])
            ),
        ]
    }
}

fn oversold(cell: &Cell) -> Option<Spread> {
    let sizes = cell.rounds.iter().map(|round| round.findings.of(Finding::Oversold));
    Spread::of(sizes.map(|size| size.max(0) as f64))
}

/// Draws the bars of one strategy between `x` and `x + width`, upwards from the line `ground`.
fn draw_group(
    svg: &mut Svg,
    strategy: &str,
    bars: &[(usize, Option<Spread>)],
    (x, width): (i64, i64),
    ground: i64,
    most: f64,
) {
    let high = |units: f64| (units / most * HIGHEST as f64).round() as i64;
    let (inner, step) = (width - 24, (width - 24) / bars.len() as i64);
    for ((instances, units), place) in bars.iter().zip(0..) {
        let middle = x + 12 + step * place + step / 2;
        svg.centred((middle, ground + 20), Font::Plain, INK, &instances.to_string());
        let Some(Spread { median, min, max }) = *units else {
            svg.centred((middle, ground - 8), Font::Plain, INK, "-");
            continue;
        };
        svg.bar(
            (middle - step / 2 + 4, ground - high(median)),
            (step - 8, high(median)),
            WRONG,
        );
        if min < max {
            svg.line((middle, ground - high(min)), (middle, ground - high(max)), INK);
        }
        let colour = if max > 0.0 { WRONG } else { RIGHT };
        let value = one_line(&median.round().to_string(), 5);
        svg.centred((middle, ground - high(max) - 8), Font::Value, colour, &value);
    }
    svg.line((x + 12, ground), (x + 12 + inner, ground), INK);
    let name = one_line(strategy, NAME);
    svg.centred((x + width / 2, ground + 44), Font::Name, INK, &name);
}
