use super::*;
use crate::judging::proof::draw::Draw;

const SEEDS: u64 = 2_000;
const SCENARIOS: usize = 12;
const OF_A_NIGHT: usize = 4;

/// The scatter of a skill's trials.
#[derive(Clone, Copy, Debug)]
enum Noise {
    Normal(f64),
    /// It fails completely in this share of the trials, and is at 95 otherwise.
    Flickers(f64),
    /// A few statements, each met or not.
    InSteps,
}

const ALL: [Noise; 5] =
    [Noise::Normal(5.0), Noise::Normal(12.0), Noise::Flickers(0.1), Noise::Flickers(0.3), Noise::InSteps];

impl Noise {
    /// Draws the points of a trial, before the bounds at 0 and 100.
    fn points(self, draw: &mut Draw) -> f64 {
        match self {
            Self::Normal(deviation) => 60.0 + deviation * draw.normal(),
            Self::Flickers(share) => {
                if draw.share() < share {
                    0.0
                } else {
                    95.0
                }
            }
            Self::InSteps => [20.0, 40.0, 60.0, 80.0, 100.0, 100.0, 100.0][draw.below(7)],
        }
    }

    fn deviation(self) -> f64 {
        match self {
            Self::Normal(deviation) => deviation,
            Self::Flickers(share) => 95.0 * (share * (1.0 - share)).sqrt(),
            Self::InSteps => 30.9,
        }
    }
}

/// A skill whose nights are measured, four scenarios a night in turn.
struct Skill {
    noise: Noise,
    draw: Draw,
    series: Series,
    fallen: f64,
    night: usize,
}

impl Skill {
    /// Creates a skill with this number of known trials of each scenario.
    fn new(noise: Noise, seed: u64, known: usize) -> Self {
        let mut skill =
            Self { noise, draw: Draw::new(seed, 7), series: Series::new(&[], None), fallen: 0.0, night: 0 };
        let known: Vec<Trial> =
            (0..known).flat_map(|_| 0..SCENARIOS).map(|scenario| skill.trial(scenario)).collect();
        skill.series = Series::new(&known, None);
        skill
    }

    fn trial(&mut self, scenario: usize) -> Trial {
        let points = self.noise.points(&mut self.draw) - self.fallen;
        Trial {
            scenario: format!("task-{scenario}").parse().unwrap(),
            score: Score::new(points.clamp(0.0, 100.0)).unwrap(),
        }
    }

    fn tried(&mut self) -> Vec<Trial> {
        let first = self.night * OF_A_NIGHT;
        (first..first + OF_A_NIGHT).map(|nth| self.trial(nth % SCENARIOS)).collect()
    }

    fn night(&mut self) -> DriftLevel {
        let tried = self.tried();
        if self.series.night(&tried) {
            let again = self.tried();
            self.series.again(day(self.night), &again);
        }
        self.night += 1;
        self.series.drift_level()
    }
}

fn day(nth: usize) -> Date {
    Date::constant(2026, 11, 1).saturating_add(jiff::Span::new().days(i64::try_from(nth).unwrap()))
}

/// Returns the share of the seeds for which the condition is true.
fn share(holds: impl Fn(u64) -> bool) -> f64 {
    let held = (0..SEEDS).filter(|seed| holds(*seed)).count();
    f64::from(u32::try_from(held).unwrap()) / 2_000.0
}

#[test]
fn a_fall_of_three_standard_deviations_of_a_night_is_watched_within_three_nights() {
    for noise in [Noise::Normal(5.0), Noise::Normal(12.0)] {
        for known in [2_u32, 4] {
            let deviation = noise.deviation() * ((1.0 + 1.0 / f64::from(known)) / 4.0).sqrt();
            let is_watched = |seed| {
                let mut skill = Skill::new(noise, seed, known as usize);
                skill.series.deviation = noise.deviation();
                skill.fallen = 3.0 * deviation;
                (0..3).any(|_| skill.night() != DriftLevel::Steady)
            };
            let watched = share(is_watched);
            assert!(watched >= 0.95, "{noise:?} with {known} known trials: {watched}");
        }
    }
}

#[test]
fn a_skill_that_flickers_and_does_not_fall_hardly_ever_seems_to_drift_in_thirty_nights() {
    for noise in ALL {
        for known in [1, 2, 4] {
            let drifts = |seed| {
                let mut skill = Skill::new(noise, seed, known);
                (0..30).any(|_| skill.night() == DriftLevel::Drift)
            };
            let drifted = share(drifts);
            assert!(drifted <= 0.02, "{noise:?} with {known} known trials: {drifted}");
        }
    }
}

#[test]
fn a_fall_that_stays_is_a_drift_and_one_that_passes_is_forgotten() {
    let mut skill = Skill::new(Noise::Normal(5.0), 1, 4);
    skill.fallen = 25.0;
    let fallen: Vec<DriftLevel> = (0..4).map(|_| skill.night()).collect();
    assert_eq!(fallen, [DriftLevel::Watch, DriftLevel::Watch, DriftLevel::Drift, DriftLevel::Drift]);
    skill.fallen = 0.0;
    let nights = (0..10).position(|_| skill.night() == DriftLevel::Steady);
    assert!(nights.is_some_and(|nights| nights < 5), "{nights:?}");
}

#[test]
fn three_low_runs_on_one_day_are_one_day() {
    let mut skill = Skill::new(Noise::Normal(5.0), 1, 4);
    skill.fallen = 40.0;
    for _ in 0..5 {
        let tried = skill.tried();
        assert!(skill.series.night(&tried));
        let again = skill.tried();
        skill.series.again(day(0), &again);
    }
    assert_eq!(skill.series.drift_level(), DriftLevel::Watch);
}

#[test]
fn a_fall_does_not_become_the_new_normal_while_it_is_looked_at() {
    let mut skill = Skill::new(Noise::Normal(5.0), 2, 2);
    skill.fallen = 20.0;
    assert!((0..60).map(|_| skill.night()).last() == Some(DriftLevel::Drift));
}

#[test]
fn of_scenarios_that_were_never_tried_nothing_is_said() {
    let low = |scenario: &str| Trial { scenario: scenario.parse().unwrap(), score: Score::ZERO };
    let mut series = Series::new(&[Trial { scenario: "old".parse().unwrap(), score: Score::FULL }], None);
    assert!(!series.night(&[low("new"), low("newer")]));
    assert!(!series.night(&[]));
    assert!(series.night(&[low("old")]));
}

#[test]
fn the_score_of_an_unchanged_skill_is_within_its_expected_bounds_in_about_nine_of_ten_nights() {
    let within = share(|seed| {
        let mut skill = Skill::new(Noise::Normal(10.0), seed, 4);
        let tried = skill.tried();
        let (lower, upper) = skill.series.expected(&tried).unwrap();
        (lower..=upper).contains(&Trials::of(&tried).mean().unwrap())
    });
    assert!((0.85..0.97).contains(&within), "{within}");
    let new = Trial { scenario: "never".parse().unwrap(), score: Score::FULL };
    assert_eq!(Series::new(&[], None).expected(&[new]), None);
}
