use super::*;
use crate::judging::proof::draw::Draw;
use crate::judging::score::Score;
use crate::nights::drift::DriftLevel;

const SEEDS: u64 = 500;
const SCENARIOS: usize = 12;

/// Trials of scenarios of one skill.
struct Skill {
    draw: Draw,
    night: usize,
}

impl Skill {
    fn new(seed: u64) -> Self {
        Self { draw: Draw::new(seed, 13), night: 0 }
    }

    /// Tries these scenarios once each, with a scatter of 12 points.
    fn tried(&mut self, scenarios: impl Iterator<Item = usize>, mean: f64) -> Vec<Trial> {
        scenarios.map(|scenario| trial(scenario, mean + 12.0 * self.draw.normal())).collect()
    }

    fn all(&mut self, mean: f64) -> Vec<Trial> {
        self.tried(0..SCENARIOS, mean)
    }

    /// Tries four scenarios, in turn.
    fn sample(&mut self, mean: f64) -> Vec<Trial> {
        let first = self.night * 4;
        self.night += 1;
        self.tried((first..first + 4).map(|nth| nth % SCENARIOS), mean)
    }

    /// Returns a series at 70 points with four trials of each scenario.
    fn series(&mut self) -> Series {
        let known: Vec<Trial> = (0..4).flat_map(|_| self.all(70.0)).collect();
        Series::new(&known, None)
    }

    /// Returns the fall of an update to this level, if it is sure.
    fn fallen(&mut self, level: f64) -> Option<Change> {
        let before = self.series();
        let mut change = Change::new(ChangeKind::Update, day(0), before, &self.all(level))?;
        if change.fall.is_doubtful() {
            change.confirm(&self.all(level));
        }
        change.is_open().then_some(change)
    }
}

fn trial(scenario: usize, points: f64) -> Trial {
    Trial {
        scenario: format!("task-{scenario}").parse().unwrap(),
        score: Score::new(points.clamp(0.0, 100.0)).unwrap(),
    }
}

fn flat(scenarios: std::ops::Range<usize>, points: f64) -> Vec<Trial> {
    scenarios.map(|scenario| trial(scenario, points)).collect()
}

fn day(nth: i8) -> Date {
    Date::constant(2026, 11, 1 + nth)
}

/// Returns a series at 80 points that fell to 60 and was confirmed on this number of days.
fn drifted(days: i8) -> Series {
    let known: Vec<Trial> = (0..4).flat_map(|_| flat(0..SCENARIOS, 80.0)).collect();
    let mut series = Series::new(&known, None);
    for nth in 0..days {
        let first = usize::try_from(nth).unwrap() * 4 % SCENARIOS;
        assert!(series.night(&flat(first..first + 4, 60.0)));
        series.again(day(nth), &flat(first..first + 4, 60.0));
    }
    series
}

#[test]
fn a_change_is_compared_with_the_trials_just_before_it_and_not_from_before_an_earlier_fall() {
    for (days, level) in [(1, DriftLevel::Watch), (3, DriftLevel::Drift)] {
        let series = drifted(days);
        assert_eq!(series.drift_level(), level);
        let tried = flat(0..SCENARIOS, 60.0);
        let update = Change::new(ChangeKind::Update, day(9), series.just_before(), &tried).unwrap();
        assert!(!update.fall.is_doubtful() && !update.fall.is_rise(), "{update:?}");
        let (before, since) = series.before_fall().unwrap();
        let drift = Change::new(ChangeKind::Drift, since, before, &tried).unwrap();
        assert!(drift.is_open() && drift.since == day(0), "{drift:?}");
        let worse = Change::new(ChangeKind::Update, day(9), series.just_before(), &flat(0..SCENARIOS, 40.0));
        assert!(worse.unwrap().is_open(), "a fall on top of a fall is seen");
    }
    assert_eq!(drifted(0).before_fall(), None);
}

#[test]
fn a_fall_of_fifteen_points_stays_while_it_is_there_and_ends_by_itself_after_a_recovery() {
    let (mut fallen, mut early, mut recovered) = (0_u32, 0_u32, 0_u32);
    for seed in 0..SEEDS {
        let mut skill = Skill::new(seed);
        let Some(change) = skill.fallen(55.0) else { continue };
        fallen += 1;
        let ends = |skill: &mut Skill, nights: usize, mean: f64| {
            let mut change = change.clone();
            (0..nights).any(|_| change.follow(day(1), &skill.sample(mean), false))
        };
        early += u32::from(ends(&mut skill, 20, 55.0));
        recovered += u32::from(ends(&mut skill, 9, 70.0));
    }
    let share = |count: u32| f64::from(count) / f64::from(fallen);
    assert!(fallen > 480, "{fallen}");
    assert!(share(early) <= 0.02, "{}", share(early));
    assert!(share(recovered) >= 0.95, "{}", share(recovered));
}

#[test]
fn a_fall_that_recovers_in_part_stays_and_never_ends_on_trials_that_are_surely_lower() {
    let (mut fallen, mut ended) = (0_u32, 0_u32);
    for seed in 0..SEEDS {
        let mut skill = Skill::new(seed);
        let Some(mut change) = skill.fallen(40.0) else { continue };
        fallen += 1;
        if (0..20).any(|_| change.follow(day(1), &skill.sample(58.0), false)) {
            ended += 1;
            assert!(!change.now.unwrap().is_sure(), "{:?}", change.now);
        }
    }
    let ended = f64::from(ended) / f64::from(fallen);
    assert!(fallen > 490 && ended <= 0.15, "{fallen} {ended}");
}

#[test]
fn a_recovery_in_part_is_shown_and_its_trials_do_not_lower_the_old_level() {
    let known: Vec<Trial> = (0..4).flat_map(|_| flat(0..SCENARIOS, 80.0)).collect();
    let tried = flat(0..SCENARIOS, 60.0);
    let mut change = Change::new(ChangeKind::Edit, day(0), Series::new(&known, None), &tried).unwrap();
    assert_eq!(change.now, None, "the fall says it in the first night");
    change.follow_next_version(day(1), &flat(0..SCENARIOS, 74.0));
    for nth in 2..10 {
        assert!(!change.follow(day(nth), &flat(0..SCENARIOS, 74.0), false));
    }
    let now = change.now.unwrap();
    assert!((now.points - 6.0).abs() < 0.1 && now.is_sure() && change.is_open(), "{now:?}");
    assert_eq!(change.last_nights(), LAST_NIGHTS, "a page says of how many nights it is the average");
    assert!(change.follow(day(10), &flat(0..SCENARIOS, 79.0), false), "one point is within chance");
    assert!((change.level().mean().unwrap() - 80.0).abs() < 0.01, "{:?}", change.level().mean());
}

#[test]
fn a_fall_of_a_few_scenarios_is_not_over_because_the_others_are_as_good_as_ever() {
    let known: Vec<Trial> = (0..4).flat_map(|_| flat(0..SCENARIOS, 80.0)).collect();
    let tried = [flat(0..3, 20.0), flat(3..SCENARIOS, 80.0)].concat();
    let mut change = Change::new(ChangeKind::Edit, day(0), Series::new(&known, None), &tried).unwrap();
    assert!(change.is_open());
    for nth in 1..10 {
        assert!(!change.follow(day(nth), &flat(4..SCENARIOS, 80.0), false));
    }
    assert!(change.follow(day(10), &flat(0..4, 80.0), false));
    assert_eq!((change.recovered, change.is_open()), (Some(day(10)), false));
    assert!(!change.follow(day(11), &flat(0..4, 20.0), false), "it ends once");
    assert!(change.level().fall(&flat(0..4, 60.0)).unwrap().is_sure(), "and the old level is known again");
}
