//! What a check has found, in a few words that somebody can look up.

/// How many places are named.
const MOST: usize = 5;
const LONGEST: usize = 200;

/// Places that all say the same of a page.
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

/// The beginning of a text, on one line.
pub(super) fn short(text: &str, most: usize) -> String {
    let line: Vec<&str> = text.split_whitespace().take(most).collect();
    let line = line.join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
