//! `lint`: reports problems of skills, fixes those that are safe to fix, and suggests fixes for others.

mod fix;
mod github;
mod human;
mod json;
mod report;

use std::collections::HashSet;
use std::io;
use std::path::Path;

use skilltune_orchestrator::disk::{self, DiskError};
use skilltune_orchestrator::skill_files::{self, LoadError};
use skilltune_phases::lint::{Files, Fix, Listing, lint, offers};

use crate::args::lint::{Fix as FixFlag, LintArgs, LintFormat};
use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::terminal::columns::data_width;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::text::figures::count;

use crate::commands::lint::report::{Linted, Report, Shelf};

pub fn run(args: &LintArgs, around: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let mut report = Report { is_fixed: args.fix.is_some(), ..Report::default() };
    let mut worst = Exit::Reached;
    let mut seen = HashSet::new();
    let groups = groups(&args.skills, around)?;
    let is_only = groups.iter().map(|group| group.skills.len()).sum::<usize>() == 1;
    for Group { shelf, skills } in groups {
        let mut listing = Listing::default();
        for skill in skills.into_iter().filter(|skill| seen.insert(skill.path.clone())) {
            match linted(&skill, args, around, printer, &mut listing) {
                Ok(linted) => report.skills.push(linted),
                Err(complaint) if is_only => return Err(complaint),
                Err(complaint) => {
                    printer.complain(&complaint);
                    worst = Exit::worst(worst, complaint.exit());
                }
            }
        }
        report.shelves.extend(shelf.map(|shelf| Shelf::new(shown(&shelf.path, around), listing)));
    }
    match args.format {
        LintFormat::Human => printer.data(&human::text(&report, data_width(around), printer.data))?,
        LintFormat::Json => printer.json(&json::text(&report, args.strict))?,
        LintFormat::Github => {
            let commands = github::text(&report);
            if !commands.is_empty() {
                printer.data(&commands)?;
            }
            printer.talk(&human::summary(&report));
        }
    }
    let asked = args.fix == Some(FixFlag::All) && Person::present(around).is_none();
    if let (true, open @ 1..) = (asked, report.suggestions()) {
        let many = count(open, "suggestion");
        printer.talk(&format!("{many} not applied: --fix=all needs a terminal to ask about each one"));
    }
    let findings = if report.is_clean(args.strict) { Exit::Reached } else { Exit::Ended };
    Ok(Exit::worst(worst, findings))
}

fn linted(
    skill: &Skill,
    args: &LintArgs,
    around: &Environment,
    printer: Printer,
    listing: &mut Listing,
) -> Result<Linted, Complaint> {
    let (files, done) = match args.fix {
        Some(fix) => {
            let person = Person::present(around).filter(|_| fix == FixFlag::All);
            fix::apply(skill, person, around, printer)?
        }
        None => (load(skill)?, Vec::new()),
    };
    listing.add(&files);
    let findings = lint(&files);
    let can_be_fixed = findings.iter().any(|finding| finding.rule.fix() != Fix::ByHand);
    let offers = if can_be_fixed { offers(&files) } else { Vec::new() };
    Ok(Linted { name: skill.name.clone(), shown: shown(&skill.path, around), findings, done, offers })
}

fn load(skill: &Skill) -> Result<Files, Complaint> {
    skill_files::load(&skill.path, &skill.name).map_err(|error| match error {
        LoadError::TooMany(_) => Complaint::input(&error).hint("pass the folder of a skill"),
        LoadError::Disk(DiskError { path, source, .. }) => unreadable(&path, source),
    })
}

fn unreadable(path: &Path, error: io::Error) -> Complaint {
    Complaint::input(format!("cannot read {}", path.display())).caused_by(error).hint("check its permissions")
}

/// What one argument names: a skill, or a folder of skills.
struct Group {
    shelf: Option<Skill>,
    skills: Vec<Skill>,
}

fn groups(given: &[String], around: &Environment) -> Result<Vec<Group>, Complaint> {
    let mut groups = Vec::new();
    for list in given {
        for folder in find::folders(list, around)? {
            let skills = if is_skill(&folder.path) { Vec::new() } else { held(&folder)? };
            groups.push(if skills.is_empty() {
                Group { shelf: None, skills: vec![folder] }
            } else {
                Group { shelf: Some(folder), skills }
            });
        }
    }
    Ok(groups)
}

/// Ignores case: a wrong case is a finding.
fn is_skill(folder: &Path) -> bool {
    let names = disk::names(folder).unwrap_or_default();
    names.iter().any(|name| name.eq_ignore_ascii_case("SKILL.md"))
}

/// The skills directly below a folder. Follows symlinks, because installers create them.
fn held(folder: &Skill) -> Result<Vec<Skill>, Complaint> {
    let names = disk::names(&folder.path).map_err(|error| unreadable(&folder.path, error.source))?;
    let mut skills: Vec<Skill> = names
        .into_iter()
        .map(|name| folder.path.join(name))
        .filter(|path| path.is_dir() && is_skill(path))
        .filter_map(|path| find::real(&path).ok())
        .collect();
    skills.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(skills)
}

/// The shortest path from the current folder.
fn shown(path: &Path, around: &Environment) -> String {
    match path.strip_prefix(&around.cwd) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
