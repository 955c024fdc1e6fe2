//! The order of the tasks of a plan: their layers, and the longest chain of tasks that wait for each other.
//!
//! A layer has tasks that agents do side by side. Two tasks that expect to change the same file are in different layers,
//! so that the later one sees the work of the other one.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::super::spec::Id;
use super::{Item, MOST_TASKS, MOST_TOUCHES};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// All tasks, each after those that it depends on, otherwise as in the plan.
    pub order: Vec<Id>,
    pub layers: Vec<Vec<Id>>,
    /// The longest chain of dependencies, by its number of tasks.
    pub critical_path: Vec<Id>,
    /// A task that moved to the next layer, and the task that expects the same file and stayed in the layer.
    pub apart: Vec<(Id, Id)>,
}

/// Tasks that can never begin. The path has its first task again at its end; each task depends on the next one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tasks depend on each other in a circle: {}", .0.join(" -> "))]
pub struct Cycle(pub Vec<Id>);

/// Returns the order of tasks that have no fault. Of others it ignores unknown ids, and tasks and paths beyond the limits
/// of a plan.
pub fn graph(tasks: &[Item]) -> Result<Graph, Cycle> {
    let tasks = &tasks[..tasks.len().min(MOST_TASKS)];
    let id = |at: &usize| tasks[*at].id.clone();
    let ids = |places: &[usize]| places.iter().map(id).collect::<Vec<Id>>();
    let edges = Edges::of(tasks);
    let order = edges.walk(|ready| ready.pop_first().into_iter().collect()).concat();
    if let Some(circle) = edges.circle(&order) {
        return Err(Cycle(ids(&circle)));
    }
    let (layers, apart) = edges.layers(&clashes(tasks));
    Ok(Graph {
        order: ids(&order),
        layers: layers.iter().map(|layer| ids(layer)).collect(),
        critical_path: ids(&edges.longest_chain(&order)),
        apart: apart.iter().map(|(moved, stays)| (id(moved), id(stays))).collect(),
    })
}

/// The dependencies between tasks, which are known by their places in the plan.
struct Edges {
    needs: Vec<BTreeSet<usize>>,
    /// By task, the tasks that need it, in the order of the plan.
    dependents: Vec<Vec<usize>>,
}

impl Edges {
    fn of(tasks: &[Item]) -> Self {
        let places: HashMap<&str, _> = tasks.iter().enumerate().map(|(at, task)| (&*task.id, at)).collect();
        let place = |id: &Id| places.get(&**id).copied();
        let needs: Vec<BTreeSet<usize>> =
            tasks.iter().map(|task| task.after.iter().filter_map(place).collect()).collect();
        let mut dependents = vec![Vec::new(); tasks.len()];
        for (at, needs) in needs.iter().enumerate() {
            for &need in needs {
                dependents[need].push(at);
            }
        }
        Self { needs, dependents }
    }

    /// Goes through all tasks except those that a circle blocks. Each time, `pick` takes at least one of the tasks that
    /// are ready. Returns what it took.
    fn walk(&self, mut pick: impl FnMut(&mut BTreeSet<usize>) -> Vec<usize>) -> Vec<Vec<usize>> {
        let mut waits: Vec<usize> = self.needs.iter().map(BTreeSet::len).collect();
        let mut ready: BTreeSet<usize> = (0..waits.len()).filter(|&at| waits[at] == 0).collect();
        let mut batches = Vec::new();
        while !ready.is_empty() {
            let batch = pick(&mut ready);
            for &next in batch.iter().flat_map(|&at| &self.dependents[at]) {
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.insert(next);
                }
            }
            batches.push(batch);
        }
        batches
    }

    /// Returns a circle of tasks, unless `order` has all tasks. Each task that it lacks needs another one that it lacks.
    fn circle(&self, order: &[usize]) -> Option<Vec<usize>> {
        let mut at = (0..self.needs.len()).find(|at| !order.contains(at))?;
        let mut path = Vec::<usize>::new();
        while !path.contains(&at) {
            path.push(at);
            at = *self.needs[at].iter().find(|need| !order.contains(need))?;
        }
        Some(path.into_iter().skip_while(|passed| *passed != at).chain([at]).collect())
    }

    /// Returns the layers, and which task moved to the next layer because of which. Of two tasks that clash, the later
    /// one in the plan moves.
    fn layers(&self, clashes: &[Vec<bool>]) -> (Vec<Vec<usize>>, Vec<(usize, usize)>) {
        let mut apart = Vec::new();
        let layers = self.walk(|ready| {
            let mut layer = Vec::<usize>::new();
            ready.retain(|&at| {
                let stays = layer.iter().copied().find(|&other| clashes[at][other]);
                match stays {
                    Some(stays) => apart.push((at, stays)),
                    None => layer.push(at),
                }
                stays.is_some()
            });
            layer
        });
        (layers, apart)
    }

    /// Returns the longest chain of dependencies. Of equally long ones, it takes the first task in the plan each time.
    fn longest_chain(&self, order: &[usize]) -> Vec<usize> {
        // By task, the length of the longest chain that begins with it.
        let mut lengths = vec![0; self.needs.len()];
        for &at in order.iter().rev() {
            let behind = self.dependents[at].iter().map(|&next| lengths[next]).max();
            lengths[at] = behind.unwrap_or(0) + 1;
        }
        let all: Vec<usize> = (0..lengths.len()).collect();
        let (mut chain, mut choices) = (Vec::new(), &all);
        for length in (1..=lengths.iter().copied().max().unwrap_or(0)).rev() {
            let Some(&at) = choices.iter().find(|&&at| lengths[at] == length) else { break };
            chain.push(at);
            choices = &self.dependents[at];
        }
        chain
    }
}

/// Returns for each two tasks whether both expect the same file: their paths are equal, or one is a folder around the
/// other.
fn clashes(tasks: &[Item]) -> Vec<Vec<bool>> {
    let mut paths: Vec<(String, usize)> = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        let named = task.touches.iter().take(MOST_TOUCHES);
        paths.extend(named.map(|path| (format!("{}/", path.trim_end_matches('/')), at)));
    }
    // Sorted, the paths in a folder directly follow it.
    paths.sort();
    let mut clashes = vec![vec![false; tasks.len()]; tasks.len()];
    let mut around: Vec<(&str, usize)> = Vec::new();
    for (path, at) in &paths {
        while around.last().is_some_and(|(folder, _)| !path.starts_with(folder)) {
            around.pop();
        }
        for &(_, other) in &around {
            clashes[*at][other] = true;
            clashes[other][*at] = true;
        }
        around.push((path.as_str(), *at));
    }
    clashes
}
