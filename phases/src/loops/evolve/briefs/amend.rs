//! Flows B and C: what the evaluator may change after an evaluation that fell short.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{goal, listed, sound};
use crate::asking::prompt::{fence, numbered};
use crate::base::answer::{Object, OffSchema, capped, coded, entries, words};
use crate::loops::evolve::amendment::{Amendment, Change, MOST, NewConstraint, NewCriterion};
use crate::loops::evolve::course::Persona;
use crate::loops::evolve::decision::Round;
use crate::loops::evolve::evaluation::{Contract, Evaluation, Holds, Verdict};
use crate::loops::evolve::plan::Item;
use crate::loops::evolve::spec::{Id, Priority};
use crate::loops::evolve::step::{Answer, Step};
use crate::loops::evolve::{AgentRequest, Run};
use crate::loops::shared::form;
use crate::runs::run::StepState;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AmendBrief {
    contract: Contract,
    tasks: Vec<Item>,
    missed: Vec<String>,
    scores: Vec<String>,
    guidance: Vec<String>,
    persona: Option<Persona>,
}

const LONGEST: usize = 1_500;

impl AmendBrief {
    pub(crate) fn of(run: &Run, persona: Option<Persona>) -> Option<Self> {
        let state = &run.state;
        let missed =
            run.basis().map(|evaluation| missed(evaluation, state.contract.as_ref())).unwrap_or_default();
        let red = state.rounds.last().filter(|round| round.evaluation.is_none());
        let red = red.into_iter().flat_map(|round| &round.red).filter_map(|stage| {
            let (command, end) = run.ran(state.tree, *stage)?;
            Some(format!("`{}` fails: {}", command.argv.join(" "), end.map_or("", |end| &*end.said)))
        });
        let score = |round: &Round| match &round.evaluation {
            Some(evaluation) => format!("{:.2}", evaluation.score),
            None => "a command failed".to_owned(),
        };
        Some(Self {
            contract: state.contract.clone()?,
            tasks: state.plan.as_ref()?.tasks.clone(),
            missed: missed.into_iter().chain(red).collect(),
            scores: state.rounds.iter().map(score).collect(),
            guidance: state.guidance.iter().map(ToString::to_string).collect(),
            persona,
        })
    }

    pub(super) fn quoted(&self) -> impl serde::Serialize + '_ {
        (&self.contract, &self.tasks, &self.missed, &self.guidance)
    }

    pub(super) fn values(&self, request: &AgentRequest) -> Value {
        let seed = request.code.as_str();
        let list =
            |label: &str, texts: Vec<String>| (!texts.is_empty()).then(|| numbered(seed, label, texts));
        let criteria = self.contract.criteria.iter();
        let criteria = criteria.map(|one| format!("{} ({}): {}", one.id, one.priority.word(), one.text));
        let constraints = self.contract.constraints.iter().map(|one| format!("{}: {}", one.id, one.text));
        json!({
            "goal": goal(request),
            "criteria": list("criteria", criteria.collect()),
            "constraints": list("constraints", constraints.collect()),
            "tasks": fence(seed, "tasks", &listed(&self.tasks)),
            "missed": list("what is missed", self.missed.clone()),
            "guidance": list("guidance", self.guidance.clone()),
            "scores": self.scores,
            "persona": self.persona.map(Persona::page),
            "most": MOST,
        })
    }

    pub(super) fn form() -> Value {
        let list = |one: &Value| form::list(&(0..=MOST), one);
        let priority = form::one_of(Priority::ALL.map(Priority::word));
        form::object(&json!({
            "answer_to": form::text(),
            "description": form::text(),
            "criteria": list(&form::object(&json!({ "text": form::text(), "priority": priority }))),
            "constraints": list(&form::object(&json!({
                "text": form::text(), "tasks": form::list(&(0..=100), &form::text()),
            }))),
            "changes": list(&form::object(&json!({
                "id": form::text(), "text": form::text(), "remove": { "type": "boolean" }, "why": form::text(),
            }))),
        }))
    }

    pub(super) fn read(&self, code: &str, answer: &str) -> Result<Answer, OffSchema> {
        coded(answer, code, "description", |mut object: Object| {
            let amendment = amendment(&mut object)?;
            sound(self.fault(&amendment))?;
            Ok(Answer::Amended(Box::new(amendment)))
        })
    }

    pub(super) fn fault(&self, amendment: &Amendment) -> Option<String> {
        amendment.fault(&self.contract, |id| self.tasks.iter().any(|item| &*item.id == id))
    }
}

#[derive(serde::Deserialize)]
struct Criterion {
    text: String,
    priority: Priority,
}

#[derive(serde::Deserialize)]
struct Constraint {
    text: String,
    #[serde(default)]
    tasks: Vec<Id>,
}

#[derive(serde::Deserialize)]
struct Changed {
    id: Id,
    #[serde(default)]
    text: String,
    #[serde(default)]
    remove: bool,
    why: String,
}

fn amendment(object: &mut Object) -> Result<Amendment, OffSchema> {
    let text = |text: &str| Box::<str>::from(capped(text, LONGEST));
    let criteria: Vec<Criterion> = entries(object, "criteria")?;
    let constraints: Vec<Constraint> = entries(object, "constraints")?;
    let changes: Vec<Changed> = entries(object, "changes")?;
    let texts = criteria.iter().map(|one| &one.text).chain(constraints.iter().map(|one| &one.text));
    let new_texts = changes.iter().filter(|one| !one.remove).map(|one| &one.text);
    if texts.chain(new_texts).any(|text| text.trim().is_empty()) {
        return Err(OffSchema::Empty { what: "a criterion, a constraint or a change".into() });
    }
    Ok(Amendment {
        description: words(object.get("description"), LONGEST).unwrap_or_default(),
        criteria: criteria
            .iter()
            .map(|one| NewCriterion { text: text(&one.text), priority: one.priority })
            .collect(),
        constraints: constraints
            .into_iter()
            .map(|one| NewConstraint { text: text(&one.text), tasks: one.tasks })
            .collect(),
        changes: changes
            .into_iter()
            .map(|one| Change {
                id: one.id,
                text: (!one.remove).then(|| text(&one.text)),
                why: text(&one.why),
            })
            .collect(),
    })
}

/// Returns a line for everything that an evaluation misses.
fn missed(evaluation: &Evaluation, contract: Option<&Contract>) -> Vec<String> {
    let verdicts = evaluation.unmet().chain(evaluation.broken()).map(Verdict::missing);
    let statements = contract.into_iter().flat_map(|contract| &contract.statements);
    let goal = evaluation.judgement.statements.iter().zip(statements).filter_map(|(verdict, text)| {
        let word = match verdict.holds {
            Holds::Yes => return None,
            Holds::No => "does not hold",
            Holds::NotShown => "is not shown",
        };
        Some(format!("the goal says \"{text}\", which {word}"))
    });
    verdicts.chain(goal).collect()
}

impl Run {
    /// Returns the amendment of a round as the evaluator gave it, and the point of view that it is from.
    pub fn amendment(&self, round: u32) -> Option<(&Amendment, Option<Persona>)> {
        let of = |persona| match self.state_of(&Step::Amend { round, persona }) {
            StepState::Answered(Answer::Amended(amendment)) => Some((&**amendment, persona)),
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        };
        let mut personas = std::iter::once(None).chain(Persona::ALL.map(Some));
        personas.find_map(of)
    }
}
