//! The pages of the workshop: each is whole, short, true to the code, and the same in both languages.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use workshop::{Lab, Language, Progress, State, all, slides};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/workshop")
}

fn file(lab: &Lab, language: Language) -> PathBuf {
    let folder = language.of(folder(), folder().join("zh-CN"));
    folder.join(format!("{}.md", lab.name))
}

fn page(lab: &Lab, language: Language) -> String {
    fs::read_to_string(file(lab, language)).unwrap()
}

/// Returns the code blocks of a page.
fn code(page: &str) -> Vec<String> {
    let blocks = page.split("\n```").skip(1).step_by(2);
    blocks
        .map(|block| block.split_once('\n').unwrap().1.to_owned())
        .collect()
}

/// Returns what the links and pictures of a page lead to.
fn links(page: &str) -> Vec<String> {
    let links = page.split("](").skip(1);
    links.map(|link| link.split_once(')').unwrap().0.to_owned()).collect()
}

#[test]
fn every_page_of_the_folder_is_in_the_list() {
    let listed: BTreeSet<String> = all().unwrap().iter().map(|lab| format!("{}.md", lab.name)).collect();
    for folder in [folder(), folder().join("zh-CN")] {
        let files = fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap());
        let pages: BTreeSet<String> = files
            .filter(|name| name.starts_with(|first: char| first.is_ascii_digit()))
            .collect();
        assert_eq!(pages, listed);
    }
    let numbers: Vec<_> = all().unwrap().iter().map(|lab| lab.number).collect();
    assert_eq!(numbers, (1..=listed.len()).collect::<Vec<_>>());
}

#[test]
fn a_situation_has_at_most_sixty_words_and_a_path_is_as_long_as_it_says() {
    for lab in all().unwrap() {
        let situation = &lab.page(Language::English).situation;
        let words = situation.split_whitespace().count();
        assert!(words <= 60, "{} has {words} words", lab.name);
        assert!((8..=15).contains(&lab.settings.minutes), "{}", lab.name);
    }
    let minutes = |is_in: fn(&&Lab) -> bool| {
        all()
            .unwrap()
            .iter()
            .filter(is_in)
            .map(|lab| lab.settings.minutes)
            .sum::<u32>()
    };
    assert_eq!(minutes(|_| true), 4 * 60);
    assert_eq!(minutes(|lab| lab.settings.is_short), 90);
}

#[test]
fn quoted_code_stands_in_the_file_that_the_page_names() {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for lab in all().unwrap() {
        let shown = format!("\n{}", lab.page(Language::English).code);
        for part in shown.split("\n[").skip(1) {
            let link = part.split_once("](").unwrap().1.split_once(')').unwrap().0;
            let source = plain(&fs::read_to_string(folder().join(link)).unwrap());
            for block in code(part) {
                assert!(
                    source.contains(&plain(&block)),
                    "{}: {link} has no longer\n{block}",
                    lab.name
                );
            }
        }
    }
}

#[test]
fn the_commands_of_a_page_are_those_that_the_program_calls() {
    for lab in all().unwrap() {
        let run = &lab.page(Language::English).run;
        if let Some(play) = &lab.settings.play {
            let command = format!(
                "cargo run --release -- run {}\n",
                play.options(&play.strategies()).join(" ")
            );
            assert!(run.contains(&command), "{}: {command}", lab.name);
        }
        if let Some(schedule) = &lab.settings.schedule {
            let command = format!(
                "cargo run --release -- explore {} --step\n",
                schedule.arguments().join(" ")
            );
            assert!(run.contains(&command), "{}: {command}", lab.name);
        }
    }
}

#[test]
fn a_chinese_page_is_as_new_as_the_english_one_and_has_the_same_code() {
    for lab in all().unwrap() {
        let (english, chinese) = (page(lab, Language::English), page(lab, Language::Chinese));
        let digest = Sha256::digest(english.as_bytes());
        let digest: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        assert!(
            chinese.starts_with(&format!("<!--\nof = \"{digest}\"\n-->\n")),
            "{} is older than the English page: bring it up to date, and then write of = \"{digest}\" into it",
            file(lab, Language::Chinese).display()
        );
        assert_eq!(code(&english), code(&chinese), "{}", lab.name);
    }
}

#[test]
fn links_lead_to_files() {
    for lab in all().unwrap() {
        for language in Language::ALL {
            let file = file(lab, language);
            for link in links(&page(lab, language)) {
                assert!(
                    file.parent().unwrap().join(&link).exists(),
                    "{}: {link}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn the_right_answers_are_spread_over_the_letters() {
    for letter in ['a', 'b', 'c', 'd'] {
        let right = all().unwrap().iter().filter(|lab| lab.settings.right == letter).count();
        assert!(right * 2 < all().unwrap().len(), "{letter} is right {right} times");
    }
}

#[test]
fn slides_show_every_lab_and_ask_no_server() {
    for language in Language::ALL {
        let page = slides(all().unwrap(), language);
        for lab in all().unwrap() {
            let title = &lab.page(language).title;
            assert!(page.contains(&format!(" {title}</h2>")), "{title}");
        }
        let addresses = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!addresses.contains("http://") && !addresses.contains("https://"));
        assert!(!page.contains("<img"), "a picture would have to be beside the page");
        assert_eq!(page.matches("<svg").count(), 2);
    }
}

#[test]
fn progress_is_kept_in_a_file_and_forgotten_for_one_lab_or_all() {
    let folder = tempfile::tempdir().unwrap();
    let read = || Progress::read(folder.path()).unwrap();
    let state = State {
        predicted: Some('b'),
        ..State::default()
    };
    for lab in ["01-no-lock", "02-two-instances"] {
        read().keep(lab, state.clone()).unwrap();
    }
    assert_eq!(read().of("01-no-lock").predicted, Some('b'));
    read().forget(Some("01-no-lock")).unwrap();
    assert_eq!(read().of("01-no-lock").predicted, None);
    assert_eq!(read().of("02-two-instances").predicted, Some('b'));
    read().forget(None).unwrap();
    assert_eq!(read().of("02-two-instances").predicted, None);
}

#[test]
fn progress_that_cannot_be_read_is_named_and_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("progress.json");
    fs::write(&file, "{").unwrap();
    let error = format!("{:#}", Progress::read(folder.path()).unwrap_err());
    assert!(error.contains("progress.json"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{");
}
