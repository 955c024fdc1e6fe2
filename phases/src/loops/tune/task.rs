//! What `tune` is asked to do: the skills, the tasks to try them on, and the numbers that decide.

use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::checks::{Check, How};
use crate::contract::{Contract, CriterionId};
use crate::delivery::Delivery;
use crate::demand::{AS_EXPECTED, Demand};
use crate::id::{CandidateId, TreeId};
use crate::judgement::Finding;
use crate::name::Name;
use crate::offline;
use crate::plan::RunId;
use crate::prompt::{Asked, Missed, Prompts};
use crate::proof::Confidence;
use crate::proposal::Form;
use crate::role::Role;
use crate::scenario::{Scenario, Tools};
use crate::score::Score;
use crate::stop::{Limits, Stall};
use crate::target::{Member, Place, Target};

use super::{Improver, Plan, Trial};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub aim: Aim,
    pub target: Target,
    pub scenarios: Vec<Scenario>,
    /// Where they come from, if not from the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    /// How often the scenarios that are held out have decided in earlier runs: no decision rests on it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub looks_before: u32,
    pub contract: Contract,
    pub rules: Rules,
    /// Older journals know only the first way.
    #[serde(default)]
    pub delivery: Delivery,
    /// What executors may use, where a scenario does not say.
    pub tools: Tools,
    pub apply: Apply,
    /// In place of the goal, where a pipeline asks for something else.
    pub fail_on: FailOn,
    /// The system holds set-up commands to their workspace.
    #[serde(default)]
    pub confined: bool,
    /// Pages of a person's own, as they were when the run began.
    #[serde(default, skip_serializing_if = "Prompts::is_empty")]
    pub prompts: Prompts,
}

/// What a run is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// A better version of the target.
    #[default]
    Improve,
    /// What comes of the scenarios without any skill. Its target is the suite; nothing is ever placed there.
    Try { trials: u32 },
    /// How well the scenarios can tell one version of the target from another, by trials of it as it is. Its scenarios are
    /// divided as for a search, and all are tried.
    Calibrate { trials: u32 },
    /// Whether one version is better than another, on all scenarios. Its target is the suite; nothing is ever placed there.
    Compare(Box<Sides>),
}

/// Two versions that are compared; the first is the start of the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sides {
    /// What the person called them.
    pub start: Box<str>,
    pub challenger: Box<str>,
    /// The second, one tree a member.
    pub trees: Vec<TreeId>,
    /// Where their trials come from, if an older run has made them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regraded: Option<Regraded>,
}

/// Where the trials of a comparison come from that makes none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regraded {
    /// The run that made them.
    pub run: RunId,
    /// That run searched for what it compared with the start.
    pub searched: bool,
    pub era: u32,
    /// The challenger alone was tried there, and compared with the start's first trials: those of the scenarios that are not held out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// What number each scenario has there: the order of the trials and the keys of the judge's answers go by it.
    pub numbers: Vec<usize>,
    /// How many trials are taken over, and how many of them a judge is asked about.
    pub trials: u32,
    pub judged: u32,
    pub left_out: Vec<(Name, LeftOut)>,
}

/// Why a scenario is not judged anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// The suite does not have it any more.
    Gone,
    /// The older run did not have it.
    New,
    /// What its executors were told.
    TaskChanged,
    FilesChanged,
    SetupChanged,
    ToolsChanged,
    /// It has checks now, and what they need was not kept.
    NotKept,
}

impl Aim {
    /// The two versions, if any are compared.
    pub fn sides(&self) -> Option<&Sides> {
        match self {
            Self::Compare(sides) => Some(sides),
            Self::Improve | Self::Try { .. } | Self::Calibrate { .. } => None,
        }
    }
}

impl Sides {
    /// Whether the challenger stands for no skill.
    pub fn is_without_skill(&self) -> bool {
        self.trees == [TreeId::EMPTY]
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_none(number: &u32) -> bool {
    *number == 0
}

/// A suite, as people are told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suite {
    pub path: String,
    /// It is the skill's own, and nobody named it.
    pub found: bool,
    /// Scenarios that nobody has reviewed, which are left out.
    pub drafts: Vec<Name>,
    /// What of it was lost or is odd.
    pub notes: Vec<Box<str>>,
    /// Which files of the skill hold its answers, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Box<str>>,
}

impl Suite {
    #[must_use]
    pub fn with_answers(mut self, answers: Vec<String>) -> Self {
        self.answers.extend(answers.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes.extend(notes.into_iter().map(Into::into));
        self
    }
}

/// The numbers that the run's decisions are judged against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    pub max_iterations: u32,
    pub threshold: Score,
    /// A draft that falls by more than this below the best is dropped at once.
    pub regress: f64,
    /// Stalled when the best has risen by no more than `gain` over `window` rounds.
    pub stall: Stall,
    /// Failed rounds in a row that end the run, or in a search by drafts failed edits.
    pub max_errors: u32,
    /// Fresh trials of each version on each scenario of the final comparison.
    pub confirm: u32,
    /// How sure that comparison must be.
    pub confidence: Confidence,
    /// The share of scenarios that must have been judged for a round to have a score.
    pub coverage: f64,
    #[serde(default, skip_serializing_if = "Search::is_rounds")]
    pub search: Search,
}

/// How a better version is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// Each version is tried on all scenarios of the search.
    #[default]
    Rounds,
    /// Each is tried on one, with so many runs of the executor in all, those of the final comparison included.
    Draft {
        runs: u32,
        /// Nobody chose which scenarios are held out. So trials on them may be compared with trials of the start on others.
        drawn: bool,
    },
}

impl Search {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
    fn is_rounds(&self) -> bool {
        *self == Self::Rounds
    }
}

/// What a pipeline asks of the end of a run. Where it asks for anything, that and not the goal decides between success and
/// failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FailOn {
    /// The confirmed score of the version that is left must not be below this.
    pub score_under: Option<Score>,
    /// No scenario may have got much worse, and the candidate must not have lost.
    pub regression: bool,
}

impl FailOn {
    /// Whether anything is asked at all.
    pub fn is_set(&self) -> bool {
        self.score_under.is_some() || self.regression
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apply {
    /// A person said so beforehand.
    Auto,
    /// Nobody said anything, and nobody is there.
    Unattended,
    Ask,
    Never,
    /// A person takes it from a commit.
    Propose(Form),
}

/// In place of evidence that would tell too much.
const UNTOLD: &str = "a judge who knows what is expected has compared them";

impl Task {
    /// What the executors of a scenario may use.
    pub fn tools(&self, scenario: usize) -> Tools {
        self.scenarios[scenario].tools.unwrap_or(self.tools)
    }

    /// What a judge of one scenario's trials is asked: not about what the scenario does not say.
    pub fn asked_of(&self, scenario: usize) -> Contract {
        let scenario = &self.scenarios[scenario];
        self.contract.only(|criterion| criterion.needs.is_none_or(|need| scenario.tells(need)))
    }

    /// Something that a scenario demands.
    pub fn demand(&self, id: &CriterionId) -> Option<&Demand> {
        let (scenario, demand) = id.as_str().split_once('/')?;
        let scenario = self.scenarios.iter().find(|one| one.id == scenario)?;
        scenario.demands.iter().find(|one| one.id == demand)
    }

    /// The runs that each member has in a search by single trials, and whether its final comparison tries the challenger alone.
    pub(crate) fn runs(&self) -> Option<(usize, bool)> {
        // Whoever calibrates a suite asks what it can show in any comparison.
        let Search::Draft { runs, drawn } = self.rules.search else { return None };
        if matches!(self.aim, Aim::Calibrate { .. }) {
            return None;
        }
        // Trials of too few scenarios are no control, however many there are.
        let searched = self.scenarios.iter().filter(|scenario| !scenario.held_out).count();
        let alone = drawn && searched >= self.rules.confidence.fewest_pairs();
        Some((runs as usize / self.target.members.len().max(1), alone))
    }

    /// The most scenarios of a final comparison: of a search by single trials, those of about a quarter of its runs, or, where the
    /// challenger is tried alone, of a fifth.
    pub(super) fn most_compared(&self) -> usize {
        let most = match self.runs().filter(|_| self.regraded().is_none()) {
            Some((runs, true)) => runs.div_ceil(5),
            Some((runs, false)) => runs / 8,
            None => usize::MAX,
        };
        most.max(self.rules.confidence.fewest_pairs())
    }

    /// What a criterion asks, in words for people; empty, if it is none of this run.
    pub fn question(&self, id: &CriterionId) -> String {
        let asked = self.contract.criterion(id).map(|criterion| criterion.text.to_string());
        asked.or_else(|| self.demand(id).map(Demand::shown)).unwrap_or_default()
    }

    /// The same as an improver is told it.
    pub fn asked(&self, id: &CriterionId) -> Asked {
        let question = self.demand(id).map_or_else(|| self.question(id), Demand::told);
        Asked { id: id.clone(), question }
    }

    /// What an improver is told of a criterion that was not met. What the program of a check says may name what it looks for,
    /// so of its words the first are told: how it ended. What is missing of an expected output names it.
    pub fn missed(&self, finding: Finding<'_>) -> Missed {
        let evidence = match self.demand(finding.criterion).map(|demand| &demand.how) {
            Some(How::Check(Check::Command { .. })) => {
                finding.evidence.split_once(':').map_or(finding.evidence, |(ended, _)| ended)
            }
            Some(How::Question { text }) if **text == *AS_EXPECTED => UNTOLD,
            Some(How::Check(_) | How::Question { .. }) | None => finding.evidence,
        };
        Missed { asked: self.asked(finding.criterion), verdict: finding.verdict, evidence: evidence.into() }
    }

    /// Where its trials come from, if it makes none.
    pub fn regraded(&self) -> Option<&Regraded> {
        self.aim.sides()?.regraded.as_ref()
    }

    /// The number of a scenario in the run that made its trials.
    pub(super) fn number(&self, scenario: usize) -> usize {
        let numbers = self.regraded().map(|of| &of.numbers);
        numbers.and_then(|numbers| numbers.get(scenario).copied()).unwrap_or(scenario)
    }

    /// The trial that an executor makes: what is taken over stays, whoever judges it.
    pub(super) fn executed(&self, trial: Trial) -> Trial {
        Trial { era: self.regraded().map_or(trial.era, |of| of.era), ..trial }
    }

    /// Whether it looks for a better version.
    pub fn searches(&self) -> bool {
        self.aim == Aim::Improve
    }

    /// Whether the executors of some scenario may run commands.
    pub fn has_shell(&self) -> bool {
        (0..self.scenarios.len()).any(|scenario| self.tools(scenario) == Tools::Shell)
    }
}

impl Rules {
    pub(super) fn limits(&self) -> Limits {
        Limits { max_errors: self.max_errors, stall: self.stall, max_iterations: self.max_iterations }
    }
}

impl Plan {
    /// The target as it was found.
    pub fn start(&self) -> Candidate {
        let trees = self.task.target.members.iter().map(|member| member.start).collect();
        Candidate::original(trees)
    }

    pub fn start_id(&self) -> CandidateId {
        self.start().id
    }

    /// Whether scores show the structure of the skill alone: the built-in agent judges, and no scenario has a command that
    /// it could run.
    pub fn is_structural(&self) -> bool {
        let is_built_in = |role: &Role| self.roles.of(role).agent == offline::NAME;
        let runs = |scenario: &Scenario| scenario.command.is_some();
        let never_runs = !is_built_in(&Role::EXECUTOR) || !self.task.scenarios.iter().any(runs);
        let is_checked =
            |scenario: &Scenario| scenario.demands.iter().any(|demand| demand.how.check().is_some());
        let never_checked = !self.task.scenarios.iter().any(is_checked);
        is_built_in(&Role::EVALUATOR) && never_runs && never_checked
    }

    /// One, or two that take turns.
    pub fn improvers(&self) -> impl Iterator<Item = Improver> + '_ {
        Improver::ALL.into_iter().filter(|by| self.roles.get(&by.role()).is_some())
    }

    /// Whether every improver makes the same edit of the same skill every time.
    pub(super) fn repeats_itself(&self) -> bool {
        self.improvers().all(|by| self.roles.of(&by.role()).agent == offline::NAME)
    }

    pub fn is_chain(&self) -> bool {
        self.task.target.members.len() > 1
    }

    pub fn member(&self, place: Place) -> &Member {
        &self.task.target.members[place.0]
    }

    pub fn places(&self) -> impl Iterator<Item = Place> + use<> {
        (0..self.task.target.members.len()).map(Place)
    }
}
