//! The reasons for a round's edits in a search by single trials, and the results of earlier edits: one line each.

use skilltune_phases::loops::tune::search::explanation::{self, Explanation, Fault, LeftAlone};
use skilltune_phases::loops::tune::{Edit, Round, Run};

use crate::loops::tune::words;
use crate::progress::lines::ROOMY;
use crate::terminal::style::Style;
use crate::text::width::{columns, cut};
use crate::text::{figures, plain};

/// A line whose first words may be coloured.
#[derive(Debug)]
pub struct Line {
    label: Label,
    after: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Passed,
    Failed,
    AtFault,
    ToEdit,
    Left(LeftAlone),
}

/// Returns what this round's trials show of the statements that earlier edits were for.
pub fn results(run: &Run, round: &Round, width: usize) -> Vec<Line> {
    let is_edited = |round: &&Round| matches!(round.edit, Some(Edit::Draft { .. }));
    let edited = run.state.rounds.iter().filter(is_edited);
    edited.flat_map(Round::aims).filter_map(|fault| result(fault, round.number, width)).collect()
}

fn result(fault: &Fault, round: u32, width: usize) -> Option<Line> {
    let next = fault.next.filter(|next| next.round == round)?;
    let label = if next.is_met { Label::Passed } else { Label::Failed };
    let change = format!("{:>3} -> {:>3}", figures::percent(fault.chance), figures::percent(next.chance));
    Some(line(label, &change, fault, 0, width))
}

/// Returns what the newest round edits, and what it leaves alone.
pub fn chosen(run: &Run, width: usize) -> Vec<Line> {
    let Some(newest) = run.state.rounds.last() else { return Vec::new() };
    let newest = explanation::of_round(run, newest);
    let members = words::at_fault(&run.plan, &newest);
    let members = members.map(|members| plain_line(Label::AtFault, &plain::one_line(&members), width));
    members.into_iter().chain(explained(&newest, width)).collect()
}

/// Names only the likeliest statement to be met among those left alone for the same reason.
fn explained(explanation: &Explanation, width: usize) -> Vec<Line> {
    let of = |label, fault: &Fault, more| {
        let trials = if width < ROOMY { String::new() } else { format!(", {}", words::trials(fault)) };
        line(label, &format!("{:>3}{trials}", figures::percent(fault.chance)), fault, more, width)
    };
    let left = LeftAlone::ALL.into_iter().filter_map(|reason| {
        let mut alike = explanation.left_alone.iter().filter(|(_, why)| *why == reason);
        let (first, _) = alike.next()?;
        Some(of(Label::Left(reason), first, alike.count()))
    });
    explanation.targets.iter().map(|fault| of(Label::ToEdit, fault, 0)).chain(left).collect()
}

/// Builds a line. If it is too long, only the statement is shortened, never the figures.
fn line(label: Label, facts: &str, fault: &Fault, more: usize, width: usize) -> Line {
    let gap = " ".repeat(LABEL - label.word().len());
    let before = format!("{gap}  {facts}  ");
    let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
    let taken = LEAD.len() + label.word().len() + columns(&before) + columns(&more);
    let statement = cut(&plain::one_line(words::statement(fault)), width.saturating_sub(taken));
    let room = width.saturating_sub(LEAD.len() + label.word().len());
    Line { label, after: cut(&format!("{before}{statement}{more}"), room) }
}

fn plain_line(label: Label, text: &str, width: usize) -> Line {
    let gap = " ".repeat(LABEL - label.word().len());
    let room = width.saturating_sub(LEAD.len() + label.word().len());
    Line { label, after: cut(&format!("{gap}  {text}"), room) }
}

const LEAD: &str = "  ";
/// Columns of a label with the space that fills it up.
const LABEL: usize = 14;

impl Label {
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "passes now",
            Self::Failed => "still failing",
            Self::AtFault => "at fault",
            Self::ToEdit => "to edit",
            Self::Left(LeftAlone::ProbablyMet) => "left alone",
            Self::Left(LeftAlone::OthersFirst) => "for later",
            Self::Left(LeftAlone::OtherMember) => "other member",
            Self::Left(LeftAlone::SearchEnded) => "not edited",
        }
    }
}

impl Line {
    pub fn painted(&self, style: Style) -> String {
        let word = self.label.word();
        let word = match self.label {
            Label::Passed => style.green(word),
            Label::Failed => style.red(word),
            Label::ToEdit | Label::AtFault => style.yellow(word),
            Label::Left(_) => style.dim(word),
        };
        format!("{LEAD}{word}{}", self.after)
    }
}

#[cfg(test)]
mod tests;
