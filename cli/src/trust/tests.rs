use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::terminal::columns::UNBOUNDED;
use crate::terminal::environment::SETTINGS_FILE;
use crate::terminal::questions::scripted::Script;
use crate::terminal::style::Style;

/// A state folder, and one settings file of a project.
struct Setup {
    root: tempfile::TempDir,
}

impl Setup {
    fn new() -> Self {
        let setup = Self { root: tempfile::tempdir().unwrap() };
        setup.write("[agents.a]\ncommand = [\"a\"]\n");
        setup
    }

    fn write(&self, text: &str) {
        fs::write(self.root.path().join(SETTINGS_FILE), text).unwrap();
    }

    fn file(&self) -> TextFile {
        TextFile::read(&self.root.path().join(SETTINGS_FILE)).unwrap().unwrap()
    }

    fn store(&self) -> TrustStore {
        TrustStore::new(&Environment::fake(self.root.path(), &[]))
    }

    fn damage(&self, text: &str) -> String {
        let path = self.store().path;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let complaint = Complaint::from(self.store().trusts(&self.file(), &[]).unwrap_err());
        complaint.render(Style::PLAIN, UNBOUNDED).replace(path.parent().unwrap().to_str().unwrap(), "")
    }

    fn ensure(&self, person: Option<&dyn Answers>) -> Result<(), Complaint> {
        ensure(
            &self.file(),
            &[],
            Named::Agents(&["a".to_owned(), "b".to_owned()]),
            &self.store(),
            Consent::Asked(person),
        )
    }
}

#[test]
fn trust_is_bound_to_the_bytes_of_the_file() {
    let setup = Setup::new();
    assert!(!setup.store().trusts(&setup.file(), &[]).unwrap());
    setup.store().record(&setup.file(), &[]).unwrap();
    assert!(setup.store().trusts(&setup.file(), &[]).unwrap());
    assert_eq!(setup.ensure(None), Ok(()));
    setup.write("[agents.a]\ncommand = [\"evil\"]\n");
    assert!(!setup.store().trusts(&setup.file(), &[]).unwrap());
}

#[test]
fn nobody_else_may_read_or_write_the_record() {
    let setup = Setup::new();
    setup.store().record(&setup.file(), &[]).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&setup.store().path), 0o600);
    assert_eq!(mode(setup.store().path.parent().unwrap()), 0o700);
}

#[test]
fn unattended_what_is_not_trusted_is_bad_input_with_a_hint() {
    let setup = Setup::new();
    let complaint = setup.ensure(None).unwrap_err();
    assert_eq!(complaint.kind, ErrorKind::Input);
    let path = setup.file().path;
    insta::assert_snapshot!(complaint.render(Style::PLAIN, UNBOUNDED).replace(path.to_str().unwrap(), "/p/skilltune.toml"), @r"
    error: the agents of /p/skilltune.toml are not trusted: a, b
    hint: read the file, then run `skilltune trust /p/skilltune.toml`
    hint: or pass --trust to trust them for this run
    ");
    assert!(!setup.store().path.exists(), "nothing is written");
}

#[test]
fn a_person_may_agree_once_and_is_not_asked_again() {
    let setup = Setup::new();
    let person = Script::default();
    assert_eq!(setup.ensure(Some(&person)), Ok(()));
    assert_eq!(setup.ensure(Some(&person)), Ok(()));
    assert_eq!(person.asked.borrow().len(), 1);
    assert!(person.asked.borrow()[0].ends_with("sets which programs to run (a, b). Trust it?"));
}

#[test]
fn a_person_may_refuse() {
    let setup = Setup::new();
    let person = Script { agrees: false, ..Script::default() };
    assert_eq!(setup.ensure(Some(&person)).unwrap_err().kind, ErrorKind::Input);
    assert!(!setup.store().trusts(&setup.file(), &[]).unwrap());
}

#[test]
fn a_damaged_or_newer_record_says_so() {
    let setup = Setup::new();
    insta::assert_snapshot!(setup.damage("{\"format\": 1, \"trusted\": {\"/a\": \"b\"}}"), @r#"
    error: the trust record is damaged: /trust.json
    caused by: not a hash of 64 hex digits: "b" at line 1 column 36
    hint: delete /trust.json, then run `skilltune trust` for your projects again
    "#);
    assert!(setup.damage("").starts_with("error: the trust record is damaged"));
    insta::assert_snapshot!(setup.damage("{\"format\": 2}"), @r"
    error: /trust.json has format 2; this version of skilltune reads up to 1
    hint: update skilltune
    ");
    assert!(setup.store().record(&setup.file(), &[]).is_err(), "a newer record is never written over");
}
