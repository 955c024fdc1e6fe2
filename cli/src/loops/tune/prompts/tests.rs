use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::settings::Files;
use crate::terminal::columns::UNBOUNDED;
use crate::terminal::style::Style;

const JUDGE: &str = include_str!("../../../../../phases/prompts/evaluate.md");

/// A project whose settings name a page, and a user's own that name another.
fn files() -> Files {
    let named = |page: &str| format!("[prompts]\n{page} = \"pages/own.md\"\n");
    let files = Files::new(&named("task"), &named("evaluate"));
    for (folder, text) in [(files.project(), JUDGE), (files.env().config, TASK)] {
        fs::create_dir(folder.join("pages")).unwrap();
        fs::write(folder.join("pages/own.md"), text).unwrap();
    }
    files
}

const TASK: &str = "{% if call %}\n{{ call }}\n{% endif %}\n{{ task }}\n";

fn complaint(files: &Files, pages: Result<Prompts, Complaint>) -> String {
    let message = pages.unwrap_err().render(Style::PLAIN, UNBOUNDED);
    message.replace(files.project().to_str().unwrap(), "/p")
}

fn read_checked(files: &Files) -> Result<Prompts, Complaint> {
    Pages::read(&files.load())?.checked()
}

#[test]
fn each_page_is_read_beside_the_settings_that_name_it() {
    let prompts = read_checked(&files()).unwrap();
    let expected = Prompts { task: Some(TASK.into()), evaluate: Some(JUDGE.into()), ..Prompts::default() };
    assert_eq!(prompts, expected);
    assert_eq!(read_checked(&Files::new("", "")), Ok(Prompts::default()));
}

#[test]
fn what_is_no_page_beside_its_settings_is_refused() {
    let wrong = |make: &dyn Fn(&Path)| {
        let files = files();
        let own = files.project().join("pages/own.md");
        fs::remove_file(&own).unwrap();
        make(&own);
        complaint(&files, read_checked(&files))
    };
    let refusals = [
        wrong(&|_| ()),
        wrong(&|own| fs::create_dir(own).unwrap()),
        wrong(&|own| symlink("/etc/hostname", own).unwrap()),
        wrong(&|own| fs::write(own, "x".repeat((256 << 10) + 1)).unwrap()),
        wrong(&|own| fs::write(own, b"\xff").unwrap()),
        wrong(&|own| fs::write(own, format!("{JUDGE}\n{{{{ round }}}}\n")).unwrap()),
    ];
    insta::assert_snapshot!(refusals.join("\n"), @r"
    error: cannot read the prompt /p/pages/own.md
    caused by: No such file or directory (os error 2)
    hint: /p/skilltune.toml names it as prompts.evaluate
    error: cannot read the prompt /p/pages/own.md
    caused by: it is not a regular file
    hint: /p/skilltune.toml names it as prompts.evaluate
    error: the prompt /p/pages/own.md is outside /p
    hint: /p/skilltune.toml names it as prompts.evaluate
    error: the prompt /p/pages/own.md is larger than 256 KiB
    hint: /p/skilltune.toml names it as prompts.evaluate
    error: cannot read the prompt /p/pages/own.md
    caused by: invalid utf-8 sequence of 1 bytes from index 0
    hint: /p/skilltune.toml names it as prompts.evaluate
    error: /p/pages/own.md:125: unknown variable `round`; known: activity, artifacts, dimensions, entries, is_chain, nonce, of_effect, reading, retry_error, scenario, skills, start, unused
    hint: see docs/prompts.md for what the prompt `evaluate` must contain
    ");
}

#[test]
fn a_link_within_the_folder_is_followed() {
    let files = files();
    let pages = files.project().join("pages");
    fs::rename(pages.join("own.md"), pages.join("real.md")).unwrap();
    symlink("real.md", pages.join("own.md")).unwrap();
    assert_eq!(read_checked(&files).unwrap().evaluate.as_deref(), Some(JUDGE));
}

#[test]
fn a_projects_page_is_trusted_with_its_settings_and_a_users_own_needs_none() {
    let files = files();
    let ensured = |files: &Files| {
        let settings = files.load();
        Pages::read(&settings).unwrap().ensure_trusted(&settings, &files.env(), Consent::Asked(None))
    };
    let trusted = || Pages::trusted(&files.load(), &files.env());
    assert_eq!(trusted(), Some(false));
    let message = complaint(&files, ensured(&files).map(|()| Prompts::default()));
    insta::assert_snapshot!(message, @r"
    error: the prompts of /p/skilltune.toml are not trusted: evaluate
    hint: read the file and its prompts, then run `skilltune trust /p/skilltune.toml`
    hint: or pass --trust to trust them for this run
    ");
    let file = files.load().project_file.unwrap();
    let store = TrustStore::new(&files.env());
    store.record(&file, &[]).unwrap();
    assert!(ensured(&files).is_err(), "the settings alone are not what is said");
    let settings = files.load();
    let pages = Pages::read(&settings).unwrap();
    let all: Vec<Pinned> = pages.files().map(|(_, file)| Pinned::from(file)).collect();
    store.record(&file, &all).unwrap();
    assert_eq!(trusted(), Some(true));
    assert_eq!(ensured(&files), Ok(()));
    fs::write(files.project().join("pages/own.md"), format!("{JUDGE}\n")).unwrap();
    assert!(ensured(&files).is_err(), "another byte, another page");
    fs::write(files.project().join("skilltune.toml"), "").unwrap();
    assert_eq!(ensured(&files), Ok(()), "what the user's own settings name needs no trust");
}
