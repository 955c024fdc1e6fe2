//! `expert convert`: prints an expert in the format of another program.

use serde_json::json;
use skilltune_orchestrator::disk;
use skilltune_phases::experts::{Expert, Format, LARGEST, stem};

use crate::loops::expert::args::ConvertArgs;
use crate::settings::values::Format as Output;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain::{one_line, pictured};

pub fn run(args: &ConvertArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let path = env.named(&args.file)?;
    let refused = |why: String| Complaint::input(format!("cannot convert {}: {why}", path.display()));
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let format = Format::of(name).ok_or_else(|| {
        if path.exists() {
            refused("it is neither Markdown nor TOML".to_owned())
                .hint("docs/experts.md describes the formats")
        } else {
            Complaint::input(format!("no file {}; built-in experts cannot be converted", path.display()))
                .hint("pass the Markdown or TOML file of an expert")
        }
    })?;
    let bytes = disk::read(&path, LARGEST).map_err(|error| refused(error.to_string()))?;
    let expert = Expert::read(&bytes, stem(&path), format).map_err(|why| refused(why.to_string()))?;
    let to = args.to.into();
    if to == Format::Codex && format == Format::Markdown && !expert.unknown.is_empty() {
        let fields: Vec<&str> = expert.unknown.keys().map(String::as_str).collect();
        printer.talk(&one_line(&format!("note: Codex has no such fields, left out: {}", fields.join(", "))));
    }
    let text = expert.written(to);
    match args.format {
        Output::Human => printer.data(pictured(&text).trim_end())?,
        Output::Json => printer.json(&json!({ "name": expert.name, "text": text }))?,
    }
    Ok(Exit::Reached)
}
