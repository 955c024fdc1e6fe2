//! The words for a run of `tune` and its parts, used in the report and on the terminal.

use std::path::Path;

use skilltune_phases::asking::prompt::Page;
pub use skilltune_phases::base::ending::Class;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::material::LARGEST_SHOWN;
use skilltune_phases::base::name::Name;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::judgement::VerdictShape;
use skilltune_phases::judging::stop::Reason;
use skilltune_phases::loops::tune::search::explanation::{Explanation, Fault};
use skilltune_phases::loops::tune::trial::measure;
use skilltune_phases::loops::tune::{self, Ending, Plan, Round, Run, Search, Step};
use skilltune_phases::runs::plan::{Cast, Enforced};
use skilltune_phases::skills::edit::{EditKind, EditReport};
use skilltune_phases::skills::offline;
use skilltune_phases::skills::target::Place;
use skilltune_phases::suites::scenario::Scenario;

use crate::loops::tune::older;
use crate::loops::tune::scenarios::GENERAL;
use crate::loops::tune::search::names_no_fault;
pub use crate::report::words::*;
use crate::text::figures::{count, grouped, percent};
use crate::text::plain::{one_line, shell_path};

const STRUCTURE_ONLY: &str =
    "structure only; the task was not run, so no score shows how well the skill does it";

const NO_READER: &str = "the built-in judge cannot judge expectations, so their trials get no score; pass --evaluator NAME to name another judge";

const BY_ROUNDS: &str = ", and it names no criterion that failed, so the search is by rounds";

const NO_TASK: &str = "no task given: the agent makes one up for each skill, which is weak evidence";

/// Returns the members' names in their order.
pub fn target(run: &Run) -> String {
    let names: Vec<_> = run.plan.task.target.members.iter().map(|member| member.name.as_str()).collect();
    names.join(" -> ")
}

/// Returns the kinds of an edit in words.
pub fn kinds(kinds: &[EditKind]) -> String {
    kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(", ")
}

/// Returns its improver's description of an edit.
pub fn idea(report: &EditReport) -> Option<&str> {
    let first = || report.changes.first().map(|change| &*change.description);
    report.summary.as_deref().or_else(first)
}

/// Returns the same in brackets, to follow the edited member; empty if nothing is known.
pub fn kinds_after(kinds: &[EditKind]) -> String {
    if kinds.is_empty() { String::new() } else { format!(" ({})", self::kinds(kinds)) }
}

pub fn member(run: &Run, place: Place) -> &str {
    &run.plan.member(place).name
}

/// Returns the notes on a run, such as which prompts are the user's own.
pub fn notes(plan: &Plan) -> Vec<String> {
    let own: Vec<&str> = plan.task.prompts.pages().map(Page::word).collect();
    let own = (!own.is_empty()).then(|| {
        format!("this run uses your own prompts ({}); they decide what a score means", own.join(", "))
    });
    let evaluator = plan.roles.of(&Role::EVALUATOR);
    let bare = match evaluator.verdict {
        VerdictShape::Evidenced => None,
        VerdictShape::Original => {
            let is_by_rounds = plan.task.searches() && !is_by_single_trials(plan);
            let rounds = if is_by_rounds && names_no_fault(plan) { BY_ROUNDS } else { "" };
            Some(format!(
                "the judge ({}) uses `verdict = \"original\"`: its scores carry no evidence and no code, so text in the files it reads can forge them{rounds}",
                evaluator.shown(),
            ))
        }
    };
    let structural = plan.is_structural().then(|| STRUCTURE_ONLY.to_owned());
    let unjudged = has_unjudged_expectations(plan).then(|| NO_READER.to_owned());
    // If nothing runs, no task is done at all.
    let is_general = plan.task.scenarios.iter().any(|scenario| scenario.description == GENERAL);
    let general = (is_general && !plan.is_structural()).then(|| NO_TASK.to_owned());
    structural
        .into_iter()
        .chain(unjudged)
        .chain(general)
        .chain(suite(plan))
        .chain(answers(plan))
        .chain(unrun(plan))
        .chain(shell(plan))
        .chain(too_long(plan))
        .chain(left_out(plan))
        .chain(plan.task.target.members.iter().filter_map(|of| not_placed(&of.name, &of.links_outside)))
        .chain(plugins(plan))
        .chain(remarks(&plan.roles))
        .chain(own)
        .chain(bare)
        .collect()
}

/// Returns whether the built-in agent would have to judge statements, which needs a reader.
fn has_unjudged_expectations(plan: &Plan) -> bool {
    let asks = |scenario: &Scenario| scenario.demands.iter().any(|demand| demand.how.check().is_none());
    plan.roles.of(&Role::EVALUATOR).agent == offline::NAME && plan.task.scenarios.iter().any(asks)
}

/// Returns what of a suite counts, and what does not.
fn suite(plan: &Plan) -> Option<String> {
    let suite = plan.task.suite.as_ref()?;
    let path = one_line(&suite.path);
    let mut parts = Vec::new();
    if suite.found {
        parts.push(format!("the scenarios are the skill's own, in {path}"));
    }
    if !suite.drafts.is_empty() {
        let drafts: Vec<_> = suite.drafts.iter().map(Name::as_str).collect();
        let (does, its) = if drafts.len() == 1 { ("does", "its") } else { ("do", "their") };
        let number = count(drafts.len(), "draft");
        parts.push(format!(
            "{number} {does} not count until you remove {its} `draft = true`: {}",
            shown(&drafts)
        ));
    }
    if !suite.notes.is_empty() {
        let notes = count(suite.notes.len(), "note");
        parts.push(format!(
            "{notes} on the suite: run `skilltune suite check {}`",
            shell_path(Path::new(&suite.path))
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns which files hold answers of the suite.
fn answers(plan: &Plan) -> Vec<String> {
    const MOST: usize = 5;
    let all = plan.task.suite.as_ref().map_or(&[][..], |suite| &suite.answers);
    let more = all.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("{} hold answers", count(more, "more file")));
    all.iter().take(MOST).map(|line| one_line(line)).chain(more).collect()
}

/// Returns which scenarios are left out because a trial would find their answers, and which trials may have seen them.
pub fn answers_found(run: &Run) -> impl Iterator<Item = String> {
    let scenarios = &run.plan.task.scenarios;
    let left_out = scenarios.iter().enumerate().filter_map(|(nth, scenario)| {
        Some(format!("{} is left out: {}", scenario.id, one_line(&measure::left_out(run, nth)?.why)))
    });
    let opened = run.state.opened.iter().filter_map(|(scenario, path)| {
        let id = &scenarios.get(*scenario)?.id;
        Some(format!("a trial of {id} opened {}, so it may have seen the answers", one_line(path)))
    });
    left_out.chain(opened)
}

/// Returns what trials lack of the plugins that skills belong to.
fn plugins(plan: &Plan) -> Option<String> {
    let members = plan.task.target.members.iter().filter(|_| plan.task.regraded().is_none());
    let left_out = members.filter_map(|member| {
        let left_out = &member.plugin.as_ref().filter(|plugin| !plugin.left_out.is_empty())?.left_out;
        let names: Vec<&str> = left_out.iter().map(String::as_str).collect();
        Some(format!("trials lack these parts of the plugin of {}: {}", member.name, shown(&names)))
    });
    let plugins: Vec<String> = left_out.collect();
    (!plugins.is_empty()).then(|| plugins.join("; "))
}

/// Returns the first of many.
fn shown(names: &[&str]) -> String {
    const MOST: usize = 5;
    let first = names[..names.len().min(MOST)].join(", ");
    if names.len() > MOST { format!("{first} and {} more", names.len() - MOST) } else { first }
}

/// Returns which scenarios a search may learn from.
pub fn scenarios(plan: &Plan) -> String {
    let count = count(plan.task.scenarios.len(), "scenario");
    match held_out(plan) {
        0 => count,
        held_out => format!("{count}, {held_out} of them held out for the final comparison"),
    }
}

fn held_out(plan: &Plan) -> usize {
    plan.task.scenarios.iter().filter(|scenario| scenario.held_out).count()
}

/// Returns the trials on which the last contestants are compared.
pub fn fresh_trials(run: &Run) -> String {
    let compared = run.interim_analyses().last().map_or(0, |analysis| analysis.pairs);
    match held_out(&run.plan) {
        0 => "fresh trials".to_owned(),
        _ if run.state.measure.is_of_tests() => {
            format!("the first trials of {}", count(compared, "held-out scenario"))
        }
        _ => format!("fresh trials of {}", count(compared, "held-out scenario")),
    }
}

/// Names skills whose scripts are never run: their scores show only the rest.
fn unrun(plan: &Plan) -> Option<String> {
    let executor = plan.roles.of(&Role::EXECUTOR);
    if plan.task.regraded().is_some() {
        return None;
    }
    let members = plan.task.target.members.iter().filter(|member| member.has_scripts);
    let names: Vec<&str> = members.map(|member| member.name.as_str()).collect();
    (executor.lacks_shell && !plan.task.has_shell() && !names.is_empty()).then(|| {
        format!(
            "the executor ({}) has no shell: it cannot run the scripts of {}; pass --tools shell to let it run commands",
            executor.shown(),
            names.join(", ")
        )
    })
}

/// Names skills whose `SKILL.md` agents get as a path alone.
fn too_long(plan: &Plan) -> impl Iterator<Item = String> {
    // The built-in agents get no prompt.
    let members = plan.task.target.members.iter().filter(move |_| !plan.is_structural());
    members.filter_map(|of| Some((&of.name, of.too_long?))).map(|(name, bytes)| {
        format!(
            "SKILL.md of {name} is too long for a prompt: {} bytes, at most {}; agents get only its path, and one that cannot open files never sees it; move details that only some tasks need into files in references/, and link to them",
            grouped(bytes),
            grouped(LARGEST_SHOWN)
        )
    })
}

/// Returns what the executor's commands can access. A custom command has whatever shell it has.
fn shell(plan: &Plan) -> Option<String> {
    let has_shell = plan.task.has_shell() && plan.task.regraded().is_none();
    commands_of(plan.roles.of(&Role::EXECUTOR), "trial").filter(|_| has_shell)
}

/// Returns what the commands of an executor with a shell can access. They work in the folders of a trial or the like.
pub fn commands_of(executor: &Cast, place: &str) -> Option<String> {
    let kept = match executor.rights {
        Enforced::Agent => "its own sandbox confines their writes",
        Enforced::SystemAndAgent | Enforced::System if executor.lacks_shell => {
            "the system confines their writes"
        }
        Enforced::Wrapper | Enforced::WrapperAndAgent if executor.lacks_shell => {
            "only the wrapper confines their writes"
        }
        Enforced::Nobody if executor.lacks_shell => "nothing confines their writes",
        Enforced::SystemAndAgent
        | Enforced::System
        | Enforced::Wrapper
        | Enforced::WrapperAndAgent
        | Enforced::Nobody => return None,
    };
    Some(format!(
        "the executor ({}) runs commands (tools: shell): {kept} to the folders of the {place}, they can read your files, and the network is open to them",
        executor.shown()
    ))
}

/// Returns the scenarios that are not regraded.
fn left_out(plan: &Plan) -> Option<String> {
    let of = plan.task.regraded().filter(|of| !of.left_out.is_empty())?;
    let each = of.left_out.iter().map(|(id, why)| format!("{id} ({})", older::reason(*why)));
    Some(format!("left out: {}", each.collect::<Vec<_>>().join(", ")))
}

/// Returns what a step does, and to what.
pub fn step(run: &Run, step: &Step) -> String {
    match step {
        Step::SetUp { scenario: nth, .. } => format!("setting up {}", scenario(run, *nth)),
        Step::Exercise { skill: TreeId::EMPTY, trial, .. } => {
            format!("trying {} without a skill", scenario(run, trial.scenario))
        }
        Step::Exercise { member: place, trial, .. } => {
            format!("running {} on {}", member(run, *place), scenario(run, trial.scenario))
        }
        Step::Inspect { trial, .. } => format!("checking {}", scenario(run, trial.scenario)),
        Step::Check { trial, demand, .. } => {
            let demands = run.plan.task.scenarios.get(trial.scenario).map(|scenario| &scenario.demands);
            let id = demands.and_then(|demands| demands.get(*demand)).map_or("", |demand| &demand.id);
            format!("running check {id} of {}", scenario(run, trial.scenario))
        }
        Step::JudgeText { .. } => "judging the text".to_owned(),
        Step::Grade { trial, asked, .. } | Step::Judge { trial, asked, .. } => {
            let again = if asked.anchor.is_some() { " again, as a test of the judge" } else { "" };
            format!("judging {}{again}", scenario(run, trial.scenario))
        }
        Step::Improve { member: place, .. } => format!("improving {}", member(run, *place)),
        Step::Ask(_) => "asking whether to apply the champion".to_owned(),
        Step::Promote { .. } => "applying the champion".to_owned(),
        Step::Propose { form, .. } => format!("making a {} of the champion", form.word()),
    }
}

pub fn scenario(run: &Run, nth: usize) -> &str {
    run.plan.task.scenarios.get(nth).map_or("an unknown scenario", |scenario| &scenario.id)
}

/// Returns what a search may spend.
pub fn budget(plan: &Plan) -> String {
    match runs(plan) {
        Some(runs) => count(runs as usize, "run"),
        None => count(plan.task.rules.max_iterations as usize, "round"),
    }
}

/// Returns the place of a round in its search: of all rounds, or of all runs in a search by drafts.
pub fn place(run: &Run, number: u32, is_padded: bool) -> String {
    let rounds = run.plan.task.rules.max_iterations;
    let digits = |most: u32| if is_padded { most.to_string().len() } else { 1 };
    let round = format!("round {number:>0$}", digits(rounds));
    let Some(runs) = runs(&run.plan) else { return format!("{round} of {rounds}") };
    format!("{round}, run {:>1$} of {runs}", runs_used(run, number), digits(runs))
}

/// Returns how many executor runs the search made, up to this round.
fn runs_used(run: &Run, number: u32) -> usize {
    let until = run.state.rounds.iter().filter(|round| round.number <= number);
    until.map(|round| round.scenarios.len()).sum::<usize>() * run.plan.task.target.members.len()
}

/// Returns how many runs a search by drafts left to the final comparison. Where its last trials are tests too, it left
/// none.
pub fn runs_left(run: &Run) -> Option<usize> {
    if run.plan.task.tests() > 0 {
        return None;
    }
    (runs(&run.plan)? as usize).checked_sub(runs_used(run, u32::MAX)).filter(|left| *left > 0)
}

/// Returns the maximum of executor runs in a search by drafts.
pub fn runs(plan: &Plan) -> Option<u32> {
    match plan.task.rules.search {
        Search::Draft { runs, .. } => Some(runs),
        Search::Rounds => None,
    }
}

/// Returns its name in flags and settings.
pub fn search(plan: &Plan) -> &'static str {
    match plan.task.rules.search {
        Search::Draft { .. } => "draft",
        Search::Rounds => "rounds",
    }
}

/// Returns whether it searches by drafts: each round after the first tries one scenario.
pub fn is_by_single_trials(plan: &Plan) -> bool {
    plan.task.searches() && matches!(plan.task.rules.search, Search::Draft { .. })
}

/// Returns the scenario that is tried, or how many there are.
pub fn tried(run: &Run, scenarios: &[usize]) -> String {
    match scenarios {
        [only] => {
            let held_out = run.plan.task.scenarios.get(*only).is_some_and(|scenario| scenario.held_out);
            format!("{}{}", one_line(scenario(run, *only)), if held_out { " (held out)" } else { "" })
        }
        several => count(several.len(), "scenario"),
    }
}

/// Returns a statement that failed, or its id if the plan has no text for it.
pub fn statement(fault: &Fault) -> &str {
    if fault.statement.is_empty() { fault.criterion.as_str() } else { &fault.statement }
}

/// Returns how often a statement has failed, or how often it was met if that is more.
pub fn trials(fault: &Fault) -> String {
    let Fault { passed, failed, .. } = fault;
    let all = passed + failed;
    if passed > failed { format!("met in {passed} of {all}") } else { format!("failed {failed} of {all}") }
}

/// Returns the members of a chain that may be at fault for what a round edits, the likeliest first.
pub fn at_fault(plan: &Plan, explanation: &Explanation) -> Option<String> {
    let members: Vec<String> = explanation
        .at_fault()
        .into_iter()
        .filter_map(|(place, share)| {
            let member = plan.task.target.members.get(place.0)?;
            Some(format!("{} {}", member.name, percent(share)))
        })
        .collect();
    (!members.is_empty()).then(|| members.join(", "))
}

/// Returns the goal of a search.
pub fn goal(plan: &Plan) -> String {
    if plan.is_structural() {
        "no structural findings".to_owned()
    } else {
        format!("goal {}", plan.task.rules.threshold.typed())
    }
}

pub fn reason(plan: &Plan, reason: Reason) -> &'static str {
    match reason {
        Reason::Reached if plan.is_structural() => "no structural findings left",
        Reason::Finished if is_by_single_trials(plan) => {
            "the newest version was tried on all scenarios of the search, and no known fault was left to edit"
        }
        Reason::Exhausted if is_by_single_trials(plan) => "its runs are used up",
        Reason::Stalled if is_by_single_trials(plan) => "edits stopped helping",
        Reason::Failed if is_by_single_trials(plan) => "too many failures in a row",
        Reason::Refused => "too many invalid edits in a row",
        Reason::Finished => "the improver finds nothing more to change",
        Reason::Reached => "goal reached",
        Reason::Failed => "too many failed rounds in a row",
        Reason::Oscillating => "the improver kept undoing its own changes",
        Reason::Stalled => "the best score stopped rising",
        Reason::Exhausted => "maximum number of rounds reached",
    }
}

pub fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Applied => "champion applied",
        Ending::Kept => "champion kept, not applied",
        Ending::Unchanged => "skill unchanged",
        Ending::Conflict => "the skill was edited during the run; champion not applied",
        Ending::Proposed => "champion proposed as a commit",
        Ending::Exercised => "the scenarios were tried",
        Ending::Compared => "the two versions were compared",
    }
}

/// The status of a measured round in one word; none while it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundStatus {
    /// The first score: that of the target as found.
    Baseline,
    Kept,
    /// The candidate already had a score; nothing new was tried.
    Again,
    Dropped,
    Incomplete,
}

impl RoundStatus {
    pub fn of(run: &Run, round: &Round) -> Option<Self> {
        let earlier =
            || run.state.rounds.iter().filter(|other| other.number < round.number && other.score().is_some());
        match (&round.result, &round.measured) {
            (Some(tune::RoundResult::Dropped(_)), _) => Some(Self::Dropped),
            (Some(tune::RoundResult::Kept), _) if earlier().next().is_none() => Some(Self::Baseline),
            (Some(tune::RoundResult::Kept), _) => {
                let known = earlier().any(|other| other.candidate == round.candidate);
                Some(if known { Self::Again } else { Self::Kept })
            }
            (None, Some(measured)) if measured.score.is_none() => Some(Self::Incomplete),
            (None, _) => None,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Kept => "kept",
            Self::Again => "unchanged",
            Self::Dropped => "dropped",
            Self::Incomplete => "incomplete",
        }
    }
}

/// Returns one word for the result of the run, the original's if it has one.
pub fn label(run: &Run) -> &'static str {
    match (run.class(), run.state.closed, run.state.stopped) {
        (Class::Open, ..) => "NOT ENDED",
        (_, Some(Ending::Exercised), _) => "TRIED",
        (_, Some(Ending::Compared), _) => "COMPARED",
        (Class::Reached, ..) if run.plan.is_structural() => "NO STRUCTURAL FINDINGS",
        (Class::Short, ending, _) if run.plan.is_structural() && ending != Some(Ending::Conflict) => {
            "STRUCTURAL FINDINGS LEFT"
        }
        (Class::Reached, ..) => "PASSED",
        (Class::Unjudged, ..) | (Class::Short, _, Some(Reason::Failed)) => "FAILED",
        (Class::Short, Some(Ending::Conflict), _) => "CONFLICT",
        (Class::Short, _, Some(Reason::Reached)) => "NOT CONFIRMED",
        (Class::Short, _, Some(Reason::Exhausted)) => "MAX ITERATIONS",
        (Class::Short, _, Some(Reason::Finished)) => "NOTHING LEFT TO IMPROVE",
        (Class::Short, _, Some(Reason::Refused)) => "EDITS REFUSED",
        (Class::Short, _, Some(Reason::Stalled)) => "STALLED",
        (Class::Short, _, Some(Reason::Oscillating)) => "OSCILLATING",
        (Class::Short, _, None) => "COMPLETED",
    }
}
