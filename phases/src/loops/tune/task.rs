//! The input of `tune`: the skills, the tasks to try them on, and the numbers that decide.

use serde::{Deserialize, Serialize};

use crate::asking::prompt::{Asked, Missed, Prompts};
use crate::base::delivery::Delivery;
use crate::base::id::{CandidateId, TreeId};
use crate::base::name::Name;
use crate::base::role::Role;
use crate::judging::contract::{Contract, CriterionId};
use crate::judging::judgement::Finding;
use crate::judging::proof::Confidence;
use crate::judging::score::Score;
use crate::judging::stop::{Limits, Stall};
use crate::runs::plan::RunId;
use crate::runs::proposal::Form;
use crate::skills::candidate::Candidate;
use crate::skills::offline;
use crate::skills::target::{Member, Place, Target};
use crate::suites::checks::{Check, How};
use crate::suites::demand::{AS_EXPECTED, Demand};
use crate::suites::scenario::{Scenario, Tools};

use super::{Improver, Plan, Trial};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub aim: Aim,
    pub target: Target,
    pub scenarios: Vec<Scenario>,
    /// The source of the scenarios, if it is not the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    /// How often the held-out scenarios have decided in earlier runs. No decision depends on it.
    #[serde(default, skip_serializing_if = "is_none", rename = "looks_before")]
    pub held_out_uses: u32,
    /// The held-out scenarios whose faults an earlier run has shown to an improver, after they had counted. Others come
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<usize>,
    pub contract: Contract,
    pub rules: Rules,
    /// Older journals have only the first variant.
    #[serde(default)]
    pub delivery: Delivery,
    /// The tools of executors, unless a scenario has its own.
    pub tools: Tools,
    pub apply: Apply,
    /// Replaces the goal if a pipeline asks for something else.
    pub fail_on: FailOn,
    /// Whether the system confines set-up commands to their workspace.
    #[serde(default)]
    pub confined: bool,
    /// The user's own prompt pages, as they were when the run began.
    #[serde(default, skip_serializing_if = "Prompts::is_empty")]
    pub prompts: Prompts,
}

/// The purpose of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// Finds a better version of the target.
    #[default]
    Improve,
    /// Tries the scenarios without any skill. The target is the suite; nothing is ever placed there.
    Try { trials: u32 },
    /// Measures how well the scenarios distinguish versions of the target, by trials of the current version. The
    /// scenarios are divided as for a search, and all are tried.
    Calibrate { trials: u32 },
    /// Compares two versions on all scenarios. The target is the suite; nothing is ever placed there.
    Compare(Box<Sides>),
}

/// Two versions to compare. The first is the start of the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sides {
    /// The user's names for them.
    pub start: Box<str>,
    pub challenger: Box<str>,
    /// The second version, one tree per member.
    pub trees: Vec<TreeId>,
    /// The source of their trials, if an older run made them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regraded: Option<Regraded>,
}

/// The source of the trials of a comparison that makes none itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regraded {
    /// The run that made them.
    pub run: RunId,
    /// Whether that run searched for the version that it compared with the start.
    pub searched: bool,
    pub era: u32,
    /// Whether only the challenger was tried there, and compared with the start's first trials: those of the scenarios
    /// that are not held out.
    #[serde(rename = "apart", default, skip_serializing_if = "std::ops::Not::not")]
    pub unpaired: bool,
    /// The trials that are compared with those, if they were the last ones of a search that went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<StoredTest>,
    /// The number of each scenario there. It determines the order of the trials and the keys of the judge's answers.
    pub numbers: Vec<usize>,
    /// The number of reused trials, and how many of them a judge is asked about.
    pub trials: u32,
    pub judged: u32,
    pub left_out: Vec<(Name, LeftOut)>,
}

/// A trial of a search that was also a test, of the version of that moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTest {
    pub scenario: usize,
    pub trees: Vec<TreeId>,
}

impl StoredTest {
    pub(super) fn version(&self) -> Candidate {
        Candidate::original(self.trees.clone())
    }
}

/// The reason why a scenario is not judged again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// The suite no longer has it.
    Gone,
    /// The older run did not have it.
    New,
    /// The task given to its executors changed.
    TaskChanged,
    FilesChanged,
    SetupChanged,
    ToolsChanged,
    /// It has checks now, and the data that they need was not kept.
    NotKept,
}

impl Aim {
    /// Returns the two versions, if the run compares any.
    pub fn sides(&self) -> Option<&Sides> {
        match self {
            Self::Compare(sides) => Some(sides),
            Self::Improve | Self::Try { .. } | Self::Calibrate { .. } => None,
        }
    }

    /// Returns how often all scenarios are tried, if the run does nothing else.
    pub(super) fn trials(&self) -> Option<u32> {
        match self {
            Self::Try { trials } | Self::Calibrate { trials } => Some(*trials),
            Self::Improve | Self::Compare(_) => None,
        }
    }
}

impl Sides {
    /// Whether the challenger is a run without a skill.
    pub fn is_without_skill(&self) -> bool {
        self.trees == [TreeId::EMPTY]
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_none(number: &u32) -> bool {
    *number == 0
}

/// A suite, as shown to users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suite {
    pub path: String,
    /// Whether it is the skill's own suite and was not named by the user.
    pub found: bool,
    /// Scenarios that were not reviewed, which are left out.
    pub drafts: Vec<Name>,
    /// Problems and oddities found when reading the suite.
    pub notes: Vec<Box<str>>,
    /// The files of the skill that contain the suite's answers, one per line.
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
    /// The search has stalled when the best has risen by no more than `gain` over `window` rounds.
    pub stall: Stall,
    /// Consecutive failed rounds (in a search by drafts, failed edits) that end the run.
    pub max_errors: u32,
    /// Fresh trials of each version on each scenario of the final comparison.
    pub confirm: u32,
    /// The required confidence of that comparison.
    pub confidence: Confidence,
    /// How often that comparison may be extended by as many trials while it stays open.
    #[serde(default, skip_serializing_if = "is_none")]
    pub extensions: u32,
    /// The share of scenarios that must have been judged for a round to have a score.
    pub coverage: f64,
    #[serde(default, skip_serializing_if = "Search::is_rounds")]
    pub search: Search,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_iterations: 5,
            threshold: Score::new(80.0).expect("a number from 0 to 100"),
            regress: 10.0,
            stall: Stall { window: 2, gain: 2.0, reaching: false },
            max_errors: 3,
            confirm: 1,
            confidence: Confidence::P90,
            extensions: 0,
            coverage: 0.8,
            search: Search::Rounds,
        }
    }
}

/// The method of searching for a better version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// Each version is tried on all scenarios of the search.
    #[default]
    Rounds,
    /// Each version is tried on one scenario. `runs` limits the executor's runs, including those of the final
    /// comparison.
    Draft {
        runs: u32,
        /// The held-out scenarios were drawn, not chosen, so trials on them may be compared with the start's trials on
        /// others.
        drawn: bool,
        /// The last trials of the search are on this many held-out scenarios, and are the challenger's side of the final
        /// comparison: each is scored before anything is edited because of it.
        #[serde(default, skip_serializing_if = "is_none")]
        tests: u32,
    },
}

impl Search {
    fn is_rounds(&self) -> bool {
        *self == Self::Rounds
    }
}

/// The requirements of a pipeline for the end of a run. If there are any, they and not the goal decide between success
/// and failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FailOn {
    /// The confirmed score of the remaining version must not be below this.
    pub score_under: Option<Score>,
    /// No scenario may be much worse, and the candidate must not have lost.
    pub regression: bool,
}

impl FailOn {
    /// Whether anything is required at all.
    pub fn is_set(&self) -> bool {
        self.score_under.is_some() || self.regression
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apply {
    /// The user consented beforehand.
    Auto,
    /// Without consent, and without a user present.
    Unattended,
    Ask,
    Never,
    /// The user reviews a commit.
    Propose(Form),
}

/// Replaces evidence that would reveal too much.
const UNTOLD: &str = "a judge who knows what is expected has compared them";

impl Task {
    /// Returns the tools of a scenario's executors.
    pub fn tools(&self, scenario: usize) -> Tools {
        self.scenarios[scenario].tools.unwrap_or(self.tools)
    }

    /// Returns what a judge of one scenario's trials is asked. Criteria that need information the scenario lacks are
    /// left out.
    pub fn asked_of(&self, scenario: usize) -> Contract {
        let scenario = &self.scenarios[scenario];
        self.contract.only(|criterion| criterion.needs.is_none_or(|need| scenario.tells(need)))
    }

    /// Returns a demand of a scenario.
    pub fn demand(&self, id: &CriterionId) -> Option<&Demand> {
        let (scenario, demand) = id.as_str().split_once('/')?;
        let scenario = self.scenarios.iter().find(|one| one.id == scenario)?;
        scenario.demands.iter().find(|one| one.id == demand)
    }

    /// Returns the runs of each member in a search by single trials, and whether its final comparison tries only the
    /// challenger.
    pub(crate) fn runs(&self) -> Option<(usize, bool)> {
        let Search::Draft { runs, drawn, .. } = self.rules.search else { return None };
        // A run with a number of trials does not search, and stored trials are not divided again.
        if self.aim.trials().is_some() || self.regraded().is_some() {
            return None;
        }
        // Trials of too few scenarios are not a control, however many there are.
        let searched = self.scenarios.iter().filter(|scenario| !scenario.held_out).count();
        let alone = drawn && searched >= self.rules.confidence.fewest_pairs();
        Some((runs as usize / self.target.members.len().max(1), alone))
    }

    /// Returns the number of trials of a search that are also tests.
    pub fn tests(&self) -> usize {
        match self.rules.search {
            Search::Draft { tests, .. } if self.runs().is_some() => tests as usize,
            Search::Draft { .. } | Search::Rounds => 0,
        }
    }

    /// Returns the most scenarios of a final comparison. For a search by single trials, those use about a quarter of
    /// its runs or, if only the challenger is tried, a fifth.
    pub(super) fn most_compared(&self) -> usize {
        let most = match self.runs() {
            Some(_) if self.tests() > 0 => self.tests(),
            Some((runs, true)) => runs.div_ceil(5),
            Some((runs, false)) => runs / 8,
            None => usize::MAX,
        };
        most.max(self.rules.confidence.fewest_pairs())
    }

    /// Returns the text of a criterion for users. Empty if the run does not have it.
    pub fn question(&self, id: &CriterionId) -> String {
        self.text(id, Demand::shown)
    }

    /// Returns the words of a criterion. Criteria with the same words are one statement, whatever their weights.
    pub fn statement(&self, id: &CriterionId) -> String {
        self.text(id, Demand::words)
    }

    fn text(&self, id: &CriterionId, of: impl Fn(&Demand) -> String) -> String {
        let asked = self.contract.criterion(id).map(|criterion| criterion.text.to_string());
        asked.or_else(|| self.demand(id).map(of)).unwrap_or_default()
    }

    /// Returns the text of a criterion for an improver.
    pub fn asked(&self, id: &CriterionId) -> Asked {
        let question = self.demand(id).map_or_else(|| self.question(id), Demand::improver_text);
        Asked { id: id.clone(), question }
    }

    /// Returns what an improver sees of a criterion that was not met. The output of a check's program may name what it
    /// looks for, so only its beginning is shown: how it ended. A difference from an expected output is not shown, as
    /// it names that output.
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

    /// Returns the source of the trials, if the run makes none.
    pub fn regraded(&self) -> Option<&Regraded> {
        self.aim.sides()?.regraded.as_ref()
    }

    /// Returns the number of a scenario in the run that made its trials.
    pub(super) fn number(&self, scenario: usize) -> usize {
        let numbers = self.regraded().map(|of| &of.numbers);
        numbers.and_then(|numbers| numbers.get(scenario).copied()).unwrap_or(scenario)
    }

    /// Returns the trial that an executor makes. A reused trial keeps its era with any judge.
    pub(super) fn executed(&self, trial: Trial) -> Trial {
        Trial { era: self.regraded().map_or(trial.era, |of| of.era), ..trial }
    }

    /// Whether the run looks for a better version.
    pub fn searches(&self) -> bool {
        self.aim == Aim::Improve
    }

    /// Returns whether a search made the version that meets the start: that of this run, or of the run that made its
    /// trials.
    pub(super) fn is_of_search(&self) -> bool {
        self.regraded().map_or(self.searches(), |of| of.searched)
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

    /// Returns the chance of error of each part of the final comparison: its beginning and its extensions share that of
    /// the whole.
    pub fn alpha(&self) -> f64 {
        self.confidence.alpha() / (f64::from(self.extensions) + 1.0)
    }
}

impl Plan {
    /// Returns the original target.
    pub fn start(&self) -> Candidate {
        let trees = self.task.target.members.iter().map(|member| member.start).collect();
        Candidate::original(trees)
    }

    pub fn start_id(&self) -> CandidateId {
        self.start().id
    }

    /// Whether scores show only the structure of the skill: the built-in agent judges, and no scenario has a command
    /// that it could run.
    pub fn is_structural(&self) -> bool {
        let is_built_in = |role: &Role| self.roles.of(role).agent == offline::NAME;
        let runs = |scenario: &Scenario| scenario.command.is_some();
        let never_runs = !is_built_in(&Role::EXECUTOR) || !self.task.scenarios.iter().any(runs);
        let is_checked =
            |scenario: &Scenario| scenario.demands.iter().any(|demand| demand.how.check().is_some());
        let never_checked = !self.task.scenarios.iter().any(is_checked);
        is_built_in(&Role::EVALUATOR) && never_runs && never_checked
    }

    /// Returns the improvers: one, or two that take turns.
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
