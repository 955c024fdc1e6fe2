//! Cases of `claude plugin eval`: folders with a `prompt.md`, a `case.yaml` or both, and their graders.

mod grader;

use std::path::Path;

use serde_json::{Map, Value};
use skilltune_orchestrator::disk::SafePath;
use skilltune_phases::base::yaml;
use skilltune_phases::skills::skill;

use super::case::{Case, Reading, first_text};

type Object = Map<String, Value>;

/// Folders that are skipped.
const SKIPPED: [&str; 4] = ["node_modules", ".claude", "results", "mocks"];
const DEEPEST: usize = 8;
const MOST_FOLDERS: usize = 20_000;
const MOST_GRADERS: usize = 256;
const LARGEST: u64 = 1 << 20;

/// Keys of the front matter of `prompt.md` only.
const PROMPT: [&str; 6] = ["name", "description", "tags", "plugins", "expected_outcome", "schema_version"];

/// Keys for how a case is run.
const SETTINGS: [&str; 10] = [
    "runs",
    "model",
    "max_turns",
    "timeout_seconds",
    "allowed_tools",
    "disallowed_tools",
    "append_system_prompt",
    "env",
    "artifact_publish",
    "growthbook_overrides",
];

/// Keys at the top of `case.yaml`.
const CASE: [&str; 2] = ["description", "plugins"];

/// Keys under `execution` only.
const EXECUTION: [&str; 1] = ["prompt"];

/// Keys of every grader.
const GRADER: [&str; 5] = ["type", "name", "weight", "arm", "description"];

/// Reads all cases in a folder and below it; none if there are none.
pub(super) fn read(base: &Path) -> Result<Option<Reading>, String> {
    let mut found = Vec::new();
    let mut seen = 0;
    find(&SafePath::from(base), "", 0, &mut seen, &mut found)?;
    if found.is_empty() {
        return Ok(None);
    }
    let cases = found.iter().map(|(place, shown)| case(place, shown)).collect::<Result<Vec<_>, String>>()?;
    Ok(Some(Reading { base: base.to_owned(), cases, notes: Vec::new() }))
}

fn find(
    place: &SafePath,
    shown: &str,
    depth: usize,
    seen: &mut usize,
    found: &mut Vec<(SafePath, String)>,
) -> Result<(), String> {
    *seen += 1;
    if *seen > MOST_FOLDERS {
        return Err(format!("more than {MOST_FOLDERS} folders: pass the folder of the cases"));
    }
    if ["prompt.md", "case.yaml"].iter().any(|name| place.join(name).is_file()) {
        found.push((place.clone(), shown.to_owned()));
    }
    if depth == DEEPEST {
        return Ok(());
    }
    let names = place.names().map_err(|error| error.to_string())?;
    for name in names.into_iter().filter_map(|name| name.into_string().ok()) {
        let is_skipped = SKIPPED.contains(&name.as_str()) || name == ".git" || name == "graders";
        let below = place.join(&name);
        if !is_skipped && below.is_folder() {
            let shown = if shown.is_empty() { name } else { format!("{shown}/{name}") };
            find(&below, &shown, depth + 1, seen, found)?;
        }
    }
    Ok(())
}

fn case(place: &SafePath, shown: &str) -> Result<Case, String> {
    let at = |file: &str, what: &str| {
        let folder = if shown.is_empty() { String::new() } else { format!("{shown}/") };
        format!("{folder}{file}: {what}")
    };
    let page = text(place, "prompt.md").map_err(|what| at("prompt.md", &what))?;
    let (front, body) = match &page {
        Some(page) => fronted(page).map_err(|what| at("prompt.md", &what))?,
        None => (Object::new(), String::new()),
    };
    if let Some(key) = unknown(&front, &[&PROMPT, &SETTINGS]) {
        return Err(at("prompt.md", &format!("unknown key `{key}`")));
    }
    let sheet = text(place, "case.yaml").map_err(|what| at("case.yaml", &what))?;
    let sheet = sheet.map(|text| mapping(&text)).transpose().map_err(|what| at("case.yaml", &what))?;
    if let Some(sheet) = &sheet {
        versioned(sheet).map_err(|what| at("case.yaml", &what))?;
    }
    let sheet = sheet.unwrap_or_default();
    let execution = sheet.get("execution").and_then(Value::as_object).cloned().unwrap_or_default();
    // If both define a key, the page wins.
    let said = |key: &str| first_text(&front, &[key]).or_else(|| first_text(&sheet, &[key]));
    let prompt = Some(body).filter(|body| !body.trim().is_empty());
    let prompt = prompt.or_else(|| first_text(&execution, &["prompt"])).unwrap_or_default();
    let mut case = Case::new(prompt.trim());
    let folder = shown.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned);
    case.title = said("name").or(folder);
    case.scenario.expected = said("expected_outcome").map(Into::into);
    [&front, &sheet].iter().filter_map(|object| object.get("tags")).for_each(|tags| case.tag(tags));
    note_lost(&mut case, &front, &sheet, &execution);
    if let Some(context) = sheet.get("context").and_then(Value::as_object) {
        for key in context.keys() {
            case.lose(match key.as_str() {
                "scaffold_script" => {
                    "`scaffold_script` is not converted: use a `setup` command in suite.toml".to_owned()
                }
                "history_file" => {
                    "`history_file` is not converted: the task begins with its prompt".to_owned()
                }
                other => format!("`context.{other}` is not converted"),
            });
        }
    }
    graders(place, &sheet, &mut case).map_err(|(file, what)| at(&file, &what))?;
    Ok(case)
}

/// Notes the settings that skilltune decides itself.
fn note_lost(case: &mut Case, front: &Object, sheet: &Object, execution: &Object) {
    let lost = |object: &Object, read: &[&str]| -> Vec<String> {
        object.keys().filter(|key| !read.contains(&key.as_str())).cloned().collect()
    };
    let mut keys = lost(front, &["name", "tags", "expected_outcome", "schema_version"]);
    keys.extend(lost(
        sheet,
        &["schema_version", "name", "tags", "expected_outcome", "execution", "graders", "context"],
    ));
    keys.extend(lost(execution, &["prompt"]));
    for key in keys {
        let is_known = SETTINGS.contains(&key.as_str())
            || CASE.contains(&key.as_str())
            || EXECUTION.contains(&key.as_str());
        case.note(if is_known {
            format!("`{key}` is not converted")
        } else {
            format!("unknown key `{key}`")
        });
    }
}

/// Reads the graders of the folder and of the sheet, each name once.
fn graders(place: &SafePath, sheet: &Object, case: &mut Case) -> Result<(), (String, String)> {
    let folder = place.join("graders");
    let names = folder.names().map_err(|error| ("graders".to_owned(), error.to_string()))?;
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    let names: Vec<String> = names.filter(|name| name.strip_suffix(".md").is_some()).collect();
    let listed = sheet.get("graders").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if names.len() + listed.len() > MOST_GRADERS {
        return Err(("graders".to_owned(), format!("more than {MOST_GRADERS}")));
    }
    let mut known = Vec::new();
    for file in names {
        let at = |what: String| (format!("graders/{file}"), what);
        let page = text(&folder, &file).map_err(at)?.unwrap_or_default();
        if matches!(skill::split(&page), Err(skill::SkillError::NotOpened)) {
            case.note(format!("graders/{file} is skipped: it has no front matter"));
            continue;
        }
        let (front, body) = fronted(&page).map_err(at)?;
        let name = file.trim_end_matches(".md");
        grader::read(&front, name, Some(body.trim()), case).map_err(at)?;
        known.push(name.to_owned());
    }
    for entry in listed {
        let at = |what: String| ("case.yaml".to_owned(), format!("graders: {what}"));
        let entry = entry.as_object().ok_or_else(|| at("an entry is not a mapping".to_owned()))?;
        let name = first_text(entry, &["name"]).ok_or_else(|| at("an entry has no name".to_owned()))?;
        if known.contains(&name) {
            return Err(at(format!("duplicate grader name `{name}`")));
        }
        grader::read(entry, &name, None, case).map_err(at)?;
        known.push(name);
    }
    if case.demands.is_empty() {
        case.note("none of its graders can be used");
    }
    Ok(())
}

fn text(folder: &SafePath, name: &str) -> Result<Option<String>, String> {
    let bytes = folder.join(name).read(LARGEST).map_err(|error| error.to_string())?;
    bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| "it is not text in UTF-8".to_owned())).transpose()
}

/// Returns the front matter, if any, and the rest.
fn fronted(page: &str) -> Result<(Object, String), String> {
    match skill::split(page) {
        Err(skill::SkillError::NotOpened) => Ok((Object::new(), page.to_owned())),
        Err(error) => Err(error.to_string()),
        Ok((front, body)) => Ok((mapping(front)?, body.to_owned())),
    }
}

fn mapping(text: &str) -> Result<Object, String> {
    match yaml::value(text).map_err(|error| error.to_string())? {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(Object::new()),
        _ => Err("it is not a mapping of keys".to_owned()),
    }
}

/// Returns the additional keys of a grader's type.
fn of_grader(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "regex" => &["pattern", "flags", "match", "target"],
        "tool_used" => &["tool", "input_match", "min", "max"],
        "tool_order" => &["before", "after"],
        "file_exists" => &["path", "exists"],
        "llm" => &["criteria", "focus"],
        "baseline" => &["baseline_file", "criteria"],
        _ => return None,
    })
}

fn unknown<'o>(object: &'o Object, known: &[&[&str]]) -> Option<&'o str> {
    object.keys().map(String::as_str).find(|key| !known.iter().any(|known| known.contains(key)))
}

/// Fails unless the sheet has version 1 and a name.
fn versioned(sheet: &Object) -> Result<(), String> {
    let version =
        sheet.get("schema_version").and_then(super::case::text).ok_or("`schema_version` is missing")?;
    let major = version.split('.').next().and_then(|major| major.parse::<u64>().ok());
    if major.is_none_or(|major| major > 1) {
        return Err(format!("`schema_version` {version} is newer than 1"));
    }
    if first_text(sheet, &["name"]).is_none() {
        return Err("`name` is missing".to_owned());
    }
    Ok(())
}
