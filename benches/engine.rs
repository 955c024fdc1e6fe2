//! The engine compared with its floor: the cost of orchestrating a call besides starting its program.
//!
//! `cargo bench --bench engine --features test-program -- [--quick] [--in FOLDER] [--work FOLDER]`. Every measurement
//! is its own process, so that its memory is its own, and floor and engine alternate, so that noise of the machine
//! affects both. The floor is measured bare, and in a namespace, where the engine's agents are: one for the whole loop,
//! as a guardian enters one for all of its calls, and before the clock starts. The workspaces can be on another file
//! system than the project, as they are for most people.
#![expect(clippy::disallowed_methods, reason = "a bench works in its own folder")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench talks to people")]

mod engine_run;
mod floor;

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use engine_run::{Programs, What};
use skilltune_phases::judging::proof::power::{self, Scatter, Size};
use skilltune_phases::judging::proof::{self, Conclusion, Confidence};
use tempfile::TempDir;

const AGENT: &str = env!("CARGO_BIN_EXE_orchestrator-bench-agent");
const PROGRAMS: Programs =
    Programs { agent: AGENT, guardian: env!("CARGO_BIN_EXE_orchestrator-test-program") };

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["measure", calls, jobs, what @ ..] => measure(calls, jobs, what),
        options => compare(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One row of the table: the number of calls, of parallel calls, and of repetitions.
struct Row {
    calls: usize,
    jobs: usize,
    times: usize,
}

const ROWS: [Row; 7] = [
    Row { calls: 1_000, jobs: 2, times: 7 },
    Row { calls: 1_000, jobs: 4, times: 7 },
    Row { calls: 1_000, jobs: 16, times: 7 },
    Row { calls: 100, jobs: 16, times: 7 },
    Row { calls: 10_000, jobs: 2, times: 1 },
    Row { calls: 10_000, jobs: 4, times: 1 },
    Row { calls: 10_000, jobs: 16, times: 3 },
];

const QUICK: [Row; 4] = [
    Row { calls: 100, jobs: 2, times: 3 },
    Row { calls: 1_000, jobs: 2, times: 3 },
    Row { calls: 1_000, jobs: 4, times: 3 },
    Row { calls: 1_000, jobs: 16, times: 3 },
];

/// The folders of a measurement.
struct Places {
    project: PathBuf,
    work: PathBuf,
}

fn compare(options: &[&str]) -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut places = Places { project: here.clone(), work: here };
    let (mut rows, mut options): (&[Row], _) = (&ROWS, options);
    while let [option, rest @ ..] = options {
        options = match (*option, rest) {
            ("--quick", rest) => {
                rows = &QUICK;
                rest
            }
            ("--in", [folder, rest @ ..]) => {
                places = Places { project: folder.into(), work: folder.into() };
                rest
            }
            ("--work", [folder, rest @ ..]) => {
                places.work = folder.into();
                rest
            }
            _ => return Err("usage: engine [--quick] [--in FOLDER] [--work FOLDER]".into()),
        };
    }
    let prompts = tempfile::tempdir_in(&places.project)?;
    engine(&prompts, &places, What::round(2), 1)?;
    if !has_namespaces() {
        println!("there are no namespaces here: both floors are bare");
    }
    println!(
        "  calls  jobs  times     floor    engine  ratio  of CPU  to bare  floor/call  engine/call  memory"
    );
    // Deleted at the end: some file systems create files slowly after many deletions.
    let mut used = Vec::new();
    for row in rows {
        used.extend(print_row(row, &places, prompts.path())?);
    }
    print_statistics();
    used.extend(print_comparison(&places, prompts.path(), if rows.len() < ROWS.len() { 1 } else { 3 })?);
    Ok(())
}

fn print_row(row: &Row, places: &Places, prompts: &Path) -> Result<Vec<TempDir>, Box<dyn Error>> {
    let (mut bare, mut floors, mut engines, mut used) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let wrapper: &[&str] = if has_namespaces() { &NAMESPACE } else { &[] };
    for _ in 0..row.times {
        bare.push(sample(&[], &["floor".as_ref(), prompts], row.calls, row.jobs)?);
        floors.push(sample(wrapper, &["floor".as_ref(), prompts], row.calls, row.jobs)?);
        let project = tempfile::tempdir_in(&places.project)?;
        engines.push(engine(&project, places, What::round(row.calls), row.jobs)?);
        used.push(project);
    }
    let seconds = |sample: &Sample| sample.seconds;
    let ratio = |floors: &[Sample], of: fn(&Sample) -> f64| {
        median(floors.iter().zip(&engines).map(|(floor, engine)| of(engine) / of(floor)))
    };
    let (floor, engine) = (median(floors.iter().map(seconds)), median(engines.iter().map(seconds)));
    let micros = 1e6 / u32::try_from(row.calls).map(f64::from)?;
    println!(
        "{:>7}  {:>4}  {:>5}  {floor:>6.3} s  {engine:>6.3} s  {:>5.2}  {:>6.2}  {:>7.2}  {:>7.0} us  {:>8.0} us  {:>4.1} MB",
        row.calls,
        row.jobs,
        row.times,
        ratio(&floors, |sample| sample.seconds),
        ratio(&floors, |sample| sample.cpu),
        ratio(&bare, |sample| sample.seconds),
        floor * micros,
        engine * micros,
        median(engines.iter().map(|sample| sample.memory)),
    );
    Ok(used)
}

/// A very large comparison: 3,200 trials, each with one call of the executor and one of the evaluator.
const COMPARISON: What = What::Comparison { scenarios: SCENARIOS, trials: TRIALS };
const SCENARIOS: usize = 200;
const TRIALS: usize = 8;

/// Prints a comparison, next to a round with as many calls and the floor, which both compute no statistics.
fn print_comparison(places: &Places, prompts: &Path, times: usize) -> Result<Vec<TempDir>, Box<dyn Error>> {
    let (calls, jobs) = (COMPARISON.calls(), 4);
    let wrapper: &[&str] = if has_namespaces() { &NAMESPACE } else { &[] };
    let (mut floors, mut rounds, mut comparisons, mut used) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..times {
        floors.push(sample(wrapper, &["floor".as_ref(), prompts], calls, jobs)?);
        for (what, samples) in [(What::round(calls), &mut rounds), (COMPARISON, &mut comparisons)] {
            let project = tempfile::tempdir_in(&places.project)?;
            samples.push(engine(&project, places, what, jobs)?);
            used.push(project);
        }
    }
    let of = |samples: &[Sample]| median(samples.iter().map(|sample| sample.seconds));
    let ratio = |floors: &[Sample]| {
        median(comparisons.iter().zip(floors).map(|(comparison, floor)| comparison.seconds / floor.seconds))
    };
    println!(
        "comparison of {SCENARIOS} scenarios x {TRIALS} trials of two versions, {calls} calls, {jobs} at once, {times} times:"
    );
    println!(
        "  {:.3} s; a round of as many calls {:.3} s, ratio {:.2}; floor {:.3} s, ratio {:.2}; {:.1} MB",
        of(&comparisons),
        of(&rounds),
        ratio(&rounds),
        of(&floors),
        ratio(&floors),
        median(comparisons.iter().map(|sample| sample.memory)),
    );
    Ok(used)
}

/// Prints the time of all statistics of such a comparison alone: every interim analysis, and the cost of an answer.
fn print_statistics() {
    // Like the agent's results: neither version is better, and the pairs differ much.
    let differences: Vec<f64> =
        (0..SCENARIOS).map(|nth| [70.0, -83.1, 54.6, -36.4, 80.2, -77.4, -7.9][nth % 7]).collect();
    let confidence = Confidence::default();
    let planned = proof::interim_analyses(SCENARIOS, confidence);
    let seen: Vec<Vec<f64>> = planned.iter().map(|interim| differences[..interim.pairs].to_vec()).collect();
    let timed = |work: &dyn Fn()| {
        let took = (0..5).map(|_| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64() * 1e3
        });
        median(took)
    };
    let each = (0..planned.len()).map(|nth| {
        timed(&|| assert_eq!(proof::effect(&planned, &seen[..=nth]).conclusion(), Conclusion::Open))
    });
    let each: Vec<String> = each.map(|ms| format!("{ms:.1}")).collect();
    let size = Size { pairs: SCENARIOS, trials: u32::try_from(TRIALS).expect("few"), confidence };
    let price = timed(&|| {
        let scatter = Scatter::of_pairs(&differences, 5.0, None, 1).expect("they differ");
        std::hint::black_box(power::needed(5.0, scatter, size, 7));
    });
    println!(
        "statistics alone, {SCENARIOS} pairs: looks {} ms, price of an answer {price:.1} ms",
        each.join(", ")
    );
}

/// The measurement of one process.
struct Sample {
    seconds: f64,
    /// In ticks, with its children.
    cpu: f64,
    /// The peak memory in MB, without its children.
    memory: f64,
}

fn engine(project: &TempDir, places: &Places, what: What, jobs: usize) -> Result<Sample, Box<dyn Error>> {
    let work = tempfile::tempdir_in(&places.work)?;
    let name = match what {
        What::Round { .. } => "engine",
        What::Comparison { .. } => "comparison",
    };
    sample(&[], &[name.as_ref(), project.path(), work.path()], what.calls(), jobs)
}

/// The command that puts a program into a namespace like a guardian's.
const NAMESPACE: [&str; 7] =
    ["unshare", "--user", "--map-current-user", "--pid", "--fork", "--mount-proc", "--kill-child"];

fn has_namespaces() -> bool {
    let [program, options @ ..] = NAMESPACE;
    Command::new(program).args(options).arg("true").status().is_ok_and(|status| status.success())
}

fn sample(wrapper: &[&str], what: &[&Path], calls: usize, jobs: usize) -> Result<Sample, Box<dyn Error>> {
    let exe = std::env::current_exe()?;
    let mut words = wrapper.iter().map(OsStr::new).chain([exe.as_os_str()]);
    let mut command = Command::new(words.next().ok_or("there is a program")?);
    command.args(words);
    command.args(["measure", &calls.to_string(), &jobs.to_string()]).args(what);
    let output = command.output()?;
    let text = String::from_utf8(output.stdout)?;
    let numbers = text.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>();
    match numbers.as_deref() {
        Ok(&[seconds, cpu, memory]) => Ok(Sample { seconds, cpu, memory }),
        _ => Err(format!("{what:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Measures in a process of its own and prints seconds, ticks of CPU, and MB.
fn measure(calls: &str, jobs: &str, what: &[&str]) -> Result<(), Box<dyn Error>> {
    let (calls, jobs) = (calls.parse()?, jobs.parse()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let took = runtime.block_on(async {
        match what {
            ["floor", prompts] => floor::run(AGENT.as_ref(), prompts.as_ref(), calls, jobs).await,
            [name, project, work] => {
                let places = engine_run::Places { project: project.as_ref(), work: work.as_ref() };
                let what = if *name == "comparison" { COMPARISON } else { What::round(calls) };
                engine_run::run(PROGRAMS, places, what, jobs).await
            }
            _ => Err("a floor or an engine is measured".into()),
        }
    })?;
    println!("{} {} {}", took.as_secs_f64(), cpu()?, memory()?);
    Ok(())
}

/// Returns the ticks of CPU that this process and its reaped children have used.
fn cpu() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = stat.rsplit_once(')').ok_or("no name in stat")?;
    let times = rest.split_whitespace().skip(11).take(4).map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    Ok(times.iter().sum())
}

/// Returns the peak memory of this process in MB.
fn memory() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1024.0)
}
