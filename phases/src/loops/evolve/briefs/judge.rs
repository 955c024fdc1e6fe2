//! Judging a tree: the criteria that no check has decided, the constraints, and what the goal says.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{and_more, goal};
use crate::asking::order::{Access, Placement};
use crate::asking::prompt::{fence, files, numbered};
use crate::base::answer::{Object, OffSchema, capped, coded, entries, exactly, lenient, words};
use crate::base::id::TreeId;
use crate::base::material::Folders;
use crate::loops::evolve::evaluation::{Agreed, Contract, Holds};
use crate::loops::evolve::spec::Id;
use crate::loops::evolve::{AgentRequest, Run};
use crate::loops::shared::commands::Stage;
use crate::loops::shared::form;
use crate::loops::shared::request::off_schema;
use crate::runs::event::Outcome;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JudgeBrief {
    pub tree: TreeId,
    pub contract: Contract,
    /// The criteria that no check has decided.
    pub asked: Vec<Agreed>,
    /// The criteria whose oracles fail on the tree.
    pub failing: Vec<Failing>,
    /// The commands that ran on the tree, and the end of their output: evidence may quote it.
    pub outputs: Vec<(Stage, String)>,
}

/// An oracle that fails on a tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failing {
    criterion: Id,
    argv: Vec<String>,
    files: Option<TreeId>,
    said: String,
}

/// The answer of the evaluator. Nothing that it claims is looked up yet.
#[derive(Clone, Debug, PartialEq)]
pub struct RawJudgement {
    pub criteria: Vec<RawVerdict>,
    pub constraints: Vec<RawVerdict>,
    pub statements: Vec<RawVerdict>,
    pub recommendations: Vec<Box<str>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RawVerdict {
    pub id: Id,
    pub holds: Holds,
    pub path: String,
    pub line: Option<u32>,
    pub quote: String,
    pub gaps: Vec<Box<str>>,
}

/// A verdict as the evaluator writes it.
#[derive(Deserialize)]
struct Written {
    id: Id,
    holds: Holds,
    #[serde(default)]
    path: String,
    #[serde(default)]
    line: Option<u32>,
    #[serde(default)]
    quote: String,
    #[serde(default)]
    gaps: Vec<String>,
}

const LONGEST_GAP: usize = 600;
const MOST_GAPS: usize = 8;
const LONGEST_QUOTE: usize = 4_000;

impl JudgeBrief {
    pub(crate) fn of(run: &Run, tree: TreeId) -> Option<Self> {
        let contract = run.state.contract.clone()?;
        let asked = run.asked(tree, &contract);
        let output = |stage: Stage| {
            let (command, end) = run.ran(tree, stage)?;
            let said = end.map_or("it could not start", |end| &*end.said);
            Some((stage, format!("$ {}\n{said}", command.argv.join(" "))))
        };
        let outputs = Stage::ALL.into_iter().filter_map(output).collect();
        let failing = |one: &Agreed| {
            let (probe, said) = run.failing(tree, &one.id)?;
            let (argv, files) = (probe.oracle.argv.clone(), probe.oracle.files);
            Some(Failing { criterion: one.id.clone(), argv, files, said: said.to_owned() })
        };
        let failing = asked.iter().filter_map(failing).collect();
        Some(Self { tree, contract, asked, failing, outputs })
    }

    /// Returns the files of the oracles that fail, for the judge.
    pub(in crate::loops::evolve) fn oracles(&self) -> Vec<Placement> {
        let place = |one: &Failing| Some(Placement::new(one.at(), one.files?, Access::Fixed));
        self.failing.iter().filter_map(place).collect()
    }

    pub(super) fn quoted(&self) -> impl serde::Serialize + '_ {
        let said: Vec<_> = self.failing.iter().map(|one| (&one.argv, &one.said)).collect();
        and_more((&self.contract, &self.outputs), (!said.is_empty()).then_some(said))
    }

    pub(super) fn values(&self, request: &AgentRequest, folders: &Folders) -> Value {
        let seed = request.code.as_str();
        let numbered =
            |label: &str, texts: Vec<String>| (!texts.is_empty()).then(|| numbered(seed, label, texts));
        let criteria = self.asked.iter().map(|one| format!("{}: {}", one.id, one.text));
        let constraints = self.contract.constraints.iter().map(|one| format!("{}: {}", one.id, one.text));
        let statements =
            self.contract.statements.iter().zip(1..).map(|(text, number)| format!("G{number}: {text}"));
        let output =
            |(stage, said): &(Stage, String)| fence(seed, &format!("output of {}", stage.word()), said);
        let failing = |one: &Failing| {
            let ended = fence(
                seed,
                &format!("the oracle of {}", one.criterion),
                &format!("$ {}\n{}", one.argv.join(" "), one.said),
            );
            let own = folders.find(&one.at()).map(|folder| files(seed, folder));
            own.into_iter().fold(ended, |ended, own| format!("{ended}\n\n{own}"))
        };
        json!({
            "failing": self.failing.iter().map(failing).collect::<Vec<_>>(),
            "goal": goal(request),
            "criteria": numbered("criteria", criteria.collect()),
            "constraints": numbered("constraints", constraints.collect()),
            "statements": numbered("what the goal says", statements.collect()),
            "outputs": self.outputs.iter().map(output).collect::<Vec<_>>(),
        })
    }

    pub(super) fn form(&self, _: &AgentRequest) -> Value {
        let verdict = form::object(&json!({
            "id": form::text(),
            "holds": form::one_of(["yes", "no", "not_shown"]),
            "path": form::text(),
            "line": { "type": "integer" },
            "quote": form::text(),
            "gaps": form::list(&(0..=MOST_GAPS), &form::text()),
        }));
        let list = |count: usize| form::list(&(count..=count), &verdict);
        form::object(&json!({
            "answer_to": form::text(),
            "criteria": list(self.asked.len()),
            "constraints": list(self.contract.constraints.len()),
            "statements": list(self.contract.statements.len()),
            "recommendations": form::list(&(0..=MOST_GAPS), &form::text()),
        }))
    }

    /// Reads the verdicts. Each that was asked for is there once.
    fn read(&self, mut object: Object) -> Result<RawJudgement, OffSchema> {
        let statements: Vec<Id> =
            (1..=self.contract.statements.len()).map(|number| format!("G{number}").into()).collect();
        Ok(RawJudgement {
            criteria: verdicts(&mut object, "criteria", &self.asked.iter().map(|one| &one.id))?,
            constraints: verdicts(
                &mut object,
                "constraints",
                &self.contract.constraints.iter().map(|one| &one.id),
            )?,
            statements: verdicts(&mut object, "statements", &statements.iter())?,
            recommendations: lenient(&mut object, "recommendations", |value| words(Some(value), LONGEST_GAP)),
        })
    }
}

impl Failing {
    /// Returns the folder of the workspace with its files.
    fn at(&self) -> String {
        format!("oracles/{}", self.criterion)
    }
}

fn verdicts<'a>(
    object: &mut Object,
    key: &str,
    asked: &(impl Iterator<Item = &'a Id> + Clone),
) -> Result<Vec<RawVerdict>, OffSchema> {
    let written: Vec<Written> = entries(object, key)?;
    exactly(&written.iter().map(|one| &one.id), asked)?;
    let verdict = |one: Written| RawVerdict {
        id: one.id,
        holds: one.holds,
        path: one.path.trim_start_matches("./").trim_start_matches("project/").to_owned(),
        line: one.line,
        quote: capped(&one.quote, LONGEST_QUOTE),
        gaps: one.gaps.iter().take(MOST_GAPS).map(|gap| capped(gap, LONGEST_GAP).into()).collect(),
    };
    let mut read: Vec<RawVerdict> = written.into_iter().map(verdict).collect();
    // The order of the questions, whatever that of the answers is.
    let place = |id: &Id| asked.clone().position(|asked| asked == id);
    read.sort_by_key(|one| place(&one.id));
    Ok(read)
}

impl AgentRequest {
    /// Reads the evaluator's answer.
    pub fn raw_judgement(&self, brief: &JudgeBrief, answer: &str) -> Outcome<RawJudgement> {
        coded(answer, &self.code, "criteria", |object| brief.read(object)).map_err(|why| off_schema(&why))
    }
}
