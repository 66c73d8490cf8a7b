//! The cost of the strategies that hold: units sold per second, the fastest first.

use super::Chart;
use super::safe_strategies::{SafeStrategy, of_rounds, safe_strategies, strategies};
use super::svg::{Font, INK, RIGHT, Svg};
use crate::report::spread;
use crate::result::RunResult;
use crate::result::cell::Cell;
use crate::text::one_line;

/// Characters of a strategy's name that are shown.
const NAME: usize = 24;

/// Characters of the figures that are shown.
const FIGURES: usize = 22;

/// The begin of the bars and the length of the longest. The figures stand behind each bar.
const BAR_X: i64 = 250;
const BAR_WIDTH: i64 = 92;

/// The distance from one strategy to the next.
const ROW: i64 = 26;

/// Strategies that are shown.
const MOST: usize = 24;

const TITLE: &str = "Sales per second of the strategies that hold";

pub(super) struct Cost;

impl Chart for Cost {
    fn file_name(&self) -> &'static str {
        "cost.svg"
    }

    fn draw(&self, run: &RunResult) -> String {
        let cells = Cell::all(run);
        let found = safe_strategies(&cells);
        let mut svg = Svg::new();
        let top = svg.head(TITLE, &explanation(run, &found, strategies(&cells).len()));
        let shown = &found[..found.len().min(MOST)];
        let longest = shown.iter().map(|safe| safe.sales_per_s.median).fold(1.0, f64::max);
        let mut description = Vec::new();
        for (safe, row) in shown.iter().zip(0..) {
            draw_row(&mut svg, safe, top + row * ROW, longest);
            description.push(format!("{}: {}", safe.strategy, spread(safe.sales_per_s)));
        }
        svg.finish(top + ROW * shown.len() as i64 + 8, TITLE, &description.join("\n"))
    }
}

fn explanation(run: &RunResult, found: &[SafeStrategy<'_>], all: usize) -> Vec<String> {
    let held = format!(
        "{} of {all} strategies hold while their store keeps its data",
        found.len()
    );
    let Some(round) = found.first().and_then(|first| first.cell.rounds.first()) else {
        return vec![format!("{held}.")];
    };
    let on = &run.environment;
    let mut lines = vec![
        format!("{held}."),
        format!("{} buyers at once, {} instances.", round.buyers, round.instances),
        format!("Median [smallest to largest] {}.", of_rounds(found[0].cell)),
        format!("{} x {}, {}", on.cpus, one_line(&on.cpu, 32), day(&run.started_at)),
    ];
    if found.len() > MOST {
        lines.insert(1, format!("The fastest {MOST} of them are shown."));
    }
    lines
}

fn day(instant: &str) -> String {
    one_line(instant.split('T').next().unwrap_or_default(), 10)
}

fn draw_row(svg: &mut Svg, safe: &SafeStrategy<'_>, y: i64, longest: f64) {
    let median = safe.sales_per_s.median;
    let long = (median.max(0.0) / longest * BAR_WIDTH as f64).round() as i64;
    let line = y + 14;
    svg.text((16, line), Font::Name, INK, &one_line(safe.strategy, NAME));
    svg.bar((BAR_X, y), (long.max(1), 18), RIGHT);
    svg.text(
        (BAR_X + long + 8, line),
        Font::Plain,
        INK,
        &one_line(&spread(safe.sales_per_s), FIGURES),
    );
}
