//! The choice of a search, `draft` or `rounds`, and of the number of executor runs for a search by drafts.
//!
//! A flag counts before a file, and the user's own file before a project's, so that a user can limit what a run costs.
//! If nothing is set, the search is by drafts wherever that is possible.

use std::path::Path;

use skilltune_phases::base::role::Role;
use skilltune_phases::judging::judgement::VerdictShape;
use skilltune_phases::loops::tune::search::drafting;
use skilltune_phases::loops::tune::trial::measure;
use skilltune_phases::loops::tune::{Aim, Basis, Plan, Search};
use skilltune_phases::skills::offline;

use crate::loops::tune::settings::{SearchName, TuneSettings};
use crate::settings::origin::Origin;
use crate::terminal::complaint::Complaint;
use crate::text::figures::count;

/// A requested search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// By its name.
    Named(SearchName),
    /// By a number of runs, in a flag or in a file.
    Runs { by_flag: bool },
    /// By a number of rounds.
    Rounds,
}

/// The source of a value. Later ones override earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Nobody,
    Project,
    User,
    Flag,
}

impl Source {
    fn of(origin: &Origin) -> Self {
        match origin {
            // A preset limits either search, so it asks for none.
            Origin::Default | Origin::Installed | Origin::Run | Origin::Preset(..) => Self::Nobody,
            Origin::Project(_) => Self::Project,
            Origin::User(_) => Self::User,
            Origin::Answer | Origin::Flag(_) => Self::Flag,
        }
    }
}

/// Returns the search that flags and files ask for, if any.
pub fn wish(tune: &TuneSettings) -> Result<Option<Wish>, Complaint> {
    let (runs, rounds) = (Source::of(&tune.runs.origin), Source::of(&tune.max_iterations.origin));
    let named = Source::of(&tune.search.origin);
    let last = named.max(runs).max(rounds);
    let (name, by_flag) = (tune.search.value.filter(|_| named == last), last == Source::Flag);
    let wish = match (name, runs == last, rounds == last) {
        _ if last == Source::Nobody => None,
        (Some(SearchName::Rounds), true, _) if by_flag => {
            let hint = "leave out one of them; --max-iterations N limits a search by rounds";
            return Err(contradiction("--search rounds and --runs", hint));
        }
        (Some(SearchName::Draft), _, true) if by_flag => {
            let hint = "leave out one of them; --runs N limits a search by drafts";
            return Err(contradiction("--search draft and --max-iterations", hint));
        }
        (None, true, true) if by_flag => {
            let hint = "leave out one of them: --runs N is for a search by drafts, --max-iterations N for one by rounds";
            return Err(contradiction("--runs and --max-iterations", hint));
        }
        (None, true, true) => {
            let file = tune.runs.origin.file().map(shown).unwrap_or_default();
            let hint = "set tune.search to \"draft\" or \"rounds\" there, or pass --search";
            return Err(contradiction(&format!("{file}: tune.runs and tune.max_iterations"), hint));
        }
        (Some(name), ..) => Some(Wish::Named(name)),
        (None, true, false) => Some(Wish::Runs { by_flag }),
        (None, false, _) => Some(Wish::Rounds),
    };
    Ok(wish)
}

fn contradiction(of: &str, hint: &str) -> Complaint {
    Complaint::input(format!("{of} contradict each other")).hint(hint)
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}

/// Switches to a search by drafts if the settings ask for it, or if they ask for no rounds and the plan has enough
/// scenarios. `drawn`: the held-out scenarios were drawn, not chosen.
pub fn choose(plan: &mut Plan, tune: &TuneSettings, drawn: bool) -> Result<(), Complaint> {
    let wish = wish(tune)?;
    if matches!(wish, Some(Wish::Rounds | Wish::Named(SearchName::Rounds))) {
        return Ok(());
    }
    if let Some(obstacle) = Obstacle::of(plan) {
        return match wish.filter(|_| plan.task.searches()) {
            Some(Wish::Named(_)) => Err(obstacle.complaint(plan).hint("or pass --search rounds")),
            Some(Wish::Runs { by_flag: true }) => Err(obstacle.complaint(plan).hint("or leave out --runs")),
            // A file may be for many skills, and not all of them have a suite.
            Some(Wish::Runs { by_flag: false } | Wish::Rounds) | None => Ok(()),
        };
    }
    let is_wanted = match wish {
        Some(Wish::Named(_) | Wish::Rounds | Wish::Runs { by_flag: true }) => true,
        Some(Wish::Runs { by_flag: false }) | None => !has_built_in(plan),
    };
    let runs = match Source::of(&tune.runs.origin) {
        Source::Nobody => fitting(plan, tune.runs.value, drawn).or(wish.map(|_| tune.runs.value)),
        Source::Project | Source::User | Source::Flag => Some(tune.runs.value),
    };
    let Some(runs) = runs.filter(|_| is_wanted) else { return Ok(()) };
    if !plan.task.searches() {
        // Only the price of the search is wanted.
        plan.task.rules.search = Search::Draft { runs, drawn, tests: 0 };
        return Ok(());
    }
    plan.draft_with(runs, drawn);
    refuse_too_few_runs(plan, runs)
}

/// Returns the settings that are set but not used by this run, in a sentence.
pub fn unused(plan: &Plan, tune: &TuneSettings) -> Option<String> {
    let (search, keys) = match plan.task.rules.search {
        Search::Draft { .. } => (
            "by drafts",
            &[
                ("tune.max_iterations", &tune.max_iterations.origin),
                ("tune.regress", &tune.regress.origin),
                ("tune.stall_window", &tune.stall_window.origin),
                ("tune.stall_gain", &tune.stall_gain.origin),
            ][..],
        ),
        Search::Rounds => ("by rounds", &[("tune.runs", &tune.runs.origin)][..]),
    };
    let set = keys.iter().filter(|(_, origin)| Source::of(origin) > Source::Nobody);
    let names: Vec<&str> = set.map(|(name, _)| *name).collect();
    let has = if names.len() == 1 { "has" } else { "have" };
    (!names.is_empty()).then(|| format!("{} {has} no effect: this run searches {search}", names.join(", ")))
}

fn refuse_too_few_runs(plan: &Plan, runs: u32) -> Result<(), Complaint> {
    let trials = drafting::trials(plan).unwrap_or(0);
    if trials >= drafting::FEWEST {
        return Ok(());
    }
    let missing = (drafting::FEWEST - trials) * plan.task.target.members.len();
    let given = count(runs as usize, "run");
    Err(Complaint::input(format!(
        "{given} of the executor are not enough: the final comparison alone takes most of them"
    ))
    .hint(format!("pass --runs {} or more", runs as usize + missing)))
}

/// The reason why a plan cannot use a search by drafts.
enum Obstacle {
    Scenarios(usize),
    Pairs(usize),
    Structure,
    Claims,
}

/// With fewer, a draft is tried on the same scenario that it was made for.
const FEWEST_SCENARIOS: usize = 2;

impl Obstacle {
    fn of(plan: &Plan) -> Option<Self> {
        let searched = measure::searched(plan).len();
        match plan.basis() {
            Basis::Structure => Some(Self::Structure),
            _ if searched < FEWEST_SCENARIOS => Some(Self::Scenarios(searched)),
            Basis::Few => Some(Self::Pairs(measure::planned(plan).len())),
            Basis::HeldOut | Basis::Searched | Basis::All => has_bare_judge(plan).then_some(Self::Claims),
        }
    }

    fn complaint(&self, plan: &Plan) -> Complaint {
        const NEEDS: &str = "a search by drafts needs";
        let confidence = plan.task.rules.confidence;
        let fewest = confidence.fewest_pairs();
        match self {
            Self::Scenarios(searched) => Complaint::input(format!(
                "{NEEDS} at least {FEWEST_SCENARIOS} scenarios to search with, and this run has {searched}"
            ))
            .hint("pass a suite with more scenarios; `skilltune suite new` drafts some"),
            Self::Pairs(compared) => Complaint::input(format!(
                "{NEEDS} at least {fewest} scenarios to compare on at confidence {confidence}, and this run has {compared}"
            ))
            .hint("pass a suite with more scenarios; `skilltune suite new` drafts some"),
            Self::Structure => {
                Complaint::input(format!("{NEEDS} a judge of results, and the built-in agent checks structure only"))
                    .hint("name an agent with --evaluator")
            }
            Self::Claims => {
                Complaint::input(format!("{NEEDS} to know what failed, and a judge with `verdict = \"original\"` gives numbers only"))
                    .hint("pass a suite whose scenarios have checks or expectations")
            }
        }
    }
}

/// Returns true if only the judge prevents a search by drafts.
pub fn names_no_fault(plan: &Plan) -> bool {
    matches!(Obstacle::of(plan), Some(Obstacle::Claims))
}

/// Returns true if the judge gives numbers without criteria, and a scenario has no statement of its own.
fn has_bare_judge(plan: &Plan) -> bool {
    let is_bare = plan.roles.of(&Role::EVALUATOR).verdict == VerdictShape::Original;
    is_bare && measure::searched(plan).into_iter().any(|scenario| !plan.task.is_graded(scenario))
}

/// Returns whether the built-in agent is used: it always gives the same answer, and rounds drop a harmful edit of it.
fn has_built_in(plan: &Plan) -> bool {
    [Role::EVALUATOR, Role::IMPROVER].iter().any(|role| plan.roles.of(role).agent == offline::NAME)
}

/// Returns the preset's number, or more if a search needs more: each member of a chain takes its share. `None` if no
/// reasonable number is enough.
fn fitting(plan: &Plan, preset: u32, drawn: bool) -> Option<u32> {
    const MOST_MORE: u32 = 32;
    let members = u32::try_from(plan.task.target.members.len()).unwrap_or(u32::MAX);
    let is_enough = |runs: &u32| {
        let mut plan = plan.clone();
        // A calibration divides no runs, but the search that it prices does.
        plan.task.aim = Aim::Improve;
        plan.draft_with(*runs, drawn);
        drafting::trials(&plan).is_some_and(|trials| trials >= drafting::FEWEST)
    };
    (0..MOST_MORE).map(|more| preset.saturating_add(members.saturating_mul(more))).find(is_enough)
}

#[cfg(test)]
mod tests;
