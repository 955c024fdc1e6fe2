//! Random works, merged and counted. A line of a work has its name and a number, so it occurs in no other work.

use std::collections::BTreeMap;

use super::*;

const RUNS: u64 = 200;

/// Lines by path.
type Files = BTreeMap<String, Vec<String>>;

/// Splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one.
    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).unwrap()
    }
}

/// Four files with unique lines, and blank lines and braces as in code.
fn base() -> Files {
    let line = |file: usize, at: usize| match at % 6 {
        4 => "\n".to_owned(),
        5 => "}\n".to_owned(),
        _ => format!("f{file} line {at}\n"),
    };
    (0..4).map(|file| (format!("f{file}"), (0..30).map(|at| line(file, at)).collect())).collect()
}

/// Makes one to four edits.
fn changed(random: &mut Random, files: &Files, name: &str) -> Files {
    let (mut files, mut count) = (files.clone(), 0);
    for _ in 0..=random.below(4) {
        edit(random, &mut files, name, &mut count);
    }
    files
}

fn edit(random: &mut Random, files: &mut Files, name: &str, count: &mut usize) {
    let path = files.keys().nth(random.below(files.len())).unwrap().clone();
    let has_others = files.len() > 1;
    let lines = files.get_mut(&path).unwrap();
    let at = random.below(lines.len() + 1);
    let end = |len: usize| (at + len).min(lines.len());
    match random.below(20) {
        0..=7 => {
            let new: Vec<String> = (0..=random.below(2)).map(|_| line(random, name, count)).collect();
            lines.splice(at..at, new);
        }
        8..=12 => {
            let end = end(1 + random.below(2));
            lines.drain(at..end);
        }
        13..=16 => {
            let end = end(1);
            lines.splice(at..end, [line(random, name, count)]);
        }
        17 => {
            let end = end(3);
            let block: Vec<String> = lines.drain(at..end).collect();
            let to = random.below(lines.len() + 1);
            lines.splice(to..to, block);
        }
        18 => {
            let lines = files.remove(&path).unwrap();
            files.insert(format!("g-{name}"), lines);
        }
        _ if has_others => drop(files.remove(&path)),
        _ => {}
    }
}

/// Some lines are equal in all works.
fn line(random: &mut Random, name: &str, count: &mut usize) -> String {
    *count += 1;
    match random.below(6) {
        0 => "}\n".to_owned(),
        1 => "use shared;\n".to_owned(),
        _ => format!("{name} {count}\n"),
    }
}

fn stored(place: &Place, files: &Files) -> TreeId {
    let texts: Vec<(&str, String)> =
        files.iter().map(|(path, lines)| (path.as_str(), lines.concat())).collect();
    let files: Vec<(&str, &[u8])> = texts.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    place.objects.put_files(&files).unwrap()
}

fn read(place: &Place, tree: TreeId) -> Files {
    let mut files = Files::new();
    for entry in place.objects.manifest(tree).unwrap().entries() {
        let Node::File { blob, .. } = &entry.node else { panic!("the tests have only files") };
        let text = String::from_utf8(place.objects.read(*blob).unwrap()).unwrap();
        files.insert(entry.path.to_string(), text.split_inclusive('\n').map(str::to_owned).collect());
    }
    files
}

/// One run: two to five works that start from the same tree. In some runs, the tree has moved on since then.
struct Run {
    onto: TreeId,
    works: Vec<Work>,
    made: Vec<Files>,
}

fn run(place: &Place, random: &mut Random, has_moved_on: bool) -> Run {
    let base = base();
    let onto = if has_moved_on { changed(random, &base, "o") } else { base.clone() };
    let count = 2 + random.below(4);
    let made: Vec<Files> = (0..count).map(|at| changed(random, &base, &format!("w{at}"))).collect();
    let from = stored(place, &base);
    let works = made.iter().enumerate().map(|(at, made)| work(at, from, stored(place, made))).collect();
    Run { onto: stored(place, &onto), works, made }
}

#[test]
fn random_works_are_merged_without_a_loss() {
    let place = Place::new();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..RUNS {
        let Run { onto, works, made } = run(&place, &mut Random(seed), seed.is_multiple_of(4));
        let integrated = integrate(&place.objects, onto, &works, &[]).unwrap();
        assert_eq!(integrate(&place.objects, onto, &works, &[]).unwrap(), integrated, "run {seed}");
        let whole = read(&place, integrated.tree);
        let (mut changes, mut tree) = (Vec::new(), onto);
        for (at, result) in integrated.works.iter().enumerate() {
            let Ok(step) = step(result) else {
                refused += 1;
                continue;
            };
            assert_eq!(step, Accepted { task: at, before: tree, after: step.after }, "run {seed}");
            tree = step.after;
            changes.push((works[at].from, works[at].made));
            let is_own = |line: &&String| line.starts_with(&format!("w{at} "));
            for (path, lines) in &made[at] {
                for line in lines.iter().filter(is_own) {
                    assert!(whole[path].contains(line), "run {seed}: {path} lost {line}");
                }
            }
            accepted += 1;
        }
        assert_eq!(tree, integrated.tree);
        assert_eq!(census(&place.objects, onto, &changes, tree).unwrap(), [], "run {seed}");
    }
    assert!(accepted > 300 && refused > 50, "{accepted} accepted, {refused} refused");
}

/// Only conflicts are refused: the census raises no false alarm.
fn step(result: &WorkResult) -> Result<Accepted, &Refusal> {
    match result {
        WorkResult::Accepted(step) => Ok(*step),
        WorkResult::Refused(refusal) => {
            assert!(matches!(refusal, Refusal::Conflicts(_)), "{refusal:?}");
            Err(refusal)
        }
    }
}

#[test]
fn a_line_that_is_taken_from_a_random_merge_is_missed() {
    let place = Place::new();
    let mut taken = 0;
    for seed in 0..RUNS {
        let random = &mut Random(seed);
        let Run { onto, works, .. } = run(&place, random, seed.is_multiple_of(4));
        let integrated = integrate(&place.objects, onto, &works, &[]).unwrap();
        let results = works.iter().zip(&integrated.works);
        let is_accepted = |(_, result): &(&Work, &WorkResult)| matches!(result, WorkResult::Accepted(_));
        let changes: Vec<(TreeId, TreeId)> =
            results.filter(is_accepted).map(|(work, _)| (work.from, work.made)).collect();
        let mut files = read(&place, integrated.tree);
        let path = files.keys().nth(random.below(files.len())).unwrap().clone();
        let lines = files.get_mut(&path).unwrap();
        let is_only = |line: &String| lines.iter().filter(|other| *other == line).count() == 1;
        let only: Vec<usize> = (0..lines.len()).filter(|at| is_only(&lines[*at])).collect();
        if only.is_empty() {
            continue;
        }
        let line = lines.remove(only[random.below(only.len())]);
        let losses = census(&place.objects, onto, &changes, stored(&place, &files)).unwrap();
        assert!(losses.iter().any(|loss| loss.path.to_string() == path), "run {seed}: {path} {line}");
        taken += 1;
    }
    assert!(taken > 150, "{taken}");
}
