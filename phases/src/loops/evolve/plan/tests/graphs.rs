use std::collections::BTreeMap;

use super::*;
use crate::judging::proof::draw::Draw;

#[test]
fn a_circle_is_named_with_its_path() {
    check(&[
        (
            |plan| plan.tasks[0].after = ids(&["docs"]),
            "tasks depend on each other in a circle: a -> docs -> b -> a",
        ),
        (
            |plan| plan.tasks[1].after = ids(&["docs"]),
            "tasks depend on each other in a circle: b -> docs -> b",
        ),
    ]);
    let blocked = [task("x", &["p"], &["x"]), task("p", &["q"], &["p"]), task("q", &["p"], &["q"])];
    assert_eq!(graph(&blocked), Err(Cycle(ids(&["p", "q", "p"]))), "x is in no circle");
    assert_eq!(graph(&[task("a", &["a"], &["a"])]), Err(Cycle(ids(&["a", "a"]))));
}

/// Returns order, layers, critical path, and the pairs of tasks that are apart.
fn drawn(tasks: &[Item]) -> String {
    let graph = graph(tasks).unwrap();
    let layers: Vec<String> = graph.layers.iter().map(|layer| layer.join(" ")).collect();
    let apart: Vec<String> = graph.apart.iter().map(|(moved, stays)| format!("{moved}:{stays}")).collect();
    let (order, path) = (graph.order.join(" "), graph.critical_path.join(" "));
    format!("{order}, {}, {path}, {}", layers.join("|"), apart.join(" "))
}

#[test]
fn layers_follow_the_longest_chain_and_ties_the_plan() {
    let row = |id: &str, after: &[&str]| task(id, after, &[id]);
    let diamond = [row("a", &[]), row("b", &["a"]), row("c", &["a"]), row("d", &["b", "c"])];
    assert_eq!(drawn(&diamond), "a b c d, a|b c|d, a b d, ");
    let reversed: Vec<Item> = diamond.iter().rev().cloned().collect();
    assert_eq!(drawn(&reversed), "a c b d, a|c b|d, a c d, ");
    let shortcut = [row("a", &[]), row("b", &["a"]), row("c", &["a", "b"])];
    assert_eq!(drawn(&shortcut), "a b c, a|b|c, a b c, ");
    let stable = [row("x", &["y"]), row("y", &[]), row("z", &[])];
    assert_eq!(drawn(&stable), "y x z, y z|x, y x, ");
    let equal = [row("a", &[]), row("b", &[]), row("c", &["b"]), row("d", &["a"])];
    assert_eq!(drawn(&equal), "a b c d, a b|c d, a d, ");
    assert_eq!(drawn(&[]), ", , , ");
    assert_eq!(drawn(&[row("a", &["z", "z"])]), "a, a, a, ", "an unknown id is ignored");
}

#[test]
fn two_tasks_of_a_layer_that_expect_the_same_file_are_put_apart() {
    let row = |id: &str, touches: &[&str]| task(id, &[], touches);
    let same = [row("a", &["f"]), row("b", &["f"]), row("c", &["g"])];
    assert_eq!(drawn(&same), "a b c, a c|b, a, b:a");
    let three = [row("a", &["f"]), row("b", &["f"]), row("c", &["f"])];
    assert_eq!(drawn(&three), "a b c, a|b|c, a, b:a c:a c:b");
    let with_moved_one = [row("a", &["f"]), row("b", &["f", "g"]), row("c", &["g"])];
    assert_eq!(drawn(&with_moved_one), "a b c, a c|b, a, b:a");
    let own = [row("a", &["src/", "src/a.rs", "src/"])];
    assert_eq!(drawn(&own), "a, a, a, ");
}

#[test]
fn a_folder_is_the_same_as_each_file_in_it() {
    let row = |id: &str, touches: &[&str]| task(id, &[], touches);
    for (folder, file) in [("src/", "src/a.rs"), ("src", "src/a/b.rs"), ("src/", "src"), ("a/b/", "a/b/c/")] {
        assert_eq!(drawn(&[row("a", &[folder]), row("b", &[file])]), "a b, a|b, a, b:a", "{folder} {file}");
        assert_eq!(drawn(&[row("a", &[file]), row("b", &[folder])]), "a b, a|b, a, b:a", "{file} {folder}");
    }
    let alike = [row("a", &["src"]), row("b", &["src2/x"]), row("c", &["src.rs"]), row("d", &["x/src"])];
    assert_eq!(drawn(&alike), "a b c d, a b c d, a, ");
    let nested = [row("a", &["a/"]), row("b", &["a-b"]), row("c", &["a/b/c"]), row("d", &["a/b/"])];
    assert_eq!(drawn(&nested), "a b c d, a b|c|d, a, c:a d:a d:c");
}

#[test]
fn dependents_move_with_a_task_and_meet_the_next_layer() {
    let moved = [task("a", &[], &["f"]), task("b", &[], &["f"]), task("c", &["b"], &["c"])];
    assert_eq!(drawn(&moved), "a b c, a|b|c, b c, b:a");
    let later = [task("a", &[], &["f"]), task("b", &[], &["f"]), task("c", &["a"], &["f"])];
    assert_eq!(drawn(&later), "a b c, a|b|c, a c, b:a c:b");
    let earlier = [task("c", &["a"], &["f"]), task("a", &[], &["f"]), task("b", &[], &["f"])];
    assert_eq!(drawn(&earlier), "a c b, a|c|b, a c, b:a b:c");
}

#[test]
fn the_largest_plans_have_a_graph() {
    let name = |nth: usize| format!("t{nth}");
    let chain: Vec<Item> = (0..MOST_TASKS)
        .rev()
        .map(|nth| {
            let before: Vec<String> = nth.checked_sub(1).map(name).into_iter().collect();
            let before: Vec<&str> = before.iter().map(String::as_str).collect();
            task(&name(nth), &before, &["same/"])
        })
        .collect();
    let of_chain = graph(&chain).unwrap();
    let expected: Vec<Id> = (0..MOST_TASKS).map(|nth| name(nth).into()).collect();
    assert_eq!((&of_chain.order, &of_chain.critical_path), (&expected, &expected));
    assert!(of_chain.layers.concat() == expected && of_chain.layers.len() == MOST_TASKS);
    assert!(of_chain.apart.is_empty(), "they are apart anyway");

    let free: Vec<Item> =
        (0..MOST_TASKS).map(|nth| task(&name(nth), &[], &["same/"; MOST_TOUCHES])).collect();
    let of_free = graph(&free).unwrap();
    assert_eq!((of_free.layers.len(), of_free.apart.len()), (MOST_TASKS, MOST_TASKS * (MOST_TASKS - 1) / 2));
    assert_eq!(of_free.critical_path, ids(&["t0"]));

    let forged = vec![task("a", &[], &["x"]); 100_000];
    assert_eq!(graph(&forged).unwrap().order.len(), MOST_TASKS, "a plan with more tasks has a fault");
}

/// Returns up to 30 tasks with random dependencies and paths. `depends` gets the ranks of two tasks.
fn random(draw: &mut Draw, depends: fn(u64, u64) -> bool) -> Vec<Item> {
    const PATHS: [&str; 8] = ["src/", "src/a/", "src/a/x.rs", "src/b.rs", "srcs", "docs", "docs/y.md", "z"];
    let ranks: Vec<u64> = (0..=draw.number() % 30).map(|_| draw.number() % 1000).collect();
    let names: Vec<String> = (0..ranks.len()).map(|nth| format!("t{nth}")).collect();
    let mut tasks = Vec::new();
    for (name, &rank) in names.iter().zip(&ranks) {
        let others = names.iter().zip(&ranks);
        let may = others.filter(|(_, other)| depends(rank, **other)).map(|(name, _)| name.as_str());
        let after: Vec<&str> = may.filter(|_| draw.number().is_multiple_of(5)).collect();
        let own = format!("own/{name}");
        let shared = PATHS.into_iter().filter(|_| draw.number().is_multiple_of(8));
        let touches: Vec<&str> = shared.chain([own.as_str()]).collect();
        tasks.push(task(name, &after, &touches));
    }
    tasks
}

fn place(list: &[Id], id: &str) -> usize {
    list.iter().position(|other| **other == *id).unwrap()
}

fn expect_the_same(one: &Item, other: &Item) -> bool {
    let parts =
        |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let meet = |one: &str, other: &str| parts(one).iter().zip(&parts(other)).all(|(one, other)| one == other);
    one.touches.iter().any(|one| other.touches.iter().any(|other| meet(one, other)))
}

#[test]
fn each_order_is_topological_and_no_layer_has_a_conflict() {
    let (mut with_moves, mut with_chains) = (0, 0);
    for seed in 0..300 {
        let tasks = random(&mut Draw::new(seed, 0), |rank, other| other < rank);
        let plan = Planned { tasks, ..sample() };
        let graph = graph(&plan.tasks).unwrap();
        let layer = |id: &str| graph.layers.iter().position(|layer| layer.iter().any(|other| **other == *id));
        let all: BTreeSet<Id> = plan.tasks.iter().map(|task| task.id.clone()).collect();
        for list in [&graph.order, &graph.layers.concat()] {
            let once: BTreeSet<Id> = list.iter().cloned().collect();
            assert!(list.len() == all.len() && once == all, "seed {seed}: {list:?}");
        }
        let mut lengths = BTreeMap::<&str, usize>::new();
        for id in &graph.order {
            let task = plan.item(id).unwrap();
            for need in &task.after {
                assert!(place(&graph.order, need) < place(&graph.order, id), "seed {seed}: {id}");
                assert!(layer(need) < layer(id), "seed {seed}: {id}");
            }
            let longest = task.after.iter().map(|need| lengths[&**need]).max().unwrap_or(0);
            lengths.insert(id, longest + 1);
        }
        assert_eq!(lengths.values().max(), Some(&graph.critical_path.len()), "seed {seed}");
        for pair in graph.critical_path.windows(2) {
            assert!(plan.item(&pair[1]).unwrap().after.contains(&pair[0]), "seed {seed}");
        }
        for (nth, one) in plan.tasks.iter().enumerate() {
            for other in &plan.tasks[nth + 1..] {
                let is_together = layer(&one.id) == layer(&other.id);
                assert!(
                    !(is_together && expect_the_same(one, other)),
                    "seed {seed}: {} {}",
                    one.id,
                    other.id
                );
            }
        }
        let in_plan: Vec<Id> = plan.tasks.iter().map(|task| task.id.clone()).collect();
        for (moved, stays) in &graph.apart {
            assert!(
                place(&in_plan, stays) < place(&in_plan, moved) && layer(stays) < layer(moved),
                "seed {seed}"
            );
            assert!(expect_the_same(plan.item(moved).unwrap(), plan.item(stays).unwrap()), "seed {seed}");
        }
        if graph.apart.is_empty() {
            assert_eq!(graph.layers.len(), graph.critical_path.len(), "seed {seed}");
        }
        with_moves += usize::from(!graph.apart.is_empty());
        with_chains += usize::from(graph.critical_path.len() > 2);
    }
    assert!(with_moves > 50 && with_chains > 50, "{with_moves} {with_chains}");
}

#[test]
fn a_graph_has_an_order_or_a_real_circle() {
    let mut circles = 0;
    for seed in 0..300 {
        let tasks = random(&mut Draw::new(seed, 1), |rank, other| (rank + other).is_multiple_of(4));
        let Err(Cycle(path)) = graph(&tasks) else { continue };
        circles += 1;
        assert_eq!(path.first(), path.last(), "seed {seed}");
        for pair in path.windows(2) {
            let task = tasks.iter().find(|task| task.id == pair[0]).unwrap();
            assert!(task.after.contains(&pair[1]), "seed {seed}: {path:?}");
        }
        let once: BTreeSet<&Id> = path.iter().collect();
        assert_eq!(once.len() + 1, path.len(), "seed {seed}: {path:?}");
    }
    assert!((50..300).contains(&circles), "{circles}");
}
