//! The findings of a check, in a few words that a person can look up.

/// The maximum number of places to name.
const MOST: usize = 5;
const LONGEST: usize = 200;

/// Places in the pages with the same finding.
#[derive(Debug, Default)]
pub(super) struct Places {
    first: Vec<String>,
    count: usize,
}

impl Places {
    pub(super) fn add(&mut self, place: &str) {
        self.count += 1;
        if self.first.len() < MOST {
            self.first.push(short(place, LONGEST));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn text(&self) -> String {
        let named = self.first.join("; ");
        match self.count - self.first.len() {
            0 => named,
            more => format!("{named}; and {more} more"),
        }
    }
}

/// Returns the beginning of a text, on one line.
pub(super) fn short(text: &str, most: usize) -> String {
    let line: Vec<&str> = text.split_whitespace().take(most).collect();
    let line = line.join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
