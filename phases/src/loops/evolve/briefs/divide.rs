//! Dividing the work into tasks: for all criteria at first, later for new ones, and again where the project has changed.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{and_more, listed, spec};
use crate::asking::prompt::fence;
use crate::loops::evolve::evaluation::Agreed;
use crate::loops::evolve::plan::{Class, Classified, Item, MOST_TASKS, Planned, graph, tasks_fault};
use crate::loops::evolve::spec::Id;
use crate::loops::evolve::{AgentRequest, Run};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DivideBrief {
    /// The criteria that the tasks have to cover.
    classified: Vec<Classified>,
    texts: Vec<String>,
    /// The tasks of the plan so far.
    known: Vec<Item>,
    /// The names that the work has to provide.
    names: Option<String>,
    /// The criteria that the project meets without any work.
    met: Vec<String>,
    /// The plan that the tasks become part of, and which of its tasks they replace.
    again: Option<(Planned, Vec<Id>)>,
}

impl DivideBrief {
    pub(crate) fn of(run: &Run, round: u32) -> Option<Self> {
        let names = run.names().map(str::to_owned);
        if round == 0 {
            let classified = run.classified()?;
            let texts = classified.iter().map(text).collect();
            return Some(Self {
                texts,
                classified,
                known: Vec::new(),
                names,
                met: run.met_before(),
                again: None,
            });
        }
        let (contract, plan) = (run.state.contract.as_ref()?, run.state.plan.as_ref()?);
        let (amendment, _) = run.amendment(run.state.amendments)?;
        let (new, ids) = contract.amended(amendment);
        let added: Vec<&Agreed> = new.criteria.iter().filter(|one| ids.contains(&one.id)).collect();
        let classified = added.iter().map(|one| Classified {
            id: one.id.clone(),
            class: Class::Essential,
            priority: one.priority,
            why: "added during the run".into(),
        });
        let texts = added.iter().map(|one| format!("{} ({}): {}", one.id, one.priority.word(), one.text));
        Some(Self {
            classified: classified.collect(),
            texts: texts.collect(),
            known: plan.tasks.clone(),
            names,
            met: Vec::new(),
            again: None,
        })
    }

    /// The tasks are planned again. All other tasks stay as they are.
    pub(crate) fn again(run: &Run, tasks: &[Id]) -> Option<Self> {
        let plan = run.state.plan.as_ref().or(run.plan.task.plan.as_ref())?.clone();
        let known = plan.tasks.iter().filter(|item| !tasks.contains(&item.id)).cloned().collect();
        let covers = |one: &&Classified| {
            let mut old = plan.tasks.iter().filter(|item| tasks.contains(&item.id));
            old.any(|item| item.covers.contains(&one.id))
        };
        let classified: Vec<Classified> = plan.criteria.iter().filter(covers).cloned().collect();
        let texts = classified.iter().map(text).collect();
        let names = run.names().map(str::to_owned);
        Some(Self {
            classified,
            texts,
            known,
            names,
            met: run.met_before(),
            again: Some((plan, tasks.to_vec())),
        })
    }

    pub(super) fn quoted(&self) -> impl serde::Serialize + '_ {
        let more = (self.names.is_some() || !self.met.is_empty()).then_some((&self.names, &self.met));
        and_more((&self.texts, &self.known, self.old()), more)
    }

    /// Returns the tasks that are planned again.
    fn old(&self) -> Vec<Item> {
        let of =
            |(plan, old): &(Planned, Vec<Id>)| old.iter().filter_map(|id| plan.item(id).cloned()).collect();
        self.again.as_ref().map_or_else(Vec::new, of)
    }

    pub(super) fn values(&self, request: &AgentRequest) -> Value {
        let seed = request.code.as_str();
        let old = self.old();
        let known = (!self.known.is_empty()).then(|| fence(seed, "the tasks so far", &listed(&self.known)));
        json!({
            "spec": spec(request),
            "criteria": fence(seed, "the criteria to cover", &self.texts.join("\n")),
            "names": self.names.as_ref().map(|names| fence(seed, "the names", names)),
            "met": (!self.met.is_empty()).then(|| fence(seed, "what is met already", &self.met.join("\n"))),
            "known": known,
            "again": (!old.is_empty()).then(|| fence(seed, "the tasks to plan again", &listed(&old))),
        })
    }

    /// Returns what is wrong with the tasks. New ones may build on those of the plan.
    pub(crate) fn fault(&self, tasks: &[Item]) -> Option<String> {
        if let Some((plan, old)) = &self.again {
            let whole = plan.replaced(old, tasks).tasks;
            return tasks_fault(&plan.criteria, &whole)
                .or_else(|| graph(&whole).err().map(|cycle| cycle.to_string()));
        }
        if let Some(taken) = tasks.iter().find(|item| self.known.iter().any(|known| known.id == item.id)) {
            return Some(format!("there is a task {:?} already", taken.id));
        }
        let whole = self.known.len() + tasks.len();
        if whole > MOST_TASKS {
            return Some(format!("the plan would have {whole} tasks, but at most {MOST_TASKS} are possible"));
        }
        let is_known = |id: &str| self.known.iter().any(|known| &*known.id == id);
        let own = tasks.iter().map(|item| Item {
            after: item.after.iter().filter(|id| !is_known(id)).cloned().collect(),
            replaces: item.replaces.iter().filter(|id| !is_known(id)).cloned().collect(),
            ..item.clone()
        });
        let own: Vec<Item> = own.collect();
        tasks_fault(&self.classified, &own).or_else(|| graph(&own).err().map(|cycle| cycle.to_string()))
    }
}

fn text(one: &Classified) -> String {
    let class = if one.class == Class::Essential { "essential" } else { "supplementary" };
    format!("{} ({class}, {})", one.id, one.priority.word())
}
