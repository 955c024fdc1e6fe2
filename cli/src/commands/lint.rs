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
use skilltune_phases::skills::lint::{Diagnostic, Files, Fix, Listing, Rule, lint, offers, spec, together};

use crate::args::lint::{Fix as FixFlag, LintArgs, LintFormat, Optional};
use crate::commands::lint::report::{Linted, Report, Shelf};
use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::inputs::suite::{EVALS, Suite, answers};
use crate::loops::tune::member::{self, Key};
use crate::terminal::columns::data_width;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::text::figures::count;

pub fn run(args: &LintArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let mut report = Report { is_fixed: args.fix.is_some(), ..Report::default() };
    let mut worst = Exit::Reached;
    let mut seen = HashSet::new();
    let groups = if args.skills.is_empty() { everywhere(env, printer)? } else { groups(&args.skills, env)? };
    let is_only = groups.iter().map(|group| group.skills.len()).sum::<usize>() == 1;
    for Group { shelf, skills } in groups {
        let mut listing = Listing::default();
        for skill in skills.into_iter().filter(|skill| seen.insert(skill.path.clone())) {
            match linted(&skill, args, env, printer, &mut listing) {
                Ok(linted) => report.skills.push(linted),
                Err(complaint) if is_only => return Err(complaint),
                Err(complaint) => {
                    printer.complain(&complaint);
                    worst = Exit::worst(worst, complaint.exit());
                }
            }
        }
        report
            .shelves
            .extend(shelf.filter(|_| !args.spec).map(|shelf| Shelf::new(shown(&shelf.path, env), listing)));
    }
    match args.format {
        LintFormat::Human => printer.data(&human::text(&report, data_width(env), printer.data))?,
        LintFormat::Json => printer.json(&json::text(&report))?,
        LintFormat::Github => {
            let commands = github::text(&report);
            if !commands.is_empty() {
                printer.data(&commands)?;
            }
            printer.talk(&human::summary(&report));
        }
    }
    let asked = args.fix == Some(FixFlag::All) && Person::present(env).is_none();
    if let (true, open @ 1..) = (asked, report.suggestions()) {
        let many = count(open, "suggestion");
        printer.talk(&format!("{many} not applied: --fix=all needs a terminal to ask about each one"));
    }
    let exit = if report.is_clean() { Exit::Reached } else { Exit::Ended };
    Ok(Exit::worst(worst, exit))
}

fn linted(
    skill: &Skill,
    args: &LintArgs,
    env: &Environment,
    printer: Printer,
    listing: &mut Listing,
) -> Result<Linted, Complaint> {
    let is_wanted = |rule: Rule| is_wanted(rule, &args.rule);
    let (files, done) = match args.fix {
        Some(fix) => {
            let person = Person::present(env).filter(|_| fix == FixFlag::All);
            fix::apply(skill, person, is_wanted, env, printer)?
        }
        None => (load(skill)?, Vec::new()),
    };
    listing.add(&files);
    let mut diagnostics = if args.spec { spec(&files) } else { together(lint(&files)) };
    if !args.spec {
        diagnostics.extend(answer_keys(skill, &files));
        diagnostics.sort();
    }
    diagnostics.retain(|diagnostic| is_wanted(diagnostic.rule));
    let can_be_fixed = diagnostics.iter().any(|diagnostic| diagnostic.rule.fix() != Fix::ByHand);
    let offers = if can_be_fixed { offers(&files) } else { Vec::new() };
    Ok(Linted { name: skill.name.clone(), shown: shown(&skill.path, env), diagnostics, done, offers })
}

/// Finds the files that hold answers of the skill's own suite. `suite check` reports a suite that cannot be read.
fn answer_keys(skill: &Skill, files: &Files) -> Vec<Diagnostic> {
    let Ok(Some(suite)) = Suite::beside(&skill.path) else { return Vec::new() };
    let diagnostic = |key: Key| Diagnostic {
        message: format!("the file holds {}", answers(&key.held.scenarios)),
        path: key.path,
        line: Some(key.held.line),
        rule: Rule::AnswerKey,
    };
    member::keys(files, &[EVALS.to_owned()], &suite.scenarios).into_iter().map(diagnostic).collect()
}

fn is_wanted(rule: Rule, asked: &[Optional]) -> bool {
    let asked = asked.iter().map(|asked| match asked {
        Optional::ContentsMissing => Rule::ContentsMissing,
    });
    !rule.is_optional() || { asked }.any(|asked| asked == rule)
}

fn load(skill: &Skill) -> Result<Files, Complaint> {
    skill_files::load(&skill.path, &skill.name).map_err(|error| match error {
        LoadError::TooMany(_) => Complaint::input(&error).hint("pass the folder of a skill"),
        LoadError::Rules(_) => Complaint::input(&error),
        LoadError::Disk(DiskError { path, source, .. }) => unreadable(&path, source),
    })
}

fn unreadable(path: &Path, error: io::Error) -> Complaint {
    Complaint::input(format!("cannot read {}", path.display())).caused_by(error).hint("check its permissions")
}

/// The meaning of one argument: a skill, or a folder of skills.
struct Group {
    shelf: Option<Skill>,
    skills: Vec<Skill>,
}

fn groups(given: &[String], env: &Environment) -> Result<Vec<Group>, Complaint> {
    let mut groups = Vec::new();
    for list in given {
        for folder in find::folders(list, env)? {
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

/// Returns all skills where `tune` looks for a name, and the current folder if it is a skill.
fn everywhere(env: &Environment, printer: Printer) -> Result<Vec<Group>, Complaint> {
    let looked = find::looked_in(env);
    let here = [env.cwd.clone()].into_iter().filter(|folder| is_skill(folder));
    let here = here
        .filter_map(|folder| find::real(&folder).ok())
        .map(|skill| Group { shelf: None, skills: vec![skill] });
    let mut groups: Vec<Group> = here.collect();
    for shelf in find::places(env).into_iter().filter_map(|shelf| find::real(&shelf).ok()) {
        let skills = held(&shelf)?;
        if !skills.is_empty() {
            groups.push(Group { shelf: Some(shelf), skills });
        }
    }
    if groups.is_empty() {
        return Err(Complaint::input("no skills found")
            .hint(looked)
            .hint("for a skill elsewhere, pass its path, such as ./my-skill"));
    }
    printer.talk(&looked);
    Ok(groups)
}

/// Ignores case: lint reports a wrong case.
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
fn shown(path: &Path, env: &Environment) -> String {
    match path.strip_prefix(&env.cwd) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
