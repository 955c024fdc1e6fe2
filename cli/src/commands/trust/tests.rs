use std::path::PathBuf;

use super::*;
use crate::settings::values::Format;
use crate::terminal::columns::UNBOUNDED;
use crate::terminal::style::Style;

fn trust(root: &tempfile::TempDir, path: &str) -> Result<String, Complaint> {
    let env = Environment::fake(root.path(), &[]);
    // An empty path stands for no path.
    let path = Some(PathBuf::from(path)).filter(|path| !path.as_os_str().is_empty());
    let args = TrustArgs { path, format: Format::Human };
    record(&args, &env).map(|Trusted { path, contents }| format!("trusted: {}{contents}", path.display()))
}

fn world(settings: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join(SETTINGS_FILE), settings).unwrap();
    root
}

#[test]
fn a_file_or_its_folder_or_the_file_of_the_project_is_trusted() {
    for path in [".", SETTINGS_FILE, ""] {
        let root = world("[agents.a]\ncommand = [\"a\"]\n");
        assert!(trust(&root, path).unwrap().ends_with("agent a: \"a\""));
        let file = TextFile::read(&root.path().join(SETTINGS_FILE)).unwrap().unwrap();
        assert!(TrustStore::new(&Environment::fake(root.path(), &[])).trusts(&file, &[]).unwrap());
    }
}

#[test]
fn what_is_missing_or_broken_or_something_else_is_refused() {
    let root = world("[agent]\n");
    std::fs::create_dir(root.path().join("empty")).unwrap();
    let refusals = [".", "empty", "missing", "other.toml"].map(|path| {
        let complaint = trust(&root, path).unwrap_err();
        assert_eq!(complaint.exit(), Exit::Input);
        let real = root.path().canonicalize().unwrap();
        let text = complaint.render(Style::PLAIN, UNBOUNDED).replace(real.to_str().unwrap(), "");
        text.replace(root.path().to_str().unwrap(), "")
    });
    insta::assert_snapshot!(refusals.join("\n"), @r"
    error: /skilltune.toml:1: unknown key `agent`
    hint: did you mean `agents`?
    error: /empty/skilltune.toml does not exist
    hint: pass a skilltune.toml, its folder, a suite, a file of rules, a file of jobs, an expert, or moai's design.yaml
    error: /missing does not exist
    hint: pass a skilltune.toml, its folder, a suite, a file of rules, a file of jobs, an expert, or moai's design.yaml
    error: /other.toml does not exist
    hint: pass a skilltune.toml, its folder, a suite, a file of rules, a file of jobs, an expert, or moai's design.yaml
    ");
    assert!(!root.path().join("home").exists(), "nothing is written");
}

#[test]
fn it_is_said_what_is_trusted_and_no_secret() {
    let wrap = "[calls]\nwrap = [\"box\", \"{workspace}\"]\n";
    let agent = "[agents.a]\ncommand = [\"prog\", \"two words\"]\nenv.set.TOKEN = \"s3cret\"\n";
    let root = world(&format!("{wrap}{agent}"));
    let file = TextFile::read(&root.path().join(SETTINGS_FILE)).unwrap().unwrap();
    let mut settings = crate::loops::default_settings();
    settings.apply_file(&file, &Origin::Default).unwrap();
    let text = format!("trusted:{}", named(&settings, &Pages::default()));
    insta::assert_snapshot!(text, @r#"
    trusted:
      agent a: "prog" "two words"
      calls.wrap: "box" "{workspace}"
    "#);
}

#[test]
fn the_commands_of_a_project_are_trusted_and_shown_with_their_scripts() {
    let root = world("[commands]\nlint = [\"sh\", \"lint.sh\"]\ntest = [\"make\", \"test\"]\n");
    std::fs::write(root.path().join("lint.sh"), "true").unwrap();
    let said = trust(&root, ".").unwrap();
    let shown =
        "\n  no agents\n  commands.lint: \"sh\" \"lint.sh\"\n  commands.test: \"make\" \"test\"\n  with ";
    assert!(said.contains(shown) && said.ends_with("/lint.sh"), "{said}");
    let env = Environment::fake(root.path(), &[]);
    let settings = crate::loops::settings(root.path(), &env).unwrap();
    let file = settings.project_file.as_ref().unwrap();
    let trusts = || {
        let scripts = casting::command_scripts(&settings).unwrap();
        (scripts.len(), TrustStore::new(&env).trusts(file, &scripts).unwrap())
    };
    assert_eq!(trusts(), (1, true));
    std::fs::write(root.path().join("lint.sh"), "false").unwrap();
    assert_eq!(trusts(), (1, false));
}

#[test]
fn the_originals_settings_are_trusted_and_shown() {
    let root = world("");
    let folder = root.path().join(".moai/config/sections");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |text: &str| std::fs::write(folder.join("design.yaml"), text).unwrap();
    let path = ".moai/config/sections/design.yaml";
    write("design:\n  gan_loop:\n    max_iterations: 4\n    pass_threshold: 0.8\n");
    let said = trust(&root, path).unwrap();
    assert!(said.ends_with("design.yaml\n  max_iterations 4\n  pass_threshold 0.8"), "{said}");
    let file = TextFile::read(&root.path().join(path)).unwrap().unwrap();
    assert!(TrustStore::new(&Environment::fake(root.path(), &[])).trusts(&file, &[]).unwrap());
    write("design: {evaluator: {memory_scope: all}, gan_lop: {}, gan_loop: {}}\n");
    let said = trust(&root, path).unwrap();
    let idle = "it has unknown keys, which do nothing: gan_lop\n  it sets evaluator.memory_scope all, ";
    assert!(said.contains(&format!("design.yaml\n  no settings\n  {idle}")), "{said}");
    let outside = "gan_loop: {sprint_contract: {artifact_dir: ../up}}\n";
    let large = format!("gan_loop: {{}}\n#{}\n", "x".repeat(256 << 10));
    for (wrong, why) in [
        ("design: {}\n", "it has no gan_loop"),
        ("gan_loop: {pass_threshold: 0.5}\n", "from 0.60 to 1.00"),
        (outside, "a folder inside the project"),
        (large.as_str(), "more than 262144 bytes"),
    ] {
        write(wrong);
        let complaint = trust(&root, path).unwrap_err();
        assert!(complaint.what.contains(why), "{complaint:?}");
    }
    std::fs::rename(folder.join("design.yaml"), root.path().join("elsewhere.yaml")).unwrap();
    std::os::unix::fs::symlink("../../../elsewhere.yaml", folder.join("design.yaml")).unwrap();
    let complaint = trust(&root, path).unwrap_err();
    assert!(complaint.what.contains("it is a symlink"), "{complaint:?}");
}

#[test]
fn a_suite_is_trusted_with_its_commands() {
    let root = world("");
    let suite = "[[scenarios]]\nid = 'a'\ndescription = 'b'\ncommand = ['sh', 'run it']\n";
    std::fs::write(root.path().join("suite.toml"), suite).unwrap();
    assert!(trust(&root, "suite.toml").unwrap().ends_with("suite.toml\n  scenario a: \"sh\" \"run it\""));
    let file = TextFile::read(&root.path().join("suite.toml")).unwrap().unwrap();
    assert!(TrustStore::new(&Environment::fake(root.path(), &[])).trusts(&file, &[]).unwrap());
}
