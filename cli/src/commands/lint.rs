//! `lint`: reports problems of skills, fixes those that are safe to fix, and suggests fixes for others.

mod deleted;
mod fix;
mod github;
mod human;
mod json;
mod report;
mod scope;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::DiskError;
use skilltune_orchestrator::skill_files::{self, LoadError};
use skilltune_phases::skills::lint::{
    Diagnostic, Files, Fix, Listing, Rule, leaving, lint, offers, spec, together,
};

use crate::args::lint::{Fix as FixFlag, LintArgs, LintFormat, Optional};
use crate::commands::lint::report::{Linted, Report, Shelf};
use crate::commands::lint::scope::{Entry, Scope};
use crate::inputs::bundle::{self, Bundles};
use crate::inputs::find::{self, Skill};
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
    let scope = if args.skills.is_empty() {
        Scope::everywhere(env, printer)?
    } else {
        Scope::named(&args.skills, env)?
    };
    let (skills, bundles) = (scope.skills(), Bundles::default());
    let (report, worst) = Linter { args, env, printer, skills, bundles }.report(&scope)?;
    match args.format {
        LintFormat::Human => printer.data(&human::text(&report, data_width(env), printer.data))?,
        LintFormat::Json => printer.json(&json::object(&report))?,
        LintFormat::Github => {
            let commands = github::text(&report);
            if !commands.is_empty() {
                printer.data(&commands)?;
            }
            printer.talk(&human::summary(&report));
        }
    }
    if report.skills.is_empty()
        && let Some(strangers) = strangers(&scope.strangers, env)
    {
        printer.talk(&strangers);
    }
    let asked = args.fix == Some(FixFlag::All) && Person::present(env).is_none();
    if let (true, open @ 1..) = (asked, report.suggestions()) {
        let many = count(open, "suggestion");
        printer.warn(&format!("{many} not applied: --fix=all needs a terminal to ask about each one"));
    }
    let exit = if report.is_clean() { Exit::Reached } else { Exit::Ended };
    Ok(Exit::worst(worst, exit))
}

/// Says which files belong to no skill. A commit hook passes such files too, so they are no error.
fn strangers(files: &[PathBuf], env: &Environment) -> Option<String> {
    let (first, others) = files.split_first()?;
    let first = shown(first, env);
    Some(match others.len() {
        0 => format!("{first} belongs to no skill"),
        more => format!("{first} and {} belong to no skill", count(more, "other file")),
    })
}

/// Checks and fixes skills.
struct Linter<'a> {
    args: &'a LintArgs,
    env: &'a Environment,
    printer: Printer,
    /// The paths of all skills.
    skills: BTreeSet<PathBuf>,
    bundles: Bundles,
}

impl Linter<'_> {
    /// Returns the report, and the exit code of the worst skill that could not be checked.
    fn report(&self, scope: &Scope) -> Result<(Report, Exit), Complaint> {
        let mut report = Report { is_fixed: self.args.fix.is_some(), ..Report::default() };
        let mut worst = Exit::Reached;
        let is_only = self.skills.len() + scope.empty.len() + scope.broken.len() == 1;
        // A skill may be on several shelves, and several files may belong to it.
        let mut known: HashMap<&Path, Listing> = HashMap::new();
        for group in &scope.groups {
            for entry in &group.skills {
                if known.contains_key(entry.path.as_path()) {
                    continue;
                }
                let listing = match self.linted(entry) {
                    Ok((linted, listing)) => {
                        report.skills.push(linted);
                        listing
                    }
                    Err(complaint) if is_only => return Err(complaint),
                    Err(complaint) => {
                        self.printer.complain(&complaint);
                        worst = Exit::worst(worst, complaint.exit());
                        Listing::default()
                    }
                };
                known.insert(&entry.path, listing);
            }
            if let Some(path) = group.shelf.as_ref().filter(|_| !self.args.spec) {
                let listed = group.skills.iter().map(|entry| known[entry.path.as_path()]);
                let listed = Shelf::new(shown(path, self.env), listed.sum());
                report.shelves.push(Shelf { is_named: group.is_named, ..listed });
            }
        }
        report.skills.extend(scope.broken.iter().map(|link| self.broken(link)));
        report.skills.extend(scope.empty.iter().map(|folder| self.without_skill(folder)));
        Ok((report, worst))
    }

    fn linted(&self, entry: &Entry) -> Result<(Linted, Listing), Complaint> {
        let skill = find::real(&entry.path)?;
        let is_left_out = |folder: &Path| self.is_left_out(folder, &skill.path);
        let (files, done) = match self.args.fix.filter(|_| !entry.is_outside) {
            Some(fix) => {
                let person = Person::present(self.env).filter(|_| fix == FixFlag::All);
                fix::apply(&skill, person, |rule| self.is_wanted(rule), is_left_out, self.env, self.printer)?
            }
            None => (load(&skill, is_left_out)?, Vec::new()),
        };
        let listing = Listing::of(&files);
        let mut diagnostics =
            if self.args.spec { spec(&files) } else { diagnostics(&skill, &files, &self.bundles) };
        let is_inside = |path: &str| self.nearest_skill(&skill.path.join(path)) != Some(skill.path.as_path());
        diagnostics.retain(|one| self.is_wanted(one.rule) && !is_inside(&one.path));
        let can_be_fixed = diagnostics.iter().any(|diagnostic| diagnostic.rule.fix() != Fix::ByHand);
        let offers = if can_be_fixed { offers(&files) } else { Vec::new() };
        let shown = shown(&skill.path, self.env);
        if let Some(fix) = self.args.fix.filter(|_| entry.is_outside)
            && offers.iter().any(|offer| offer.is_safe || fix == FixFlag::All)
        {
            let why = "a symlink leads there out of the project";
            self.printer.warn(&format!("not fixed: {shown}: {why}; to fix it, pass its path"));
        }
        Ok((Linted { name: skill.name, shown, is_skill: true, diagnostics, done, offers }, listing))
    }

    /// Reports a folder without a skill. None of its files is checked, and none is fixed.
    fn without_skill(&self, folder: &Path) -> Linted {
        let message = "no SKILL.md in this folder or below it (ignored files do not count)";
        self.no_skill(folder, Rule::MainFile, message.to_owned())
    }

    /// Reports a symlink to a skill that is not there.
    fn broken(&self, link: &Path) -> Linted {
        let target = link.read_link().unwrap_or_default();
        let message = format!("the folder is a broken symlink to {}", target.display());
        self.no_skill(link, Rule::LinkDangling, message)
    }

    /// Reports a folder with this problem, which keeps it from being a skill.
    fn no_skill(&self, folder: &Path, rule: Rule, message: String) -> Linted {
        Linted {
            name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            shown: shown(folder, self.env),
            is_skill: false,
            diagnostics: vec![Diagnostic { path: "SKILL.md".to_owned(), line: None, rule, message }],
            done: Vec::new(),
            offers: Vec::new(),
        }
    }

    /// Returns true for a skill inside a skill that is inside another one: the outermost is checked with the files of
    /// those directly inside, which may name its own, so that nested skills are read twice at most.
    fn is_left_out(&self, folder: &Path, outermost: &Path) -> bool {
        self.skills.contains(folder) && self.nearest_skill(folder) != Some(outermost)
    }

    /// Returns the nearest skill around a path.
    fn nearest_skill<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.ancestors().skip(1).find(|above| self.skills.contains(*above))
    }

    fn is_wanted(&self, rule: Rule) -> bool {
        let asked = self.args.rule.iter().map(|asked| match asked {
            Optional::ContentsMissing => Rule::ContentsMissing,
        });
        !rule.is_optional() || { asked }.any(|asked| asked == rule)
    }
}

/// Returns the diagnostics of a skill. Paths that leave its folder are judged by where they lead in its plugin, and
/// fields by the agents that the plugin is for.
fn diagnostics(skill: &Skill, files: &Files, bundles: &Bundles) -> Vec<Diagnostic> {
    let mut diagnostics = lint(files);
    let leaves = |one: &Diagnostic| matches!(one.rule, Rule::PathOutside | Rule::PathOtherSkill);
    if diagnostics.iter().any(leaves) {
        let paths = bundles.paths(&skill.path, leaving(files));
        if !paths.is_empty() {
            diagnostics = lint(&files.clone().in_plugin(paths));
        }
    }
    let is_portable = |one: &Diagnostic| one.rule == Rule::FieldPortable;
    if diagnostics.iter().any(is_portable) && bundle::is_for_claude_code(&skill.path) {
        diagnostics.retain(|one| !is_portable(one));
    }
    let mut diagnostics = together(diagnostics);
    diagnostics.extend(answer_keys(skill, files));
    diagnostics.sort();
    diagnostics
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

fn load(skill: &Skill, is_left_out: impl Fn(&Path) -> bool) -> Result<Files, Complaint> {
    skill_files::load_without(&skill.path, &skill.name, is_left_out).map_err(|error| match error {
        LoadError::TooMany(_) => Complaint::input(&error).hint("pass the folder of a skill"),
        LoadError::Rules(_) => Complaint::input(&error),
        LoadError::Disk(DiskError { path, source, .. }) => unreadable(&path, source),
    })
}

fn unreadable(path: &Path, error: io::Error) -> Complaint {
    Complaint::input(format!("cannot read {}", path.display())).caused_by(error).hint("check its permissions")
}

/// The shortest path from the current folder.
fn shown(path: &Path, env: &Environment) -> String {
    match path.strip_prefix(&env.cwd) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
