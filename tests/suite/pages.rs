//! The pages for people: each says its kind and is in the index, every link and every named command exists, and every
//! command line that they show runs.

mod commands;
mod inline;
mod links;
mod page;
mod world;

use std::collections::BTreeMap;
use std::path::Path;

use self::page::{Page, pages};

const INDEX: &str = "docs/README.md";
const KINDS: [&str; 3] = ["Guide", "Concept", "Reference"];
/// What a newcomer reads within minutes.
const LONGEST_README: usize = 9_000;
const LANGUAGES: [&str; 9] = ["sh", "console", "text", "toml", "json", "yaml", "python", "markdown", "xml"];
/// The pages with sessions, which `readme` compares with what the program prints.
const SESSIONS: [&str; 2] = ["README.md", "docs/tour.md"];

/// Returns the kind that the paragraph below a page's title says, if it says one as it should.
fn kind(page: &Page) -> Option<&str> {
    let mut paragraphs = page.text.split("\n\n");
    paragraphs.next().filter(|title| title.starts_with("# "))?;
    let (kind, sentence) = paragraphs.next()?.strip_prefix('*')?.split_once(":* ")?;
    // A concept answers a question.
    let is_sentence = sentence.len() > 10 && sentence.ends_with(['.', '?']);
    (KINDS.contains(&kind) && is_sentence).then_some(kind)
}

/// Returns the pages in the tables of the index, with the heading above each.
fn listed(index: &Page) -> Vec<(String, String)> {
    let mut heading = "";
    let mut listed = Vec::new();
    for (_, line) in index.prose() {
        heading = line.strip_prefix("## ").unwrap_or(heading);
        let targets = links::targets(line).into_iter().filter(|_| line.starts_with('|'));
        listed.extend(targets.map(|target| (format!("docs/{target}"), heading.to_owned())));
    }
    listed
}

#[test]
fn each_page_says_its_kind_and_is_in_the_index_once_below_that_kind() {
    let pages = pages();
    let index = pages.iter().find(|page| page.path == INDEX).expect("there is an index");
    let mut listed_under = BTreeMap::<String, Vec<String>>::new();
    for (path, heading) in listed(index) {
        listed_under.entry(path).or_default().push(heading);
    }
    let mut wrong = Vec::new();
    for page in pages.iter().filter(|page| page.path.starts_with("docs/")) {
        let Some(kind) = kind(page) else {
            wrong.push(format!("{}: no line `*Guide:* ...` below the title", page.path));
            continue;
        };
        let headings = listed_under.remove(&page.path).unwrap_or_default();
        let is_right = match headings.as_slice() {
            [] => page.path == INDEX,
            [heading] => heading.starts_with(kind) || heading == "Coming from elsewhere",
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{}, a {kind}, is in {INDEX} under {headings:?}", page.path));
        }
    }
    // What is left are links to other things, such as the folder of schemas.
    wrong.extend(
        listed_under.keys().filter(|path| has_end(path, "md")).map(|path| format!("{path} is no page")),
    );
    assert_eq!(wrong, [""; 0], "{wrong:#?}");
}

fn has_end(path: &str, end: &str) -> bool {
    Path::new(path).extension().is_some_and(|own| own == end)
}

#[test]
fn the_readme_is_short() {
    let length = page::read("README.md").text.len();
    assert!(length <= LONGEST_README, "README.md has {length} bytes");
}

#[test]
fn fences_say_what_they_hold() {
    let mut wrong = Vec::new();
    for page in pages().iter().filter(|page| page.path == "README.md" || page.path.starts_with("docs/")) {
        for fence in &page.fences {
            let mut complain = |line: usize, what: &str| wrong.push(format!("{}:{line}: {what}", page.path));
            let language = fence.language();
            match language {
                _ if !language.is_empty() && !LANGUAGES.contains(&language) => {
                    complain(fence.line, "a fence of an unknown language");
                }
                "console" if !SESSIONS.contains(&page.path.as_str()) => complain(fence.line, "a session"),
                "console" if !fence.lines.first().is_some_and(|(_, line)| line.starts_with("$ ")) => {
                    complain(fence.line, "a session begins with a command");
                }
                _ => {}
            }
            for (number, line) in &fence.lines {
                let line = line.trim_start();
                if language.is_empty() && commands::is_command(line.trim_start_matches("$ ")) {
                    complain(*number, "a command in a fence without a language");
                }
                if language == "sh" && line.starts_with("$ ") {
                    complain(*number, "a prompt in a fence of commands");
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0], "{wrong:#?}");
}

#[test]
fn every_link_and_every_anchor_exists() {
    let wrong = links::broken(&pages());
    assert_eq!(wrong, [""; 0], "{wrong:#?}");
}

#[test]
fn every_command_and_flag_that_a_page_names_exists() {
    let wrong = inline::unknown(&pages());
    assert_eq!(wrong, [""; 0], "{wrong:#?}");
}

#[test]
fn every_command_line_that_a_page_shows_runs() {
    let wrong = commands::failing(&pages());
    assert_eq!(wrong, [""; 0], "{wrong:#?}");
}
