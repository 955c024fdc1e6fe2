//! Reads what both sides say while they negotiate a contract.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{LEVELS, LONGEST, level};
use crate::base::answer::{self, Object, OffSchema, shape};
use crate::judging::contract::{CriterionId, DimensionId};
use crate::judging::score::Score;
use crate::loops::gan::contract::{Change, Contract, Criterion, Origin};
use crate::loops::gan::negotiation::{Draft, Negotiation, Proposal, Ruling};
use crate::loops::gan::test_scenario::{Act, TestScenario, Tool};

/// The maximum number of the evaluator's own criteria: few, so that each is judged with care.
pub const MOST_CRITERIA: usize = 12;
/// The maximum number of proposals in one round.
pub const MOST_PROPOSALS: usize = 8;
pub const MOST_WEIGHT: u32 = 3;
pub const MOST_TESTS: usize = 8;

/// Reads the evaluator's draft.
pub fn draft(text: &str, nonce: &str, profile: &Contract) -> Result<Draft, OffSchema> {
    answer::coded(text, nonce, "criteria", |mut answer| {
        let entries = answer::entries::<Entry>(&mut answer, "criteria")?;
        count("criteria", entries.len(), 1, MOST_CRITERIA)?;
        let criteria = entries.into_iter().map(Entry::into_criterion).collect::<Result<Vec<_>, _>>()?;
        let has_tests = answer.contains_key(TESTS);
        let tests = if has_tests { answer::entries::<Test>(&mut answer, TESTS)? } else { Vec::new() };
        count(TESTS, tests.len(), 0, MOST_TESTS)?;
        let test_scenarios = tests.into_iter().map(Test::into_scenario).collect::<Result<_, _>>()?;
        let pass_conditions = pass_conditions(&mut answer)?;
        let draft = Draft { criteria, test_scenarios, pass_conditions };
        Negotiation::begin(profile, draft.clone())?;
        Ok(draft)
    })
}

/// Reads the builder's proposals; none means that it accepts.
pub fn proposals(
    text: &str,
    nonce: &str,
    (profile, talk): (&Contract, &Negotiation),
) -> Result<Vec<Proposal>, OffSchema> {
    answer::coded(text, nonce, "proposals", |mut answer| {
        let entries = answer::entries::<Wish>(&mut answer, "proposals")?;
        count("proposals", entries.len(), 0, MOST_PROPOSALS)?;
        let proposals = entries.into_iter().map(Wish::into_proposal).collect::<Result<Vec<_>, _>>()?;
        talk.clone().propose(profile, proposals.clone())?;
        Ok(proposals)
    })
}

/// Reads the evaluator's rulings of a round, one for each proposal.
pub fn rulings(
    text: &str,
    nonce: &str,
    brief: &str,
    (profile, talk): (&Contract, &Negotiation),
) -> Result<Vec<Ruling>, OffSchema> {
    answer::coded(text, nonce, "rulings", |mut answer| {
        let mut entries = answer::entries::<Verdict>(&mut answer, "rulings")?;
        entries.sort_by_key(|entry| entry.proposal);
        if (1..).zip(&entries).any(|(nth, entry)| entry.proposal != nth) {
            return Err(shape("rule once on each proposal, by its number"));
        }
        let rulings = entries.into_iter().map(|entry| Ruling {
            is_accepted: entry.accepted,
            cites: answer::capped(&entry.cites, LONGEST).into(),
            why: answer::capped(&entry.why, LONGEST).into(),
        });
        let rulings: Vec<Ruling> = rulings.collect();
        talk.clone().rule(profile, brief, rulings.clone())?;
        Ok(rulings)
    })
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    dimension: DimensionId,
    criterion: String,
    verification: String,
    must_pass: bool,
    weight: u32,
}

impl Entry {
    fn into_criterion(self) -> Result<Criterion, OffSchema> {
        let Self { id, dimension, criterion, verification, must_pass, weight } = self;
        let id = plain_id(&id)?;
        if !(1..=MOST_WEIGHT).contains(&weight) {
            return Err(shape(&format!("{id}: give a weight from 1 to {MOST_WEIGHT}")));
        }
        let words =
            |what: &str, text: &str| answer::required_words(|| format!("{id}: `{what}`"), text, LONGEST);
        Ok(Criterion {
            criterion: words("criterion", &criterion)?,
            verification: words("verification", &verification)?,
            id,
            dimension,
            must_pass,
            weight,
            check: None,
            origin: Origin::Negotiated,
        })
    }
}

const CONDITIONS: &str = "pass_conditions";
/// The levels that a pass condition may require: each dimension reaches the lowest one by itself.
pub const MINIMUMS: [f64; 3] = [0.5, 0.75, 1.0];

#[derive(Deserialize)]
struct Condition {
    dimension: DimensionId,
    minimum: f64,
}

/// Reads the levels that dimensions must reach; an answer without them requires none.
fn pass_conditions(answer: &mut Object) -> Result<BTreeMap<DimensionId, Score>, OffSchema> {
    let mut conditions = BTreeMap::new();
    if !answer.contains_key(CONDITIONS) {
        return Ok(conditions);
    }
    for Condition { dimension, minimum } in answer::entries::<Condition>(answer, CONDITIONS)? {
        let Some(least) = level(minimum, &MINIMUMS) else {
            return Err(shape(&format!("{dimension}: give a `minimum` of 0.50, 0.75 or 1.00")));
        };
        if conditions.insert(dimension.clone(), least).is_some() {
            return Err(shape(&format!("{dimension} has two pass conditions")));
        }
    }
    Ok(conditions)
}

const TESTS: &str = "test_scenarios";

/// A test scenario as given. Its tool decides which of the other parts it needs.
#[derive(Deserialize)]
struct Test {
    id: String,
    criterion: CriterionId,
    description: String,
    tool: Kit,
    #[serde(default)]
    steps: Vec<Act>,
    #[serde(default)]
    argv: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kit {
    Browser,
    Command,
}

impl Test {
    fn into_scenario(self) -> Result<TestScenario, OffSchema> {
        let Self { id, criterion, description, tool, steps, argv } = self;
        let id = plain_id(&id)?;
        let description = answer::required_words(|| format!("{id}: `description`"), &description, LONGEST)?;
        let run = match tool {
            Kit::Browser => Tool::Browser(steps),
            Kit::Command => Tool::Command(argv),
        };
        Ok(TestScenario { id, criterion, description, run })
    }
}

/// A proposal as given. The kind of change decides which of the other parts it needs.
#[derive(Deserialize)]
struct Wish {
    change: ChangeKind,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    dimension: Option<DimensionId>,
    #[serde(default)]
    criterion: String,
    #[serde(default)]
    verification: String,
    #[serde(default)]
    must_pass: bool,
    #[serde(default = "one")]
    weight: u32,
    #[serde(default)]
    minimum: Option<f64>,
    why: String,
}

fn one() -> u32 {
    1
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ChangeKind {
    Add,
    Drop,
    Reword,
    MustPass,
    PassCondition,
}

impl Wish {
    fn into_proposal(self) -> Result<Proposal, OffSchema> {
        let Self { change, id, dimension, criterion, verification, must_pass, weight, minimum, why } = self;
        let known = match change {
            // It is about a dimension, and has no id of its own.
            ChangeKind::PassCondition => CriterionId::new("pass_condition"),
            ChangeKind::Add | ChangeKind::Drop | ChangeKind::Reword | ChangeKind::MustPass => {
                plain_id(&id.ok_or_else(|| shape("a proposal has no `id`"))?)?
            }
        };
        let why = answer::required_words(|| format!("{known}: `why`"), &why, LONGEST)?;
        let words =
            |what: &str, text: &str| answer::required_words(|| format!("{known}: `{what}`"), text, LONGEST);
        let home = |dimension: Option<DimensionId>| {
            dimension.ok_or_else(|| shape(&format!("{known}: `dimension` is missing")))
        };
        let change = match change {
            ChangeKind::Add => {
                let (id, dimension) = (known.to_string(), home(dimension)?);
                let entry = Entry { id, dimension, criterion, verification, must_pass, weight };
                Change::Add(entry.into_criterion()?)
            }
            ChangeKind::PassCondition => {
                let minimum = minimum.and_then(|number| level(number, &LEVELS));
                let minimum = minimum
                    .ok_or_else(|| shape("pass_condition: give a `minimum` of 0.25, 0.50, 0.75 or 1.00"))?;
                Change::PassCondition { dimension: home(dimension)?, minimum }
            }
            ChangeKind::Drop => Change::Drop { criterion: known },
            ChangeKind::Reword => Change::Reword {
                text: words("criterion", &criterion)?,
                verification: words("verification", &verification)?,
                criterion: known,
            },
            ChangeKind::MustPass => Change::MustPass { criterion: known, must: must_pass },
        };
        Ok(Proposal { change, why })
    }
}

#[derive(Deserialize)]
struct Verdict {
    proposal: usize,
    accepted: bool,
    cites: String,
    #[serde(default)]
    why: String,
}

/// Accepts only plain ids, because a model's own ids appear in pages, in JSON and on terminals.
pub(super) fn plain_id(id: &str) -> Result<CriterionId, OffSchema> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_');
    let is_short = (1..=60).contains(&id.len());
    if is_short && id.chars().all(is_plain) {
        return Ok(CriterionId::new(id));
    }
    Err(shape(&format!("`{id}` is not a valid id: use a-z, digits, `.`, `-` and `_`, at most 60 in all")))
}

fn count(what: &'static str, given: usize, least: usize, most: usize) -> Result<(), OffSchema> {
    if (least..=most).contains(&given) { Ok(()) } else { Err(OffSchema::Count { what, given, least, most }) }
}
