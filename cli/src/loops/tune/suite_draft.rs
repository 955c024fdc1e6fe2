//! `suite new`: an agent drafts scenarios for a skill, in one call outside of a run; a person reviews them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use skilltune_orchestrator::agent::Response;
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::probe::{self, Question};
use skilltune_orchestrator::skill_files;
use skilltune_phases::asking::prompt::SuiteBrief;
use skilltune_phases::base::answer::OffSchema;
use skilltune_phases::base::id::Digest;
use skilltune_phases::base::role::{Rights, Role, RoleSpec};
use skilltune_phases::loops::vacuous::vacuous;
use skilltune_phases::runs::event::Failure;
use skilltune_phases::runs::remedy::Remedy;
use skilltune_phases::skills::lint::Files;
use skilltune_phases::skills::offline;
use skilltune_phases::suites::drafts::{self, Drafted};

use crate::args::overrides::override_with;
use crate::args::suite::SuiteNewArgs;
use crate::casting::{self, BuiltIn, Part};
use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::inputs::suite::{SUITE_FILE, drafted};
use crate::loops::tune::vacuous::describe;
use crate::progress;
use crate::report::{advice, outcome, words};
use crate::runs::under_guard::under_guard;
use crate::settings::Settings;
use crate::terminal::complaint::{Complaint, ErrorKind, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::{Level, Printer};
use crate::terminal::questions::Person;
use crate::text::figures::count;
use crate::text::plain::{one_line, shell_path};
use crate::trust::Consent;

/// The drafter sees the skill in its prompt, and writes no files.
const DRAFTER: RoleSpec = RoleSpec::new(Role::IMPROVER, Rights::Read, false);

pub fn run(args: &SuiteNewArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let skill = one_skill(args, env)?;
    let project = env.project_of(&skill.path);
    let path = destination(args, &project, env)?;
    let files = skill_files::load(&skill.path, &skill.name)
        .map_err(|error| Complaint::of(ErrorKind::Input, &error))?;
    let (part, settings) = drafter(args, &project, env)?;
    let most = usize::from(args.scenarios);
    let agent = part.agent.name.clone();
    printer.talk(&format!("asking {agent} for {}: one call", count(most, "scenario")));
    let (drafts, cost) = ask(part, &settings, &files, most, printer)?;
    let (suite, text) = drafted(&path, drafts)?;
    let (folder, name) = path.parent().zip(path.file_name()).expect("a file is in a folder");
    SafePath::below(folder, name).create(text.as_bytes()).map_err(ours)?;
    let paths = [path.display().to_string()];
    let object = json!({ "outcome": "written", "paths": paths, "drafts": suite.drafts.len(), "usd": cost });
    let cost = cost.map_or_else(String::new, |usd| format!(" (${usd:.2})"));
    let shown = one_line(&path.display().to_string());
    let many = suite.drafts.len();
    let asked = if many < most { format!(", of the {most} asked for") } else { String::new() };
    let mut lines = vec![format!("wrote {shown} with {}{asked}{cost}", count(many, "draft"))];
    let nothing = vacuous(&suite.drafts, |scenario| suite.starts.untouched(&scenario.id));
    if !nothing.is_empty() {
        lines.push("proves nothing:".to_owned());
        lines.extend(nothing.iter().map(|one| format!("  {}", describe(one))));
    }
    lines.push("review each, then remove its `draft = true`; runs do not count drafts".to_owned());
    lines.push(format!("to check the suite: skilltune suite check {}", one_line(&shell_path(&path))));
    outcome::print(args.format, printer, &[lines.join("\n")], &object)
}

const AGAIN: &str = "run the command again, or pass another agent to --agent";

fn one_skill(args: &SuiteNewArgs, env: &Environment) -> Result<Skill, Complaint> {
    let mut skills = find::skills_for("suite new", &args.skill, env)?;
    if skills.len() > 1 {
        return Err(Complaint::input("`suite new` drafts scenarios for one skill").hint("name one of them"));
    }
    Ok(skills.remove(0))
}

/// Returns the real path of a file that does not exist yet.
fn destination(args: &SuiteNewArgs, project: &Path, env: &Environment) -> Result<PathBuf, Complaint> {
    let to = args.to.as_ref().map_or_else(|| project.join(SUITE_FILE), |to| env.cwd.join(to));
    // A dangling symlink counts as existing.
    if to.symlink_metadata().is_ok() {
        return Err(
            Complaint::input(format!("{} already exists", to.display())).hint("pass a new path to --to")
        );
    }
    let folder = to.parent().and_then(|folder| folder.canonicalize().ok()).filter(|folder| folder.is_dir());
    match folder.zip(to.file_name()) {
        // Before the call, which would be paid for nothing.
        Some((folder, name)) => match tempfile::tempfile_in(&folder) {
            Ok(_) => Ok(folder.join(name)),
            Err(error) => Err(Complaint::input(format!("cannot write in {}", folder.display()))
                .caused_by(error)
                .hint("pass --to FILE with a path in a folder that you may write to")),
        },
        None => Err(Complaint::input(format!("the folder of {} does not exist", to.display()))
            .hint("pass a path in an existing folder to --to")),
    }
}

fn drafter(args: &SuiteNewArgs, project: &Path, env: &Environment) -> Result<(Part, Settings), Complaint> {
    let mut settings = crate::loops::settings(project, env)?;
    override_with(&mut settings.roles.improver, args.agent.clone().map(Some), "--agent");
    override_with(&mut settings.roles.executor, args.agent.clone().map(Some), "--agent");
    casting::fill(&mut settings, env);
    let casting = casting::cast(&[DRAFTER], &settings, env, BuiltIn::KnowsNothing)?;
    let part = casting.of(&DRAFTER.role).clone();
    if part.agent.name == offline::NAME {
        return Err(Complaint::input("the built-in agent cannot draft scenarios").hint("pass --agent NAME"));
    }
    let consent = Consent::of(args.trust, Person::present(env));
    casting::ensure_trusted(&casting, &settings, env, None, consent)?;
    Ok((part, settings))
}

/// Makes one call and returns the cost that the agent reports, if any.
fn ask(
    part: Part,
    settings: &Settings,
    files: &Files,
    most: usize,
    printer: Printer,
) -> Result<(Vec<Drafted>, Option<f64>), Complaint> {
    let Part { agent, timeout_seconds, .. } = part;
    let page = files.get("SKILL.md").map(|file| &file.body);
    let page = page.ok_or_else(|| Complaint::input("the skill has no SKILL.md"))?;
    let others: Vec<&str> =
        files.files().iter().map(|file| file.path.as_str()).filter(|path| *path != "SKILL.md").collect();
    // A skill cannot predict the time of the call.
    let now = Timestamp::now().as_nanosecond().to_le_bytes();
    let seed = Digest::of_parts([now.as_slice(), &std::process::id().to_le_bytes()]).hex();
    let nonce = &Digest::of(seed.as_bytes()).hex()[..16];
    let brief = SuiteBrief { skill: files.folder(), page, others: &others, count: most, nonce, seed: &seed };
    let question = Question {
        prompt: brief.prompt(),
        rights: DRAFTER.rights,
        usd: None,
        deadline: Duration::from_secs(timeout_seconds),
    };
    let system = casting::system_confines(settings);
    let lost = || Err("the call was interrupted".to_owned());
    let mut heard = under_guard(1, lost, |_, room| {
        let (agent, question) = (agent.clone(), question.clone());
        move |pool, cancel_token| {
            probe::ask(&agent, system, &question, &room, &pool, &cancel_token)
                .map_err(|error| error.to_string())
        }
    })?;
    let response: Result<Response, String> = heard.remove(0);
    let Response { answer, spent, talk } =
        response.map_err(|why| Complaint::ours(format!("cannot call {}", agent.name)).caused_by(why))?;
    if printer.level == Level::Verbose {
        let model = talk.and_then(|talk| talk.model);
        printer.talk(&progress::call_text(&DRAFTER.role, &agent.name, model.as_ref(), &spent));
    }
    let failed = |failure: Failure| {
        let why = one_line(&failure.why);
        Complaint::input(format!("{} {}", agent.name, words::failure(failure.kind))).caused_by(why).hint(
            match failure.kind.remedy() {
                Remedy::Fix => advice::fix(&agent.name, &failure),
                Remedy::Wait | Remedy::Repeat | Remedy::Tell => AGAIN.to_owned(),
            },
        )
    };
    let drafts = drafts::read(&answer.map_err(failed)?, nonce, most).map_err(|error| {
        Complaint::agent(format!("the answer of {} cannot be used", agent.name))
            .caused_by(why_unusable(&error))
            .hint(AGAIN)
    })?;
    Ok((drafts, spent.usd))
}

/// The error itself is worded for the agent.
fn why_unusable(error: &OffSchema) -> String {
    match error {
        OffSchema::Count { what: what @ "scenarios", given, most, .. } => {
            format!("it wrote {given} {what}, and was asked for 1 to {most}")
        }
        error => one_line(&error.to_string()),
    }
}
