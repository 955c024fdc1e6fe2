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

/// Rooms by level, each with its lines of code and of tests, then what is longest.
fn drawn(name: &str, read: &Crate) -> String {
    let is_said = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines = |source: &str| source.lines().filter(is_said).count();
    let mut sizes = BTreeMap::<&str, (usize, usize)>::new();
    for (file, source) in &read.sources {
        let code = read.code.get(file).copied().unwrap_or(0);
        for room in [file.split(['/', '.']).next().expect("a file has a name"), "all"] {
            let (all_code, tests) = sizes.entry(room).or_default();
            *all_code += code;
            *tests += lines(source).saturating_sub(code);
        }
    }
    let (code, tests) = sizes["all"];
    let mut told = format!("\n{name}: {code} lines of code, {tests} of tests\n");
    let needs = read.needs();
    let mut left = needs.get(&Vec::new()).map(level).unwrap_or_default();
    let whole = left.clone();
    for number in 1.. {
        if left.is_empty() {
            break;
        }
        // Rooms in a circle with each other are on one level.
        let is_next = |room: &str, needed: &BTreeSet<String>| {
            needed.iter().all(|other| !left.contains_key(other) || reached(&whole, other).contains(room))
        };
        let next: Vec<_> = left
            .iter()
            .filter(|(room, needed)| is_next(room, needed))
            .map(|(room, _)| room.clone())
            .collect();
        for room in next {
            let needed: Vec<_> = left.remove(&room).expect("it was there").into_iter().collect();
            let (code, tests) = sizes[room.as_str()];
            writeln!(told, "{number:3} {room:14} {code:5} {tests:5}  {}", needed.join(" ")).unwrap();
        }
    }
    let mut files: Vec<_> = read.code.iter().map(|(file, code)| (*code, file.clone())).collect();
    let mut functions = read.functions.clone();
    for (what, longest) in [("files", &mut files), ("functions", &mut functions)] {
        longest.sort_by(|a, b| b.cmp(a));
        writeln!(told, "the longest {what}:").unwrap();
        for (lines, name) in longest.iter().take(10) {
            writeln!(told, "{lines:5} {name}").unwrap();
        }
    }
    told
}
