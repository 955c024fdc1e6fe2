//! `skilltune reflex`: a task is agreed to, and a run begins.

use jiff::Timestamp;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::reflex::original::Alias;
use skilltune_phases::loops::reflex::{Confirmed, Plan, Reflex};
use skilltune_phases::loops::{Loop as _, MostCalls};
use skilltune_phases::plan::RunId;

use crate::args::runs::RunCommand;
use crate::loops::reflex::allow::Gatekeeper;
use crate::loops::reflex::args::new::NewArgs;
use crate::loops::reflex::args::{ReflexArgs, ReflexCommand};
use crate::loops::reflex::confirm::Terms;
use crate::loops::reflex::report::json;
use crate::loops::reflex::request::Request;
use crate::loops::reflex::{confirm, context, planning};
use crate::loops::{LoopArgs, LoopCommands as _, OnRuns};
use crate::report::ui::Ui as _;
use crate::report::words;
use crate::runs::ownership::Ownership;
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::scope::Scope;
use crate::runs::{Runs, Standing, failure, session, strange};
use crate::settings::values::Streamed;
use crate::terminal::columns::{data_width, talk_width};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{AnswerFrom, Answers, Person};
use crate::text::plain;
use crate::{agents, progress};

impl LoopArgs for ReflexArgs {
    fn run(self, around: &Environment, printer: Printer, on_runs: OnRuns) -> Result<Exit, Complaint> {
        match self.command {
            ReflexCommand::New(args) => run(&args, around, printer),
            ReflexCommand::Run(command) => on_runs(command, Some(Reflex::KIND), around, printer),
        }
    }

    fn on_runs(&self) -> Option<&RunCommand> {
        match &self.command {
            ReflexCommand::New(_) => None,
            ReflexCommand::Run(command) => Some(command),
        }
    }
}

fn run(args: &NewArgs, around: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let mut request = Request::new(args, around)?;
    request.settings.overs().iter().for_each(|over| printer.talk(over));
    if args.run.dry_run {
        let terms = Terms::of(&request.settings, request.template)?;
        let plan = sketch(&request, &terms, around)?;
        let most = Reflex::most_calls(&plan);
        match args.run.format {
            Streamed::Human => printer.data(&told(&plan, &terms, &most, data_width(around))),
            Streamed::Json | Streamed::Jsonl => printer.json(&json::sketch(&plan, &most).to_string()),
        }?;
        return Ok(Exit::Reached);
    }
    let person = Person::present(around).filter(|_| !args.run.yes);
    let (terms, confirmed) = agree(args, &mut request, person, around, printer)?;
    if !args.trust {
        agents::ensure_trusted(&request.casting, &request.settings, around, None, person)?;
    }
    mention(&request, around, printer);
    begin(args, &request, &terms, confirmed, around, printer)
}

/// The person confirms criteria and limits, or a flag does.
fn agree(
    args: &NewArgs,
    request: &mut Request,
    person: Option<&dyn Answers>,
    around: &Environment,
    printer: Printer,
) -> Result<(Terms, Confirmed), Complaint> {
    let width = talk_width(around);
    if let Some(person) = person {
        let show = |text: &str| printer.talk(text);
        let terms = confirm::agreed(&mut request.settings, request.template, person, width, show)?;
        request.template = terms.template;
        return Ok((terms, Confirmed::Person));
    }
    let terms = Terms::of(&request.settings, request.template)?;
    if args.run.yes {
        return Ok((terms, Confirmed::Declared));
    }
    printer.talk(&terms.lines(width).join("\n"));
    Err(Complaint::input("cannot ask you to confirm these criteria and limits: no terminal")
        .hint("pass --yes to confirm them"))
}

/// A run on the same task that was left is only mentioned: this one is another.
fn mention(request: &Request, around: &Environment, printer: Printer) {
    let Ok(runs) = Runs::of(&request.project, around) else { return };
    let known = runs.ids(Some(Reflex::KIND)).into_iter().filter_map(|id| runs.load::<Reflex>(&id).ok());
    let mut left = known.filter(|known| {
        known.run.plan.task.prompt == request.prompt
            && matches!(runs.standing(&known.run), Standing::Open | Standing::Held)
    });
    if let Some(left) = left.next() {
        let id = &left.run.plan.run;
        printer.talk(&format!(
            "an unfinished run of the same task exists; `skilltune resume {id}` continues it"
        ));
    }
}

fn begin(
    args: &NewArgs,
    request: &Request,
    terms: &Terms,
    confirmed: Confirmed,
    around: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let home = Home::of(&request.project);
    let named = planning::name(request, Timestamp::now(), &Ownership::new(around))?;
    let id = named.1.clone();
    let went = drive(args, request, (terms, confirmed), (&home, named), around, printer);
    let exit = failure::told::<Reflex>(went, args.run.format, &home, &id, printer)?;
    let person = Person::present(around).filter(|_| !args.run.yes);
    let scope = Scope { runs: Runs::of(&request.project, around)?, only: None, around, printer };
    Reflex::hand_over(&scope, &id, person)?;
    Ok(exit)
}

/// From the first line of its journal to wherever it comes.
fn drive(
    args: &NewArgs,
    request: &Request,
    (terms, confirmed): (&Terms, Confirmed),
    (home, named): (&Home, (Alias, RunId)),
    around: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    home.create().map_err(strange)?;
    let _in_use = home.hold().map_err(ours)?;
    let objects = Objects::at(home.objects());
    let context = context::store(&objects, &context::pages(&request.project))?;
    let folder = home.run(&named.1);
    let plan = planning::plan(request, terms, confirmed, named, context, folder.root());
    let locks = session::lock(around, printer, &Reflex::targets(&plan), plan.run.as_str())?;
    if args.trust {
        agents::trust_for_run(&request.casting, &request.settings, around, &plan.run)?;
    }
    let begun = session::begin(around, home, plan)?;
    let reporter = progress::reporter(args.run.format, objects, around, printer);
    let options = RuntimeOptions::of(&request.casting, &request.settings);
    let mut gatekeeper = Gatekeeper::new(AnswerFrom::of(None, args.run.yes, around), printer);
    session::drive(around, home, begun, locks, options, reporter, &mut gatekeeper)
}

/// The plan without anything being written: what a dry run shows.
fn sketch(request: &Request, terms: &Terms, around: &Environment) -> Result<Plan, Complaint> {
    let home = Home::of(&request.project);
    let named = planning::name(request, Timestamp::now(), &Ownership::new(around))?;
    let folder = home.run(&named.1);
    Ok(planning::plan(request, terms, Confirmed::Declared, named, None, folder.root()))
}

/// What would be agreed to, and the most that it can come to.
fn told(plan: &Plan, terms: &Terms, most: &MostCalls, width: usize) -> String {
    let roles = &plan.roles;
    let mut lines = vec![format!("reflex {}: {}", plan.task.alias, plain::one_line(&plan.task.prompt))];
    lines.extend(terms.lines(width));
    lines.push(words::most_calls(most, roles));
    lines.extend(words::remarks(roles).iter().map(|remark| format!("note: {remark}")));
    lines.join("\n")
}
