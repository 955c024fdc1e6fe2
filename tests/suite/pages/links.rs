//! Links between pages: their files and anchors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::page::{Page, read, root};

/// The anchors of pages by their paths.
type Anchors = BTreeMap<String, BTreeSet<String>>;

/// Returns the broken links of all pages, each with its place.
pub(super) fn broken(pages: &[Page]) -> Vec<String> {
    let mut known: Anchors = pages.iter().map(|page| (page.path.clone(), anchors(page))).collect();
    let mut broken = Vec::new();
    for page in pages {
        for (number, line) in page.prose() {
            for target in targets(line) {
                if let Some(why) = fault(page, &target, &mut known) {
                    broken.push(format!("{}:{number}: {target}: {why}", page.path));
                }
            }
        }
    }
    broken
}

/// Returns the targets of the links of a line.
pub(super) fn targets(line: &str) -> Vec<String> {
    static LINK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\]\(<?([^)>\s]+)>?(?: "[^"]*")?\)|^\[[^\]]+\]: (\S+)"#).expect("a pattern")
    });
    let line = without_code(line);
    let found = LINK.captures_iter(&line).filter_map(|link| link.get(1).or(link.get(2)));
    found.map(|target| target.as_str().to_owned()).collect()
}

/// Blanks inline code, in which brackets are no links. A link around code stays one.
fn without_code(line: &str) -> String {
    let parts = line.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { "x".repeat(part.len()) }).collect()
}

fn fault(page: &Page, target: &str, known: &mut Anchors) -> Option<&'static str> {
    if ["https://", "http://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = match path {
        "" => page.path.clone(),
        path => match resolved(&page.path, path) {
            Some(path) => path,
            None => return Some("it leads out of the repository"),
        },
    };
    if !root().join(&path).exists() {
        return Some("it does not exist");
    }
    if anchor.is_empty() {
        return None;
    }
    if Path::new(&path).extension().is_none_or(|end| end != "md") {
        return Some("only pages have headings");
    }
    let headings = known.entry(path.clone()).or_insert_with(|| anchors(&read(&path)));
    (!headings.contains(anchor)).then_some("no such heading")
}

/// Returns the path in the repository that a relative link of a page leads to.
fn resolved(page: &str, link: &str) -> Option<String> {
    let mut path = PathBuf::from(page);
    path.pop();
    for part in Path::new(link).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            _ => return None,
        }
    }
    path.to_str().map(str::to_owned)
}

/// Returns the anchors of a page's headings, as GitHub makes them.
fn anchors(page: &Page) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in page.prose() {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug = slug(title.trim());
        let mut repeated = (1..).map(|number| format!("{slug}-{number}"));
        let mut own = slug.clone();
        while !anchors.insert(own.clone()) {
            own = repeated.next().expect("numbers do not end");
        }
    }
    anchors
}

fn slug(title: &str) -> String {
    static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([^\]]*)\]\([^)]*\)").expect("a pattern"));
    let plain = LINK.replace_all(title, "$1").to_lowercase();
    let kept = plain.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_are_found_outside_of_code_and_lead_to_headings() {
    let line = "[a](b.md#c) `[x](y)` and [`code`](d.md) and [e]( f ) [g](<h.md> \"i\")";
    assert_eq!(targets(line), ["b.md#c", "d.md", "h.md"]);
    assert_eq!(targets("[ref]: ../x.md"), ["../x.md"]);
    for (title, anchor) in [
        ("What `skilltune tune` does", "what-skilltune-tune-does"),
        ("[agents.NAME]", "agentsname"),
        ("A, b: the \u{e4} & c", "a-b-the-\u{e4}--c"),
        ("See [there](x.md)", "see-there"),
    ] {
        assert_eq!(slug(title), anchor);
    }
    assert_eq!(resolved("docs/agents/a.md", "../b.md").as_deref(), Some("docs/b.md"));
    assert_eq!(resolved("README.md", "../b.md"), None);
}
