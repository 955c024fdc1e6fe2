//! `[evolve]`: how a specification becomes a change of a project, and when the result is good enough.

use clap::ValueEnum;
use serde_json::Value as Json;
use skilltune_phases::loops::evolve::task::{AdviceRules, Apply, Rules};
use skilltune_phases::runs::proposal::Form;
use toml::de::DeValue;

use crate::loops::evolve::advisers::RolesFlag;
use crate::settings::origin::Origin;
use crate::settings::proposed::ChecksName;
use crate::settings::range::{FEW, Range, SHARE};
use crate::settings::setting::{Readable, Setting, readable_words, texts, texts_schema};
use crate::settings::table::{Table, flag, options, switch};

options! {
    EvolveSettings, "evolve", Rules as usual;
    apply: ApplyName = Setting::new(ApplyName::Branch),
        "What to do with the result; only your own settings may set pr.",
        flag("--apply", "HOW").help("What to do with the result [default: branch]");
    tools: ToolsName = Setting::new(ToolsName::Shell),
        "Tools of the executor: files, or also a shell with network access.",
        flag("--tools", "TOOLS").help("Tools of the executor [default: shell]");
    bring: BroughtFiles = Setting::new(BroughtFiles(Vec::new())),
        "Files that git ignores and that copies need, such as `bring = [\".env\"]`; only your own settings may name them. They are in no commit.";
    roles: RolesFlag = Setting::new(RolesFlag::Auto),
        "Experts that may advise on the tasks: auto for all, none, or a list of names.",
        flag("--roles", "NAMES").help("Experts that may advise on tasks: auto, none, or names, comma-separated [default: auto]");
    relevance: f64 = Setting::within(SHARE, AdviceRules::default().relevance),
        "Least relevance of an expert that is asked about a task.";
    advisers: u32 = Setting::limit(FEW, AdviceRules::default().most),
        "Maximum number of experts that are asked about one task.";
    commands: ChecksName = Setting::new(ChecksName::Ask),
        "What to do with commands that were found and not set, with the checks of a specification, and with oracles; only your own settings may set run.",
        flag("--commands", "HOW").help("What to do with commands that were found, with the checks of the specification, and with oracles");
    oracles: bool = Setting::new(true),
        "Have the evaluator write, before the work, how a machine tells that each criterion is met.",
        switch("--no-oracles").help("Let the evaluator judge every criterion that has no check");
    strength: bool = Setting::new(false),
        "Measure whether the oracles reject wrong versions of the result, by one call for each criterion.",
        switch("--strength").help("Measure whether the oracles reject wrong versions of the result");
    control: bool = Setting::new(false),
        "Let one executor do everything alone as well, to compare the plan with it.",
        switch("--control").help("Let one executor do everything alone as well, to compare the plan with it");
    score: f64 = Setting::within(SHARE, usual.score) => score,
        "Least share of the criteria, by weight, that the result must meet.";
    alignment: f64 = Setting::within(SHARE, usual.alignment) => alignment,
        "Least share of the statements of the goal that must hold.";
    fixes: u32 = Setting::limit(FEW, usual.caps.fixes) => caps.fixes,
        "Maximum number of fixes in a row, while a command is newly red.";
    patches: u32 = Setting::limit(FEW, usual.caps.patches) => caps.patches,
        "Maximum number of patches for unmet criteria; then the evaluator looks from other points of view.";
    gain: f64 = Setting::within(SHARE, usual.caps.gain) => caps.gain,
        "A gain of the score below this is small: two in a row end the patches.";
    shrinking: f64 = Setting::within(SHARE, usual.caps.shrinking) => caps.shrinking,
        "Small gains shrink only if the earlier one changed the score by more than this.";
    drift: bool = Setting::new(usual.looks_for_drift) => looks_for_drift,
        "Compare the changes of each layer with the specification, by one call.";
    retries: u32 = Setting::limit(FEW, 1), "Maximum number of retries after an invalid answer.";
}

/// Paths of files in the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtFiles(pub Vec<String>);

impl Readable for BroughtFiles {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        texts(value).map(Self)
    }

    fn must_be(_: Range) -> String {
        "a list of files, such as [\".env\"]".to_owned()
    }

    fn schema(_: Range) -> Json {
        texts_schema()
    }

    fn json(&self) -> Json {
        self.0.clone().into()
    }
}

impl Table for EvolveSettings {
    fn needs_trust(&self) -> Option<&'static str> {
        match (&self.tools.origin, self.tools.value) {
            (Origin::Project(_), ToolsName::Shell) => Some("a shell for the executor (evolve.tools)"),
            _ => None,
        }
    }
}

impl EvolveSettings {
    pub fn rules(&self) -> Rules {
        self.as_rules()
    }

    /// Returns the ignored files that copies need. A project's file may be someone else's: it alone opens none.
    pub fn brought(&self) -> &[String] {
        if self.bring.origin.is_persons() { &self.bring.value.0 } else { &[] }
    }

    /// Says that a project's file names files that copies do not get.
    pub fn not_brought(&self) -> Option<String> {
        let is_ignored = !self.bring.value.0.is_empty() && self.brought().is_empty();
        is_ignored.then(|| {
            let names = self.bring.value.0.join(", ");
            format!("copies do not get {names}: only your own settings may set evolve.bring")
        })
    }

    pub fn advice(&self) -> AdviceRules {
        AdviceRules { relevance: self.relevance.value, most: self.advisers.value }
    }

    /// Returns where the result goes. A project's file may be someone else's: it alone sends nothing to a server.
    pub fn apply(&self) -> Apply {
        match self.apply.value {
            ApplyName::Pr if !self.apply.origin.is_persons() => Apply::Propose(Form::Branch),
            ApplyName::Pr => Apply::Propose(Form::PullRequest),
            ApplyName::Branch => Apply::Propose(Form::Branch),
            ApplyName::Patch => Apply::Propose(Form::Patch),
            ApplyName::Tree => Apply::Tree,
            ApplyName::Never => Apply::Never,
        }
    }
}

/// What to do with the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApplyName {
    /// Commit it on the branch skilltune/NAME
    Branch,
    /// Write a patch for `git am` to the run's folder
    Patch,
    /// Make a pull request with `gh`
    Pr,
    /// Write it into the project, if it meets the specification
    Tree,
    /// Leave it in the run
    Never,
}

/// What the executor may use. The evaluator never has a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ToolsName {
    /// Read and write files
    Files,
    /// Also run commands, such as builds and tests, with network access
    Shell,
}

readable_words!(ApplyName, ToolsName);

/// A value of each key that differs from its default.
#[cfg(test)]
pub fn changes() -> Vec<(&'static str, &'static str)> {
    vec![
        ("evolve.apply", "\"tree\""),
        ("evolve.tools", "\"files\""),
        ("evolve.bring", "[\".env\"]"),
        ("evolve.roles", "[\"architect\"]"),
        ("evolve.relevance", "0.7"),
        ("evolve.advisers", "2"),
        ("evolve.commands", "\"skip\""),
        ("evolve.oracles", "false"),
        ("evolve.strength", "true"),
        ("evolve.control", "true"),
        ("evolve.score", "0.9"),
        ("evolve.alignment", "0.7"),
        ("evolve.fixes", "2"),
        ("evolve.patches", "1"),
        ("evolve.gain", "0.1"),
        ("evolve.shrinking", "0.01"),
        ("evolve.drift", "false"),
        ("evolve.retries", "2"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Files, project};

    #[test]
    fn a_project_alone_sends_nothing_to_a_server_and_gives_no_shell() {
        let pr = "[evolve]\napply = \"pr\"\n";
        let apply = |settings: &crate::settings::Settings| settings.of::<EvolveSettings>().apply();
        assert_eq!(apply(&project(pr)), Apply::Propose(Form::Branch));
        assert_eq!(apply(&Files::new(pr, "").load()), Apply::Propose(Form::PullRequest));
        let bring = "[evolve]\nbring = [\".env\"]\n";
        let theirs = project(bring);
        let own = theirs.of::<EvolveSettings>();
        let remark = "copies do not get .env: only your own settings may set evolve.bring";
        assert_eq!((own.brought(), own.not_brought().as_deref()), (&[][..], Some(remark)));
        let ours = Files::new(bring, "").load();
        let own = ours.of::<EvolveSettings>();
        assert_eq!((own.brought(), own.not_brought()), (&[".env".to_owned()][..], None));
        assert_eq!(project("").of::<EvolveSettings>().not_brought(), None);
        let wishes = |text: &str| project(text).foreign_wishes().len();
        assert_eq!(wishes("[evolve]\ntools = \"shell\"\n"), 1);
        assert_eq!(wishes("[evolve]\ntools = \"files\"\n"), 0);
    }

    #[test]
    fn every_rule_follows_its_setting() {
        let text: String = changes().iter().flat_map(|(key, value)| [key, " = ", value, "\n"]).collect();
        let (usual, rules) = (Rules::default(), project(&text).of::<EvolveSettings>().rules());
        assert_eq!((rules.score, rules.alignment, rules.looks_for_drift), (0.9, 0.7, false));
        let caps = (rules.caps.fixes, rules.caps.patches, rules.caps.gain, rules.caps.shrinking);
        assert_eq!(caps, (2, 1, 0.1, 0.01));
        let advice = project(&text).of::<EvolveSettings>().advice();
        assert_eq!((advice.relevance, advice.most), (0.7, 2));
        let unset = project("");
        let own = unset.of::<EvolveSettings>();
        assert_eq!((own.rules(), own.advice()), (usual, AdviceRules::default()));
    }
}
