//! `night ack`: acknowledges that a skill works worse, or that a job cannot be judged, so that it is not reported again
//! until something changes.

use serde_json::json;
use skilltune_phases::base::name::Name;
use skilltune_phases::nights::night::{Event, Job};

use crate::args::night::NightAckArgs;
use crate::nights::book::Book;
use crate::nights::clock::Clock;
use crate::nights::file::NightPlan;
use crate::report::outcome;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn run(args: &NightAckArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let plan = NightPlan::read(args.view.file.file.as_deref(), env)?;
    let Some(mut book) = Book::open(&plan, false)? else {
        return Err(Complaint::input("a night of this file is under way").hint("retry when it has ended"));
    };
    let history = &book.history;
    let name: Option<Name> = args.job.parse().ok();
    let is_known = |name: &Name| history.jobs.contains_key(name) || history.stuck(name).is_some();
    let Some(job) = name.filter(is_known) else {
        return Err(Complaint::input(format!("no night has measured a job {:?}", args.job))
            .hint("`skilltune night list` lists the jobs"));
    };
    let print = |outcome: &str, job: &Name, line: String| {
        let object = json!({ "outcome": outcome, "job": job });
        outcome::print(args.view.format, printer, &[line], &object)
    };
    let is_worse = history.jobs.get(&job).is_some_and(Job::is_worse);
    let is_stuck = history.stuck(&job).is_some();
    let again = match (is_worse, is_stuck) {
        (false, false) => {
            let line = format!("{job} did not get worse: nothing to acknowledge");
            return print("unchanged", &job, line);
        }
        (true, _) => "when it recovers and falls again, or when a change makes it worse",
        (false, true) => "when it was judged and cannot be judged again",
    };
    let text = format!("{job}: skilltune reports it again only {again}");
    book.write(Clock::new().now().timestamp(), Event::Acknowledged { job: job.clone() })?;
    print("acknowledged", &job, text)
}
