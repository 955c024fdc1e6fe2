//! Drafts a specification, with a run of our own expert: from documents (`--from`), or from a text (`draft`).

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use skilltune_phases::experts;
use skilltune_phases::loops::expert::{Basis, Draft, Expert};

use crate::args::overrides::apply_shared_flags;
use crate::args::shared::RunFlags;
use crate::casting;
use crate::loops::evolve::args::{DraftArgs, EvolveArgs};
use crate::loops::evolve::documents;
use crate::loops::evolve::invocation::root;
use crate::loops::expert::invocation::Invocation;
use crate::loops::expert::{choose, draft};
use crate::loops::start::{self, Common, Start};
use crate::settings::flags::Given;
use crate::settings::values::{AgentSpec, Streamed};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;

/// The words of a text that name its specification.
const NAMING_WORDS: usize = 5;

/// Drafts a specification from documents, and returns its file once a person has agreed to begin a run with it. Without
/// a person the file is written, and the command ends.
pub fn agreed(args: &EvolveArgs, start: &Start<'_>) -> Result<ControlFlow<Exit, PathBuf>, Complaint> {
    // The JSON of two runs would mix.
    let start = &Start { yes: start.yes || start.format != Streamed::Human, ..*start };
    let invocation = of_documents(args, start.env)?;
    let file = invocation.drafts.as_ref().and_then(|draft| draft.file.clone()).map(PathBuf::from);
    let exit = start::start::<Expert>(invocation, start)?;
    if exit != Exit::Reached || start.show.is_some() {
        return Ok(ControlFlow::Break(exit));
    }
    match (file.filter(|file| file.exists()), start.person()) {
        (Some(file), Some(person)) if person.agree("Begin the run now, with the file as it is?")? => {
            Ok(ControlFlow::Continue(file))
        }
        _ => Ok(ControlFlow::Break(Exit::Ended)),
    }
}

fn of_documents(args: &EvolveArgs, env: &Environment) -> Result<Invocation, Complaint> {
    let named = args.root.as_deref().map(|named| root(Some(named), env)).transpose()?;
    let documents = documents::read(&args.from, env)?;
    let paths: Vec<&str> = documents.iter().map(|one| one.path.as_str()).collect();
    let task = format!(
        "Write the specification of the change that these documents describe:\n\n- {}",
        paths.join("\n- ")
    );
    let first = args.from.first().and_then(|path| env.cwd.join(path).canonicalize().ok());
    let stem = first.as_deref().and_then(Path::file_stem).unwrap_or_default().to_string_lossy().into_owned();
    let root = named.map(|root| root.to_string_lossy().into_owned());
    let common =
        common(args.flags.agent.as_ref(), args.flags.calls.timeout, &args.flags.given, &args.flags.run, env)?;
    let draft = planned(&stem, Basis { documents, asks: false, root }, &common.project, env)?;
    Ok(Invocation::specifying(common, draft, task, args.flags.seed))
}

/// Drafts a specification from a text. A person is asked what it leaves open.
pub fn of_text(args: &DraftArgs, start: &Start<'_>) -> Result<Invocation, Complaint> {
    let (env, play) = (start.env, &args.play);
    let text = match (choose::given(args.text.as_deref())?, start.person()) {
        (None, Some(person)) => person.line("What should change?", "in a few sentences")?,
        (text, _) => text,
    };
    let text = text.ok_or_else(|| {
        Complaint::input("no text to draft from").hint("pass what to change: skilltune evolve draft \"...\"")
    })?;
    let basis = Basis { asks: start.person().is_some(), ..Basis::default() };
    let common = common(play.agent.as_ref(), play.calls.timeout, &play.given, &play.run, env)?;
    let words: Vec<&str> = text.split_whitespace().take(NAMING_WORDS).collect();
    let draft = planned(&words.join(" "), basis, &common.project, env)?;
    let task = format!("Write the specification of this change:\n\n{text}");
    Ok(Invocation::specifying(common, draft, task, play.seed))
}

/// Returns the draft, whose file has to be free. It goes into the current folder, or into the project if that is elsewhere.
fn planned(about: &str, basis: Basis, project: &Path, env: &Environment) -> Result<Draft, Complaint> {
    let name = experts::name(about).unwrap_or_else(|_| "draft".to_owned());
    let folder: &Path = if env.cwd.starts_with(project) { &env.cwd } else { project };
    let file = draft::free(project, &folder.join(format!("{name}.spec.md")))?;
    Ok(Draft { name, file: Some(file), specification: Some(basis) })
}

/// Casts the evaluator as the expert that drafts.
fn common(
    agent: Option<&AgentSpec>,
    timeout: Option<u64>,
    given: &Given,
    run: &RunFlags,
    env: &Environment,
) -> Result<Common, Complaint> {
    let project = env.project_here();
    let mut settings = crate::loops::settings(&project, env)?;
    apply_shared_flags(&mut settings, agent, timeout, given);
    casting::fill(&mut settings, env);
    if settings.roles.evaluator.value.is_some() {
        settings.roles.executor = settings.roles.evaluator.clone();
    }
    let casting = casting::cast_models(Expert::ROLES, &settings, env, "draft a specification")?;
    Ok(Common { project, settings, casting, pinned: Vec::new(), epoch: run.epoch() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_is_named_after_its_source_and_stays_below_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let env = Environment::fake(here.join("in"), &[]);
        let file = |about: &str, project: &Path| {
            planned(about, Basis::default(), project, &env).unwrap().file.unwrap()
        };
        for (about, name) in [
            ("001-Login", "001-login"),
            ("Print the areas: of circles", "print-the-areas-of-circles"),
            ("...", "draft"),
            ("new", "draft"),
            ("../../etc", "etc"),
        ] {
            assert_eq!(Path::new(&file(about, &here)), here.join("in").join(format!("{name}.spec.md")));
        }
        assert_eq!(Path::new(&file("a", &here.join("out"))), here.join("out/a.spec.md"));
    }
}
