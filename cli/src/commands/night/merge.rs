//! `night merge`: merges the results of shards into one night of this machine.
//!
//! The output of a shard is untrusted: its size is bounded, symlinks are not followed, and it is taken only if it is a
//! share of the jobs of this file.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use skilltune_phases::base::name::Name;
use skilltune_phases::nights::night::{Night, ShardNight, merged};

use crate::args::night::NightMergeArgs;
use crate::commands::night::begin::{exit, leave_pages};
use crate::nights::book::{Book, Shelf};
use crate::nights::file::NightPlan;
use crate::nights::{jobs, waiting};
use crate::report::outcome;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain::one_line;

/// The largest journal of a shard.
const LARGEST: u64 = 32 << 20;

pub fn run(args: &NightMergeArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let plan = NightPlan::read(args.view.file.file.as_deref(), env)?;
    // The end of the night may run the commands of `notify` and `heartbeat`.
    plan.require_trust(env)?;
    let jobs: Vec<(Name, u32)> =
        jobs::all(&plan)?.into_iter().map(|job| (job.name, job.entry.priority)).collect();
    let mut shards: BTreeMap<u32, ShardNight> = BTreeMap::new();
    for folder in &args.shards {
        let shown = folder.display();
        match shard(&env.cwd.join(folder), &jobs) {
            Ok(shard) => {
                if let Some(first) = shards.values().next()
                    && (first.date, first.part.shard.of()) != (shard.date, shard.part.shard.of())
                {
                    return Err(Complaint::input(format!("{shown} is a shard of another night"))
                        .hint("merge the shards of one night at a time"));
                }
                let part = shard.part.clone();
                if let Some(known) = shards.insert(part.shard.number(), shard)
                    && known.part != part
                {
                    return Err(Complaint::input(format!("shard {} is given twice", part.shard))
                        .hint("remove one of its folders"));
                }
            }
            Err(why) => printer.warn(&format!("skipped {shown}: {}", one_line(&why))),
        }
    }
    if shards.is_empty() {
        return Err(Complaint::input("these folders have no results of a shard")
            .hint("pass the `.skilltune/nights/NAME` that `skilltune night --shard N/M` writes"));
    }
    let Some(mut book) = Book::open(&plan, false)? else {
        return Err(Complaint::input("a night of this file is under way").hint("retry when it has ended"));
    };
    let shards: Vec<ShardNight> = shards.into_values().collect();
    let entries = merged(&book.history, &shards, &jobs);
    if entries.is_empty() {
        let morning = waiting::morning(&book.history, &plan, env);
        let line = "these shards are already merged: nothing changed";
        outcome::print(args.view.format, printer, &[line], &json!({ "outcome": "unchanged" }))?;
        return Ok(morning.map_or(Exit::Reached, |morning| exit(&morning)));
    }
    book.extend(&entries)?;
    for shard in shards.iter().filter(|shard| !shard.part.is_whole) {
        printer.talk(&format!("shard {} was killed before it ended", shard.part.shard));
    }
    for shard in book.history.last().map(Night::missing_shards).unwrap_or_default() {
        printer.talk(&format!("shard {shard} is missing"));
    }
    let morning = waiting::morning(&book.history, &plan, env).expect("a night has begun");
    leave_pages(&morning, &plan, &book, args.view.format, false, env, printer)
}

/// Reads the last night of a shard, if its jobs are among these.
fn shard(folder: &Path, jobs: &[(Name, u32)]) -> Result<ShardNight, String> {
    let (entries, _) = Shelf::at(folder).entries_within(LARGEST).map_err(|complaint| complaint.what)?;
    let night = ShardNight::last(entries).ok_or("its last night did not run as a shard")?;
    let share = night.part.shard.share(jobs.iter().map(|(job, _)| job.clone()));
    let is_share = night.jobs.len() == share.len() && night.jobs.iter().all(|job| share.contains(job));
    if !is_share || !night.is_of_its_jobs() {
        return Err("its jobs differ from those of this file".to_owned());
    }
    Ok(night)
}
