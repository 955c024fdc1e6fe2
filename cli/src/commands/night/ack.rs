//! `night ack`: acknowledges that a skill works worse, so that it is not reported again until something changes.

use skilltune_phases::base::name::Name;
use skilltune_phases::nights::night::Event;

use crate::args::night::NightAckArgs;
use crate::nights::book::Book;
use crate::nights::clock::Clock;
use crate::nights::file::NightPlan;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn run(args: &NightAckArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let plan = NightPlan::read(args.file.file.as_deref(), env)?;
    let Some(mut book) = Book::open(&plan, false)? else {
        return Err(Complaint::input("a night of this file is under way").hint("retry when it has ended"));
    };
    let name: Option<Name> = args.job.parse().ok();
    let known = name.as_ref().and_then(|name| book.history.jobs.get(name));
    let Some(job) = known else {
        return Err(Complaint::input(format!("no night has measured a job {:?}", args.job))
            .hint("`skilltune night list` lists the jobs"));
    };
    if !job.is_worse() {
        printer.talk(&format!("{} did not get worse: nothing to acknowledge", args.job));
        return Ok(Exit::Reached);
    }
    let job = name.expect("a known job has a name");
    book.write(Clock::new().now().timestamp(), Event::Acknowledged { job })?;
    printer.talk(&format!(
        "{}: skilltune reports it again only when its skill, its suite or its agents change",
        args.job
    ));
    Ok(Exit::Reached)
}
