//! Which expert, and which task: from the command line, and from the person where it leaves something open.

use crate::inputs::task;
use crate::loops::expert::args::{AskArgs, NewArgs};
use crate::loops::expert::listed;
use crate::loops::expert::resolve::{Resolved, resolve};
use crate::loops::expert::roster::{Entry, Roster};
use crate::terminal::complaint::Complaint;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Answers;
use crate::text::plain::one_line;

/// The most names that a hint suggests.
const SUGGESTED: usize = 3;

/// Returns the expert that the person means. Only an exact name is taken without asking.
pub fn expert(
    roster: Roster,
    name: &str,
    person: Option<&dyn Answers>,
    printer: Printer,
) -> Result<Entry, Complaint> {
    let unknown = || Complaint::input(one_line(&format!("there is no expert named {name:?}")));
    let resolved = resolve(name, roster.names());
    let chosen = match (resolved, roster.why_skipped(name), person) {
        (Resolved::Exact(name), _, _) => name.to_owned(),
        (_, Some(why), _) => return Err(unknown().caused_by(why).hint(LIST)),
        (Resolved::Close(names), None, None) => return Err(unknown().hint(nearest(&names)).hint(LIST)),
        (Resolved::Close(names), None, Some(person)) => confirmed(&names, person)?,
        (Resolved::Unknown(names), None, person) => {
            printer.warn(&listed::list(&roster, printer.talk_width));
            confirmed(&names, person.ok_or_else(unknown)?)?
        }
    };
    Ok(roster.take(&chosen).expect("its name is one of the list"))
}

const LIST: &str = "`skilltune expert` lists all experts";

/// Asks about the nearest name, or which of several is meant. Enter chooses none.
fn confirmed(names: &[&str], person: &dyn Answers) -> Result<String, Complaint> {
    let chosen = if let [only] = names {
        person.agree(&format!("Do you mean the expert {only}?"))?.then_some(*only)
    } else {
        let options = [&["none of them"][..], names].concat();
        let at = person.pick("Which expert do you mean?", &options, 0)?;
        at.checked_sub(1).map(|at| names[at])
    };
    chosen.map(str::to_owned).ok_or_else(|| Complaint::input("no expert was chosen").hint(LIST))
}

fn nearest(names: &[&str]) -> String {
    let near: Vec<&str> = names.iter().take(SUGGESTED).copied().collect();
    format!("the nearest names: {}", near.join(", "))
}

/// Returns the task. Without one, shows what the expert can help with, and asks.
pub fn task(
    args: &AskArgs,
    entry: &Entry,
    person: Option<&dyn Answers>,
    printer: Printer,
) -> Result<String, Complaint> {
    if let Some(given) = given(args.task.as_deref())? {
        return Ok(given);
    }
    let name = &entry.expert.name;
    printer.warn(&listed::page(entry, printer.talk_width));
    let asked = person.map(|person| {
        person.line(&format!("What should {name} do?"), "in a sentence or two, as you would ask somebody")
    });
    asked.transpose()?.flatten().ok_or_else(|| {
        Complaint::input(format!("no task for {name}"))
            .hint(format!("pass it after the name: skilltune expert {name} \"...\""))
    })
}

/// Returns the description of a new expert. Without one, asks.
pub fn description(args: &NewArgs, name: &str, person: Option<&dyn Answers>) -> Result<String, Complaint> {
    if let Some(given) = given(args.description.as_deref())? {
        return Ok(given);
    }
    let question = format!("What does {name} know, and how does it work?");
    let asked = person
        .map(|person| person.line(&question, "in a sentence or two, as you would describe a colleague"));
    asked.transpose()?.flatten().ok_or_else(|| {
        Complaint::input(format!("no description of {name}"))
            .hint(format!("pass it after the name: skilltune expert new {name} \"...\""))
    })
}

/// Returns the text of an argument, or that of stdin for `-`; none if it is empty.
pub fn given(argument: Option<&str>) -> Result<Option<String>, Complaint> {
    let text = match argument {
        Some("-") => task::read_stdin()?,
        text => text.unwrap_or_default().to_owned(),
    };
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}
