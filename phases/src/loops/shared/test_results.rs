//! How many tests passed and failed, and which ones failed, in the output of test runners.
//!
//! The output is hostile: tests print into it. It is read line by line, in linear time. The counts come from the totals that
//! a runner prints when it ends: without totals, or with totals whose tests were cut off, a run is not counted. So a cut
//! output never looks like fewer tests. Of several runs of one runner the last totals count, and the names of all.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::suites::checks::quote_message;

/// The tests that a runner reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResults {
    pub runner: Runner,
    pub passed: u32,
    /// Tests that could not run are among them.
    pub failed: u32,
    /// Tests that may fail, and those that are not written yet, are among them.
    pub skipped: u32,
    /// Names in order, each once, as far as the runner prints them; a group of tests that fails may have one too. If there
    /// are more than 200, these are the first ones.
    pub failing: Vec<Box<str>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runner {
    #[default]
    Cargo,
    Pytest,
    Go,
    Node,
    Jest,
    Vitest,
    JUnit,
}

const MOST_NAMES: usize = 200;
const LONGEST_NAME: usize = 200;

/// Colours, and whatever else a terminal would not print.
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])?";
    Regex::new(pattern).expect("it is well formed")
});

/// Reads the output of one runner.
type Reader = fn(&str) -> Option<Tally>;

const READERS: [(Runner, Reader); 7] = [
    (Runner::Cargo, cargo),
    (Runner::Pytest, pytest),
    (Runner::Go, go),
    (Runner::Node, node),
    (Runner::Jest, jest),
    (Runner::Vitest, vitest),
    (Runner::JUnit, junit),
];

/// Returns what the first known runner reports; none if the tests are not counted.
pub fn test_results(stdout: &str, stderr: &str) -> Option<TestResults> {
    // Some runners print names to one stream and totals to the other.
    let output = [stdout, stderr].join("\n");
    let output = ESCAPE.replace_all(&output, "");
    READERS.into_iter().find_map(|(runner, read)| Some(read(&output)?.into_results(runner)))
}

/// Whether a command starts a test runner that always says how many tests it ran.
pub fn counts_tests(argv: &[String]) -> bool {
    let names: Vec<&str> = argv.iter().map(|word| word.rsplit('/').next().unwrap_or_default()).collect();
    let follows = |program: &str, word: &str| {
        names.first() == Some(&program) && argv.get(1).is_some_and(|argument| argument == word)
    };
    names.iter().any(|name| matches!(*name, "pytest" | "jest" | "vitest"))
        || follows("cargo", "test")
        || follows("node", "--test")
}

impl TestResults {
    /// Returns the names that fail here and not in the base. A runner that stops at its first failure may hide more.
    pub fn newly_failing(&self, base: &Self) -> Vec<&str> {
        // A full list says nothing about the names after its last one.
        let last = base.failing.last().filter(|_| base.failing.len() >= MOST_NAMES);
        let known = self.failing.iter().filter(|name| last.is_none_or(|last| *name <= last));
        known.filter(|name| !base.failing.contains(name)).map(|name| &**name).collect()
    }

    /// Whether failing tests have names, if any fail. Counts alone do not tell which tests are new.
    pub fn names_what_fails(&self) -> bool {
        self.failed == 0 || !self.failing.is_empty()
    }

    /// Returns the number of tests that ran.
    pub fn ran(&self) -> u32 {
        self.passed.saturating_add(self.failed)
    }
}

/// What a reader has counted.
#[derive(Default)]
struct Tally {
    passed: u32,
    failed: u32,
    skipped: u32,
    failing: BTreeSet<Box<str>>,
}

impl Tally {
    fn add(&mut self, [passed, failed, skipped]: [u32; 3]) {
        self.passed = self.passed.saturating_add(passed);
        self.failed = self.failed.saturating_add(failed);
        self.skipped = self.skipped.saturating_add(skipped);
    }

    /// Adds the name of a failing test.
    fn name(&mut self, name: &str) {
        let name: String = quote_message(name).chars().take(LONGEST_NAME).collect();
        if !name.is_empty() {
            self.failing.insert(name.into());
        }
        if self.failing.len() > MOST_NAMES {
            self.failing.pop_last();
        }
    }

    fn all(&self) -> u32 {
        self.passed.saturating_add(self.failed).saturating_add(self.skipped)
    }

    fn into_results(self, runner: Runner) -> TestResults {
        let Self { passed, failed, skipped, failing } = self;
        TestResults { runner, passed, failed, skipped, failing: failing.into_iter().collect() }
    }
}

/// Reads `3 failed, 12 passed` as passed, failed and skipped tests; none if a part is no count, or no word is known.
fn totals(text: &str, separator: char) -> Option<[u32; 3]> {
    const WORDS: [&[&str]; 4] = [
        &["passed", "xpassed", "measured"],
        &["failed", "error", "errors"],
        &["skipped", "xfailed", "ignored", "todo", "pending", "expected fail"],
        &["total", "deselected", "warning", "warnings"],
    ];
    let (mut sums, mut is_known) = ([0_u32; 4], false);
    for part in text.split(separator) {
        let (number, word) = part.trim().split_once(' ')?;
        let number: u32 = number.parse().ok()?;
        if let Some(place) = WORDS.iter().position(|words| words.contains(&word)) {
            sums[place] = sums[place].saturating_add(number);
            is_known = true;
        }
    }
    let [passed, failed, skipped, _] = sums;
    is_known.then_some([passed, failed, skipped])
}

/// Removes the time after a name: ` (0.12 s)`.
fn without_time(name: &str) -> &str {
    let timed = name.strip_suffix("s)").and_then(|name| name.rsplit_once(" ("));
    let timed = timed.filter(|(_, time)| time.starts_with(|first: char| first.is_ascii_digit()));
    timed.map_or(name, |(name, _)| name)
}

/// Each test binary prints how many tests it runs, the names of those that failed, and its totals.
fn cargo(output: &str) -> Option<Tally> {
    let (mut tally, mut running, mut binaries) = (Tally::default(), None, 0);
    let (mut failing, mut is_list) = (Vec::new(), false);
    for line in output.lines() {
        let name = line.strip_prefix("    ").filter(|_| is_list);
        is_list = line == "failures:" || name.is_some();
        if let Some(name) = name {
            failing.push(name);
        } else if is_list {
            // Only the last list before the totals has names. Tests may print others.
            failing.clear();
        } else if let Some(number) = cargo_running(line) {
            if running.replace(number).is_some() {
                return None;
            }
        } else if let Some(totals) = line.strip_prefix("test result: ").and_then(cargo_totals) {
            if running.take()? != totals.into_iter().fold(0, u32::saturating_add) {
                return None;
            }
            tally.add(totals);
            failing.drain(..).for_each(|name| tally.name(name));
            binaries += 1;
        }
    }
    (binaries > 0 && running.is_none()).then_some(tally)
}

/// Reads `running 3 tests`.
fn cargo_running(line: &str) -> Option<u32> {
    let (number, word) = line.strip_prefix("running ")?.split_once(' ')?;
    number.parse().ok().filter(|_| matches!(word, "test" | "tests"))
}

/// Reads `ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
fn cargo_totals(text: &str) -> Option<[u32; 3]> {
    let (_, text) = text.split_once(". ")?;
    totals(text.split_once("; finished").map_or(text, |(text, _)| text), ';')
}

fn pytest(output: &str) -> Option<Tally> {
    let (mut tally, mut found, mut is_summary) = (Tally::default(), None, false);
    for line in output.lines() {
        if line.starts_with('=') && line.contains(" short test summary info ") {
            is_summary = true;
        } else if let Some(totals) = pytest_totals(line) {
            (found, is_summary) = (Some(totals), false);
        } else if let Some(name) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))
            && is_summary
        {
            tally.name(pytest_name(name));
        }
    }
    tally.add(found?);
    Some(tally)
}

/// Reads `3 failed, 12 passed in 61.00s (0:01:01)`.
fn pytest_totals(line: &str) -> Option<[u32; 3]> {
    let (text, time) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    time.split(' ').next()?.strip_suffix('s')?.parse::<f64>().ok()?;
    if text == "no tests ran" { Some([0; 3]) } else { totals(text, ',') }
}

/// Removes the message: `a.py::test[x - y] - assert 0`.
fn pytest_name(text: &str) -> &str {
    let name = text.split_once(" - ").map_or(text, |(name, _)| name);
    if !name.contains('[') || name.ends_with(']') {
        return name;
    }
    text.find("] - ").map_or(text, |at| &text[..=at])
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent {
    action: String,
    #[serde(default)]
    package: String,
    /// Empty in an event of a package.
    #[serde(default)]
    test: String,
}

/// Reads `go test -json`, in which each package (since Go 1.20) and each test starts and ends. Other output of Go has no
/// totals.
fn go(output: &str) -> Option<Tally> {
    let (mut tally, mut runs, mut started, mut ended) = (Tally::default(), 0, 0, 0);
    let lines = output.lines().filter(|line| line.starts_with('{'));
    for GoEvent { action, package, test } in
        lines.filter_map(|line| serde_json::from_str::<GoEvent>(line).ok())
    {
        match (action.as_str(), test.is_empty()) {
            ("start", true) => started += 1,
            ("pass" | "skip", true) => ended += 1,
            ("fail", true) => {
                ended += 1;
                tally.name(&package);
            }
            ("run", false) => runs += 1,
            ("pass", false) => tally.add([1, 0, 0]),
            ("skip", false) => tally.add([0, 0, 1]),
            ("fail", false) => {
                tally.add([0, 1, 0]);
                tally.name(&format!("{package}.{test}"));
            }
            _ => {}
        }
    }
    (started > 0 && started == ended && tally.all() <= runs).then_some(tally)
}

/// Reads `node --test`, as TAP or as its `spec` reporter prints it.
fn node(output: &str) -> Option<Tally> {
    const WORDS: [&str; 6] = ["tests", "pass", "fail", "cancelled", "skipped", "todo"];
    let (mut tally, mut totals) = (Tally::default(), [None; 6]);
    for line in output.lines() {
        let total = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "));
        let total = total.and_then(|total| total.split_once(' '));
        let place = total.and_then(|(word, _)| WORDS.iter().position(|known| *known == word));
        if let Some((place, (_, number))) = place.zip(total) {
            if place == 0 {
                totals = [None; 6];
            }
            totals[place] = number.parse().ok();
        } else if let Some(name) = node_name(line.trim_start()) {
            tally.name(&name);
        }
    }
    let [Some(_), Some(pass), Some(fail), Some(cancelled), Some(skipped), Some(todo)] = totals else {
        return None;
    };
    tally.add([pass, fail, skipped]);
    tally.add([0, cancelled, todo]);
    Some(tally)
}

/// Reads `not ok 2 - name` or `✖ name (0.9ms)`. A test that is marked as to do may fail.
fn node_name(text: &str) -> Option<Cow<'_, str>> {
    if text.contains(" # TODO") || text.contains(" # SKIP") {
        return None;
    }
    if let Some(rest) = text.strip_prefix("not ok ") {
        let (_, name) = rest.split_once(" - ")?;
        return Some(name.replace("\\#", "#").replace("\\\\", "\\").into());
    }
    let name = text.strip_prefix("✖ ").filter(|name| *name != "failing tests:")?;
    Some(without_time(name).into())
}

fn jest(output: &str) -> Option<Tally> {
    let (mut tally, mut found, mut file) = (Tally::default(), None, "");
    for line in output.lines() {
        if let Some(rest) = line.strip_prefix("Tests:") {
            found = totals(rest, ',').or(found);
        } else if let Some(name) = line.strip_prefix("FAIL ") {
            file = without_time(name.trim());
        } else if line.starts_with("PASS ") {
            file = "";
        } else if let Some(name) = line.strip_prefix("  ● ")
            && !file.is_empty()
        {
            match name {
                "Console" => {}
                "Test suite failed to run" => tally.name(file),
                name => tally.name(&format!("{file} › {name}")),
            }
        }
    }
    tally.add(found?);
    Some(tally)
}

fn vitest(output: &str) -> Option<Tally> {
    let (mut tally, mut found) = (Tally::default(), None);
    for line in output.lines() {
        if let Some(rest) = line.trim_start().strip_prefix("Tests  ") {
            found = vitest_totals(rest).or(found);
        } else if let Some(name) = line.strip_prefix(" FAIL  ") {
            // A file that cannot be loaded: `a.test.ts [ a.test.ts ]`.
            let file = name.split_once(" [ ").filter(|(file, _)| !file.contains(" > "));
            tally.name(file.map_or(name, |(file, _)| file));
        }
    }
    tally.add(found?);
    Some(tally)
}

/// Reads `1 failed | 3 passed (4)`.
fn vitest_totals(text: &str) -> Option<[u32; 3]> {
    if text == "no tests" {
        return Some([0; 3]);
    }
    totals(text.rsplit_once(" (")?.0, '|')
}

/// Reads a report in the XML of `JUnit`. Its cases are counted, because outer suites repeat the totals of inner ones.
fn junit(output: &str) -> Option<Tally> {
    let output = &output[output.find("<testsuite")?..];
    let last = output.rfind("</testsuite")?;
    let mut rest = &output[..=last + output[last..].find('>')?];
    let (mut tally, mut depth) = (Tally::default(), 0_usize);
    let mut case: Option<(&str, [u32; 3])> = None;
    while let Some((_, text)) = rest.split_once('<') {
        let (tag, after) = xml_tag(text)?;
        rest = after;
        let is_end = tag.starts_with('/');
        let is_empty = tag.ends_with('/');
        let name = tag.trim_matches('/').split(char::is_whitespace).next()?;
        match (name, is_end, &mut case) {
            ("testsuites" | "testsuite", false, _) => depth += usize::from(!is_empty),
            ("testsuites" | "testsuite", true, _) => depth = depth.checked_sub(1)?,
            ("testcase", false, None) => case = Some((tag, [1, 0, 0])),
            ("testcase", false, Some(_)) => return None,
            ("failure" | "error", false, Some((_, result))) => *result = [0, 1, 0],
            ("skipped", false, Some((_, result))) if result[1] == 0 => *result = [0, 0, 1],
            _ => {}
        }
        if name == "testcase" && (is_end || is_empty) {
            let (tag, result) = case.take()?;
            tally.add(result);
            if result[1] > 0 {
                tally.name(&xml_case(tag));
            }
        }
    }
    (depth == 0 && case.is_none()).then_some(tally)
}

/// Splits a tag from the text after it. A comment and a CDATA section have an empty tag.
fn xml_tag(text: &str) -> Option<(&str, &str)> {
    for (start, end) in [("!--", "-->"), ("![CDATA[", "]]>")] {
        if let Some(text) = text.strip_prefix(start) {
            return text.split_once(end).map(|(_, after)| ("", after));
        }
    }
    let mut quote = None;
    let end = text.find(|sign: char| {
        match quote {
            Some(open) if sign == open => quote = None,
            None if matches!(sign, '"' | '\'') => quote = Some(sign),
            Some(_) | None => {}
        }
        sign == '>' && quote.is_none()
    })?;
    Some((&text[..end], &text[end + 1..]))
}

fn xml_case(tag: &str) -> String {
    let read = |name| xml_attribute(tag, name).unwrap_or_default();
    let names = [read("classname"), read("name")];
    let name = names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" > ");
    let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    signs.into_iter().fold(name, |name, (entity, sign)| name.replace(entity, sign))
}

fn xml_attribute<'t>(tag: &'t str, wanted: &str) -> Option<&'t str> {
    let (_, mut rest) = tag.split_once(char::is_whitespace)?;
    loop {
        let (name, after) = rest.split_once('=')?;
        let quote = after.trim_start().chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
        let (value, after) = after.trim_start()[1..].split_once(quote)?;
        if name.trim() == wanted {
            return Some(value);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests;
