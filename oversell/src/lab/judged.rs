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
        for threat in &play.threats {
            let rounds = run
                .rounds
                .iter()
                .filter(|round| round.strategy == strategy && round.threat == *threat);
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
        round
            .inconclusive
            .as_deref()
            .or(round.why_unplayed())
            .map(str::to_owned)
    });
    let has = |list: &[String]| list.iter().any(|known| known == strategy);
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
                format!("{} {}", language.of("fails:", "失败："), found.join(", ")),
                has(&play.breaks) && is_named,
            )
        }
        None if undecided.is_some() || rounds.is_empty() => {
            let why = undecided.clone().unwrap_or_default();
            (
                format!("{} {why}", language.of("inconclusive:", "无法判定：")),
                has(&play.undecided),
            )
        }
        None => (
            language.of("holds", "可靠").to_owned(),
            !has(&play.breaks) && !has(&play.undecided),
        ),
    };
    Line {
        words: format!("{strategy}, {threat}: {words}"),
        is_as_said,
        undecided: undecided.filter(|_| violated.is_none()),
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
        let play = Play {
            threats: vec!["crowd".to_owned()],
            instances: 1,
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
        round.threat = "crowd".to_owned();
        round.verdict = verdict;
        round.inconclusive = why.map(str::to_owned);
        round.findings = loadtest::audit::Findings::default();
        if verdict == Verdict::Violated {
            round.findings.add(loadtest::audit::Finding::Oversold, 3);
        }
        judged(&play, &run, Language::English).pop().unwrap()
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
}
