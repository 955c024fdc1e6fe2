//! The scores of a run's rounds as bars, with a mark for the goal.

use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::{Round, Run};

use crate::loops::tune::progress::lines::VerdictLine;
use crate::loops::tune::words::RoundStatus;
use crate::progress::layout::Letters;
use crate::progress::lines::ROOMY;
use crate::text::figures;

/// One row per round, and the line below them that labels the mark.
#[derive(Debug)]
pub struct Chart {
    pub rows: Vec<VerdictLine>,
    /// `None` for a run without a goal in points.
    pub goal: Option<String>,
}

/// Returns nothing if there is nothing to compare or no room.
pub fn chart(run: &Run, width: usize, letters: Letters) -> Option<Chart> {
    let _second = run.state.rounds.iter().filter_map(Round::score).nth(1)?;
    let frame = Frame::of(run, width, letters)?;
    let rounds = run.state.rounds.iter().filter_map(|round| Some((round, RoundStatus::of(run, round)?)));
    let rounds: Vec<_> = rounds.collect();
    // The chart shows the baseline and the newest rounds; the report has all of them.
    let left_out = 1..rounds.len().saturating_sub(MOST - 1).max(1);
    let shown = rounds.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
    let rows = shown.map(|(_, &(round, standing))| frame.row(round, standing)).collect();
    let goal = (!run.plan.is_structural()).then(|| frame.legend(run.plan.task.rules.threshold));
    Some(Chart { rows, goal })
}

/// The most rows: more would not be a readable chart.
const MOST: usize = 12;

/// The layout of a row.
struct Frame {
    lead: &'static str,
    digits: usize,
    /// Columns for 100 points.
    track: u16,
    /// The column in which the goal is marked.
    goal: u16,
    letters: Letters,
}

/// The columns beside a bar: its score, its verdict, and the gaps.
const BESIDE: usize = 2 + SCORE + 2 + VERDICT;
const SCORE: usize = 5;
const VERDICT: usize = 10;

/// Columns of the longest bar: more would show no more, and fewer than the shortest would show nothing.
const LONGEST: usize = 40;
const SHORTEST: usize = 8;

impl Frame {
    fn of(run: &Run, width: usize, letters: Letters) -> Option<Self> {
        let lead = if width < ROOMY { "" } else { "round " };
        let digits = run.state.rounds.len().to_string().len();
        let track = width.checked_sub(lead.len() + digits + 2 + 1 + BESIDE)?.min(LONGEST);
        if track < SHORTEST {
            return None;
        }
        let track = u16::try_from(track).ok()?;
        let goal = columns_to_reach(run.plan.task.rules.threshold, track);
        Some(Self { lead, digits, track, goal, letters })
    }

    fn row(&self, round: &Round, verdict: RoundStatus) -> VerdictLine {
        let (lead, digits, bar) = (self.lead, self.digits, self.bar(round.score()));
        let score = figures::score(round.score());
        let before = format!("{lead}{:<digits$}  {bar}  {score:<SCORE$}  ", round.number);
        VerdictLine { before, verdict, after: String::new() }
    }

    /// Draws as many columns as the score takes, then the mark unless the bar covers it.
    fn bar(&self, score: Option<Score>) -> String {
        let mut bar: Vec<char> = score.map_or(Vec::new(), |score| self.filled(score));
        let mark = match self.letters {
            Letters::Blocks => '│',
            Letters::Plain => '|',
        };
        let empty = (0..=self.track).skip(bar.len());
        bar.extend(empty.map(|column| if column == self.goal { mark } else { ' ' }));
        bar.into_iter().collect()
    }

    fn filled(&self, score: Score) -> Vec<char> {
        match self.letters {
            Letters::Plain => vec!['#'; parts(score, self.track)],
            Letters::Blocks => {
                let eighths = parts(score, self.track * 8);
                let part = eighths.checked_rem(8).and_then(|part| EIGHTHS.chars().nth(part.checked_sub(1)?));
                std::iter::repeat_n('█', eighths / 8).chain(part).collect()
            }
        }
    }

    fn legend(&self, threshold: Score) -> String {
        let before = self.lead.len() + self.digits + 2 + usize::from(self.goal);
        format!("{}goal {}", " ".repeat(before), threshold.typed())
    }
}

/// One eighth to seven eighths.
const EIGHTHS: &str = "▏▎▍▌▋▊▉";

/// Returns how many of `of` parts of 100 points a score fills, rounded down like its number.
fn parts(score: Score, of: u16) -> usize {
    let points = score.points() * f64::from(of);
    (1..=of).take_while(|&part| f64::from(part) * 100.0 <= points).count()
}

/// Returns the columns up to the goal, rounded up: no bar below the goal reaches its mark.
fn columns_to_reach(goal: Score, of: u16) -> u16 {
    let points = goal.points() * f64::from(of);
    (0..of).find(|&part| f64::from(part) * 100.0 >= points).unwrap_or(of)
}

#[cfg(test)]
mod tests;
