//! Receipts: what each criterion of a result rests on, in a word that a stranger can check. Only a machine that saw an
//! oracle go from red to green makes a criterion *verified*.

use serde::{Deserialize, Serialize};

use super::evaluate::{Judged, judged_alone};
use super::evaluation::{Evaluation, Evidence};
use super::measuring::Strength;
use super::oracle::{Light, Oracle, Probed, Standing};
use super::spec::{Id, Priority};
use super::stages::Gate;
use super::step::{Answer, Choice, Question, Step};
use super::task::MergedWork;
use super::weakened::is_test_file;
use super::{Run, oracle};
use crate::base::id::TreeId;
use crate::loops::shared::commands::Stage;
use crate::runs::plan::RunId;
use crate::runs::run::StepState;

pub use super::evidence::{CommandReceipt, Word};

/// The version of the form of receipts.
pub const VERSION: u32 = 1;

/// The receipts of a result. `docs/schemas/evolve-receipts.schema.json` has their form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipts {
    pub version: u32,
    pub run: RunId,
    pub name: String,
    pub goal: Box<str>,
    /// The project on which oracles were red.
    pub base: TreeId,
    /// The result that the words are about.
    pub tree: TreeId,
    /// The number of commits that lead to it.
    pub commits: usize,
    /// The names that the work had to provide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Box<str>>,
    pub criteria: Vec<Receipt>,
    pub commands: Vec<CommandReceipt>,
    /// What one executor alone made of the same specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlReceipt>,
    pub not_looked_at: Vec<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    pub id: Id,
    pub text: Box<str>,
    pub priority: Priority,
    pub word: Word,
    /// Why it is no better word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<OracleReceipt>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OracleReceipt {
    pub argv: Vec<String>,
    /// Whether the specification has it, as a check.
    pub is_check: bool,
    pub uses_names: bool,
    pub shows: Box<str>,
    /// How it ended on the base, if it ran there.
    pub before: Option<Probed>,
    pub after: Option<Probed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlReceipt {
    pub tree: TreeId,
    pub score: Option<f64>,
    pub is_done: bool,
    /// The criteria whose oracles its work meets.
    pub verified: Vec<Id>,
}

impl Receipts {
    /// Returns the ids of the criteria with a word.
    pub fn of(&self, word: Word) -> Vec<&str> {
        self.criteria.iter().filter(|one| one.word == word).map(|one| &*one.id).collect()
    }

    /// Returns how many criteria have each of some words, such as `2 verified, 1 judged`.
    pub fn counted(&self, words: impl IntoIterator<Item = Word>) -> String {
        let counts = words.into_iter().map(|word| (self.of(word).len(), word.word()));
        let some = counts.filter(|(number, _)| *number > 0);
        some.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
    }
}

impl Run {
    /// Whether a machine can repeat what a criterion rests on.
    pub fn has_evidence(&self) -> bool {
        let criteria = self.plan.task.spec.criteria.iter();
        let mut stands = criteria.filter_map(|one| self.stands(&one.id));
        stands.any(|standing| standing.probe().is_some())
    }

    /// Returns the receipts of the result; none if nothing was judged.
    pub fn receipts(&self) -> Option<Receipts> {
        let result = self.result().unwrap_or_else(|| self.base());
        let (tree, state, task) = (self.own_tree(result), &self.state, &self.plan.task);
        let contract = state.contract.as_ref()?;
        let evaluation = match judged_alone(self, tree).ok()? {
            Judged::Whole(evaluation) => evaluation,
            Judged::Bare | Judged::Red(_) | Judged::Unjudged(_) => return None,
        };
        let criteria = contract.criteria.iter().map(|one| {
            let (word, why) = self.word(&one.id, (tree, result), &evaluation);
            let verdict = evaluation.judgement.criteria.iter().find(|verdict| verdict.id == one.id);
            let evidence = verdict.and_then(|verdict| verdict.evidence.clone());
            let (id, text, priority) = (one.id.clone(), one.text.clone(), one.priority);
            let oracle = self.oracle_receipt(&id, tree);
            Receipt { word, why: why.map(Into::into), evidence, oracle, id, text, priority }
        });
        Some(Receipts {
            version: VERSION,
            run: self.plan.run.clone(),
            name: task.name.clone(),
            goal: task.spec.goal.clone(),
            base: self.base(),
            tree,
            commits: self.works_of(result).len(),
            names: self.names().map(Into::into),
            criteria: criteria.collect(),
            commands: self.command_receipts(tree),
            control: self.control_receipt(),
            not_looked_at: self.not_looked_at(tree, result),
        })
    }

    /// Returns what a criterion of a judged tree rests on, and why it is no better word.
    fn word(
        &self,
        id: &Id,
        (tree, result): (TreeId, TreeId),
        evaluation: &Evaluation,
    ) -> (Word, Option<String>) {
        let verdict = evaluation.judgement.criteria.iter().find(|verdict| verdict.id == *id);
        if verdict.is_none_or(|verdict| !verdict.is_met) {
            let gaps = verdict.map(|verdict| verdict.gaps.join("; "));
            let is_disputed = verdict.is_some_and(|verdict| verdict.is_disputed);
            return (if is_disputed { Word::Disputed } else { Word::NotMet }, gaps);
        }
        let standing = match self.stands(id) {
            Some(Standing::Without(why)) => return (Word::Judged, Some(why.into_owned())),
            Some(standing @ (Standing::Ready(_) | Standing::AlreadyMet(_))) => standing,
            None => return (Word::Judged, None),
        };
        let (go, is_check, argv) = match standing.probe() {
            Some(probe) => (probe.go, probe.is_check, &probe.oracle.argv),
            None => return (Word::Judged, None),
        };
        match self.word_of_machine(id, go, tree) {
            None => (Word::Judged, Some(self.why_judged(id, go, tree))),
            Some(word) => match self.doubt(result, is_check.then_some(argv)) {
                Some(doubt) => (Word::Judged, Some(doubt)),
                None => (word, None),
            },
        }
    }

    /// Returns the word of a criterion whose oracle is green on a tree, by how it ended before the work.
    pub(super) fn word_of_machine(&self, id: &Id, go: u32, tree: TreeId) -> Option<Word> {
        let is_green = self.probed(id, go, tree)?.light == Light::Green;
        match self.stands(id)? {
            Standing::Ready(probe) if is_green => {
                let was_red = probe.before.is_some_and(|before| before.light == Light::Red);
                was_red.then_some(Word::Verified)
            }
            Standing::AlreadyMet(_) if is_green => Some(Word::AlreadyMet),
            Standing::Ready(_) | Standing::AlreadyMet(_) | Standing::Without(_) => None,
        }
    }

    fn why_judged(&self, id: &Id, go: u32, tree: TreeId) -> String {
        let settle = Step::Settle { tree, criterion: id.clone() };
        match (self.state_of(&settle), self.probed(id, go, tree)) {
            (StepState::Answered(Answer::Chosen(Choice::Holds)), _) => {
                "its oracle fails, and a person finds it met".to_owned()
            }
            (_, Some(end)) if end.light == Light::Green => {
                "its check was not seen to fail before the work".to_owned()
            }
            (_, Some(end)) if end.is_undecided() => {
                "its oracle ended without saying that it passed".to_owned()
            }
            _ => "its oracle did not decide it".to_owned(),
        }
    }

    /// Returns why a machine's word is not enough: a change that touches what checks it, without a person's approval.
    fn doubt(&self, result: TreeId, check: Option<&Vec<String>>) -> Option<String> {
        let mut weakened = self.state.end.iter().flat_map(|end| &end.weakened);
        let ask = Step::Ask { question: Question::Weakened, round: 0 };
        let is_approved = matches!(self.state_of(&ask), StepState::Answered(Answer::Chosen(Choice::Approve)));
        if let Some(first) = weakened.next().filter(|_| !is_approved) {
            return Some(format!(
                "the change touches tests or their settings ({}), and no person approved that",
                first.path
            ));
        }
        let argv = check?;
        let Some(files) = self.changed_files(result) else {
            return Some("an earlier run did some of the work, and its files are not known".to_owned());
        };
        let names_file = argv.iter().any(|word| is_file_like(word));
        let is_own = |file: &str| {
            argv.iter().any(|word| is_named(word, file))
                || !names_file && (is_test_file(file) || is_recipe(file))
        };
        let mut own = files.iter().filter(|file| is_own(file));
        // A changed folder is there with its files.
        let first = own.next()?;
        let own = own.fold(first, |own, file| if file.starts_with(own) { file } else { own });
        Some(format!("its check runs {own}, which the change wrote"))
    }

    /// Returns the files that the work of a result changed, if all of it was done in this run.
    fn changed_files(&self, result: TreeId) -> Option<Vec<&str>> {
        let mut files = Vec::new();
        for work in self.works_of(result) {
            let works = &self.integration(work.batch?)?.works;
            let merged = works.iter().find(|one| one.task == work.task)?;
            files.extend(merged.files.iter().map(|file| &**file));
        }
        Some(files)
    }

    fn oracle_receipt(&self, id: &Id, tree: TreeId) -> Option<OracleReceipt> {
        let standing = self.stands(id)?;
        let oracle::Probe { oracle, go, before, is_check } = standing.probe()?;
        let Oracle { argv, uses_names, shows, .. } = &**oracle;
        Some(OracleReceipt {
            argv: argv.clone(),
            is_check: *is_check,
            uses_names: *uses_names,
            shows: shows.clone(),
            before: before.cloned(),
            after: self.probed(id, *go, tree).cloned(),
            strength: self.strength().remove(id),
        })
    }

    fn command_receipts(&self, tree: TreeId) -> Vec<CommandReceipt> {
        let exit = |tree: TreeId, stage: Stage| self.ran(tree, stage)?.1?.exit;
        let of = |stage: Stage| {
            let (command, _) = self.ran(tree, stage)?;
            let (before, after) = (exit(self.base(), stage), exit(tree, stage));
            Some(CommandReceipt { stage, argv: command.argv.clone(), before, after })
        };
        Stage::ALL.into_iter().filter_map(of).collect()
    }

    fn control_receipt(&self) -> Option<ControlReceipt> {
        let control = self.control()?;
        let criteria = self.plan.task.spec.criteria.iter().map(|one| one.id.clone());
        let is_verified = |id: &Id| {
            let standing = self.stands(id);
            let go = standing.as_ref().and_then(|standing| Some(standing.probe()?.go));
            go.is_some_and(|go| self.word_of_machine(id, go, control.tree) == Some(Word::Verified))
        };
        Some(ControlReceipt {
            tree: control.tree,
            score: control.evaluation.as_ref().map(|one| one.score),
            is_done: control.evaluation.is_some_and(|one| one.is_done),
            verified: criteria.filter(is_verified).collect(),
        })
    }

    /// Returns what was not looked at, in a line each.
    fn not_looked_at(&self, tree: TreeId, result: TreeId) -> Vec<Box<str>> {
        let commands = Stage::ALL.into_iter().filter_map(|stage| match self.gate(tree, stage)? {
            Gate::Missing => Some(format!("the project has no command to {} it", stage.word())),
            Gate::NotLookedAt => Some(format!(
                "{}: it failed before the change, and does not tell which tests fail",
                stage.word()
            )),
            Gate::Passed | Gate::Red => None,
        });
        let readers: Vec<&str> = self.readers(result).into_iter().map(|id| &**id).collect();
        let was_readable = !readers.is_empty() && self.asks_for_oracles();
        let readable = was_readable.then(|| {
            format!("oracle was readable: nothing hid it from the executors of {}", readers.join(", "))
        });
        commands.chain(readable).map(Into::into).collect()
    }

    /// Returns the tasks of a result whose executors could read the run's own files.
    pub fn readers(&self, result: TreeId) -> Vec<&Id> {
        let could_read = |work: &&MergedWork| {
            let begun = work.batch.and_then(|batch| self.state.batches.get(batch));
            let Some(begun) = begun else { return false };
            let mut dues = begun.batch.tasks.iter().filter(|due| due.task == work.task);
            dues.any(|due| !self.was_blind(due, begun))
        };
        let mut tasks: Vec<&Id> = Vec::new();
        for work in self.works_of(result).iter().filter(could_read) {
            if !tasks.contains(&&work.task) {
                tasks.push(&work.task);
            }
        }
        tasks
    }
}

/// Whether an argument looks like the path of a file of the project, or like a module.
fn is_file_like(argument: &str) -> bool {
    !argument.starts_with(['-', '/']) && !argument.contains(' ') && argument.contains(['/', '.'])
}

/// Whether a file says what the programs do that build and test a project.
fn is_recipe(file: &str) -> bool {
    const NAMES: [&str; 12] = [
        "build.rs",
        "cargo.toml",
        "conftest.py",
        "gnumakefile",
        "justfile",
        "makefile",
        "noxfile.py",
        "package.json",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "taskfile.yml",
    ];
    let name = file.rsplit('/').next().unwrap_or(file).to_ascii_lowercase();
    NAMES.contains(&name.as_str())
}

/// Whether an argument of a check names a file: by its path, its name, its name without the ending, its module or a folder,
/// also as the value of an option.
fn is_named(argument: &str, file: &str) -> bool {
    let argument = argument.split_once('=').map_or(argument, |(_, value)| value);
    let argument = argument.trim_start_matches("./").split("::").next().unwrap_or_default();
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    let is_below = |folder: &str| {
        !folder.is_empty() && file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    // A module, a class, or a test in them: `tests.test_area`, `com.acme.AreaTest`, `tests.test_area.Area.test_one`.
    let (module, path) = (argument.replace('.', "/"), format!("{}{stem}", &file[..file.len() - name.len()]));
    let is_in = |module: &str| format!("{module}/").starts_with(&format!("{path}/"));
    let is_tail = |module: &str| format!("/{path}").ends_with(&format!("/{module}"));
    let is_module = module.contains('/') && !stem.is_empty() && (is_in(&module) || is_tail(&module));
    argument == file
        || argument == name
        || argument == stem
        || is_module
        || is_below(argument.trim_end_matches("...").trim_end_matches('/'))
}

#[cfg(test)]
mod tests;
