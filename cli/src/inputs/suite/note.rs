//! Notes about lost or odd parts, each given once for all cases that it applies to.

use std::collections::HashMap;
use std::fmt;

use skilltune_phases::base::name::Name;

use crate::text::figures::count;
use crate::text::plain::one_line;
use crate::text::width::shortened;

/// One plain line, and the cases that it applies to; none if it is about the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub text: String,
    pub scenarios: Vec<Name>,
}

/// Notes in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Notes {
    lines: Vec<Note>,
    places: HashMap<String, usize>,
    left_out: usize,
}

/// The most notes, because the author of a suite controls their number.
const MOST: usize = 100;
const LONGEST: usize = 240;
/// The most cases that are named.
const NAMED: usize = 3;

impl Notes {
    pub(super) fn add(&mut self, scenario: Option<&Name>, text: &str) {
        let text = shortened(&one_line(text), LONGEST);
        let place = match self.places.get(&text) {
            Some(place) => *place,
            None if self.lines.len() == MOST => {
                self.left_out += 1;
                return;
            }
            None => {
                self.places.insert(text.clone(), self.lines.len());
                self.lines.push(Note { text, scenarios: Vec::new() });
                self.lines.len() - 1
            }
        };
        let named = &mut self.lines[place].scenarios;
        named.extend(scenario.filter(|scenario| named.last() != Some(scenario)).cloned());
    }

    pub(super) fn taken(mut self) -> Vec<Note> {
        if self.left_out > 0 {
            let text = format!("{} not listed", count(self.left_out, "more note"));
            self.lines.push(Note { text, scenarios: Vec::new() });
        }
        self.lines
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, scenarios } = self;
        if scenarios.is_empty() {
            return f.write_str(text);
        }
        let named: Vec<&str> = scenarios.iter().take(NAMED).map(Name::as_str).collect();
        write!(f, "{}", named.join(", "))?;
        match scenarios.len() - named.len() {
            0 => {}
            more => write!(f, " and {more} more")?,
        }
        write!(f, ": {text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_true_of_many_cases_is_one_line_and_the_lines_are_bounded() {
        let mut notes = Notes::default();
        for number in 1..=5 {
            notes.add(Some(&crate::inputs::suite::numbered(number)), "`trap` is not read");
        }
        for number in 0..200 {
            notes.add(None, &format!("odd \u{1b}[31m thing {number}"));
        }
        let taken = notes.taken();
        assert_eq!(taken[0].to_string(), "scenario-1, scenario-2, scenario-3 and 2 more: `trap` is not read");
        assert_eq!(taken.len(), MOST + 1);
        assert_eq!(taken[MOST].to_string(), "101 more notes not listed");
        assert!(!taken[1].text.contains('\u{1b}'));
    }
}
