//! The judges of a final comparison in words: who was asked, who is not trusted, and how far they agree.

use skilltune_phases::loops::tune::anchor::Tally;
use skilltune_phases::loops::tune::compare::panel::{self, Juror};
use skilltune_phases::loops::tune::{Run, Seat};

use crate::text::figures::count;

/// Returns the agent in a seat.
pub fn agent(run: &Run, seat: Seat) -> String {
    run.plan
        .roles
        .get(&seat.role())
        .map_or_else(|| seat.role().to_string(), skilltune_phases::runs::plan::Cast::shown)
}

pub fn dismissal(run: &Run, seat: Seat, tally: Tally) -> String {
    format!("the verdicts of {} do not count: {}", agent(run, seat), faults(tally))
}

fn faults(tally: Tally) -> String {
    let Tally { known, wrong, repeated, differing } = tally;
    let wrong = (wrong > 0).then(|| {
        format!("it was wrong or silent on {wrong} of {} whose answer is known", count(known, "statement"))
    });
    let differing = (differing > 0).then(|| {
        format!("asked again, it changed its verdict on {differing} of {}", count(repeated, "statement"))
    });
    wrong.into_iter().chain(differing).collect::<Vec<_>>().join("; ")
}

pub fn consulted(run: &Run, close: usize) -> String {
    let others: Vec<String> = panel::seated(run).skip(1).map(|seat| agent(run, seat)).collect();
    format!("{} close: asking {} too", count(close, "scenario"), others.join(" and "))
}

/// Returns a line for each tested judge, and one on how far they agree; nothing if none was tested.
pub fn lines(run: &Run) -> Vec<String> {
    let jurors = panel::jurors(run).into_iter().filter(|juror| juror.tally != Tally::default());
    let close = count(run.state.panel.close.len(), "close scenario");
    let agreement = panel::agreement(run).map(|alpha| {
        format!(
            "the judges' agreement on {close} beyond chance is {alpha:.2} (1 is full agreement, 0 is chance)"
        )
    });
    jurors.map(|juror| line(run, juror)).chain(agreement).collect()
}

fn line(run: &Run, Juror { seat, tally, is_dismissed }: Juror) -> String {
    if is_dismissed {
        return dismissal(run, seat, tally);
    }
    let Tally { known, wrong, repeated, differing } = tally;
    let again = (repeated > 0)
        .then(|| format!("; asked again, it kept its verdict on {} of {repeated}", repeated - differing));
    format!(
        "judge {}: right on {} of {known} statements whose answer is known{}",
        agent(run, seat),
        known - wrong,
        again.unwrap_or_default()
    )
}
