//! `skilltune config`: prints every key, its value, and its origin, and the schemas of files.

use serde_json::Value as Json;

use crate::args::schemas::SchemaName;
use crate::casting;
use crate::loops::gan::design_file::DesignFile;
use crate::settings::show::Row;
use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn show(format: Format, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let project = env.project_here();
    let mut settings = crate::loops::settings(&project, env)?;
    DesignFile::found(&project, false, env)?.apply(&mut settings);
    casting::fill(&mut settings, env);
    let rows = settings.rows();
    match format {
        Format::Human => printer.data(&table(&rows)),
        Format::Json => printer.json(&rows),
    }?;
    Ok(Exit::Reached)
}

/// Prints a schema. That of the settings is made here, so that it cannot differ from what this program reads.
pub fn schema(name: SchemaName, printer: Printer) -> Result<Exit, Complaint> {
    if let Some(text) = name.stored() {
        printer.bytes(text.trim_end())?;
    } else {
        let schema = crate::loops::default_settings().schema();
        printer.bytes(&serde_json::to_string_pretty(&schema).expect("a schema has a JSON text"))?;
    }
    Ok(Exit::Reached)
}

fn table(rows: &[Row]) -> String {
    let values: Vec<String> = rows.iter().map(|row| value_text(&row.value)).collect();
    let width =
        |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let keys = width(&mut rows.iter().map(|row| row.key.as_str()));
    // One long command must not push all origins out of sight.
    let middle = width(&mut values.iter().map(String::as_str)).min(40);
    let lines = rows.iter().zip(&values);
    let lines = lines.map(|(row, value)| format!("{:keys$}  {value:middle$}  {}", row.key, row.origin_text));
    lines.collect::<Vec<_>>().join("\n")
}

fn value_text(value: &Json) -> String {
    match value {
        Json::Null => "-".to_owned(),
        Json::String(text) => text.clone(),
        // A value given as 80 is shown as 80.
        Json::Number(number) => number
            .as_f64()
            .filter(|_| number.is_f64())
            .map_or_else(|| number.to_string(), |float| float.to_string()),
        Json::Bool(_) | Json::Array(_) | Json::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests;
