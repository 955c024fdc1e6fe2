//! Looks up quotes: a finding counts only where its quote is in the file that it names.

use super::finding::{Place, Side, normalised};
use super::task::Changed;

/// A shorter quote is in nearly every file.
const SHORTEST: usize = 8;
/// A longer quote is a file, not a place.
const LONGEST: usize = 4_000;
/// The lines that are shown before and after a quote.
const AROUND: u32 = 12;
/// Longer lines are shown in part.
const WIDEST: usize = 240;
/// A quote may be this far from the changed lines: a guard that they removed is missing below them.
const NEAR: u32 = 3;

/// The claim of an agent about a place.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    pub path: &'a str,
    pub side: Side,
    pub line: Option<u32>,
    pub quote: &'a str,
}

impl Place {
    /// Returns the claim that leads to this place.
    pub fn claim(&self) -> Claim<'_> {
        Claim { path: &self.path, side: self.side, line: Some(self.lines.0), quote: &self.quote }
    }
}

/// Returns the place of a quote in the text of its file, or the reason why it is none. White space does not matter, and
/// of several places the one nearest to the claimed line counts.
pub fn place(claim: Claim<'_>, text: Option<&str>, changed: Option<&Changed>) -> Result<Place, &'static str> {
    let quote = normalised(claim.quote);
    match quote.chars().count() {
        ..SHORTEST => return Err("its quote is shorter than 8 characters"),
        SHORTEST..=LONGEST => {}
        _ => return Err("its quote is longer than 4,000 characters"),
    }
    let text = text.ok_or("there is no such text file")?;
    let lines: Vec<&str> = text.lines().collect();
    let (quote, (from, to)) = [Some(quote), without_marks(claim.quote)]
        .into_iter()
        .flatten()
        .find_map(|quote| find(&lines, &quote, claim.line.unwrap_or(1)).map(|lines| (quote, lines)))
        .ok_or("its quote is not in the file")?;
    Ok(Place {
        path: claim.path.into(),
        side: claim.side,
        lines: (from, to),
        quote: quote.into(),
        code: excerpt(&lines, from, to).into(),
        is_changed: changed.is_some_and(|changed| touches(changed, claim.side, (from, to))),
    })
}

/// Removes the marks of a diff, which agents copy with the lines.
fn without_marks(quote: &str) -> Option<String> {
    let line = |line: &str| line.strip_prefix(['+', '-']).unwrap_or(line).to_owned();
    let plain = normalised(&quote.lines().map(line).collect::<Vec<_>>().join("\n"));
    (plain.chars().count() >= SHORTEST).then_some(plain)
}

/// Returns the first and the last line of the match that is nearest to a line.
fn find(lines: &[&str], quote: &str, near: u32) -> Option<(u32, u32)> {
    let (mut text, mut starts) = (String::new(), Vec::new());
    for line in lines {
        let line = normalised(line);
        if !(text.is_empty() || line.is_empty()) {
            text.push(' ');
        }
        starts.push(text.len());
        text.push_str(&line);
    }
    // The last line that begins at or before a position; empty lines share theirs with the next one.
    let line_at = |at: usize| u32::try_from(starts.partition_point(|start| *start <= at)).unwrap_or(u32::MAX);
    let matches = text.match_indices(quote).map(|(at, found)| (line_at(at), line_at(at + found.len() - 1)));
    matches.min_by_key(|(from, _)| from.abs_diff(near))
}

fn excerpt(lines: &[&str], from: u32, to: u32) -> String {
    let first = from.saturating_sub(AROUND).max(1);
    let shown =
        lines.iter().zip(1_u32..).skip(first as usize - 1).take_while(|(_, line)| *line <= to + AROUND);
    let numbered = shown.map(|(text, line)| {
        let text: String = text.chars().filter(|c| !c.is_control() || *c == '\t').take(WIDEST).collect();
        format!("{line:>5}  {text}")
    });
    numbered.collect::<Vec<_>>().join("\n")
}

/// Whether the change touches these lines.
fn touches(changed: &Changed, side: Side, (from, to): (u32, u32)) -> bool {
    let (ranges, near) = match side {
        Side::New | Side::Absent => (&changed.added, NEAR),
        Side::Old => (&changed.removed, 0),
    };
    let meets = |(first, last): &(u32, u32)| from <= last.saturating_add(near) && *first <= to + near;
    // What the change removed is missing where nothing was added.
    ranges.iter().any(meets)
        || (side != Side::Old && changed.gaps.iter().any(|gap| from <= gap + NEAR && *gap <= to + NEAR))
}

#[cfg(test)]
mod tests {
    use super::super::finding::{Finding, Severity};
    use super::*;

    const TEXT: &str =
        "fn div(a: i32, b: i32) -> i32 {\n    a / b\n}\n\n\nfn other() {\n    a / b // again\n}\n";

    fn changed() -> Changed {
        Changed {
            path: "src/a.rs".into(),
            added: vec![(2, 2)],
            removed: vec![(9, 9)],
            gaps: vec![6],
            ..Changed::default()
        }
    }

    fn at(side: Side, line: u32, quote: &str) -> Result<((u32, u32), bool), &'static str> {
        let claim = Claim { path: "src/a.rs", side, line: Some(line), quote };
        place(claim, Some(TEXT), Some(&changed())).map(|place| (place.lines, place.is_changed))
    }

    #[test]
    fn white_space_does_not_matter_and_the_nearest_match_counts() {
        assert_eq!(at(Side::New, 1, "-> i32 {\n a / b }"), Ok(((1, 3), true)));
        assert_eq!(at(Side::New, 70, "a / b // again"), Ok(((7, 7), true)), "next to removed lines");
        let far = Claim { path: "src/a.rs", side: Side::New, line: Some(3), quote: "fn div(a: i32, b" };
        let far = place(far, Some(TEXT), Some(&Changed::default())).unwrap();
        assert_eq!((far.lines, far.is_changed), ((1, 1), false), "the line is corrected");
        assert_eq!(at(Side::New, 2, "fn other() { a / b"), Ok(((6, 7), true)), "next to removed lines");
        assert_eq!(at(Side::New, 2, "+fn div(a: i32, b: i32) -> i32 {\n+    a / b"), Ok(((1, 2), true)));
        assert_eq!(at(Side::Absent, 4, "fn div(a: i32,"), Ok(((1, 1), true)), "near the change");
        assert_eq!(at(Side::New, 4, "fn div(a: i32,"), Ok(((1, 1), true)), "near the change");
        assert_eq!(at(Side::Old, 4, "fn div(a: i32,"), Ok(((1, 1), false)));
    }

    #[test]
    fn the_quote_of_a_place_leads_to_it_again() {
        for (line, quote) in [
            (1, "-> i32 {\n a / b }"),
            (70, "a / b // again"),
            (2, "+fn div(a: i32, b: i32) -> i32 {\n+    a / b"),
        ] {
            let again = |claim| place(claim, Some(TEXT), Some(&changed())).unwrap();
            let first = again(Claim { path: "src/a.rs", side: Side::New, line: Some(line), quote });
            assert_eq!(again(first.claim()), first);
        }
    }

    #[test]
    fn a_quote_that_is_short_long_or_not_there_is_no_place() {
        assert_eq!(at(Side::New, 1, " a /\n b "), Err("its quote is shorter than 8 characters"));
        assert_eq!(at(Side::New, 1, "a / b // never"), Err("its quote is not in the file"));
        assert_eq!(at(Side::New, 1, &"x".repeat(10 << 20)), Err("its quote is longer than 4,000 characters"));
        let claim = Claim { path: "none", side: Side::New, line: None, quote: "long enough" };
        assert_eq!(place(claim, None, None), Err("there is no such text file"));
    }

    #[test]
    fn the_code_around_a_quote_is_numbered_and_plain() {
        let claim = Claim { path: "a", side: Side::New, line: None, quote: "two \u{1b}[2J lines" };
        let place = place(claim, Some("one\ntwo \u{1b}[2J lines\nthree\n"), None).unwrap();
        assert_eq!(&*place.code, "    1  one\n    2  two [2J lines\n    3  three");
    }

    #[test]
    fn a_fingerprint_stays_when_lines_move_or_another_part_of_them_is_quoted() {
        let named = |text: &str, quote: &str| {
            let claim = Claim { path: "a", side: Side::New, line: None, quote };
            let place = Some(place(claim, Some(text), None).unwrap());
            let (title, what, suggestion) = ("t".into(), "w".into(), "".into());
            Finding { severity: Severity::Low, title, place, what, suggestion, fixed: None }.fingerprint()
        };
        let first = named("one\n  return sum / count;\n", "return sum / count;");
        assert_eq!(first, named("one\ntwo\n\treturn sum / count;\n", "sum / count;"));
        assert_ne!(first, named("one\n  return sum / counts;\n", "return sum / count"));
    }
}
