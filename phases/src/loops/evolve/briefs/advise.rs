//! Advice: which experts are relevant to which tasks, what one thinks of a task, and what follows from several.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{listed, spec};
use crate::asking::prompt::{fence, numbered};
use crate::base::answer::{Object, OffSchema, capped, coded, entries, lenient, shape, words};
use crate::loops::evolve::plan::Item;
use crate::loops::evolve::spec::Id;
use crate::loops::evolve::step::{Answer, Conflict, Consensus, Perspective, Relevant, Step};
use crate::loops::evolve::task::Adviser;
use crate::loops::evolve::{AgentRequest, Run};
use crate::loops::shared::form;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AdviceBrief {
    /// The tasks of the plan.
    Match(Vec<Item>),
    Advise {
        item: Item,
        expert: usize,
    },
    /// The names of experts, and what they say.
    Agree {
        item: Item,
        perspectives: Vec<(Box<str>, Perspective)>,
    },
}

/// An answer has at most this many relevant experts for all tasks together.
const MOST_RELEVANT: usize = 1_000;
const MOST_DOMAINS: usize = 8;
const MOST_CONFLICTS: usize = 12;
// Lengths, in characters.
const LONGEST_DOMAIN: usize = 60;
const LONGEST_WHY: usize = 600;
const LONGEST_DESCRIPTION: usize = 300;
const LONGEST_ADVICE: usize = 6_000;

impl AdviceBrief {
    pub(crate) fn of(run: &Run, step: &Step) -> Option<Self> {
        let plan = run.state.plan.as_ref()?;
        Some(match step {
            Step::Match => Self::Match(plan.tasks.clone()),
            Step::Advise { task, expert } => Self::Advise { item: plan.item(task)?.clone(), expert: *expert },
            Step::Agree { task } => {
                let perspectives = run.perspectives(task).map(|(by, one)| (by.expert.clone(), one.clone()));
                Self::Agree { item: plan.item(task)?.clone(), perspectives: perspectives.collect() }
            }
            _ => return None,
        })
    }

    pub(super) fn quoted(&self) -> Value {
        match self {
            Self::Match(tasks) => json!(tasks),
            Self::Advise { item, .. } => json!(item),
            Self::Agree { item, perspectives } => json!([item, perspectives]),
        }
    }

    /// Returns the name of the page, and its values.
    pub(super) fn page(&self, request: &AgentRequest) -> (&'static str, Value) {
        let (seed, experts) = (request.code.as_str(), &request.plan.task.experts);
        let one = |item: &Item| fence(seed, "the task", &listed(std::slice::from_ref(item)));
        match self {
            Self::Match(tasks) => {
                let tasks = fence(seed, "the tasks", &listed(tasks));
                let experts = numbered(seed, "the experts", experts.iter().map(introduced));
                ("evolve/match", json!({ "spec": spec(request), "tasks": tasks, "experts": experts }))
            }
            Self::Advise { item, expert } => {
                let persona = experts.get(*expert).map_or("", |one| one.persona.persona.trim());
                let task = one(item);
                ("evolve/advise", json!({ "persona": persona, "spec": spec(request), "task": task }))
            }
            Self::Agree { item, perspectives } => {
                let perspective = |(name, one): &(Box<str>, Perspective)| {
                    let label = format!("{name}, with confidence {:.2}", one.confidence);
                    fence(seed, &label, &one.text)
                };
                let perspectives: Vec<String> = perspectives.iter().map(perspective).collect();
                let task = one(item);
                ("evolve/agree", json!({ "spec": spec(request), "task": task, "perspectives": perspectives }))
            }
        }
    }

    pub(super) fn form(&self) -> Value {
        let texts = |most| form::list(&(0..=most), &form::text());
        let number = json!({ "type": "number" });
        match self {
            Self::Match(_) => {
                let one = form::object(&json!({
                    "task": form::text(), "expert": form::text(), "domains": texts(MOST_DOMAINS),
                    "relevance": number, "why": form::text(),
                }));
                form::bound("relevant", &form::list(&(0..=MOST_RELEVANT), &one))
            }
            Self::Advise { .. } => form::object(&json!({
                "answer_to": form::text(), "perspective": form::text(), "confidence": number,
            })),
            Self::Agree { perspectives, .. } => {
                let one = form::object(&json!({
                    "about": form::text(), "between": texts(perspectives.len()), "settled": form::text(),
                }));
                form::object(&json!({
                    "answer_to": form::text(),
                    "consensus": form::text(),
                    "conflicts": form::list(&(0..=MOST_CONFLICTS), &one),
                }))
            }
        }
    }

    pub(super) fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        let code = request.code.as_str();
        match self {
            Self::Match(tasks) => coded(answer, code, "relevant", |mut object: Object| {
                matched(&mut object, tasks, &request.plan.task.experts)
            }),
            Self::Advise { .. } => coded(answer, code, "perspective", |object: Object| {
                let confidence = object.get("confidence").and_then(Value::as_f64);
                let confidence = share("confidence", confidence.unwrap_or(f64::NAN))?;
                Ok(Answer::Advised(Box::new(Perspective {
                    text: advice(&object, "perspective")?,
                    confidence,
                })))
            }),
            Self::Agree { .. } => coded(answer, code, "consensus", |mut object: Object| {
                let text = advice(&object, "consensus")?;
                let conflicts = lenient(&mut object, "conflicts", conflict);
                Ok(Answer::Agreed(Box::new(Consensus { text, conflicts })))
            }),
        }
    }
}

/// Returns the line about an expert that one chooses it by.
fn introduced(one: &Adviser) -> String {
    let (name, description) = (&one.persona.name, capped(&one.description, LONGEST_DESCRIPTION));
    let domains: Vec<String> =
        one.domains.iter().take(MOST_DOMAINS).map(|domain| capped(domain, LONGEST_DOMAIN)).collect();
    let domains = if domains.is_empty() { String::new() } else { format!(" ({})", domains.join(", ")) };
    format!("{name}: {description}{domains}")
}

/// An entry as the evaluator writes it.
#[derive(Deserialize)]
struct Written {
    task: Id,
    expert: Box<str>,
    relevance: f64,
    #[serde(default)]
    domains: Vec<String>,
    #[serde(default)]
    why: String,
}

/// Reads the relevant experts. Entries about tasks and experts that do not exist are dropped.
fn matched(object: &mut Object, tasks: &[Item], experts: &[Adviser]) -> Result<Answer, OffSchema> {
    let written: Vec<Written> = entries(object, "relevant")?;
    if written.len() > MOST_RELEVANT {
        let given = written.len();
        return Err(OffSchema::Count { what: "relevant experts", given, least: 0, most: MOST_RELEVANT });
    }
    let is_known = |one: &Written| {
        tasks.iter().any(|item| item.id == one.task)
            && experts.iter().any(|expert| *expert.persona.name == *one.expert)
    };
    let relevant = |one: Written| -> Result<Relevant, OffSchema> {
        let domains = one.domains.iter().take(MOST_DOMAINS);
        Ok(Relevant {
            relevance: share("relevance", one.relevance)?,
            domains: domains.map(|domain| capped(domain, LONGEST_DOMAIN).into()).collect(),
            why: capped(&one.why, LONGEST_WHY).into(),
            task: one.task,
            expert: one.expert,
        })
    };
    let known = written.into_iter().filter(is_known);
    Ok(Answer::Matched(known.map(relevant).collect::<Result<_, _>>()?))
}

/// Checks a number from 0 to 1.
fn share(name: &str, number: f64) -> Result<f64, OffSchema> {
    let is_share = (0.0..=1.0).contains(&number);
    if is_share { Ok(number) } else { Err(shape(&format!("`{name}` must be a number from 0 to 1"))) }
}

fn advice(object: &Object, key: &str) -> Result<Box<str>, OffSchema> {
    words(object.get(key), LONGEST_ADVICE).ok_or_else(|| OffSchema::Empty { what: format!("`{key}`").into() })
}

fn conflict(value: &Value) -> Option<Conflict> {
    let between = value.get("between").and_then(Value::as_array).into_iter().flatten();
    Some(Conflict {
        about: words(value.get("about"), LONGEST_WHY)?,
        between: between.take(MOST_DOMAINS).filter_map(|name| words(Some(name), LONGEST_DOMAIN)).collect(),
        settled: words(value.get("settled"), LONGEST_WHY)?,
    })
}
