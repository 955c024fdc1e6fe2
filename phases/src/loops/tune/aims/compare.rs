//! Compares two versions on fresh trials: those that a run is given, or the start and the champion of a search, which
//! ships only if it is shown to be better.

use super::{AimRules, regrade};
use crate::base::id::CandidateId;
use crate::judging::proof::{self, Conclusion, InterimAnalysis, Weights};
use crate::judging::score::{self, Score};
use crate::loops::MostCalls;
use crate::loops::tune::compare::{control, panel, price};
use crate::loops::tune::search::drafting;
use crate::loops::tune::state::Retrial;
use crate::loops::tune::trial::measure;
use crate::loops::tune::{
    Decision, Ending, Next, Pair, Plan, Round, Run, Shipment, Trial, UnpairedSamples, Verdict, calls,
};

/// A scenario that fell by this many points is retried before anything ships.
const FELL: f64 = 25.0;

/// Missing trials may differ between the versions by less than one in this many.
const UNEVEN: usize = 10;

pub(super) struct Compare;

impl AimRules for Compare {
    fn next<'a>(&self, run: &'a Run, round: Option<&'a Round>) -> Next<'a> {
        regrade::control(run, round).unwrap_or_else(|| match run.state.shipment {
            Some(_) => Next::Decide(Decision::Close(Ending::Compared)),
            // The run was given both versions.
            None => compare(run, run.state.candidates.get(1).map(|given| given.id)),
        })
    }

    fn calls(&self, plan: &Plan) -> MostCalls {
        calls::of_comparison(plan)
    }
}

/// Compares a challenger with the start, which remains if there is none.
pub(super) fn compare(run: &Run, challenger: Option<CandidateId>) -> Next<'_> {
    let Some(challenger) = challenger else {
        return Next::Decide(Decision::Ship(unchallenged(run)));
    };
    if run.state.challenger != Some(challenger) {
        return Next::Decide(Decision::Compare { challenger, trials: drafting::trials_left(run) });
    }
    if let Some(retrial) = &run.state.retrial {
        return retried(run, retrial);
    }
    let (measure, nth) = (&run.state.measure, run.state.inconclusive_analyses);
    if measure.analyses_ready() <= nth {
        return Next::Do(Box::new(measure.steps(run)));
    }
    if panel::seated(run).next().is_none() {
        return Next::Decide(Decision::Ship(unheard(run, challenger)));
    }
    if let Some(next) = panel::hear(run) {
        return next;
    }
    let analyses = run.interim_analyses();
    let shipment = interim_result(run, challenger, &analyses, nth);
    Next::Decide(match shipment.verdict {
        Verdict::Indecisive | Verdict::Unjudged
            if nth + 1 < analyses.len() && has_more(run, analyses[nth]) =>
        {
            Decision::LookAgain { effect: shipment.effect }
        }
        Verdict::Won if run.plan.basis().is_tested() => guarded(run, shipment),
        Verdict::Indecisive => Decision::Ship(priced(run, shipment)),
        Verdict::Won
        | Verdict::Lost
        | Verdict::Tied
        | Verdict::Regressed
        | Verdict::Unused
        | Verdict::Unchallenged
        | Verdict::Unjudged => Decision::Ship(shipment),
    })
}

/// Whether there are more trials to look at. With stored trials, there are none if the older run had seen enough.
fn has_more(run: &Run, analysis: InterimAnalysis) -> bool {
    let measure = &run.state.measure;
    let trials = || measure.scenarios().iter().skip(analysis.pairs).flat_map(|&nth| measure.trials_of(nth));
    let is_stored = |trial| {
        let mut units = measure.contestants.iter().map(|&id| panel::unit(run, id, trial));
        units.any(|unit| !matches!(unit, measure::Unit::Missing(_)))
    };
    run.plan.task.regraded().is_none() || trials().any(is_stored)
}

fn unchallenged(run: &Run) -> Shipment {
    let score = run.search_score(run.start());
    let verdict = if score.is_some() { Verdict::Unchallenged } else { Verdict::Unjudged };
    Shipment {
        verdict,
        champion: run.start(),
        challenger: None,
        scores: vec![(run.start(), score)],
        effect: None,
        pairs: Vec::new(),
        unpaired: None,
        interim_analyses: 0,
        fell: Vec::new(),
        needed: None,
    }
}

/// Returns the result when all judges were dismissed.
fn unheard(run: &Run, challenger: CandidateId) -> Shipment {
    Shipment {
        verdict: Verdict::Unjudged,
        challenger: Some(challenger),
        scores: vec![(run.start(), None), (challenger, None)],
        interim_analyses: run.state.inconclusive_analyses,
        ..unchallenged(run)
    }
}

/// Returns the result of the `nth` look, counted from 0.
fn interim_result(run: &Run, challenger: CandidateId, planned: &[InterimAnalysis], nth: usize) -> Shipment {
    let (measure, analysis) = (&run.state.measure, planned[nth]);
    let pairs = panel::pairs(run, measure, analysis.pairs);
    let (unpaired, earlier) = (samples(run, challenger), run.earlier_looks());
    let effect = run.plan.basis().is_tested().then(|| {
        if let Some(samples) = &unpaired {
            let [start, challenger] = samples.points();
            return proof::unpaired_effect(&start, &challenger, samples.weights(), analysis.alpha);
        }
        let differences = |analysis: &InterimAnalysis| -> Vec<f64> {
            panel::pairs(run, measure, analysis.pairs).iter().map(Pair::difference).collect()
        };
        if !earlier.is_empty() {
            let trials = panel::differences(run, measure);
            return proof::extended_effect(analysis.alpha, &differences(&analysis), &trials, &earlier);
        }
        proof::effect(planned, &planned[..=nth].iter().map(differences).collect::<Vec<_>>())
    });
    let of = |score: fn(&Pair) -> Score| score::mean(&pairs.iter().map(score).collect::<Vec<_>>());
    let (start, own) = match &unpaired {
        Some(unpaired) => unpaired.means(),
        None => (of(|pair| pair.start), of(|pair| pair.challenger)),
    };
    let conclusion = match effect {
        Some(effect) => effect.conclusion(),
        None if own > start => Conclusion::Win,
        None => Conclusion::Loss,
    };
    let unused = || run.change_is_unused(challenger);
    let verdict = match conclusion {
        _ if own.is_none() || !is_covered(run, analysis.pairs) => Verdict::Unjudged,
        Conclusion::Win if unused() => Verdict::Unused,
        Conclusion::Win => Verdict::Won,
        Conclusion::Loss => Verdict::Lost,
        Conclusion::Tie => Verdict::Tied,
        Conclusion::Open => Verdict::Indecisive,
    };
    Shipment {
        verdict,
        champion: if verdict == Verdict::Won { challenger } else { run.start() },
        challenger: Some(challenger),
        scores: vec![(run.start(), start), (challenger, own)],
        effect,
        pairs,
        unpaired,
        interim_analyses: earlier.len() + nth + 1,
        fell: Vec::new(),
        needed: None,
    }
}

fn priced(run: &Run, open: Shipment) -> Shipment {
    // Separate samples do not show what a comparison of pairs would need.
    if open.unpaired.is_some() {
        return open;
    }
    let needed = open.effect.map(|effect| price::needed(run, effect, &open.pairs));
    Shipment { needed, ..open }
}

/// Whether enough trials were judged, and about as many of each version.
fn is_covered(run: &Run, rows: usize) -> bool {
    let measure = &run.state.measure;
    let all = measure.rows(run, rows) * measure.trials_each() as usize;
    let scored: Vec<usize> = measure.contestants.iter().map(|&id| measure.scored_of(run, id, rows)).collect();
    let (fewest, most) = (scored.iter().min().copied(), scored.iter().max().copied());
    let (fewest, most) = (fewest.unwrap_or_default(), most.unwrap_or_default());
    #[expect(clippy::cast_precision_loss, reason = "numbers of trials are far below 2^52")]
    let is_enough = fewest as f64 >= run.plan.task.rules.coverage * all as f64;
    is_enough && UNEVEN * (most - fewest) < all
}

/// Retries scenarios on which a winner lost much: a version that is bad at one task does not ship, however good it is
/// at others. Nothing makes up for a failed must-pass demand.
fn guarded(run: &Run, won: Shipment) -> Decision {
    let fell = won.unpaired.as_ref().map_or_else(|| fallen(&won.pairs), UnpairedSamples::low);
    let scenarios = &run.plan.task.scenarios;
    let must_pass = |scenario: &usize| scenarios[*scenario].demands.iter().any(|demand| demand.must_pass);
    // If the start was not tried, it may be as bad.
    let is_fall = |scenario: &usize| won.unpaired.is_none() && must_pass(scenario);
    let lost: Vec<usize> = fell.iter().copied().filter(is_fall).collect();
    if !lost.is_empty() {
        return Decision::Ship(refused(run, &won, Verdict::Regressed, lost));
    }
    // A must-pass demand without a verdict is not shown to be met.
    let rows =
        run.interim_analyses().get(run.state.inconclusive_analyses).map_or(0, |analysis| analysis.pairs);
    let looked_at = run.state.measure.scenarios().iter().take(rows).copied();
    let judged: Vec<usize> = match &won.unpaired {
        Some(unpaired) => unpaired.challenger.iter().map(|(scenario, _)| *scenario).collect(),
        None => won.pairs.iter().map(|pair| pair.scenario).collect(),
    };
    let is_unjudged = |scenario: &usize| !judged.contains(scenario);
    let unjudged = looked_at.filter(must_pass).filter(is_unjudged);
    let scenarios: Vec<usize> = fell.iter().copied().chain(unjudged).collect();
    if scenarios.is_empty() { Decision::Ship(won) } else { Decision::Retry { scenarios, won } }
}

fn retried<'a>(run: &'a Run, retrial: &'a Retrial) -> Next<'a> {
    let Retrial { measure, won } = retrial;
    if !measure.is_settled() {
        return Next::Do(Box::new(measure.steps(run)));
    }
    let scenarios = measure.scenarios();
    let pairs = panel::pairs(run, measure, scenarios.len());
    let lost = fallen(&pairs);
    Next::Decide(Decision::Ship(if !lost.is_empty() {
        refused(run, won, Verdict::Regressed, lost)
    } else if pairs.len() < scenarios.len() {
        let stands = stands(run, won, &pairs);
        let verdict = if stands.is_empty() { Verdict::Unjudged } else { Verdict::Regressed };
        refused(run, won, verdict, if stands.is_empty() { scenarios.to_vec() } else { stands })
    } else {
        won.clone()
    }))
}

/// Returns scenarios that fell and cannot be retried, because this run makes no trials.
fn stands(run: &Run, won: &Shipment, again: &[Pair]) -> Vec<usize> {
    let is_untried = |scenario: &usize| again.iter().all(|pair| pair.scenario != *scenario);
    let fell = fallen(&won.pairs).into_iter().filter(is_untried);
    fell.filter(|_| run.plan.task.regraded().is_some()).collect()
}

fn refused(run: &Run, won: &Shipment, verdict: Verdict, fell: Vec<usize>) -> Shipment {
    Shipment { verdict, champion: run.start(), fell, ..won.clone() }
}

pub(crate) fn fallen(pairs: &[Pair]) -> Vec<usize> {
    pairs.iter().filter(|pair| pair.difference() <= -FELL).map(|pair| pair.scenario).collect()
}

fn samples(run: &Run, challenger: CandidateId) -> Option<UnpairedSamples> {
    let (control, measure) = (control::trials(run)?, &run.state.measure);
    let of_start = |trial: Trial| mean(run, run.start(), trial.scenario, std::iter::once(trial));
    let version = |scenario: usize| measure.version(challenger, scenario);
    let fresh = |&scenario: &usize| mean(run, version(scenario), scenario, measure.trials_of(scenario));
    let fresh: Vec<(usize, Score)> = measure.scenarios().iter().filter_map(fresh).collect();
    let versions = fresh.iter().filter(|_| measure.is_of_tests()).map(|(scenario, _)| version(*scenario));
    Some(UnpairedSamples {
        versions: versions.collect(),
        start: control.into_iter().filter_map(of_start).collect(),
        challenger: fresh,
    })
}

/// Averages the scores of a scenario's trials. Each was judged again and counts with the mean.
fn mean(
    run: &Run,
    candidate: CandidateId,
    scenario: usize,
    trials: impl Iterator<Item = Trial>,
) -> Option<(usize, Score)> {
    let scores: Vec<Score> = trials.filter_map(|trial| panel::mean_score(run, candidate, trial)).collect();
    Some((scenario, score::mean(&scores)?))
}

impl UnpairedSamples {
    /// Later tests of a search are of better versions, if edits help at all.
    fn weights(&self) -> Weights {
        if self.versions.is_empty() { Weights::Equal } else { Weights::Rising }
    }

    fn means(&self) -> (Option<Score>, Option<Score>) {
        let [start, challenger] = self.points();
        let mean = |weights: Weights, points: &[f64]| Some(Score::new(weights.mean(points)?)?.in_tenths());
        (mean(Weights::Equal, &start), mean(self.weights(), &challenger))
    }

    /// Returns the points of the start and those of the challenger.
    pub(crate) fn points(&self) -> [Vec<f64>; 2] {
        let points = |scores: &Vec<(usize, Score)>| scores.iter().map(|(_, score)| score.points()).collect();
        [&self.start, &self.challenger].map(points)
    }

    /// Returns the scenarios on which the challenger is far below the start's mean on other scenarios.
    fn low(&self) -> Vec<usize> {
        let starts: Vec<Score> = self.start.iter().map(|(_, score)| *score).collect();
        let usual = score::mean(&starts).map_or(0.0, Score::points);
        let is_low = |(_, score): &&(usize, Score)| score.points() <= usual - FELL;
        self.challenger.iter().filter(is_low).map(|(scenario, _)| *scenario).collect()
    }
}

impl Pair {
    /// Returns the challenger's lead in points.
    pub fn difference(&self) -> f64 {
        self.challenger.points() - self.start.points()
    }
}
