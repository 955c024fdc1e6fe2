//! The plan of an evolve run: classified criteria, tasks, and groups of tasks.
//!
//! Agents write it in three steps, and a person may edit it. Each part has a check that returns the first fault as one
//! sentence, for the agent or the person who has to correct it. The plan is a file: `docs/schemas/evolve-plan.schema.json`.

mod graph;

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::spec::{Criterion, Id, Priority, is_id};
use crate::base::answer::says_something;
use crate::base::id::TreeId;
use crate::suites::transcript::one_line;

pub use graph::{Cycle, Graph, graph};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planned {
    pub criteria: Vec<Classified>,
    pub tasks: Vec<Item>,
    pub groups: Vec<Group>,
    /// The content of the project that it was made for; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
}

/// A criterion of the specification with its final priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classified {
    pub id: Id,
    pub class: Class,
    pub priority: Priority,
    pub why: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Essential,
    Supplementary,
}

/// One task. The tasks are in the order in which their work is merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    pub id: Id,
    pub title: Box<str>,
    #[serde(default)]
    pub description: Box<str>,
    /// The criteria that it serves. An implicit task, such as a new folder, serves none.
    #[serde(default)]
    pub covers: Vec<Id>,
    /// The tasks that it depends on.
    #[serde(default)]
    pub after: Vec<Id>,
    /// The files and folders that it expects to change. A folder ends with `/`.
    pub touches: Vec<Box<str>>,
    /// The tasks whose lines it may delete.
    #[serde(default)]
    pub replaces: Vec<Id>,
}

/// Tasks of one domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub name: Box<str>,
    pub domain: Box<str>,
    pub tasks: Vec<Id>,
}

type Ids<'a> = HashSet<&'a str>;

pub const MOST_TASKS: usize = 100;
pub const MOST_GROUPS: usize = 20;
pub const MOST_TOUCHES: usize = 50;
// Lengths, in characters.
pub const LONGEST_TITLE: usize = 200;
pub const LONGEST_DESCRIPTION: usize = 8000;
pub const LONGEST_WHY: usize = 2000;
pub const LONGEST_NAME: usize = 100;
pub const LONGEST_PATH: usize = 300;

impl Planned {
    /// Returns the first fault of the plan, if it has one.
    pub fn fault(&self, criteria: &[Criterion]) -> Option<String> {
        classify_fault(criteria, &self.criteria)
            .or_else(|| tasks_fault(&self.criteria, &self.tasks))
            .or_else(|| groups_fault(&self.tasks, &self.groups))
            .or_else(|| graph(&self.tasks).err().map(|cycle| cycle.to_string()))
    }

    pub fn item(&self, id: &str) -> Option<&Item> {
        self.tasks.iter().find(|task| *task.id == *id)
    }

    /// Returns these tasks and all that depend on them, in a plan without a cycle.
    pub fn downstream(&self, ids: &BTreeSet<Id>) -> BTreeSet<Id> {
        let mut reached = ids.clone();
        for id in graph(&self.tasks).map(|graph| graph.order).unwrap_or_default() {
            let mut needs = self.item(&id).into_iter().flat_map(|task| &task.after);
            if needs.any(|need| reached.contains(need)) {
                reached.insert(id);
            }
        }
        reached
    }

    /// Returns the layers of the graph with these tasks alone, without empty layers. A plan with a cycle has no layers.
    pub fn layers_of(&self, ids: &BTreeSet<Id>) -> Vec<Vec<Id>> {
        let layers = graph(&self.tasks).map(|graph| graph.layers).unwrap_or_default().into_iter();
        let kept = layers.map(|layer| layer.into_iter().filter(|id| ids.contains(id)).collect::<Vec<Id>>());
        kept.filter(|layer| !layer.is_empty()).collect()
    }

    /// Returns the tasks that name one of these paths.
    pub fn naming(&self, paths: &[String]) -> Vec<Id> {
        let tasks = self.tasks.iter().filter(|item| paths.iter().any(|path| names(item, path)));
        tasks.map(|item| item.id.clone()).collect()
    }

    /// Returns the plan with new tasks in place of others. They come where the first of those was, and in its group unless
    /// their own one is known.
    #[must_use]
    pub fn replaced(&self, old: &[Id], new: &[Item]) -> Self {
        let is_old = |id: &Id| old.contains(id);
        let place = self.tasks.iter().position(|item| is_old(&item.id)).unwrap_or(self.tasks.len());
        let (before, after) = self.tasks.split_at(place);
        let after = after.iter().filter(|item| !is_old(&item.id));
        let tasks = before.iter().chain(new).chain(after).cloned().collect();
        let home = self.groups.iter().position(|group| group.tasks.iter().any(is_old));
        let is_grouped = |id: &Id| self.groups.iter().any(|group| group.tasks.contains(id));
        let stays = |id: &Id| !is_old(id) || new.iter().any(|item| item.id == *id);
        let group = |(at, group): (usize, &Group)| {
            let kept = group.tasks.iter().filter(|id| stays(id));
            let added = new.iter().map(|item| &item.id).filter(|id| home == Some(at) && !is_grouped(id));
            Group { tasks: kept.chain(added).cloned().collect(), ..group.clone() }
        };
        let groups = self.groups.iter().enumerate().map(group).filter(|group| !group.tasks.is_empty());
        Self { criteria: self.criteria.clone(), tasks, groups: groups.collect(), tree: self.tree }
    }

    /// Returns the plan without the tasks that a run has added to it. They are in no group.
    #[must_use]
    pub fn as_planned(&self) -> Self {
        let mut plan = self.clone();
        plan.tasks.retain(|item| self.groups.iter().any(|group| group.tasks.contains(&item.id)));
        plan
    }
}

impl Item {
    /// Whether a run added the task to make a command pass. Only such a task names no files.
    pub fn is_fix(&self) -> bool {
        self.touches.is_empty()
    }
}

/// Returns whether a task named this path, or a folder around it.
pub fn names(item: &Item, path: &str) -> bool {
    item.touches.iter().any(|named| {
        let rest = path.strip_prefix(named.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Returns the first fault of the classes and priorities of these criteria, if there is one.
pub fn classify_fault(criteria: &[Criterion], classified: &[Classified]) -> Option<String> {
    let known: HashMap<&str, _> = criteria.iter().map(|one| (&*one.id, one.priority)).collect();
    let mut seen = Ids::new();
    let found = classified.iter().find_map(|one| {
        let (id, priority) = (quoted(&one.id), one.priority);
        Some(match known.get(&*one.id) {
            None => format!("the specification has no criterion {id}"),
            Some(_) if !seen.insert(&one.id) => format!("the criterion {id} is classified twice"),
            Some(Some(given)) if *given != priority => {
                let (given, other) = (given.word(), priority.word());
                format!("the specification says that the criterion {id} is {given}, not {other}")
            }
            Some(_) if one.class == Class::Supplementary && priority == Priority::Critical => {
                format!("the criterion {id} is critical, but supplementary criteria never are")
            }
            Some(_) => format!("the criterion {id}: {}", text_fault("why", &one.why, LONGEST_WHY)?),
        })
    });
    found.or_else(|| {
        let missing = criteria.iter().find(|criterion| !seen.contains(&*criterion.id))?;
        Some(format!("the criterion {} is not classified", quoted(&missing.id)))
    })
}

/// Returns the first fault of the tasks for these criteria, if there is one. [`graph()`] finds cycles.
pub fn tasks_fault(classified: &[Classified], tasks: &[Item]) -> Option<String> {
    if tasks.is_empty() || tasks.len() > MOST_TASKS {
        return Some(format!("the plan has {} tasks, but it must have 1 to {MOST_TASKS}", tasks.len()));
    }
    let mut ids = Ids::new();
    if let Some(Item { id, .. }) = tasks.iter().find(|task| !is_id(&task.id) || !ids.insert(&task.id)) {
        let why = if is_id(id) {
            "is the id of two tasks"
        } else {
            "cannot be an id: use 1 to 64 letters, digits, `.`, `_` and `-`, a letter or digit first"
        };
        return Some(format!("{} {why}", quoted(id)));
    }
    let criteria: Ids<'_> = classified.iter().map(|one| &*one.id).collect();
    let found = tasks.iter().find_map(|task| {
        let why = item_fault(task, &criteria, &ids)?;
        Some(format!("the task {}: {why}", quoted(&task.id)))
    });
    found.or_else(|| {
        let covered: Ids<'_> = tasks.iter().flat_map(|task| &task.covers).map(|id| &**id).collect();
        let missing = classified.iter().find(|one| !covered.contains(&*one.id))?;
        Some(format!("no task covers the criterion {}", quoted(&missing.id)))
    })
}

fn item_fault(task: &Item, criteria: &Ids<'_>, ids: &Ids<'_>) -> Option<String> {
    if task.after.contains(&task.id) {
        return Some("it depends on itself".to_owned());
    }
    if task.description.chars().nth(LONGEST_DESCRIPTION).is_some() {
        return Some(format!("`description` is longer than {LONGEST_DESCRIPTION} characters"));
    }
    if task.touches.is_empty() || task.touches.len() > MOST_TOUCHES {
        return Some(format!("`touches` must name 1 to {MOST_TOUCHES} files and folders"));
    }
    line_fault("title", &task.title, LONGEST_TITLE)
        .or_else(|| ids_fault("covers", &task.covers, criteria, &mut Ids::new()))
        .or_else(|| ids_fault("after", &task.after, ids, &mut Ids::new()))
        .or_else(|| ids_fault("replaces", &task.replaces, ids, &mut Ids::new()))
        .or_else(|| {
            let path = quoted(task.touches.iter().find(|path| !is_plain_path(path))?);
            Some(format!(
                "`touches` has {path}: give a relative path of at most {LONGEST_PATH} characters, without `..`, `*` and backslash"
            ))
        })
}

/// Returns whether a path can be that of a file or folder of the project. A pattern such as `*.rs` names no file.
pub(super) fn is_plain_path(path: &str) -> bool {
    let mut parts = path.strip_suffix('/').unwrap_or(path).split('/');
    let is_odd = |c: char| c.is_control() || matches!(c, '\\' | '*');
    path.chars().nth(LONGEST_PATH).is_none()
        && !path.contains(is_odd)
        && !parts.any(|part| matches!(part, "" | "." | ".."))
}

/// Returns the first fault of the groups of these tasks, if there is one.
pub fn groups_fault(tasks: &[Item], groups: &[Group]) -> Option<String> {
    if groups.len() > MOST_GROUPS {
        return Some(format!("the plan has {} groups, but at most {MOST_GROUPS} are possible", groups.len()));
    }
    let known: Ids<'_> = tasks.iter().map(|task| &*task.id).collect();
    let (mut named, mut grouped) = (Ids::new(), Ids::new());
    let found = groups.iter().find_map(|group| {
        let is_again = !named.insert(&group.name);
        let why = line_fault("name", &group.name, LONGEST_NAME)
            .or_else(|| line_fault("domain", &group.domain, LONGEST_NAME))
            .or_else(|| is_again.then(|| "another group has this name".to_owned()))
            .or_else(|| group.tasks.is_empty().then(|| "it has no task".to_owned()))
            .or_else(|| ids_fault("tasks", &group.tasks, &known, &mut grouped))?;
        Some(format!("the group {}: {why}", quoted(&group.name)))
    });
    found.or_else(|| {
        let missing = tasks.iter().find(|task| !grouped.contains(&*task.id))?;
        Some(format!("the task {} is in no group", quoted(&missing.id)))
    })
}

/// Returns the first fault of a list of ids, each of which must be known and new.
fn ids_fault<'a>(key: &str, ids: &'a [Id], known: &Ids<'_>, seen: &mut Ids<'a>) -> Option<String> {
    let id = ids.iter().find(|&id| !known.contains(&**id) || !seen.insert(id))?;
    let why = if known.contains(&**id) { "is listed already" } else { "does not exist" };
    Some(format!("`{key}` has {}, which {why}", quoted(id)))
}

fn line_fault(key: &str, text: &str, longest: usize) -> Option<String> {
    let is_line = !text.contains(char::is_control);
    text_fault(key, text, longest)
        .or_else(|| (!is_line).then(|| format!("`{key}` must be one line, without control characters")))
}

fn text_fault(key: &str, text: &str, longest: usize) -> Option<String> {
    let is_text = says_something(text) && text.chars().nth(longest).is_none();
    (!is_text).then(|| format!("`{key}` must be a text of 1 to {longest} characters"))
}

/// Shows the beginning of an untrusted text.
fn quoted(text: &str) -> String {
    format!("`{}`", one_line(text, 80))
}

#[cfg(test)]
mod tests;
