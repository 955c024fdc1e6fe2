//! Measures search policies in a simulated world, without agents, a project or a network: benches/research/README.md.

mod args;
#[cfg(test)]
mod tests;

use std::io::{self, ErrorKind, Write};
use std::panic::resume_unwind;
use std::thread;

use clap::Parser as _;
use serde_json::{Value, json};
use skilltune_research::{Estimate, Played, Policy, Row, World, play};

use args::{Arguments, Format};

fn main() -> io::Result<()> {
    let args = Arguments::parse().checked().unwrap_or_else(|error| error.exit());
    match print(&args, &mut io::stdout()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

fn print(args: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let all = if args.world.members > 1 { &Policy::OF_CHAIN[..] } else { &Policy::ALL };
    let policies = if args.policy.is_empty() { all } else { &args.policy };
    let cells = policies.iter().flat_map(|policy| args.runs.iter().map(|runs| (*policy, *runs)));
    let rows = cells.map(|(policy, runs)| {
        let row = Row::of(&played(args, policy, runs)).expect("there is at least one seed");
        (policy, runs, row)
    });
    match args.format {
        Format::Human => table(args, rows, out),
        Format::Json => {
            let rows: Vec<Value> = rows.map(|(policy, runs, row)| object(policy, runs, &row)).collect();
            let all = json!({
                "world": args.world.law(),
                "confidence": args.confidence,
                "first_seed": args.first_seed,
                "rows": rows,
            });
            writeln!(out, "{all:#}")
        }
    }
}

/// Plays all seeds and returns them in order, whatever the number of threads.
fn played(args: &Arguments, policy: Policy, runs: u32) -> Vec<Played> {
    let first = u64::from(args.first_seed);
    let seeds: Vec<u64> = (first..first + u64::from(args.seeds)).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let play = |seed: &u64| play(&World::new(args.world.law(), *seed), policy, runs, args.confidence);
    thread::scope(|scope| {
        let chunks = seeds.chunks(seeds.len().div_ceil(threads));
        let started: Vec<_> =
            chunks.map(|seeds| scope.spawn(move || seeds.iter().map(play).collect::<Vec<_>>())).collect();
        started.into_iter().flat_map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Prints each row as soon as it is ready.
fn table(
    args: &Arguments,
    rows: impl Iterator<Item = (Policy, u32, Row)>,
    out: &mut impl Write,
) -> io::Result<()> {
    for (nth, (policy, runs, row)) in rows.enumerate() {
        if nth == 0 {
            let (start, confidence) = (row.start, args.confidence);
            writeln!(out, "start {start:.1}, {}, confidence {confidence}\n", seeds(args.seeds))?;
            let broken = if row.broken_first.is_some() { "  broken" } else { "" };
            let head = "policy      runs       quality    used   worse  shipped  claimed - true";
            writeln!(out, "{head}{broken}")?;
        }
        writeln!(out, "{}", line(policy, runs, &row))?;
    }
    Ok(())
}

fn seeds(count: u32) -> String {
    match (count / 1000, count % 1000) {
        (0, 1) => "1 seed".to_owned(),
        (0, rest) => format!("{rest} seeds"),
        (thousands, rest) => format!("{thousands},{rest:03} seeds"),
    }
}

fn line(policy: Policy, runs: u32, row: &Row) -> String {
    let estimate = |one: Estimate| format!("{:.1} ± {:.1}", one.mean, one.error);
    let quality = estimate(row.quality);
    let excess =
        row.claimed_minus_true.map_or("-".to_owned(), |one| format!("{:+.1} ± {:.1}", one.mean, one.error));
    let [worse, shipped] = [row.worse, row.shipped].map(|share| format!("{:.1}%", 100.0 * share));
    let (policy, used) = (policy.name(), row.used);
    let broken = row.broken_first.map_or(String::new(), |share| format!("  {:>5.0}%", 100.0 * share));
    format!(
        "{policy:<10} {runs:>5}  {quality:>12}  {used:>6.1}  {worse:>6}  {shipped:>7}  {excess:>14}{broken}"
    )
}

fn object(policy: Policy, runs: u32, row: &Row) -> Value {
    let mut object = json!({ "policy": policy.name(), "runs": runs });
    let row = serde_json::to_value(row).expect("a row has a JSON text");
    if let (Some(object), Value::Object(row)) = (object.as_object_mut(), row) {
        object.extend(row);
    }
    object
}
