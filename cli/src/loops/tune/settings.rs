//! `[tune]` and `[prompts]`: the settings of a search and its agents.

use clap::ValueEnum;
use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::asking::prompt::Page;
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::{Apply, Rules};
use skilltune_phases::runs::proposal::Form;
use skilltune_phases::skills::target::Mode;
use skilltune_phases::suites::scenario::Tools;
use toml::de::DeValue;

use crate::settings::origin::Origin;
use crate::settings::range::{COUNT, POINTS, RUNS, Range, SHARE};
use crate::settings::setting::{Readable, Setting, path_schema, readable_words};
use crate::settings::table::{Table, flag, options};
use crate::settings::values::word;

options! {
    TuneSettings, "tune", Rules as usual;
    preset: Preset = Setting::new(Preset::Standard),
        "How much a search may spend; sets runs, max_iterations and threshold.",
        flag("--preset", "PRESET").help("How much the search may spend");
    search: Option<SearchName> = Setting::new(None),
        "How to search, such as `search = \"rounds\"`: `draft` tries each candidate on one scenario, `rounds` tries each on all scenarios of the search. If unset: `rounds` if max_iterations is set, if fewer than two scenarios are left to search with, if the judge names no criterion that failed, or if the built-in agent judges or improves; otherwise `draft`.",
        flag("--search", "SEARCH").help("How to search [default: draft, if two or more scenarios are left to search with]");
    runs: u32 = Setting::limit(RUNS, 48),
        "Search `draft`: maximum number of executor runs, including the final comparison.",
        flag("--runs", "N");
    max_iterations: u32 = Setting::limit(COUNT, usual.max_iterations) => max_iterations,
        "Search `rounds`: maximum number of rounds, including the baseline.",
        flag("--max-iterations", "N");
    threshold: Score = Setting::within(POINTS, usual.threshold) => threshold,
        "Goal for the exit code; the search `rounds` also stops when the score reaches it.",
        flag("--threshold", "SCORE").help("Goal for the exit code, 0 to 100; the search `rounds` also stops when the score reaches it");
    regress: f64 = Setting::within(POINTS, usual.regress) => regress,
        "Search `rounds`: drop a candidate that scores this many points below the best.";
    stall_window: usize = Setting::within(COUNT, usual.stall.window) => stall.window,
        "Search `rounds`: stop if the best score did not rise by stall_gain in this many rounds.";
    stall_gain: f64 = Setting::within(POINTS, usual.stall.gain) => stall.gain,
        "Search `rounds`: points by which the best score must rise in stall_window rounds.";
    max_errors: u32 = Setting::limit(COUNT, usual.max_errors) => max_errors,
        "Stop after this many failures in a row: rounds without a score, or in search `draft` failed edits.";
    confirm: u32 = Setting::within(COUNT, usual.confirm) => confirm,
        "Fresh trials of each version per scenario in the final comparison.";
    confidence: Confidence = Setting::new(usual.confidence) => confidence,
        "Confidence of the final comparison: 0.8, 0.9 or 0.95.",
        flag("--confidence", "SHARE");
    held_out: u32 = Setting::within(POINTS, 40),
        "Percentage of scenarios held out for the final comparison if the suite marks none; at least as many as it needs.";
    coverage: f64 = Setting::within(SHARE, usual.coverage) => coverage,
        "Share of trials that must be judged for a round to get a score.";
    delivery: DeliveryName = Setting::new(DeliveryName::Auto),
        "How the executor gets the skill; auto means installed for agents that support skills, otherwise inline.",
        flag("--delivery", "WAY").help("How the executor gets the skill");
    tools: ToolsName = Setting::new(ToolsName::Files),
        "Tools of the executor: files, or also a shell with network access.",
        flag("--tools", "TOOLS").help("Tools of the executor; overrides the suite");
    apply: ApplyWhen = Setting::new(ApplyWhen::Auto),
        "When the champion may replace the skill; if you do not set it, skilltune asks in a terminal, and without one it is auto, but weak evidence is kept.",
        flag("--apply", "WHEN").help("When the champion may replace the skill [default: ask in a terminal; otherwise auto, but weak evidence is kept]");
}

options! {
    /// Prompts of the user's own, in place of ours.
    PromptSettings, "prompts";
    execute: Option<PagePath> = Setting::new(None),
        "Your own prompt for an executor that gets the skill's text, such as `execute = \"prompts/execute.md\"`; see docs/prompts.md.";
    task: Option<PagePath> = Setting::new(None), "Your own prompt for an executor that has the skill installed, such as `task = \"prompts/task.md\"`.";
    evaluate: Option<PagePath> = Setting::new(None), "Your own prompt for the judge, such as `evaluate = \"prompts/evaluate.md\"`.";
    improve: Option<PagePath> = Setting::new(None), "Your own prompt for the improver, such as `improve = \"prompts/improve.md\"`.";
}

impl Table for TuneSettings {
    fn unfold_preset(&mut self, origin: &Origin) {
        let preset = self.preset.value;
        let unfolded = Origin::Preset(word(&preset), Box::new(origin.clone()));
        let (runs, rounds, goal) = preset.numbers();
        self.runs.set(runs, unfolded.clone());
        self.max_iterations.set(rounds, unfolded.clone());
        self.threshold.set(goal, unfolded);
    }

    fn needs_trust(&self) -> Option<&'static str> {
        match (&self.tools.origin, self.tools.value) {
            (Origin::Project(_), ToolsName::Shell) => Some("a shell for the executor (tune.tools)"),
            _ => None,
        }
    }
}

impl Table for PromptSettings {}

impl TuneSettings {
    /// Sets a preset and all settings that it stands for.
    pub fn set_preset(&mut self, preset: Preset, origin: &Origin) {
        self.preset.set(preset, origin.clone());
        self.unfold_preset(origin);
    }

    /// Returns the rules of a search by rounds: whether it drafts is decided when the plan is made.
    pub fn rules(&self) -> Rules {
        self.as_rules()
    }
}

/// How much a search may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// 16 runs or 3 rounds, goal 70
    Quick,
    /// 48 runs or 5 rounds, goal 80
    Standard,
    /// 128 runs or 8 rounds, goal 90
    Thorough,
}

/// How a better version is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SearchName {
    /// Try each candidate on one scenario, and edit all its probable faults
    Draft,
    /// Try each candidate on all scenarios of the search
    Rounds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeName {
    /// Tune each skill by itself
    Single,
    /// Tune them as a chain: each skill works on the output of the one before
    Chain,
}

/// How the executor gets the skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeliveryName {
    /// `installed` if the agent supports skills, otherwise `inline`
    Auto,
    /// Install the skill where the agent looks for skills; the prompt is only the task
    Installed,
    /// Like `installed`, and the prompt calls /NAME
    Slash,
    /// Put the skill and all its files into the prompt
    Inline,
}

/// What the executor may use. The judge and the improver never have a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ToolsName {
    /// Read and write files
    Files,
    /// Also run commands, such as the skill's scripts, with network access
    Shell,
}

/// When the champion may replace the target. Unset, we ask a person at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApplyWhen {
    /// If it won the final comparison
    Auto,
    /// If it won, and you agree
    Ask,
    /// Never; `skilltune apply` does it later
    Never,
    /// Never; a winner becomes a commit on the branch skilltune/NAME
    Branch,
    /// Never; a winner becomes a patch in the run's folder, for `git am`
    Patch,
    /// Never; a winner becomes a pull request, made by `gh`
    Pr,
}

impl Preset {
    /// Returns the number of runs, the number of rounds, and the goal.
    pub fn numbers(self) -> (u32, u32, Score) {
        let goal = |points| Score::new(points).expect("within 0 to 100");
        match self {
            Self::Quick => (16, 3, goal(70.0)),
            Self::Standard => (48, 5, goal(80.0)),
            Self::Thorough => (128, 8, goal(90.0)),
        }
    }
}

impl From<ApplyWhen> for Apply {
    fn from(when: ApplyWhen) -> Self {
        match when {
            ApplyWhen::Auto => Self::Auto,
            ApplyWhen::Ask => Self::Ask,
            ApplyWhen::Never => Self::Never,
            ApplyWhen::Branch => Self::Propose(Form::Branch),
            ApplyWhen::Patch => Self::Propose(Form::Patch),
            ApplyWhen::Pr => Self::Propose(Form::PullRequest),
        }
    }
}

impl From<ToolsName> for Tools {
    fn from(tools: ToolsName) -> Self {
        match tools {
            ToolsName::Files => Self::Files,
            ToolsName::Shell => Self::Shell,
        }
    }
}

impl From<ModeName> for Mode {
    fn from(mode: ModeName) -> Self {
        match mode {
            ModeName::Single => Self::Single,
            ModeName::Chain => Self::Chain,
        }
    }
}

readable_words!(Preset, SearchName, ApplyWhen, DeliveryName, ToolsName);

/// The path of a page, below the folder of the settings that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagePath(pub RelPath);

impl Readable for PagePath {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        let text = value.as_str().filter(|text| !text.contains(char::is_control))?;
        RelPath::parse(text.as_bytes()).ok().map(Self)
    }

    fn must_be(_: Range) -> String {
        "a file in the folder of these settings".to_owned()
    }

    fn schema(_: Range) -> serde_json::Value {
        path_schema()
    }

    fn json(&self) -> serde_json::Value {
        self.0.as_path().display().to_string().into()
    }
}

impl PromptSettings {
    pub fn of(&self, page: Page) -> &Setting<Option<PagePath>> {
        match page {
            Page::Execute => &self.execute,
            Page::Task => &self.task,
            Page::Evaluate => &self.evaluate,
            Page::Improve => &self.improve,
        }
    }
}
