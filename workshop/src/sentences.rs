//! What a lab prints, in Chinese: a table of sentences.

/// English and Chinese, one sentence in a line.
const TABLE: &str = include_str!("sentences.txt");

/// A place for any text in an English sentence.
const HOLE: &str = "{}";

/// Returns an English sentence in Chinese, with the texts in its holes. A list is translated item by item, and a text without a
/// sentence in the table stays as it is, such as a name.
pub(crate) fn in_chinese(text: &str) -> String {
    for (english, chinese) in sentences() {
        if let Some(held) = fitted(english, text) {
            let holes = held.iter().enumerate();
            return holes.fold(chinese.to_owned(), |said, (place, held)| {
                said.replace(&format!("{{{place}}}"), &in_chinese(held))
            });
        }
    }
    match text.split_once(", ") {
        Some((first, rest)) => {
            let (said, more) = (in_chinese(first), in_chinese(rest));
            // A list of names is no sentence.
            let comma = if said == first && more == rest { ", " } else { "，" };
            said + comma + &more
        }
        None => text.to_owned(),
    }
}

/// Returns the sentences of the table, in its order.
fn sentences() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TABLE.lines().filter(|line| !line.starts_with("# "));
    lines.filter_map(|line| line.split_once(" = "))
}

/// Returns the texts in the holes of a sentence, each as short as possible; `None` where the text is another sentence.
fn fitted<'a>(sentence: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut words = sentence.split(HOLE);
    let mut rest = text.strip_prefix(words.next()?)?;
    let mut words = words.peekable();
    let mut holes = Vec::new();
    while let Some(after) = words.next() {
        let (held, more) = match words.peek() {
            Some(_) => rest.split_once(after)?,
            // The last words end the text.
            None => (rest.strip_suffix(after)?, ""),
        };
        // A sentence does not begin in the middle of another one.
        let is_first = holes.is_empty() && sentence.starts_with(HOLE);
        if held.is_empty() || is_first && held.contains([',', ':']) {
            return None;
        }
        holes.push(held);
        rest = more;
    }
    rest.is_empty().then_some(holes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn texts_in_holes_are_translated_and_names_stay() {
        for (english, chinese) in [
            ("read: left 41", "read：剩 41"),
            ("write: wrote 40", "write：写入 40"),
            ("A read 1", "A 读到 1"),
            ("2 sold of 1", "1 件卖出了 2 件"),
            ("taken, fence 7, 3 times", "已取得，围栏令牌 7，共 3 次"),
            (
                "## set-px@redis, slow-holder, 2 instances, repeat 1: oversold 4, drift -4",
                "## set-px@redis，slow-holder，2 个实例，第 1 次：超卖 4，账目不符 -4",
            ),
            (
                "app-1 was paused from 129 to 3005 ms",
                "app-1 从 129 到 3005 毫秒被暂停",
            ),
            (
                "none@redis: 2 purchases at one instance, 1 unit, at most 2 preemptions and at most 0 events",
                "none@redis：2 次购买，一个实例，1 件，最多 2 次抢占，最多 0 个事件",
            ),
            ("app-1, app-2", "app-1, app-2"),
            ("set-nx", "set-nx"),
        ] {
            assert_eq!(in_chinese(english), chinese);
        }
    }

    #[test]
    fn every_line_is_a_sentence_whose_chinese_has_the_same_holes_and_that_no_earlier_line_hides() {
        let mut seen = BTreeSet::new();
        let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
        assert_eq!(lines.count(), sentences().count(), "a line is no sentence");
        for (english, chinese) in sentences() {
            assert!(seen.insert(english), "{english} stands there twice");
            assert!(chinese.chars().any(|c| c > '\u{2000}'), "{english}");
            let holes = english.matches(HOLE).count();
            for place in 0..=holes {
                let is_there = chinese.contains(&format!("{{{place}}}"));
                assert_eq!(is_there, place < holes, "{english}");
            }
            let example = english.replace(HOLE, "7");
            let first = sentences()
                .find(|(other, _)| fitted(other, &example).is_some())
                .unwrap();
            assert_eq!(first.0, english);
        }
    }
}
