//! What a run of a lab showed, beside what the lab says.

use loadtest::audit::Verdict;
use loadtest::result::{RoundResult, RunResult};
use workshop::{Language, Play, Slower};

/// One line of a lab: what a strategy did.
pub struct Line {
    /// The line, for the learner.
    pub words: String,
    /// Whether the lab says so.
    pub is_as_said: bool,
    /// Why nothing follows, if nothing does.
    pub undecided: Option<String>,
}

/// Returns a line for each strategy and threat of a lab.
pub fn judged(play: &Play, run: &RunResult, language: Language) -> Vec<Line> {
    let mut lines = Vec::new();
    for strategy in play.strategies() {
        for threat in play.all_threats() {
            let rounds = run
                .rounds
                .iter()
                .filter(|round| round.strategy == strategy && round.threat == threat);
            let rounds: Vec<&RoundResult> = rounds.collect();
            lines.push(of(play, (strategy, threat), &rounds, language));
        }
    }
    lines.extend(play.slower.iter().map(|slower| slower_line(slower, run, language)));
    lines
}

fn of(play: &Play, (strategy, threat): (&str, &str), rounds: &[&RoundResult], language: Language) -> Line {
    let violated = rounds.iter().find(|round| round.verdict == Verdict::Violated);
    let undecided = rounds.iter().find_map(|round| {
        let why = round.inconclusive.as_deref().or(round.why_unplayed());
        why.map(str::to_owned)
    });
    let is_survived = play.survived.iter().any(|survived| survived == threat);
    let has = |list: &[String]| !is_survived && list.iter().any(|known| known == strategy);
    let (words, is_as_said) = match violated {
        Some(round) => {
            let found: Vec<_> = round.findings.found().collect();
            let is_named = found
                .iter()
                .any(|(finding, _)| Some(finding.name()) == play.finds.as_deref());
            let found: Vec<_> = found
                .iter()
                .map(|(finding, size)| format!("{} {size}", finding.name()))
                .collect();
            (
                format!(
                    "{} {}",
                    language.of("fails:", "失败："),
                    language.say(&found.join(", "))
                ),
                has(&play.breaks) && is_named,
            )
        }
        None if undecided.is_some() || rounds.is_empty() => {
            let why = language.say(&undecided.clone().unwrap_or_default());
            (
                format!("{} {why}", language.of("inconclusive:", "无法判定：")),
                has(&play.undecided),
            )
        }
        None => {
            let unheard = rounds.iter().map(|round| round.facts.explained).sum();
            (held(unheard, language), !has(&play.breaks) && !has(&play.undecided))
        }
    };
    Line {
        words: format!("{strategy}, {threat}: {words}"),
        is_as_said,
        undecided: undecided.filter(|_| violated.is_none()).map(|why| language.say(&why)),
    }
}

/// Returns the words for a strategy that holds, with the units that are recorded for buyers that got no answer.
fn held(unheard: i64, language: Language) -> String {
    match (unheard, language) {
        (0, _) => language.of("holds", "可靠").to_owned(),
        (_, Language::English) => format!("holds, and {unheard} recorded for buyers that were told nothing"),
        (_, Language::Chinese) => format!("可靠，其中 {unheard} 件已有订单，而买家没有得到答复"),
    }
}

fn slower_line(slower: &Slower, run: &RunResult, language: Language) -> Line {
    let of = |strategy: &str| {
        let rounds = run.rounds.iter().filter(|round| round.strategy == strategy);
        let mut speeds: Vec<f64> = rounds.map(|round| round.sales_per_s).collect();
        speeds.sort_by(f64::total_cmp);
        speeds.get(speeds.len() / 2).copied().unwrap_or_default()
    };
    let (slow, fast) = (of(&slower.strategy), of(&slower.than));
    let times = if slow > 0.0 { fast / slow } else { 0.0 };
    let Slower { strategy, than, .. } = slower;
    Line {
        words: match language {
            Language::English => format!("{than} sells {times:.1} times as much in a second as {strategy}"),
            Language::Chinese => format!("{than} 每秒成交的件数是 {strategy} 的 {times:.1} 倍"),
        },
        is_as_said: times >= slower.times,
        undecided: None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;

    const RESULT: &[u8] = include_bytes!("../../../loadtest/tests/judging/expected/result.json");

    /// Returns what a lab says, whose strategy is to fail, of a run with this verdict.
    fn line(verdict: Verdict, why: Option<&str>) -> Line {
        line_under("crowd", verdict, why)
    }

    /// Returns the same of a run with one round, under this threat.
    fn line_under(threat: &str, verdict: Verdict, why: Option<&str>) -> Line {
        let play = Play {
            threats: vec!["crowd".to_owned()],
            instances: 1,
            survived: vec!["buyer-gone".to_owned()],
            breaks: vec!["none@redis".to_owned()],
            finds: Some("oversold".to_owned()),
            holds: Vec::new(),
            undecided: Vec::new(),
            slower: None,
            items: None,
            buyers: None,
        };
        let mut run = RunResult::parse(RESULT).unwrap();
        run.rounds.truncate(1);
        let round = &mut run.rounds[0];
        round.strategy = "none@redis".to_owned();
        round.threat = threat.to_owned();
        round.facts.explained = 2;
        round.verdict = verdict;
        round.inconclusive = why.map(str::to_owned);
        round.findings = loadtest::audit::Findings::default();
        if verdict == Verdict::Violated {
            round.findings.add(loadtest::audit::Finding::Oversold, 3);
        }
        let mut lines = judged(&play, &run, Language::English);
        lines.retain(|line| line.words.contains(&format!("{threat}: ")));
        lines.pop().unwrap()
    }

    #[test]
    fn a_round_in_which_nobody_contended_is_inconclusive_and_says_why() {
        let line = line(Verdict::Inconclusive, Some("no two purchases met"));
        assert!(!line.is_as_said);
        assert_eq!(line.undecided.as_deref(), Some("no two purchases met"));
        assert!(
            line.words.contains("inconclusive: no two purchases met"),
            "{}",
            line.words
        );
    }

    #[test]
    fn a_strategy_that_was_to_fail_and_holds_is_not_as_the_lab_says() {
        assert!(line(Verdict::Violated, None).is_as_said);
        let holds = line(Verdict::Holds, None);
        assert!(!holds.is_as_said && holds.undecided.is_none());
    }

    #[test]
    fn a_strategy_survives_the_further_threats_and_what_nobody_was_told_of_is_counted() {
        let holds = line_under("buyer-gone", Verdict::Holds, None);
        assert!(holds.is_as_said);
        assert!(
            holds
                .words
                .ends_with("holds, and 2 recorded for buyers that were told nothing"),
            "{}",
            holds.words
        );
        assert!(!line_under("buyer-gone", Verdict::Violated, None).is_as_said);
    }

    /// Returns what a lab says, whose strategy `slow` is to sell at half the speed of `fast` or less, of the speeds of rounds.
    fn speeds(slow: &[f64], fast: &[f64]) -> Line {
        let mut run = RunResult::parse(RESULT).unwrap();
        let round = run.rounds.swap_remove(0);
        let of = |strategy: &str, speeds: &[f64]| {
            let rounds = speeds.iter().map(|speed| RoundResult {
                strategy: strategy.to_owned(),
                sales_per_s: *speed,
                ..round.clone()
            });
            rounds.collect::<Vec<_>>()
        };
        run.rounds = [of("slow", slow), of("fast", fast)].concat();
        let slower = Slower {
            strategy: "slow".to_owned(),
            than: "fast".to_owned(),
            times: 2.0,
        };
        slower_line(&slower, &run, Language::English)
    }

    #[test]
    fn the_medians_of_two_speeds_are_compared_with_what_the_lab_says() {
        let line = speeds(&[90.0, 10.0, 20.0], &[50.0, 1.0, 60.0]);
        assert_eq!(line.words, "fast sells 2.5 times as much in a second as slow");
        assert!(line.is_as_said);
        assert!(!speeds(&[20.0], &[39.0]).is_as_said);
        assert!(!speeds(&[], &[39.0]).is_as_said, "no round of one of them");
    }
}
