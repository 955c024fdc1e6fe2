//! The cost of calls in words, and the price of an answer that the final comparison did not give.

use serde_json::{Value, json};
use skilltune_phases::judging::proof::power::{MOST_PAIRS, MOST_TRIALS};
use skilltune_phases::loops::MostCalls;
use skilltune_phases::loops::tune::compare::price::{self, Cost, Price, Way};
use skilltune_phases::loops::tune::{Basis, Run};

use crate::report::estimate::most_calls;
use crate::text::figures::{self, count, signed};

pub fn calls(calls: &MostCalls) -> String {
    let all: u64 = calls.values().sum();
    count(usize::try_from(all).unwrap_or(usize::MAX), "call")
}

/// Formats a cost as money and time.
pub fn worth(cost: &Cost) -> String {
    let usd =
        cost.usd.map_or_else(|| "cost unknown".to_owned(), |usd| format!("about {}", figures::dollars(usd)));
    let time = cost.ms.map_or_else(
        || "time unknown".to_owned(),
        |ms| format!("{} of agent time", figures::milliseconds(ms)),
    );
    format!("{usd}, {time}")
}

/// Returns what an answer would cost, or that no comparison of reasonable size would give one.
pub fn text(run: &Run) -> Option<String> {
    price::of(run).map(|price| text_of(run, &price))
}

/// Like `text`, with an estimate if separate samples were compared.
pub fn estimated_text(run: &Run) -> Option<String> {
    price::of(run).or_else(|| price::of_samples(run)).map(|price| text_of(run, &price))
}

fn text_of(run: &Run, price: &Price) -> String {
    let now = Now::of(run);
    let [first, others @ ..] = price.ways.as_slice() else {
        let (scenarios, trials) = (now.scenarios.max(MOST_PAIRS), now.trials.max(MOST_TRIALS));
        return format!(
            "Price of an answer: if the difference is really {} points, even {} or {} of each version on each would not show it.",
            signed(price.points),
            count(scenarios, now.scenario),
            count(trials as usize, "trial")
        );
    };
    let paid = |way: &Way| format!("(up to {}, {})", calls(&way.cost.calls), worth(&way.cost));
    let (points, more) = (signed(price.points), now.more(first));
    let others: Vec<String> =
        others.iter().map(|way| format!("; so would {} {}", now.more(way), paid(way))).collect();
    format!(
        "Price of an answer: if the difference is really {points} points, {more} would show it in 4 of 5 fresh comparisons {}{}.",
        paid(first),
        others.concat()
    )
}

/// The size of the comparison that was made.
struct Now {
    scenarios: usize,
    trials: u32,
    scenario: &'static str,
}

impl Now {
    fn of(run: &Run) -> Self {
        let scenario = match run.basis() {
            Basis::HeldOut => "held-out scenario",
            Basis::All | Basis::Searched | Basis::Few | Basis::Structure => "scenario",
        };
        Self { scenarios: run.state.measure.scenarios().len(), trials: run.confirm(), scenario }
    }

    /// Describes what a way would change of this size.
    fn more(&self, way: &Way) -> String {
        if way.scenarios > self.scenarios {
            format!("{} instead of {}", count(way.scenarios, self.scenario), self.scenarios)
        } else {
            format!("{} of each version instead of {}", count(way.trials as usize, "trial"), self.trials)
        }
    }
}

/// Returns the price as data. No ways mean that the versions are too close.
pub fn json(run: &Run) -> Option<Value> {
    let price = price::of(run)?;
    let way = |way: &Way| {
        json!({
            "scenarios": way.scenarios,
            "trials": way.trials,
            "calls": most_calls(&way.cost.calls),
            "usd": way.cost.usd,
            "ms": way.cost.ms,
        })
    };
    Some(json!({ "points": price.points, "ways": price.ways.iter().map(way).collect::<Vec<_>>() }))
}

#[cfg(test)]
mod tests {
    use skilltune_phases::loops::tune::Step;

    use super::*;
    use crate::loops::tune::progress::lines;
    use crate::loops::tune::report::{final_report, json};
    use crate::loops::tune::world::{judged, plan, play, scored};
    use crate::report::summary::Line;

    /// Compares six scenarios: the first is searched, on the others a draft has these scores and the start has 50.
    fn compared(fresh: [u32; 5]) -> Run {
        let mut plan = plan(&["haiku"], 6);
        plan.task.scenarios.iter_mut().skip(1).for_each(|scenario| scenario.held_out = true);
        let answer = |run: &Run, step: &Step| match step {
            Step::Judge { candidate, trial, .. } if trial.ordinal > 0 && *candidate != run.start() => {
                judged(run, fresh[trial.scenario - 1])
            }
            _ => scored(&[50, 95], &[50, 50])(run, step),
        };
        play(plan, answer).run
    }

    #[test]
    fn an_answer_has_a_price_wherever_the_verdict_is_told() {
        let run = compared([38, 52, 64, 66, 60]);
        let price = text(&run).unwrap();
        insta::assert_snapshot!(price, @"Price of an answer: if the difference is really +6.0 points, 22 held-out scenarios instead of 5 would show it in 4 of 5 fresh comparisons (up to 88 calls, about $44.00, 2m 12s of agent time); so would 7 trials of each version instead of 1 (up to 140 calls, about $70.00, 3m 30s of agent time).");
        assert!(final_report(&run).contains(&format!("\n{price}\n")), "{}", final_report(&run));
        let end = lines::improved(&run, Vec::new(), None).lines;
        assert!(end.iter().any(|line| matches!(line, Line::Text(text) if *text == price)), "{end:?}");
        let report = json::report(&run);
        assert_eq!(report["comparison"]["price"]["points"], 6.0);
        insta::assert_snapshot!(report["comparison"]["price"]["ways"][0], @r#"{"scenarios":22,"trials":1,"calls":{"all":88,"executor":44,"evaluator":44},"usd":44.0,"ms":132000}"#);
    }

    #[test]
    fn versions_that_are_too_close_and_answers_have_none() {
        let close = compared([20, 80, 50, 52, 49]);
        insta::assert_snapshot!(text(&close).unwrap(), @"Price of an answer: if the difference is really +0.2 points, even 48 held-out scenarios or 10 trials of each version on each would not show it.");
        assert_eq!(json(&close).unwrap()["ways"], serde_json::json!([]));
        let won = compared([60, 70, 80, 90, 95]);
        assert_eq!((text(&won), json::report(&won)["comparison"].get("price")), (None, None));
    }
}
