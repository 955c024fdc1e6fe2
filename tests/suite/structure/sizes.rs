//! The rooms of each crate with their levels and sizes, and what is longest: `just structure` prints them.

use super::*;

const LONGEST_FILE: usize = 500;

#[test]
fn no_file_is_too_long() {
    for (name, read) in CRATES.iter() {
        eprintln!("{}", drawn(name, read));
        for (file, source) in &read.sources {
            let lines = source.lines().count();
            assert!(lines <= LONGEST_FILE, "{name}/src/{file} has {lines} lines");
        }
    }
}

/// The rooms of the crate and of each of its larger rooms, then what is longest.
fn drawn(name: &str, read: &Crate) -> String {
    const LARGE: usize = 9;
    let mut text = String::new();
    for (parent, edges) in &read.needs() {
        let rooms = level(edges);
        if parent.is_empty() || rooms.len() >= LARGE {
            text += &rooms_of(&[&[name.to_owned()], &parent[..]].concat(), read, &rooms, edges.len());
        }
    }
    let mut files: Vec<_> = read.code.iter().map(|(file, code)| (*code, file.clone())).collect();
    let mut functions = read.functions.clone();
    for (what, longest) in [("files", &mut files), ("functions", &mut functions)] {
        longest.sort_by(|a, b| b.cmp(a));
        writeln!(text, "the longest {what}:").unwrap();
        for (lines, name) in longest.iter().take(10) {
            writeln!(text, "{lines:5} {name}").unwrap();
        }
    }
    text
}

/// Rooms by level, each with its lines of code and of tests, and what it needs.
fn rooms_of(parent: &[String], read: &Crate, whole: &Level, arrows: usize) -> String {
    let is_said = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines = |source: &str| source.lines().filter(is_said).count();
    let mut sizes = BTreeMap::<&str, (usize, usize)>::new();
    for (file, source) in &read.sources {
        let mut words = file.split(['/', '.']);
        if !parent[1..].iter().all(|word| words.next() == Some(word)) {
            continue;
        }
        let code = read.code.get(file).copied().unwrap_or(0);
        for room in [words.next().unwrap_or_default(), "all"] {
            let (all_code, tests) = sizes.entry(room).or_default();
            *all_code += code;
            *tests += lines(source).saturating_sub(code);
        }
    }
    let (mut left, mut text) = (whole.clone(), String::new());
    let mut levels = 0;
    while !left.is_empty() {
        levels += 1;
        // Rooms in a circle with each other are on one level.
        let is_next = |room: &str, needed: &BTreeSet<String>| {
            needed.iter().all(|other| !left.contains_key(other) || reached(whole, other).contains(room))
        };
        let next: Vec<_> = left
            .iter()
            .filter(|(room, needed)| is_next(room, needed))
            .map(|(room, _)| room.clone())
            .collect();
        for room in next {
            let needed: Vec<_> = left.remove(&room).expect("it was there").into_iter().collect();
            let (code, tests) = sizes[room.as_str()];
            writeln!(text, "{levels:3} {room:14} {code:5} {tests:5}  {}", needed.join(" ")).unwrap();
        }
    }
    let (code, tests) = sizes["all"];
    let size = format!("{} rooms on {levels} levels, {arrows} arrows", whole.len());
    format!("\n{}: {size}; {code} lines of code, {tests} of tests\n{text}", parent.join("::"))
}
