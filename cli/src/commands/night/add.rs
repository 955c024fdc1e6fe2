//! `night add`: adds a job to the file.

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::disk::atomic::Durability;

use crate::args::night::NightAddArgs;
use crate::inputs::find;
use crate::nights::file::NightPlan;
use crate::nights::{jobs, morning};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::trust::TrustStore;
use crate::trust::file::TextFile;

const HEAD: &str = "# Jobs that `skilltune night` runs. docs/nights.md explains every key.\n";

pub fn run(args: &NightAddArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    // A skill that is not found now would not be found at night either.
    let skills = find::skills(&args.skill, env)?;
    let path = NightPlan::path(args.file.file.as_deref(), env);
    let old = TextFile::read(&path)?;
    let store = TrustStore::new(env);
    let was_trusted = match &old {
        Some(old) => store.trusts(old, &[])?,
        None => true,
    };
    let folder = path.parent().filter(|folder| folder.is_dir());
    let folder = folder.ok_or_else(|| Complaint::input(format!("{}: folder not found", path.display())))?;
    let folder = folder.canonicalize().map_err(ours)?;
    let near =
        |path: &std::path::Path| path.strip_prefix(&folder).unwrap_or(path).to_str().map(str::to_owned);
    let not_text = || Complaint::input("a path of the job is not valid UTF-8");
    let skills: Option<Vec<String>> = skills.iter().map(|skill| near(&skill.path)).collect();
    // A path without a slash would be read as a name.
    let skills: Vec<String> = skills
        .ok_or_else(not_text)?
        .into_iter()
        .map(|path| if path.contains('/') { path } else { format!("./{path}") })
        .collect();
    let mut job = toml::Table::new();
    let mut put = |key: &str, value: toml::Value| drop(job.insert(key.to_owned(), value));
    if let Some(name) = &args.name {
        put("name", name.clone().into());
    }
    put("skill", if let [one] = skills.as_slice() { one.clone().into() } else { skills.into() });
    if let Some(suite) = &args.suite {
        let suite = env.cwd.join(suite);
        let real = suite.canonicalize().map_err(|error| {
            Complaint::input(format!("cannot read the suite {}", suite.display())).caused_by(error)
        })?;
        put("suite", near(&real).ok_or_else(not_text)?.into());
    }
    if let Some(runs) = args.runs {
        put("runs", i64::from(runs).into());
    }
    if let Some(apply) = &args.apply {
        put("apply", apply.clone().into());
    }
    let job = toml::to_string(&job).map_err(ours)?;
    let before = old.as_ref().map_or(HEAD, TextFile::text);
    let text = format!("{}\n\n[[jobs]]\n{job}", before.trim_end());
    let new = TextFile::drafted(&path, text);
    // A file that the night would refuse is not written.
    let plan = NightPlan::of(new.clone())?;
    let names = jobs::all(&plan)?;
    let added = names.last().map(|job| job.name.clone()).expect("a job was added");
    SafePath::below(&folder, path.file_name().unwrap_or_default())
        .replace(new.text().as_bytes(), Durability::Order)
        .map_err(ours)?;
    let written = TextFile::read(&path)?.unwrap_or(new);
    if was_trusted {
        store.record(&written, &[])?;
    }
    let hint = if was_trusted {
        "`skilltune night` runs it now, `skilltune night install` every night".to_owned()
    } else {
        format!(
            "the file was not trusted: read it, then run `skilltune trust {}`",
            crate::text::plain::shell_path(&path)
        )
    };
    printer.talk(&format!("added job {added} to {}\n{hint}", path.display()));
    let added = names.last().map(|job| job.ready(&plan, env));
    if let Some(Err(left)) = added {
        printer.talk(&format!("it cannot run yet: {}", morning::why(&left)));
    }
    Ok(Exit::Reached)
}
