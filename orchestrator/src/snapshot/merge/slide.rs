//! Hunks whose lines are repeated next to them can move. This module decides their position like git, without its
//! indent heuristic.

/// The marked lines of one text between two unmarked ones; a group may be empty. Both texts have the same number of
/// groups, because every unmarked line of one corresponds to a line of the other.
#[derive(Clone, Copy)]
struct Group {
    start: usize,
    end: usize,
}

/// Moves each group of `marks` down as far as possible, or to the last place where it meets a group of the other text.
/// Groups that touch are merged.
pub(super) fn settle(lines: &[usize], marks: &mut [bool], others: &[bool]) {
    let (mut group, mut other) = (Group::first(marks), Group::first(others));
    loop {
        if !group.is_empty() {
            settle_one(lines, marks, &mut group, others, &mut other);
        }
        if !group.next(marks) || !other.next(others) {
            return;
        }
    }
}

fn settle_one(lines: &[usize], marks: &mut [bool], group: &mut Group, others: &[bool], other: &mut Group) {
    loop {
        let size = group.len();
        while group.slide_up(lines, marks) {
            other.previous(others);
        }
        let highest = group.end;
        let mut meets = !other.is_empty();
        while group.slide_down(lines, marks) {
            other.next(others);
            meets |= !other.is_empty();
        }
        // If it has grown on the way, it may move further up.
        if group.len() != size {
            continue;
        }
        while meets && group.end != highest && other.is_empty() && group.slide_up(lines, marks) {
            other.previous(others);
        }
        return;
    }
}

impl Group {
    fn first(marks: &[bool]) -> Self {
        Self { start: 0, end: end_of(marks, 0) }
    }

    fn is_empty(self) -> bool {
        self.start == self.end
    }

    fn len(self) -> usize {
        self.end - self.start
    }

    fn next(&mut self, marks: &[bool]) -> bool {
        if self.end >= marks.len() {
            return false;
        }
        self.start = self.end + 1;
        self.end = end_of(marks, self.start);
        true
    }

    fn previous(&mut self, marks: &[bool]) {
        if let Some(end) = self.start.checked_sub(1) {
            *self = Self { start: start_of(marks, end), end };
        }
    }

    fn slide_down(&mut self, lines: &[usize], marks: &mut [bool]) -> bool {
        if self.end >= lines.len() || lines[self.start] != lines[self.end] {
            return false;
        }
        marks[self.start] = false;
        marks[self.end] = true;
        *self = Self { start: self.start + 1, end: end_of(marks, self.end + 1) };
        true
    }

    fn slide_up(&mut self, lines: &[usize], marks: &mut [bool]) -> bool {
        if self.start == 0 || lines[self.start - 1] != lines[self.end - 1] {
            return false;
        }
        marks[self.start - 1] = true;
        marks[self.end - 1] = false;
        *self = Self { start: start_of(marks, self.start - 1), end: self.end - 1 };
        true
    }
}

/// Returns the end of the marks that begin here.
fn end_of(marks: &[bool], start: usize) -> usize {
    start + marks[start..].iter().take_while(|is_marked| **is_marked).count()
}

/// Returns the start of the marks that end here.
fn start_of(marks: &[bool], end: usize) -> usize {
    end - marks[..end].iter().rev().take_while(|is_marked| **is_marked).count()
}
