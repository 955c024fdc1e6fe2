//! The tables of rooms in `ARCHITECTURE.md`: what each room of a crate has, by the first sentence of its head, and which it needs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::cli_texts::difference;

use super::{CRATES, Crate, Level, level};

const BEGIN: &str = "<!-- rooms: `just structure` writes these tables -->\n";
const END: &str = "<!-- end of the rooms -->\n";

/// Returns the first sentence of a file's head comment.
fn first_sentence(source: &str) -> String {
    let head = source.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = head.map(str::trim).take_while(|line| !line.is_empty()).collect();
    let text = paragraph.join(" ");
    text.split_once(". ").map_or(text.clone(), |(sentence, _)| format!("{sentence}."))
}

/// Returns the rooms, each after all that it needs.
fn in_order(level: &Level) -> Vec<&str> {
    let mut order: Vec<&str> = Vec::new();
    while order.len() < level.len() {
        let is_next = |(room, needs): &(&String, &BTreeSet<String>)| {
            !order.contains(&room.as_str()) && needs.iter().all(|need| order.contains(&need.as_str()))
        };
        let next: Vec<&str> = level.iter().filter(is_next).map(|(room, _)| room.as_str()).collect();
        assert!(!next.is_empty(), "a circle of rooms");
        order.extend(next);
    }
    order
}

fn table(read: &Crate) -> String {
    let mut rooms = read.needs().get(&Vec::new()).map(level).unwrap_or_default();
    for name in read.modules.keys().filter(|name| name.len() == 1) {
        rooms.entry(name[0].clone()).or_default();
    }
    let mut text = String::from("| room | what it has | needs |\n|---|---|---|\n");
    for room in in_order(&rooms) {
        let files = [format!("{room}.rs"), format!("{room}/mod.rs")];
        let source = files.iter().find_map(|file| read.sources.get(file)).expect("a room has a file");
        let needs: Vec<&str> = rooms[room].iter().map(String::as_str).collect();
        writeln!(text, "| `{room}` | {} | {} |", first_sentence(source), needs.join(", ")).unwrap();
    }
    text
}

#[test]
fn the_rooms_of_architecture_are_those_of_the_sources() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the tables have a beginning");
    let (stored, after) = rest.split_once(END).expect("the tables have an end");
    let shipped = CRATES.iter().filter(|(name, _)| *name != "benches/research");
    let tables: Vec<String> =
        shipped.map(|(name, read)| format!("\n**{name}**\n\n{}", table(read))).collect();
    let present = tables.concat() + "\n";
    if std::env::var_os("SKILLTUNE_RENEW").is_some() {
        fs::write(&path, [before, BEGIN, &present, END, after].concat()).unwrap();
    } else if let Some(difference) = difference(stored, &present) {
        panic!(
            "ARCHITECTURE.md: {difference}\nif this is intended, run `just structure` and commit the diff"
        );
    }
}
