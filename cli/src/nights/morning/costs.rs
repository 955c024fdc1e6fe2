//! The cost of a night and of its week.

use std::time::Duration;

use skilltune_phases::nights::night::{Morning, Spent};

use crate::nights::file::Limits;
use crate::text::figures::{count, dollars, duration, grouped};
use crate::text::markdown::{MarkdownPage, words};

/// Says what the night cost, what each job cost if there are several, and what seven days cost.
pub fn tell(page: &mut MarkdownPage, morning: &Morning<'_>, most: Limits) {
    let night = morning.night;
    page.paragraph(cost(&morning.spent));
    let rows = night.jobs.iter().map(|job| (job, night.spent_by(job))).filter(|(_, spent)| spent.calls > 0);
    let rows: Vec<_> = rows.map(|(job, spent)| vec![words(job), cost(&spent)]).collect();
    if rows.len() > 1 {
        page.table(&["Job", "Cost"], rows);
    }
    page.paragraph(format!("The last seven days: {}.{}", cost(&morning.week), limit(most)));
}

pub fn cost(spent: &Spent) -> String {
    let about = if spent.estimated > 0 { "about " } else { "" };
    let sum = format!("{about}{}", dollars(spent.usd));
    let usd = match (spent.unpriced, spent.calls) {
        (_, 0) => "nothing".to_owned(),
        (0, _) => sum,
        (unpriced, calls) if unpriced == calls => "cost unknown".to_owned(),
        (unpriced, _) => {
            format!("{sum} and {} of unknown cost", count(to_usize(unpriced), "call"))
        }
    };
    let time = duration(Duration::try_from_secs_f64(spent.seconds).unwrap_or_default());
    format!(
        "{usd}; {}, {} tokens, {time} of agent time",
        count(to_usize(spent.calls), "call"),
        grouped(spent.tokens)
    )
}

/// Returns a sentence with the limits of a week, or nothing if the file sets none.
pub fn limit(most: Limits) -> String {
    let limits = [
        most.usd.map(dollars),
        most.tokens.map(|tokens| count(to_usize(tokens), "token")),
        most.calls.map(|calls| count(to_usize(calls), "call")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if limits.is_empty() { String::new() } else { format!(" The limit of a week: {}.", limits.join(", ")) }
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_with_estimates_is_about_so_much() {
        let spent = Spent { calls: 3, usd: 1.5, estimated: 1, ..Spent::default() };
        assert_eq!(cost(&spent), "about $1.50; 3 calls, 0 tokens, 0s of agent time");
        let spent = Spent { unpriced: 1, ..spent }.plus(spent);
        assert!(
            cost(&spent).starts_with("about $3.00 and 1 call of unknown cost; 6 calls"),
            "{}",
            cost(&spent)
        );
        assert_eq!(spent.since(spent).estimated, 0);
    }

    #[test]
    fn the_limit_of_a_week_has_what_the_file_sets() {
        assert_eq!(limit(Limits::default()), "");
        let most = Limits { usd: Some(20.0), calls: Some(1), ..Limits::default() };
        assert_eq!(limit(most), " The limit of a week: $20.00, 1 call.");
    }
}
