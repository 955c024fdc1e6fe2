//! What holds of every page of every run: it shows all that `report.json` has, asks for nothing, fits every window,
//! and needs no JavaScript.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skilltune_worlds::tier::Tier;

use super::chromium::{Chromium, Scheme};

pub(super) const REPORT: &str = "report.html";
/// The most bytes of the page of a run.
pub(super) const LARGEST: u64 = 2_000_000;
pub(super) const NARROW: u32 = 360;
pub(super) const WIDE: u32 = 1440;
/// The width of a sheet of paper.
const PAPER: u32 = 794;
pub(super) const HEIGHT: u32 = 900;
/// Of more pages of scenarios in one run, only the text is read.
const OPENED: usize = 1;
/// What a program writes in place of a value that it does not have.
const NO_VALUES: [&str; 4] = ["NaN", "undefined", "null", "Infinity"];

/// Reads a page with the functions of `page.js`.
pub(super) fn script(call: &str) -> String {
    format!("({}\n).{call}", include_str!("page.js").trim_end())
}

/// A browser with axe-core, if that is installed, and the faults of all pages.
pub(super) struct Look {
    pub(super) chromium: Chromium,
    axe: Option<String>,
    pub(super) faults: Vec<String>,
    /// The kinds of runs whose pages were looked at closely, which takes most of the time.
    kinds: BTreeSet<String>,
    shots: Option<PathBuf>,
}

impl Look {
    /// Returns none if no browser is installed.
    pub(super) fn new() -> Option<Self> {
        let chromium = Chromium::start()?;
        let axe =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/axe/node_modules/axe-core/axe.min.js");
        let axe = fs::read_to_string(axe).ok();
        let shots = std::env::var_os("SKILLTUNE_SHOTS").map(PathBuf::from);
        Some(Self { chromium, axe, faults: Vec::new(), kinds: BTreeSet::new(), shots })
    }

    /// Checks all pages of a run in its folder.
    pub(super) fn check_run(&mut self, name: &str, folder: &Path) {
        let report: Value = serde_json::from_slice(&fs::read(folder.join("report.json")).unwrap()).unwrap();
        let data = data_pages(folder);
        let kind = name.split('-').next().unwrap_or(name);
        let closely = self.kinds.insert(kind.to_owned()) || Tier::of_this_run() == Tier::All;
        let mut texts = self.check_page(name, folder, REPORT, closely);
        self.check_unknown(name, folder, &report);
        for (nth, page) in data.iter().enumerate() {
            texts.push(' ');
            texts += &match nth {
                0..OPENED => self.check_page(name, folder, page, closely && nth == 0),
                _ => bare(&fs::read_to_string(folder.join(page)).unwrap()),
            };
        }
        self.note(name, missing(&report, &texts));
        let linked = fs::read_to_string(folder.join(REPORT)).unwrap_or_default();
        let unlinked = data.iter().filter(|page| !linked.contains(&format!("href=\"{page}\"")));
        self.note(name, unlinked.map(|page| format!("{REPORT} has no link to {page}")));
        self.keep_shots(name, folder);
    }

    /// Checks that an unknown cost is no 0, and that a verdict without a winner looks like no loss.
    fn check_unknown(&mut self, name: &str, folder: &Path, report: &Value) {
        self.chromium.open(folder, REPORT);
        let rows = self.chromium.evaluate(&script("costs()"));
        let costs = report["costs"].as_array().into_iter().flatten().zip(rows.as_array().unwrap());
        let is_wrong = |(cost, row): &(&Value, &Value)| {
            let is_unknown = cost["usd"] == 0.0 && cost["unpriced"].as_u64() > Some(0);
            is_unknown && !row.as_str().is_some_and(|row| row.contains("unknown"))
        };
        let wrong = costs.filter(is_wrong).map(|(_, row)| format!("a row hides an unknown cost: {row}"));
        self.note(name, wrong);
        let has_no_winner = ["indecisive", "tie", "unjudged"].iter().any(|word| report["verdict"] == *word);
        let is_bad = has_no_winner && self.chromium.evaluate(&script("isBad()")) == true;
        self.note(name, is_bad.then(|| format!("the verdict {} looks like a loss", report["verdict"])));
    }

    /// Checks one page and returns its text. Only a page that is checked `closely` meets axe-core, and is read without
    /// JavaScript.
    pub(super) fn check_page(&mut self, name: &str, folder: &Path, file: &str, closely: bool) -> String {
        let at = format!("{name}: {file}");
        let Ok(meta) = fs::metadata(folder.join(file)) else {
            self.note(&at, ["it is not there".to_owned()]);
            return String::new();
        };
        if meta.len() > LARGEST {
            self.note(&at, [format!("it has {} bytes", meta.len())]);
        }
        self.chromium.resize(WIDE, HEIGHT);
        self.chromium.show(Scheme::Light, "screen");
        self.chromium.open(folder, file);
        let (all, plain) = (self.read("all()"), self.read("plain()"));
        let seen = self.read("seen()");
        let words = seen.split(|c: char| !c.is_alphanumeric() && c != '_');
        let found: BTreeSet<&str> = words.filter(|word| NO_VALUES.contains(word)).collect();
        self.note(&at, found.into_iter().map(|word| format!("it shows {word}")));
        let dangers = self.read("dangers()");
        self.note(&at, (!dangers.is_empty()).then(|| format!("it has {dangers}")));
        if closely {
            self.measure_access(&at);
        }
        self.chromium.evaluate(&script("unfold()"));
        for (width, media) in [(WIDE, "screen"), (PAPER, "print"), (NARROW, "screen")] {
            self.chromium.resize(width, HEIGHT);
            self.chromium.show(Scheme::Light, media);
            let wide = self.read("wide()");
            self.note(&at, (!wide.is_empty()).then(|| format!("it is {wide} ({media})")));
        }
        if closely {
            self.chromium.run_scripts(false);
            self.chromium.open(folder, file);
            let bare = self.read("plain()");
            self.chromium.run_scripts(true);
            self.chromium.open(folder, file);
            self.read("use(\"score\")");
            let [with, without] = [&plain, &bare].map(|text| counted(text));
            self.note(&at, (with != without).then(|| differing(&with, &without)));
        }
        let faults = self.chromium.take_faults();
        self.note(&at, faults);
        all
    }

    /// Lets axe-core look at the page in both colour schemes; the second time it looks only at colours.
    fn measure_access(&mut self, at: &str) {
        let Some(axe) = &self.axe else { return };
        self.chromium.evaluate(&format!("{axe}; 0"));
        for (scheme, rules) in [(Scheme::Light, "[]"), (Scheme::Dark, "[\"color-contrast\"]")] {
            self.chromium.show(scheme, "screen");
            let violations = self.chromium.evaluate(&script(&format!("violations({rules})")));
            let violations = violations.as_array().unwrap().iter().map(|one| format!("{scheme:?}: {one}"));
            self.note(at, violations.collect::<Vec<_>>());
        }
    }

    /// Returns a text of the open page.
    pub(super) fn read(&mut self, call: &str) -> String {
        self.chromium.text(&script(call))
    }

    pub(super) fn note(&mut self, at: &str, faults: impl IntoIterator<Item = String>) {
        self.faults.extend(faults.into_iter().map(|fault| format!("{at}: {fault}")));
    }

    /// Writes screenshots for a person into the folder `SKILLTUNE_SHOTS`.
    pub(super) fn keep_shots(&mut self, name: &str, folder: &Path) {
        let Some(shots) = self.shots.clone() else { return };
        fs::create_dir_all(&shots).unwrap();
        let pages = std::iter::once(REPORT.to_owned()).chain(data_pages(folder).into_iter().take(1));
        for page in pages {
            let stem = page.rsplit(['/', '.']).nth(1).unwrap_or_default().to_owned();
            for (kind, width, scheme) in [
                ("wide", WIDE, Scheme::Light),
                ("dark", WIDE, Scheme::Dark),
                ("narrow", NARROW, Scheme::Light),
            ] {
                self.chromium.resize(width, HEIGHT);
                self.chromium.show(scheme, "screen");
                self.chromium.open(folder, &page);
                let picture = self.chromium.screenshot();
                fs::write(shots.join(format!("{name}-{stem}-{kind}.png")), picture).unwrap();
            }
        }
    }

    /// Fails if a page has a fault.
    pub(super) fn finish(self) {
        assert!(self.faults.is_empty(), "{} faults:\n{}", self.faults.len(), self.faults.join("\n"));
    }
}

/// Returns the paths of the pages of the scenarios, relative to the folder of the run.
pub(super) fn data_pages(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.join("data")) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<_> = names.map(|name| format!("data/{name}")).collect();
    pages.sort();
    pages
}

/// Returns the text of a page without its tags.
fn bare(html: &str) -> String {
    let parts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<Vec<_>>().join(" ")
}

/// Returns the figures, verdicts and ids of a report that are not in these texts.
pub(super) fn missing(report: &Value, texts: &str) -> Vec<String> {
    let tokens: BTreeSet<&str> = tokens(texts).collect();
    let mut faults = Vec::new();
    numbers(report, "", &mut |path, number| {
        if !tokens.contains(number) {
            faults.push(format!("no page has {number}, which is {path}"));
        }
    });
    let named = ["verdict", "outcome", "run_id"].map(|key| (key.to_owned(), &report[key]));
    let scenarios = report["scenarios"].as_array().into_iter().flatten();
    let ids = scenarios.map(|one| ("the id of a scenario".to_owned(), &one["id"]));
    let agents = report["agents"].as_object().into_iter().flatten();
    let agents = agents.map(|(role, agent)| (format!("agents.{role}"), agent));
    for (what, text) in named.into_iter().chain(ids).chain(agents) {
        if let Some(text) = text.as_str().filter(|text| !texts.contains(*text)) {
            faults.push(format!("no page has {text:?}, which is {what}"));
        }
    }
    faults
}

/// Calls `see` with the path and the text of each number.
fn numbers(value: &Value, path: &str, see: &mut impl FnMut(&str, &str)) {
    match value {
        Value::Number(number) => see(path, &number.to_string()),
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(nth, one)| numbers(one, &format!("{path}[{nth}]"), see));
        }
        Value::Object(all) => {
            all.iter().for_each(|(key, one)| numbers(one, &format!("{path}.{key}"), see));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Returns the words and numbers of a text, each whole: neither `1,200` nor `2026-11-26` nor `1.5s` is several.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | ':' | '-' | '+' | '_');
    let words = text.split(move |c| !is_part(c));
    words.map(|word| word.trim_start_matches([',', ':', '+']).trim_end_matches(['.', ',', ':', '-']))
}

/// Returns how often each word is on a page.
fn counted(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    text.split_whitespace().for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}

fn differing(with: &BTreeMap<&str, usize>, without: &BTreeMap<&str, usize>) -> String {
    let differs = |word: &&&str| with.get(**word) != without.get(**word);
    let words: BTreeSet<&str> = with.keys().chain(without.keys()).filter(differs).copied().collect();
    format!("without JavaScript it has other words: {:?}", words.into_iter().take(10).collect::<Vec<_>>())
}

#[test]
fn a_figure_counts_only_as_a_whole() {
    let report = serde_json::json!({ "a": [39.6, { "b": -3.5 }], "c": 80.0, "d": 12, "verdict": "win" });
    assert_eq!(missing(&report, "39.6 (-3.5), 80.0. $12; win"), Vec::<String>::new());
    let faults = missing(&report, "139.6 3.5 80 2026-11-12 1,200 12s 39.60 wi");
    let wanted = ["39.6, which is .a[0]", "-3.5, which is .a[1].b", "80.0, which is .c", "12, which is .d"];
    let wanted = wanted.map(|text| format!("no page has {text}"));
    assert_eq!(faults[..4], wanted);
    assert_eq!(faults[4..], ["no page has \"win\", which is verdict"]);
}
