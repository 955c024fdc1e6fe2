//! Turns cases into scenarios: gives each of them, and each demand, a unique name, and notes what cannot be used.

use std::collections::{BTreeMap, HashSet};

use skilltune_orchestrator::snapshot::Brought;
use skilltune_phases::base::name::Name;
use skilltune_phases::suites::checks::{Check, How, fault};
use skilltune_phases::suites::demand::{AS_EXPECTED, Demand};
use skilltune_phases::suites::scenario::Scenario;

use super::case::{Ask, Case, Reading};
use super::files::{Starts, is_there, require_bounded};
use super::note::{Note, Notes};
use super::{numbered, withheld};

#[derive(Debug)]
pub(super) struct Assembled {
    pub scenarios: Vec<Scenario>,
    pub drafts: Vec<Scenario>,
    pub starts: Starts,
    pub notes: Vec<Note>,
}

const MOST_CASES: usize = 2_000;
const MOST_DEMANDS: usize = 500;
/// More than a model reads as one task.
const LONGEST_TEXT: usize = 6 << 20;
pub(super) const HEAVIEST: u32 = 1_000;

/// The longest name of a demand or scenario, which is also the name of a folder or a field.
pub(super) const LONGEST_ID: usize = 64;

pub(super) fn assemble(reading: Reading) -> Result<Assembled, String> {
    let many = reading.cases.len();
    if many > MOST_CASES {
        return Err(format!("{many} cases; a suite has at most {MOST_CASES}"));
    }
    require_bounded(&reading.base, reading.cases.iter().flat_map(Case::brought))?;
    let mut notes = Notes::default();
    reading.notes.iter().for_each(|text| notes.add(None, text));
    let mut starts = Starts { base: reading.base, ..Starts::default() };
    let (mut scenarios, mut drafts) = (Vec::new(), Vec::new());
    let mut incomplete = HashSet::new();
    // An id that the author chose goes to its own scenario, even if titles and numbers would give others the same.
    let chosen = reading.cases.iter().filter_map(|case| case.id.clone());
    let mut names = Names::reserving(chosen);
    for (case, number) in reading.cases.into_iter().zip(1..) {
        let made = Made { names: &mut names, notes: &mut notes, starts: &mut starts };
        let (is_draft, is_incomplete) = (case.is_draft, case.is_incomplete);
        let Some(scenario) = made.scenario(case, number)? else { continue };
        if is_incomplete {
            incomplete.insert(scenario.id.clone());
        }
        if is_draft || is_incomplete { drafts.push(scenario) } else { scenarios.push(scenario) }
    }
    incomplete.extend(withheld::inspect(&mut scenarios, &mut drafts, &mut starts, &mut notes));
    for draft in &drafts {
        let is_incomplete = incomplete.contains(&draft.id);
        let why =
            if is_incomplete { INCOMPLETE } else { "a draft: not counted until `draft = true` is removed" };
        notes.add(Some(&draft.id), why);
    }
    Ok(Assembled { scenarios, drafts, starts, notes: notes.taken() })
}

const INCOMPLETE: &str = "a draft: not counted, because part of its task is missing";

struct Made<'a> {
    names: &'a mut Names,
    notes: &'a mut Notes,
    starts: &'a mut Starts,
}

impl Made<'_> {
    /// Returns none if there is nothing to try.
    fn scenario(self, case: Case, number: usize) -> Result<Option<Scenario>, String> {
        let Case { id, title, mut scenario, mut demands, files, notes, .. } = case;
        let (name, was) = self.names.name(id.as_deref(), title.as_deref(), &numbered(number));
        if let Some(was) = was {
            self.notes.add(Some(&name), &format!("its id is {was:?} in the suite"));
        }
        for note in &notes {
            self.notes.add(Some(&name), note);
        }
        let lengths = [&scenario.description, &scenario.input_args, &scenario.success_criteria];
        let expected = scenario.expected.as_deref().map_or(0, str::len);
        if lengths.iter().any(|text| text.len() > LONGEST_TEXT) || expected > LONGEST_TEXT {
            return Err(format!("a text of `{name}` has more than {} MiB", LONGEST_TEXT >> 20));
        }
        if scenario.description.trim().is_empty() {
            self.notes.add(Some(&name), "left out: it has no prompt");
            return Ok(None);
        }
        if demands.len() > MOST_DEMANDS {
            return Err(format!("`{name}` has {} checks; at most {MOST_DEMANDS} are read", demands.len()));
        }
        demands.retain(|ask| match ask.how.check().and_then(fault) {
            Some(why) => {
                self.notes.add(Some(&name), &format!("a {} check is not converted: {why}", kind(&ask.how)));
                false
            }
            None => true,
        });
        if demands.is_empty() && scenario.expected.is_some() {
            demands.push(Ask::question(AS_EXPECTED));
        }
        scenario.id = name.clone();
        let mut names = Names::reserving(demands.iter().filter_map(|ask| ask.id.clone()));
        let mut counts = BTreeMap::<&str, usize>::new();
        let weights = whole(&demands, |text| self.notes.add(Some(&name), text));
        for (ask, weight) in demands.into_iter().zip(weights) {
            let kind = kind(&ask.how);
            let count = counts.entry(kind).or_default();
            *count += 1;
            let default = format!("{kind}-{count}").parse().expect("a kind and a number are plain");
            let (id, _) = names.name(ask.id.as_deref(), None, &default);
            if !ask.grader.is_empty() {
                let added = self.starts.add_grader(&name, &id, ask.grader);
                added.map_err(|error| format!("`grader` of check `{id}` of `{name}`: {error}"))?;
            }
            let (how, must_pass, member) = (ask.how, ask.must_pass, ask.member);
            scenario.demands.push(Demand { id, how, weight, must_pass, member });
        }
        let mut known = HashSet::new();
        let mut here = Vec::new();
        for brought in files {
            let Brought { from, at } = &brought;
            if !is_there(&self.starts.base, from) {
                self.notes.add(Some(&name), &format!("the file {from} is missing"));
            } else if known.insert(at.clone()) {
                here.push(brought);
            } else {
                self.notes
                    .add(Some(&name), &format!("the file {from} is skipped: another is placed at {at}"));
            }
        }
        if !here.is_empty() {
            self.starts.files.insert(name, here);
        }
        Ok(Some(scenario))
    }
}

/// Returns the prefix of a demand's default id.
pub(super) fn kind(how: &How) -> &'static str {
    match how {
        How::Question { .. } => "expectation",
        How::Check(check) => match check {
            Check::Command { .. } => "command",
            Check::Pattern { .. } => "pattern",
            Check::File { .. } => "file",
            Check::Schema { .. } => "schema",
            Check::Json { .. } => "json",
            Check::Touches { .. } => "only-changes",
            Check::Skill { .. } => "skill-used",
            Check::Tool { .. } => "tool",
            Check::ToolOrder { .. } => "order",
            Check::AtMost { .. } => "limit",
        },
    }
}

/// Converts weights to whole numbers from 1 to 1,000, in nearly the same proportions.
fn whole(demands: &[Ask], mut note: impl FnMut(&str)) -> Vec<u32> {
    let fits = |scale: f64| demands.iter().all(|ask| (ask.weight * scale).fract().abs() < 1e-9);
    let scale = [1.0, 10.0, 100.0].into_iter().find(|scale| fits(*scale)).unwrap_or(100.0);
    let rounded = |ask: &Ask| {
        let exact = ask.weight * scale;
        let kept = exact.round().clamp(1.0, f64::from(HEAVIEST));
        if (kept - exact).abs() > 1e-6 {
            note("weights are rounded to whole numbers from 1 to 1,000");
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 1,000")]
        let kept = kept as u32;
        kept
    };
    demands.iter().map(rounded).collect()
}

/// Gives out plain names, each once.
struct Names {
    /// The ids that authors chose, unchanged.
    reserved: HashSet<String>,
    given: HashSet<String>,
}

impl Names {
    fn reserving(ids: impl Iterator<Item = String>) -> Self {
        Self { reserved: ids.filter(|id| is_plain(id)).collect(), given: HashSet::new() }
    }

    /// Returns a name made from the id, else from the title, else the default; and the id if the name differs from it.
    fn name(&mut self, id: Option<&str>, title: Option<&str>, default: &Name) -> (Name, Option<String>) {
        let own = id.filter(|id| is_plain(id));
        if let Some(own) = own.filter(|own| !self.given.contains(*own)) {
            self.given.insert(own.to_owned());
            return (own.parse().expect("it is plain"), None);
        }
        let wished = id.or(title).and_then(plain).unwrap_or_else(|| default.as_str().to_owned());
        let is_free = |name: &String| !self.given.contains(name) && !self.reserved.contains(name);
        let numbers = (2_u32..).map(|number| {
            let end = format!("-{number}");
            let room = wished.len().min(LONGEST_ID - end.len());
            format!("{}{end}", &wished[..room])
        });
        let mut names = std::iter::once(wished.clone()).chain(numbers);
        let name = names.find(is_free).expect("numbers do not end");
        self.given.insert(name.clone());
        let was = id.filter(|id| **id != name).map(str::to_owned);
        (name.parse().expect("it is plain"), was)
    }
}

pub(super) fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(plain)
}

/// Returns a plain name similar to a text, or none if the text has no ASCII letter or digit.
pub(super) fn plain(text: &str) -> Option<String> {
    let mut name = String::new();
    for c in text.chars().take(4 * LONGEST_ID) {
        if c.is_ascii_alphanumeric() || c == '_' {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() == LONGEST_ID {
            break;
        }
    }
    let name = name.trim_matches('-');
    name.bytes().any(|byte| byte.is_ascii_alphanumeric()).then(|| name.to_owned())
}
