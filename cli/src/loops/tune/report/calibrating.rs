//! The result of a run that tried a skill as it is: how small a change its suite can see, and what a search would cost.

use serde_json::{Value, json};
use skilltune_phases::judging::proof::power::{MOST_PAIRS, MOST_TRIALS, Needed, Noise};
use skilltune_phases::loops::tune::Run;
use skilltune_phases::loops::tune::aims::calibrate::{self, Calibration, FINEST, Visible};
use skilltune_phases::loops::tune::compare::price::Cost;

use crate::loops::tune::price::{calls, worth};
use crate::loops::tune::report::without_skill;
use crate::loops::tune::words as phrases;
use crate::report::document::{Report, Section, plain, table, words};
use crate::report::estimate::most_calls;
use crate::report::summary::{Data, Head, Line, Summary};
use crate::text::figures::{self, count};
use crate::text::plain::one_line;

/// Returns the summary of a calibration, from that of a search.
pub fn summary(run: &Run, trials: u32, search: Summary) -> Summary {
    let mut facts = vec![("tried", search.progress.clone())];
    if let Some(visible) = &run.state.visible {
        facts.extend([("noise", noise(visible.noise.as_ref())), ("visible", smallest(run, visible))]);
    }
    let shown = calibrate::of(run).map(|shown| json!({ "calibration": json(run, trials, &shown) }));
    Summary {
        kind: "calibrate",
        head: Head { lines: vec![Line::Text(headline(run, trials))], ..search.head },
        result: figures::score(run.search_score(run.start())),
        facts,
        data: Data { last: shown.unwrap_or_default(), ..search.data },
        ..search
    }
}

/// Returns in one line what is tried, and how often.
pub fn headline(run: &Run, trials: u32) -> String {
    let (name, each) = (one_line(&phrases::target(run)), count(trials as usize, "trial"));
    format!("calibrate {name}: {each} of the same skill per scenario")
}

/// Returns how many of its trials have a score.
pub fn progress(run: &Run, trials: u32) -> String {
    let all = run.plan.task.scenarios.len() * trials as usize;
    let measured = run.state.rounds.last().and_then(|round| round.measured.as_ref());
    let judged = measured.map_or_else(|| run.state.measure.settled(), |measured| measured.judged as usize);
    format!("{judged} of {}", count(all, "trial"))
}

/// Returns its results, one per line.
pub fn shown(run: &Run, trials: u32) -> Vec<String> {
    let shown = calibrate::of(run).map(|shown| results_of(run, trials, &shown)).unwrap_or_default();
    shown.into_iter().map(|(name, text)| format!("{name}: {text}")).collect()
}

fn results_of(run: &Run, trials: u32, shown: &Calibration) -> Vec<(&'static str, String)> {
    let mut results = Vec::new();
    if let Some(visible) = &shown.visible {
        results.push(("noise", noise(visible.noise.as_ref())));
        results.push(("smallest visible change", smallest(run, visible)));
        let better = visible.better.as_ref();
        results.extend(better.map(|better| ("to see smaller changes", self::better(run, visible, better))));
    }
    if let Some(noise) = shown.visible.as_ref().and_then(|visible| visible.noise.as_ref()) {
        let named = |places: &[usize], why: &str| {
            (!places.is_empty()).then(|| format!("{} ({why})", names(run, places).join(", ")))
        };
        results
            .extend(named(&noise.always_zero, "perhaps impossible to pass").map(|text| ("always 0", text)));
        results
            .extend(named(&noise.always_full, "no change can improve them").map(|text| ("always 100", text)));
        results.extend(
            named(&noise.flickering, "the same skill passes and fails").map(|text| ("flickering", text)),
        );
    }
    let missing: Vec<usize> =
        (0..shown.scores.len()).filter(|nth| shown.scores[*nth].len() < trials as usize).collect();
    results.extend((!missing.is_empty()).then(|| ("trials missing", names(run, &missing).join(", "))));
    results.push(("a tuning run", price(&shown.search)));
    results
}

fn names(run: &Run, places: &[usize]) -> Vec<String> {
    let scenario = |place: &usize| run.plan.task.scenarios.get(*place).map(|one| one_line(&one.id));
    places.iter().filter_map(scenario).collect()
}

fn noise(noise: Option<&Noise>) -> String {
    match noise {
        None => "unknown, no scenario has two trials with a score".to_owned(),
        Some(noise) if noise.deviation <= 0.0 => "none, all trials of a scenario scored the same".to_owned(),
        Some(noise) => format!(
            "{:.1} points (standard deviation of a trial within its scenario; below {:.1} with a chance of 75 %)",
            noise.deviation, noise.upper
        ),
    }
}

fn smallest(run: &Run, shown: &Visible) -> String {
    let (plan, comparison) = (&run.plan, &shown.comparison);
    let confidence = plan.task.rules.confidence;
    if plan.is_structural() {
        return "any, the built-in judge gives the same verdict every time".to_owned();
    }
    if comparison.pairs == 0 {
        let (many, fewest) = (plan.task.scenarios.len(), confidence.fewest_pairs());
        let more = if many > fewest {
            "mark enough of them as held out".to_owned()
        } else {
            format!("add {} more", fewest + 1 - many)
        };
        let many = count(many, "scenario");
        return format!("none, {many} leave too few to hold out at confidence {confidence}; {more}");
    }
    let (pairs, trials) = (count(comparison.pairs, "held-out scenario"), comparison.trials as usize);
    let trials = match comparison.control {
        Some(control) => format!("against {} of the start", count(control, "first trial")),
        None => format!("{} of each version", count(trials, "trial")),
    };
    let by = format!("in 4 of 5 comparisons on {pairs}, {trials}, at confidence {confidence}");
    match (comparison.smallest, &shown.noise) {
        (Some(points), _) if points < FINEST => format!("below 1 point, {by}"),
        (Some(points), _) => format!("{points:.1} points, {by}"),
        (None, Some(_)) => {
            let most = comparison.headroom;
            format!(
                "none, this suite can show no improvement: only {most:.1} points are left to gain, too few to see {by}"
            )
        }
        (None, None) => "unknown".to_owned(),
    }
}

fn better(run: &Run, shown: &Visible, better: &Needed) -> String {
    let now = &shown.comparison;
    let pairs = better.pairs.map_or_else(
        || format!("more than {MOST_PAIRS} held-out scenarios"),
        |pairs| {
            // The same share of the suite as now.
            let all = (pairs * run.plan.task.scenarios.len()).div_ceil(now.pairs.max(1));
            let all = if now.pairs > 0 { format!(", a suite of about {all}") } else { String::new() };
            format!("{}{all}", count(pairs, "held-out scenario"))
        },
    );
    let trials = match better.trials {
        Some(trials) => format!("; or {} of each version (tune.confirm)", count(trials as usize, "trial")),
        None if now.pairs > 0 => format!("; {MOST_TRIALS} trials of each version are not enough"),
        None => String::new(),
    };
    format!("{:.1} points need {pairs}{trials}", better.points)
}

fn price(cost: &Cost) -> String {
    let roles = phrases::each(&cost.calls, ", ");
    format!("up to {} if none fails ({roles}), {}", calls(&cost.calls), worth(cost))
}

fn json(run: &Run, trials: u32, shown: &Calibration) -> Value {
    let visible = shown.visible.as_ref();
    let noise = visible.and_then(|visible| visible.noise.as_ref());
    let named = |places: Option<&Vec<usize>>| places.map(|places| names(run, places)).unwrap_or_default();
    json!({
        "trials": trials,
        "scenarios": run.plan.task.scenarios.iter().zip(&shown.scores).map(|(scenario, scores)| {
            json!({ "scenario": scenario.id, "held_out": scenario.held_out, "scores": scores })
        }).collect::<Vec<_>>(),
        "noise": noise.map(|noise| noise.deviation),
        "noise_upper": noise.map(|noise| noise.upper),
        "confidence": run.plan.task.rules.confidence,
        "held_out": visible.map(|visible| visible.comparison.pairs),
        "comparison_trials": visible.map(|visible| visible.comparison.trials),
        "headroom": visible.map(|visible| visible.comparison.headroom),
        // In points; null if no change would be seen.
        "smallest_visible": visible.and_then(|visible| visible.comparison.smallest),
        "for_half": visible.and_then(|visible| visible.better).map(|better| json!({
            "points": better.points, "held_out": better.pairs, "trials": better.trials,
        })),
        "always_0": named(noise.map(|noise| &noise.always_zero)),
        "always_100": named(noise.map(|noise| &noise.always_full)),
        "flickering": named(noise.map(|noise| &noise.flickering)),
        "tune": {
            "calls": most_calls(&shown.search.calls),
            "usd": shown.search.usd,
            "ms": shown.search.ms,
        },
    })
}

/// Returns the report of a calibration.
pub fn report(run: &Run, trials: u32) -> Report {
    let shown = calibrate::of(run);
    let results = shown.as_ref().map(|shown| results_of(run, trials, shown)).unwrap_or_default();
    let results = results.iter().map(|(name, text)| vec![words(name).into(), words(text).into()]);
    let scores = shown.map(|shown| shown.scores).unwrap_or_default();
    let rows = run.plan.task.scenarios.iter().zip(&scores).map(|(scenario, scores)| {
        let scores: Vec<_> = scores.iter().map(|score| figures::score(Some(*score))).collect();
        let held_out = if scenario.held_out { "yes" } else { "" };
        vec![words(&scenario.id).into(), held_out.into(), scores.join(", ").into()]
    });
    let scenarios = table(&["Scenario", "Held Out", "Scores"], rows);
    Report {
        title: [plain("Calibration: "), words(&phrases::target(run))].into(),
        lead: vec![table(&["", ""], results)],
        about: vec![without_skill::suite(run)],
        more: vec![("Trials", progress(run, trials).into())],
        sections: vec![Section { title: "Scenarios", blocks: vec![scenarios] }],
        unit: "round",
        ..Report::default()
    }
}
