//! What a stranger's shop wrote, in every report.

use loadtest::audit::Verdict;

use crate::report::{rendered, round, run};

#[test]
fn what_a_stranger_wrote_can_forge_no_cell_and_move_no_cursor() {
    let evil = "x` | holds 5/5 |\n| \u{1b}[2J\u{202e}<b>";
    let mut forged = round(evil, evil, 2);
    forged.family = Some(evil.to_owned());
    (forged.verdict, forged.inconclusive) = (Verdict::Inconclusive, Some(evil.to_owned()));
    let mut forged = run(vec![forged]);
    let on = &mut forged.environment;
    for text in [
        &mut on.redis,
        &mut on.mariadb,
        &mut on.os,
        &mut on.cpu,
        &mut forged.command,
    ] {
        *text = evil.to_owned();
    }
    forged.started_at = evil.to_owned();
    forged.ended_early = Some(evil.to_owned());
    let mut plain = round("lua@redis", "another-threat", 2);
    plain.family = Some("atomic".to_owned());
    let plain = run(vec![plain]);
    let lines = |text: &str| text.lines().filter(|line| line.starts_with('|')).count();
    for (forged, plain) in rendered(&forged).into_iter().zip(rendered(&plain)) {
        assert!(
            forged.chars().all(|c| c == '\n' || c == ' ' || c.is_ascii_graphic()),
            "{forged}"
        );
        assert!(!forged.contains("<b>") || forged.contains("\\<b\\>"), "{forged}");
        assert_eq!(lines(&forged), lines(&plain), "{forged}");
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        for table in forged.split("\n\n").filter(|block| block.starts_with('|')) {
            let heads = bars(table.lines().next().unwrap());
            assert!(table.lines().all(|line| bars(line) == heads), "{table}");
        }
    }
}
