//! Random `kill -9`: of chain runs with one to eight jobs, each followed by `resume`, until the run ends as without
//! kills; and of the commands that replace a target or delete runs. Other test files add their own stories.
//!
//! `just kill` kills most often. `SKILLTUNE_SEED` sets the moments.

use std::process::Command;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::chain;
use crate::finished::copy;
use crate::outcome::{Outcome, assert_tidy, repeated};
use crate::scene::{Listing, Ran, Scene, listing, survivors};
use crate::story::Story;
use crate::tier::Tier;

const RUN: [&str; 5] = ["--yes", "--format", "json", "--seed", "7"];
const RESUME: [&str; 4] = ["resume", "--yes", "--format", "json"];
const FOUR: &str = "4";
/// The numbers of parallel calls, for a quarter of the kills each.
const JOBS: [&str; 4] = ["1", "2", FOUR, "8"];
/// After this many kills a run is left to end; otherwise no run would.
const KILLS_A_RUN: usize = 12;

/// A chain, on four scenarios.
struct Chain {
    jobs: &'static str,
}

impl Story for Chain {
    fn scene(&self) -> Scene {
        let mut script = chain::script();
        script["improve"]["writer"] = json!({ "40": 60, "60": 20 });
        Scene::new(&chain::SKILLS, &slowed(script))
    }

    fn begin(&self, scene: &Scene) -> Command {
        scene.command(&tune(self.jobs))
    }

    fn resume(&self, scene: &Scene) -> Command {
        scene.command(&resume(self.jobs))
    }

    fn assert_telling(&self, _: &Scene, ran: &Ran) {
        assert_eq!(ran.json()["outcome"], "improved", "the target is replaced: {ran:?}");
    }

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome {
        Outcome::of(scene, ran)
    }

    fn assert_tidy(&self, scene: &Scene, story: &str) {
        assert_tidy(scene, story);
    }
}

fn resume(jobs: &'static str) -> Vec<&'static str> {
    [&RESUME[..], &["--jobs", jobs]].concat()
}

fn tune(jobs: &'static str) -> Vec<&'static str> {
    let pages = ["another", "a long", "no", "a last", "a first", "a plain", "a dull"];
    let scenarios: Vec<&str> = pages.iter().flat_map(|page| ["--scenario", page]).collect();
    let skills = ["tune", "outline,writer,editor", "write a page", "--chain", "--max-iterations", "3"];
    [&skills[..], &scenarios[..], &RUN, &["--jobs", jobs]].concat()
}

/// Returns the script with slow calls.
pub(crate) fn slowed(mut script: Value) -> Value {
    script["delay_ms"] = json!(3);
    script["jitter_ms"] = json!(25);
    // Some take longer than the guardian of a killed program allows: these are cut off and called again.
    script["slow_ms"] = json!(900);
    script
}

/// splitmix64: the same seed gives the same moments.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[derive(Debug, Default)]
pub(crate) struct Figures {
    kills: usize,
    runs: usize,
    calls: usize,
    cut_in_flight: usize,
    /// Kills after an agent answered and before it exited.
    between_answer_and_exit: usize,
    answered_again: usize,
    processes_left: usize,
}

pub(crate) fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// Returns how often the chain test kills the program. Other tests kill it a fraction as often.
pub(crate) fn kills() -> usize {
    match Tier::of_this_run() {
        Tier::First => 12,
        Tier::Ci => 40,
        Tier::All => 304,
    }
}

#[test]
fn a_chain_run_killed_again_and_again_ends_as_if_it_had_not_been() {
    let start = skills(&Chain { jobs: FOUR }.scene());
    let assert_intact = |scene: &Scene, whole: &Outcome| assert_whole_target(scene, &start, whole);
    // A lost run or a damaged target fails the test.
    let whole = Chain { jobs: FOUR }.whole();
    let of_jobs = &|jobs| {
        let kills = kills().div_ceil(JOBS.len());
        let figures = kill_again_and_again(&Chain { jobs }, &whole, kills, assert_intact);
        eprintln!("random kills: {jobs} jobs: {figures:?}, 0 runs lost, 0 targets damaged");
    };
    // In parallel, because slow agents leave the machine idle.
    std::thread::scope(|scope| {
        for jobs in JOBS {
            scope.spawn(move || of_jobs(jobs));
        }
    });
}

pub(crate) fn skills(scene: &Scene) -> Listing {
    listing(&scene.path("project/.claude/skills"))
}

/// Fails unless all skills are in their first or last state, or the next command will finish the change.
pub(crate) fn assert_whole_target(scene: &Scene, start: &Listing, whole: &Outcome) {
    let now = skills(scene);
    let pending = scene.path("state/skilltune/targets");
    // After an early kill the folder may not exist yet.
    let pending =
        pending.exists() && listing(&pending).iter().any(|(path, ..)| path.ends_with("pending.json"));
    assert!(pending || now == *start || whole.has_target(&now), "the target is neither old nor new");
}

/// One skill whose champion is applied.
struct Shipped {
    scene: Scene,
    id: String,
    start: Listing,
    champion: Listing,
}

impl Shipped {
    const TUNE: [&str; 10] = [
        "tune",
        "writer",
        "write a page",
        "--max-iterations",
        "2",
        "--yes",
        "--format",
        "json",
        "--seed",
        "7",
    ];

    fn new() -> Self {
        let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60 } } }));
        let start = listing(&scene.skill("writer"));
        let ran = scene.run(&Self::TUNE);
        let champion = listing(&scene.skill("writer"));
        assert_ne!(start, champion, "{ran:?}");
        Self { id: scene.run_id(), scene, start, champion }
    }

    /// Starts a command and kills it. Returns false if it ended before.
    fn killed(&self, command: &[&str], random: &mut Random) -> bool {
        let run = Background::start(&self.scene, command);
        // Most of a command's work is done within this time.
        let ended = run.ends_within(Duration::from_micros(random.below(25_000)));
        if ended {
            run.wait();
        } else {
            run.kill();
        }
        !ended
    }

    fn put(&self, candidate: &str, story: &str) {
        let ran = self.scene.run(&["apply", &self.id, candidate]);
        assert_eq!(ran.code, Some(0), "{story}: {ran:?}");
        let wanted = if candidate == "start" { &self.start } else { &self.champion };
        assert_eq!(&listing(&self.scene.skill("writer")), wanted, "{story}");
    }
}

#[test]
fn a_rollback_or_apply_killed_at_any_moment_leaves_a_target_that_the_next_command_repairs() {
    let wanted = kills() / 2;
    let (shipped, mut random) = (Shipped::new(), Random(setting("SKILLTUNE_SEED", 20)));
    let mut kills = 0;
    while kills < wanted {
        let (command, before) = match random.below(3) {
            0 => (vec!["rollback", &shipped.id], "champion"),
            1 => (vec!["apply", &shipped.id, "champion"], "start"),
            _ => (vec!["apply", &shipped.id, "start"], "champion"),
        };
        let story = format!("{command:?} after {kills} kills");
        shipped.put(before, &story);
        kills += usize::from(shipped.killed(&command, &mut random));
        shipped.put(if random.below(2) == 0 { "start" } else { "champion" }, &story);
        assert_tidy(&shipped.scene, &story);
        assert_eq!(shipped.scene.alive(), [0; 0], "{story}");
    }
    eprintln!("random kills: {kills} of rollback and apply, 0 targets damaged");
}

#[test]
fn a_clean_killed_at_any_moment_leaves_a_store_that_the_next_run_can_use() {
    let wanted = kills() / 2;
    let (shipped, mut random) = (Shipped::new(), Random(setting("SKILLTUNE_SEED", 20)));
    let scene = &shipped.scene;
    shipped.put("start", "before");
    let folders =
        ["project", "state"].map(|folder| (scene.path(folder), scene.path(&format!("{folder}-before"))));
    for (now, before) in &folders {
        copy(now, before);
    }
    let mut kills = 0;
    while kills < wanted {
        for (now, before) in &folders {
            std::fs::remove_dir_all(now).unwrap();
            copy(before, now);
        }
        kills += usize::from(shipped.killed(&["clean", "--yes", "--all"], &mut random));
        let ran = scene.run(&Shipped::TUNE);
        assert_eq!(
            (ran.code, &ran.json()["outcome"]),
            (Some(3), &json!("improved")),
            "after {kills}: {ran:?}"
        );
        assert_eq!(listing(&scene.skill("writer")), shipped.champion, "after {kills}");
        assert_eq!(scene.alive(), [0; 0]);
    }
    eprintln!("random kills: {kills} of clean, 0 stores damaged");
}

/// Kills a story's runs at random moments, checks the state after each kill, and lets each run end.
pub(crate) fn kill_again_and_again(
    story: &impl Story,
    whole: &Outcome,
    kills: usize,
    assert_intact: impl Fn(&Scene, &Outcome),
) -> Figures {
    let seed = setting("SKILLTUNE_SEED", 20);
    eprintln!("random kills: {kills} with SKILLTUNE_SEED={seed}");
    let mut random = Random(seed);
    let mut figures = Figures::default();
    while figures.kills < kills {
        one_run(story, &mut random, kills, &mut figures, |scene| assert_intact(scene, whole))
            .assert_is(whole, &format!("SKILLTUNE_SEED={seed}, {figures:?}"));
    }
    assert_eq!((figures.answered_again, figures.processes_left), (0, 0), "{figures:?}");
    figures
}

fn one_run(
    story: &impl Story,
    random: &mut Random,
    kills: usize,
    figures: &mut Figures,
    assert_intact: impl Fn(&Scene),
) -> Outcome {
    let scene = story.scene();
    let mut left = KILLS_A_RUN.min(kills - figures.kills);
    let ran = loop {
        let run = Background::spawn(&scene, story.go_on(&scene));
        // This applies to a third of the kills.
        let before_exit = figures.kills.is_multiple_of(3);
        let moment = if left == 0 { None } else { comes_to_its_moment(&run, &scene, random, before_exit) };
        let Some(moment) = moment else { break run.wait() };
        run.kill();
        if let Moment::BeforeExit(gate) = moment {
            figures.between_answer_and_exit += 1;
            // Waiting agents exit now, or their guardian ends them.
            if random.below(2) == 0 { gate.open() } else { gate.remove() }
        }
        left -= 1;
        figures.kills += 1;
        assert_intact(&scene);
    };
    figures.processes_left += scene.alive().len();
    story.assert_tidy(&scene, &format!("{:?}, {figures:?}", scene.run_id()));
    figures.runs += 1;
    figures.calls += scene.answered();
    figures.cut_in_flight += scene.calls().values().map(|(begun, answered)| begun - answered).sum::<usize>();
    figures.answered_again += repeated(&scene);
    story.outcome(&scene, &ran)
}

/// When a run is killed.
enum Moment {
    Any,
    /// An agent has answered and closed its output, and waits at this gate.
    BeforeExit(Gate),
}

/// Waits for the moment to kill. Returns none if the run ended before it.
fn comes_to_its_moment(
    run: &Background<'_>,
    scene: &Scene,
    random: &mut Random,
    before_exit: bool,
) -> Option<Moment> {
    let lines =
        |scene: &Scene| scene.calls().values().map(|(begun, answered)| begun + answered).sum::<usize>();
    let seen = lines(scene);
    let more = usize::try_from(random.below(16)).unwrap();
    if !run.until(|scene| lines(scene) >= seen + more) {
        return None;
    }
    if before_exit {
        let (lingering, gate) = (scene.lingering(), Gate::before_exit(scene));
        if run.until(|scene| scene.lingering() > lingering) {
            return Some(Moment::BeforeExit(gate));
        }
        gate.remove();
        return None;
    }
    // The short delay is part of the test: it moves the kill from the agents' log into our own work.
    (!run.ends_within(Duration::from_micros(random.below(12_000)))).then_some(Moment::Any)
}

#[test]
fn what_survives_the_killing_of_the_program_and_all_its_guardians_does_not_survive_the_resume() {
    for then in ["resume", "tune"] {
        let script = chain::script();
        let scene = Scene::new(&chain::SKILLS, &script);
        let gate = Gate::before("executor", &scene, script);
        // In namespaces no agent would survive.
        let Some(command) = scene.command_without_namespaces(&tune(FOUR)) else { return };
        let run = Background::spawn(&scene, command);
        run.until_begun(4);
        let guardians = run.guardians();
        assert_eq!(guardians.len(), 4);
        // Everything is stopped first, so that no guardian sees another one die.
        run.freeze();
        for signal in [Signal::STOP, Signal::KILL] {
            for &guardian in &guardians {
                kill_process(guardian, signal).unwrap();
            }
        }
        run.kill();
        let killed = scene.run_id();
        assert_eq!(survivors(&killed).len(), 4, "four agents wait for ever");
        gate.remove();
        let ran = scene.run(&if then == "resume" { resume(FOUR) } else { tune(FOUR) });
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert_eq!(survivors(&killed), [0; 0], "{then}");
        assert_eq!(scene.alive(), [0; 0], "{then}");
    }
}
