//! `--roles`: the experts that may advise on the tasks of a run.

use std::str::FromStr;

use clap::builder::ValueParser;
use serde_json::{Value as Json, json};
use skilltune_phases::experts;
use skilltune_phases::loops::evolve::task::Adviser;
use skilltune_phases::loops::expert::{Origin, Persona};
use toml::de::DeValue;

use crate::loops::expert::resolve::{Resolved, resolve};
use crate::loops::expert::roster::{Entry, Roster};
use crate::settings::range::Range;
use crate::settings::setting::{Readable, texts};
use crate::terminal::complaint::Complaint;
use crate::text::plain::one_line;
use crate::trust::file::TextFile;
use crate::trust::{TrustError, TrustStore};

/// Which experts may advise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RolesFlag {
    /// All that a person trusts.
    #[default]
    Auto,
    None,
    Named(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be auto, none, or names of experts, comma-separated")]
pub struct BadRoles;

/// The experts of a run, with remarks about them and the files that a person has to trust.
#[derive(Debug, Default)]
pub struct Advisers {
    pub experts: Vec<Adviser>,
    pub remarks: Vec<String>,
    /// The project's experts among them, which a person has to trust.
    pub foreign: Vec<(TextFile, String)>,
}

/// One call chooses among all experts, and more make it long.
const MOST: usize = 100;
/// The most names that a hint suggests or a remark lists.
const SHOWN: usize = 3;

const AUTO: &str = "auto";
const NONE: &str = "none";

/// Returns the experts that may advise. With `trusts_all` (`--trust`) those are all; otherwise `auto` leaves out experts
/// of the project whose files a person does not trust yet, and those that are named wait for a person's trust.
pub fn advisers(
    roles: &RolesFlag,
    roster: Roster,
    store: &TrustStore,
    trusts_all: bool,
) -> Result<Advisers, Complaint> {
    let (entries, remarks) = match roles {
        RolesFlag::None => return Ok(Advisers::default()),
        RolesFlag::Auto => all(roster, |entry| Ok(trusts_all || is_trusted(entry, store)?))?,
        RolesFlag::Named(names) => {
            let entries = named(roster, names)?;
            let remarks = entries.iter().flat_map(|entry| entry.shadow().into_iter().chain(entry.ignored()));
            let remarks = remarks.collect();
            (entries, remarks)
        }
    };
    let foreign = entries.iter().filter_map(Entry::foreign).collect();
    Ok(Advisers { experts: entries.into_iter().map(adviser).collect(), remarks, foreign })
}

/// Returns the experts that are trusted, with remarks. A built-in one stays if the file that replaces it is not.
fn all(
    roster: Roster,
    is_trusted: impl Fn(&Entry) -> Result<bool, TrustError>,
) -> Result<(Vec<Entry>, Vec<String>), Complaint> {
    let (mut chosen, mut left_out) = (Vec::new(), Vec::new());
    let built_in = experts::built_in();
    for entry in roster.entries {
        if is_trusted(&entry)? {
            chosen.push(entry);
            continue;
        }
        let own = built_in.iter().find(|own| own.name == entry.expert.name).cloned();
        let own = own.map(|expert| Entry { expert, origin: Origin::BuiltIn, file: None, shadows: false });
        chosen.extend(own);
        left_out.push(entry.expert.name);
    }
    let too_many = chosen.split_off(chosen.len().min(MOST)).into_iter();
    let too_many: Vec<String> = too_many.map(|entry| entry.expert.name).collect();
    let remark = |names: &[String], why: &str| {
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        let listed = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| one_line(&format!("{why}: {listed}{more}")))
    };
    let untrusted =
        remark(&left_out, "these experts of the project do not advise until you trust their files");
    let too_many =
        remark(&too_many, &format!("only {MOST} experts advise; to ask these, name all in --roles"));
    let remarks = chosen.iter().filter_map(Entry::shadow).chain(untrusted).chain(too_many).collect();
    Ok((chosen, remarks))
}

fn is_trusted(entry: &Entry, store: &TrustStore) -> Result<bool, TrustError> {
    match (entry.origin, &entry.file) {
        (Origin::BuiltIn | Origin::User, _) => Ok(true),
        (Origin::Project, Some(file)) => store.trusts(file, &[]),
        (Origin::Project, None) => Ok(false),
    }
}

/// Returns the experts with these names, each once, in the order of the roster: the order of names changes no answer.
fn named(roster: Roster, names: &[String]) -> Result<Vec<Entry>, Complaint> {
    let mut places = Vec::new();
    for name in names {
        places.push(roster.place(name).ok_or_else(|| unknown(name, &roster))?);
    }
    let entries = roster.entries.into_iter().enumerate();
    Ok(entries.filter(|(at, _)| places.contains(at)).map(|(_, entry)| entry).collect())
}

fn unknown(name: &str, roster: &Roster) -> Complaint {
    let complaint = Complaint::input(one_line(&format!("there is no expert named {name:?}")));
    let complaint = match roster.why_skipped(name) {
        Some(why) => complaint.caused_by(why),
        None => complaint,
    };
    let mut near = match resolve(name, roster.names()) {
        Resolved::Exact(name) => vec![name],
        Resolved::Close(names) | Resolved::Unknown(names) => names,
    };
    near.truncate(SHOWN);
    complaint
        .hint(format!("the nearest names: {}", near.join(", ")))
        .hint("`skilltune expert` lists all experts")
}

fn adviser(entry: Entry) -> Adviser {
    let Entry { expert, origin, .. } = entry;
    Adviser {
        persona: Persona { name: expert.name, persona: expert.persona, origin, digest: expert.digest },
        domains: expert.domain.into_iter().map(Into::into).collect(),
        description: expert.description.into(),
    }
}

impl RolesFlag {
    fn named(names: &[String]) -> Option<Self> {
        let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        let is_odd = |name: &String| name.is_empty() || [AUTO, NONE].contains(&name.as_str());
        (!names.is_empty() && !names.iter().any(is_odd)).then_some(Self::Named(names))
    }
}

impl FromStr for RolesFlag {
    type Err = BadRoles;

    fn from_str(text: &str) -> Result<Self, BadRoles> {
        match text.trim() {
            AUTO => Ok(Self::Auto),
            NONE => Ok(Self::None),
            text => {
                let names: Vec<String> = text.split(',').map(str::to_owned).collect();
                Self::named(&names).ok_or(BadRoles)
            }
        }
    }
}

impl Readable for RolesFlag {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        match value.as_str() {
            Some(text) => text.parse().ok(),
            None => Self::named(&texts(value)?),
        }
    }

    fn must_be(_: Range) -> String {
        "\"auto\", \"none\", or a list of names, such as [\"architect\", \"security\"]".to_owned()
    }

    fn schema(_: Range) -> Json {
        let name = json!({ "type": "string", "minLength": 1 });
        json!({ "anyOf": [{ "enum": [AUTO, NONE] }, name, { "type": "array", "minItems": 1, "items": name }] })
    }

    fn json(&self) -> Json {
        match self {
            Self::Auto => AUTO.into(),
            Self::None => NONE.into(),
            Self::Named(names) => names.clone().into(),
        }
    }

    fn parser(_: Range) -> ValueParser {
        ValueParser::from(Self::from_str)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::settings::range::ANY;
    use crate::terminal::environment::Environment;

    /// A project with an expert of its own, and one that replaces a built-in one.
    struct Scene {
        folder: tempfile::TempDir,
        env: Environment,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let experts = folder.path().join(".agents/experts");
            fs::create_dir_all(&experts).unwrap();
            for name in ["dba", "architect"] {
                let text = format!("---\nname: {name}\ndescription: Theirs.\ndomain: [SQL]\n---\n\nObey.\n");
                fs::write(experts.join(format!("{name}.md")), text).unwrap();
            }
            let env = Environment::fake(folder.path(), &[]);
            Self { folder, env }
        }

        fn roster(&self) -> Roster {
            let place = self.folder.path();
            Roster::read(place, place, &crate::loops::default_settings(), &self.env)
        }

        fn advisers(&self, roles: &str, trusts_all: bool) -> Result<Advisers, Complaint> {
            let store = TrustStore::new(&self.env);
            advisers(&roles.parse().unwrap(), self.roster(), &store, trusts_all)
        }
    }

    fn persona<'a>(advisers: &'a Advisers, name: &str) -> Option<&'a Persona> {
        advisers.experts.iter().map(|one| &one.persona).find(|persona| persona.name == name)
    }

    #[test]
    fn all_experts_advise_except_those_whose_files_are_not_trusted() {
        let scene = Scene::new();
        let all = scene.advisers("auto", false).unwrap();
        assert_eq!((all.experts.len(), all.foreign.len()), (12, 0));
        assert_eq!(persona(&all, "architect").unwrap().origin, Origin::BuiltIn, "the built-in one stays");
        let why = "these experts of the project do not advise until you trust their files: architect, dba";
        assert_eq!(all.remarks, [why]);

        let trusted = scene.advisers("auto", true).unwrap();
        assert_eq!((trusted.experts.len(), trusted.foreign.len()), (13, 2));
        assert_eq!(persona(&trusted, "architect").unwrap().persona, "Obey.");

        let file = trusted.foreign.iter().find(|(_, name)| name == "dba").unwrap().0.clone();
        TrustStore::new(&scene.env).record(&file, &[]).unwrap();
        let one = scene.advisers("auto", false).unwrap();
        assert_eq!((one.experts.len(), one.foreign.len()), (13, 1));
        assert_eq!(*one.experts.last().unwrap().domains, [Box::from("SQL")]);
    }

    #[test]
    fn names_are_those_of_a_review_and_none_asks_no_expert() {
        let scene = Scene::new();
        let names = |roles: &str| -> Vec<String> {
            let experts = scene.advisers(roles, false).unwrap().experts;
            experts.into_iter().map(|one| one.persona.name).collect()
        };
        assert_eq!(names("none"), [""; 0]);
        assert_eq!(
            names("dba, security,designer,security-reviewer"),
            ["designer", "security-reviewer", "dba"]
        );
        let own = scene.advisers("dba", false).unwrap();
        assert_eq!(own.foreign[0].1, "dba", "a person has to trust its file");
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_ones() {
        let scene = Scene::new();
        for (name, nearest) in [("securty", "security-reviewer"), ("qa", "qa-engineer")] {
            let text = scene.advisers(name, false).unwrap_err().in_one_line();
            let hint = format!("{:?}", scene.advisers(name, false).unwrap_err());
            assert!(text.contains(&format!("there is no expert named {name:?}")), "{text}");
            assert!(hint.contains(&format!("the nearest names: {nearest}")), "{hint}");
        }
    }

    #[test]
    fn the_flag_and_the_setting_say_the_same() {
        let named = RolesFlag::Named(vec!["architect".into(), "security".into()]);
        let cases = [
            ("auto", "\"auto\"", Some(RolesFlag::Auto)),
            (" none ", "\"none\"", Some(RolesFlag::None)),
            ("architect, security", "[\"architect\", \"security\"]", Some(named)),
            ("", "[]", None),
            ("auto,architect", "[\"auto\", \"architect\"]", None),
            ("architect,,x", "[\"architect\", \"\"]", None),
        ];
        for (flag, setting, expected) in cases {
            let value = DeValue::parse(setting).unwrap();
            let read = RolesFlag::read(value.get_ref(), ANY);
            let given = (flag.parse::<RolesFlag>().ok(), read);
            assert_eq!(given, (expected.clone(), expected.clone()), "{flag}");
            if let Some(roles) = expected {
                assert_eq!(roles.json(), serde_json::from_str::<Json>(setting).unwrap());
            }
        }
    }
}
