//! Finds the expert that a person means: by its name, by a part of it, or by a misspelt one.

use skilltune_phases::base::spelling::{distance, reach};

#[derive(Debug, PartialEq, Eq)]
pub enum Resolved<'a> {
    Exact(&'a str),
    /// The likely ones, nearest first: a person has to confirm one.
    Close(Vec<&'a str>),
    /// None is likely. All names, nearest first.
    Unknown(Vec<&'a str>),
}

pub fn resolve<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> Resolved<'a> {
    let name = name.trim().to_lowercase();
    let mut ranked: Vec<(Rank, &str)> = all.map(|known| (rank(&name, known), known)).collect();
    ranked.sort();
    if let Some((_, known)) = ranked.iter().find(|(_, known)| *known == name) {
        return Resolved::Exact(known);
    }
    let names = |ranked: &[(Rank, &'a str)]| ranked.iter().map(|(_, known)| *known).collect();
    // Names that are much farther than the nearest are not meant.
    let farthest = ranked.first().map_or(0, |(nearest, _)| nearest.distance + 1);
    match ranked.iter().take_while(|(rank, _)| !rank.is_far && rank.distance <= farthest).count() {
        0 => Resolved::Unknown(names(&ranked)),
        close => Resolved::Close(names(&ranked[..close])),
    }
}

/// How near a name is; the nearest sorts first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_far: bool,
    /// The letters that are wrong, of the name or of its best part.
    distance: usize,
    is_part: bool,
}

fn rank(name: &str, known: &str) -> Rank {
    let is_inside = !name.is_empty() && known.contains(name);
    let parts = known.split('-').map(|part| distance(name, part)).min().unwrap_or(usize::MAX);
    let whole = distance(name, known);
    let wrong = if is_inside { 0 } else { parts.min(whole) };
    Rank { is_far: name.is_empty() || wrong > reach(name), distance: wrong, is_part: parts < whole }
}

#[cfg(test)]
mod tests {
    use skilltune_phases::experts::built_in;

    use super::*;

    fn close(name: &str) -> Vec<String> {
        let all = built_in();
        match resolve(name, all.iter().map(|one| one.name.as_str())) {
            Resolved::Exact(name) => vec![format!("={name}")],
            Resolved::Close(names) => names.into_iter().map(str::to_owned).collect(),
            Resolved::Unknown(_) => Vec::new(),
        }
    }

    #[test]
    fn an_exact_name_is_taken_and_case_does_not_matter() {
        assert_eq!(close("architect"), ["=architect"]);
        assert_eq!(close(" Architect"), ["=architect"]);
    }

    #[test]
    fn a_part_or_a_misspelt_name_has_its_nearest_first() {
        assert_eq!(close("security"), ["security-reviewer"]);
        assert_eq!(close("securty-reviewer"), ["security-reviewer"]);
        assert_eq!(close("securty"), ["security-reviewer"]);
        assert_eq!(close("arhcitect"), ["architect"]);
        assert_eq!(close("writer"), ["technical-writer"]);
        assert_eq!(close("reviewer").len(), 3);
        assert_eq!(close("developer"), ["backend-developer", "frontend-developer"]);
    }

    #[test]
    fn a_name_like_none_has_all_names() {
        assert_eq!(close("zzzzzz"), [""; 0]);
        assert_eq!(close(""), [""; 0]);
        let all = ["architect", "designer"];
        assert_eq!(resolve("qqqq", all.into_iter()), Resolved::Unknown(vec!["designer", "architect"]));
    }
}
