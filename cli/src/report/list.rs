//! The table of `list`: a header and a line for each run, none of them wider than the terminal.

use std::array;

use skilltune_phases::runs::plan::RunId;

use crate::terminal::style::Style;
use crate::text::plain::one_line;
use crate::text::width::{columns, cut, shortened};

/// A run in the table.
#[derive(Debug)]
pub struct ListedRun {
    pub run: RunId,
    /// Such as `tune` or `calibrate`.
    pub kind: &'static str,
    pub status: &'static str,
    pub progress: String,
    pub result: String,
    pub updated: String,
    pub subject: String,
    /// Whether the table leaves out older runs with the same kind, status and subject.
    pub folds: bool,
    /// The number of older runs that the table leaves out for this one.
    pub older: usize,
}

const HEAD: [&str; 7] = ["RUN", "KIND", "STATUS", "PROGRESS", "RESULT", "UPDATED", "SUBJECT"];
const SUBJECT: usize = HEAD.len() - 1;
/// The columns to leave out, in this order, until the table fits. The id of a run contains the time of its start.
const SPARE: [usize; 4] = [5, 3, 4, 1];
const GAP: &str = "  ";
/// The minimum width of a subject.
const LEAST: usize = 12;

impl ListedRun {
    /// Returns the line of a run that cannot be read.
    pub fn damaged(run: &RunId, kind: &'static str, why: &str) -> Self {
        let none = || "-".to_owned();
        Self {
            run: run.clone(),
            kind,
            status: "damaged",
            progress: none(),
            result: none(),
            updated: none(),
            subject: why.to_owned(),
            folds: false,
            older: 0,
        }
    }

    /// Returns whether an older run adds nothing for a reader.
    fn covers(&self, older: &Self) -> bool {
        let key = |run: &Self| (run.folds, run.kind, run.status);
        self.folds && key(self) == key(older) && self.subject == older.subject
    }

    fn cells(&self) -> [String; HEAD.len()] {
        let subject = one_line(&self.subject);
        let subject = match self.older {
            0 => subject,
            older => format!("{subject} (+{older} older)"),
        };
        [
            self.run.to_string(),
            self.kind.to_owned(),
            self.status.to_owned(),
            self.progress.clone(),
            self.result.clone(),
            self.updated.clone(),
            subject,
        ]
    }
}

/// Counts older runs with the newest one that covers them; the newest come first. A night calibrates each of its jobs.
pub fn folded(runs: Vec<ListedRun>) -> Vec<ListedRun> {
    let mut shown: Vec<ListedRun> = Vec::new();
    for run in runs {
        match shown.iter_mut().find(|newest| newest.covers(&run)) {
            Some(newest) => newest.older += 1,
            None => shown.push(run),
        }
    }
    shown
}

/// Returns the lines of the table, each of at most this many columns.
pub fn lines(runs: &[ListedRun], most: usize, style: Style) -> Vec<String> {
    let cells: Vec<[String; HEAD.len()]> = runs.iter().map(ListedRun::cells).collect();
    let widths: [usize; HEAD.len()] = array::from_fn(|nth| {
        let widest = cells.iter().map(|cells| columns(&cells[nth])).max().unwrap_or_default();
        widest.max(HEAD[nth].len())
    });
    let before = |shown: &[usize]| -> usize { shown.iter().map(|nth| widths[*nth] + GAP.len()).sum() };
    let mut shown: Vec<usize> = (0..SUBJECT).collect();
    for spare in SPARE {
        if before(&shown) + widths[SUBJECT].min(LEAST) > most {
            shown.retain(|nth| *nth != spare);
        }
    }
    let room = most.saturating_sub(before(&shown));
    let line = |cells: &[&str]| {
        let padded = |nth: &usize| {
            let space = widths[*nth].saturating_sub(columns(cells[*nth]));
            format!("{}{}{GAP}", cells[*nth], " ".repeat(space))
        };
        let others: String = shown.iter().map(padded).collect();
        cut(&(others + &shortened(cells[SUBJECT], room)), most)
    };
    let head = style.bold(&line(&HEAD));
    let rows = cells.iter().map(|cells| line(&cells.each_ref().map(String::as_str)));
    std::iter::once(head).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(nth: u32, kind: &'static str, status: &'static str, subject: &str) -> ListedRun {
        ListedRun {
            run: format!("da29-20261121-16311{nth}").parse().unwrap(),
            kind,
            status,
            progress: "round 3 of 5".to_owned(),
            result: " 39.6 -> 89.6".to_owned(),
            updated: "2026-11-21 16:40:24 UTC".to_owned(),
            subject: subject.to_owned(),
            folds: kind == "calibrate",
            older: 0,
        }
    }

    fn table(most: usize) -> String {
        let damaged = ListedRun::damaged(&"odd".parse().unwrap(), "gan", "the journal is empty");
        let runs = [
            run(1, "tune", "completed", "writer"),
            run(2, "calibrate", "rolled back", "the-longest-name-of-a-skill"),
            damaged,
        ];
        lines(&runs, most, Style::PLAIN).join("\n")
    }

    #[test]
    fn columns_are_aligned_below_their_names() {
        insta::assert_snapshot!(table(200), @r"
        RUN                   KIND       STATUS       PROGRESS      RESULT         UPDATED                  SUBJECT
        da29-20261121-163111  tune       completed    round 3 of 5   39.6 -> 89.6  2026-11-21 16:40:24 UTC  writer
        da29-20261121-163112  calibrate  rolled back  round 3 of 5   39.6 -> 89.6  2026-11-21 16:40:24 UTC  the-longest-name-of-a-skill
        odd                   gan        damaged      -             -              -                        the journal is empty
        ");
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_and_no_broken_line() {
        insta::assert_snapshot!(table(80), @r"
        RUN                   KIND       STATUS       RESULT         SUBJECT
        da29-20261121-163111  tune       completed     39.6 -> 89.6  writer
        da29-20261121-163112  calibrate  rolled back   39.6 -> 89.6  the-longe…f-a-skill
        odd                   gan        damaged      -              the journ… is empty
        ");
        for most in 1..200 {
            let widest = table(most).lines().map(columns).max();
            assert!(widest <= Some(most), "{most}:\n{}", table(most));
        }
    }

    #[test]
    fn calibrations_of_one_skill_with_one_end_are_one_line() {
        let runs = vec![
            run(6, "calibrate", "completed", "writer"),
            run(5, "calibrate", "completed", "editor"),
            run(4, "tune", "completed", "writer"),
            run(3, "calibrate", "failed", "writer"),
            run(2, "tune", "completed", "writer"),
            run(1, "calibrate", "completed", "writer"),
        ];
        let folded = folded(runs);
        let shown: Vec<_> = folded.iter().map(|run| (run.kind, run.status, run.older)).collect();
        assert_eq!(
            shown,
            [
                ("calibrate", "completed", 1),
                ("calibrate", "completed", 0),
                ("tune", "completed", 0),
                ("calibrate", "failed", 0),
                ("tune", "completed", 0),
            ]
        );
        assert!(lines(&folded, 200, Style::PLAIN)[1].ends_with("  writer (+1 older)"));
    }
}
