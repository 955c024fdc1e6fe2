//! The packages: versions and addresses stand in one place, names agree, and workflows run only what is pinned.
//!
//! packaging/try installs the packages themselves.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::Value;
use toml::Table;

use crate::scene::{Ran, Scene};

/// The actions that may be used, by their hashes, and the version that a comment names.
const ACTIONS: [(&str, &str, &str); 7] = [
    ("PyO3/maturin-action", "86b9d133d34bc1b40018696f782949dac11bd380", "v1.49.4"),
    ("actions/attest-build-provenance", "c074443f1aee8d4aeeae555aebba3282517141b2", "v2.2.3"),
    ("actions/checkout", "11d5960a326750d5838078e36cf38b85af677262", "v4.4.0"),
    ("actions/download-artifact", "d3f86a106a0bac45b974a628896c90dbdf5c8093", "v4.3.0"),
    ("actions/setup-node", "49933ea5288caeca8642d1e84afbd3f7d6820020", "v4.4.0"),
    ("actions/upload-artifact", "ea165f8d65b6e75b540449e92b4886f43607fa02", "v4.6.2"),
    ("pypa/gh-action-pypi-publish", "dc37677b2e1c63e2034f94d8a5b11f265b73ba33", "v1"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn table(path: &str) -> Table {
    read(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the files that git has, or would add, and that are text.
fn texts() -> Vec<(String, String)> {
    let mut git = Command::new("git");
    let listed = git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let listed = String::from_utf8(listed.output().unwrap().stdout).unwrap();
    let files = listed.lines().map(str::to_owned);
    files.filter_map(|path| fs::read_to_string(root().join(&path)).ok().map(|text| (path, text))).collect()
}

/// Returns the workflows and the action of this repository.
fn workflows() -> Vec<(String, String)> {
    let folder = root().join(".github/workflows");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.push(root().join("action.yml"));
    let paths = paths.into_iter().filter(|path| path.exists());
    paths.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn every_version_of_ours_is_that_of_the_workspace() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(table("Cargo.toml")["workspace"]["package"]["version"].as_str(), Some(version));
    for package in ["cli", "orchestrator", "phases", "phases/proof", "tests/worlds", "benches/research"] {
        let manifest = table(&format!("{package}/Cargo.toml"));
        assert_eq!(manifest["package"]["version"]["workspace"].as_bool(), Some(true), "{package}");
    }
    for lock in ["Cargo.lock", "tests/agents/Cargo.lock"] {
        let lock = table(lock);
        let packages = lock["package"].as_array().unwrap().iter();
        let ours = packages.filter(|one| one.get("source").is_none());
        let versions: BTreeSet<&str> = ours.map(|one| one["version"].as_str().unwrap()).collect();
        assert_eq!(versions.into_iter().collect::<Vec<_>>(), [version]);
    }
    assert!(
        !table("packaging/pypi/pyproject.toml").contains_key("project"),
        "maturin takes it from Cargo.toml"
    );
    // Manifests of plugins are read as they stand in the repository, so they cannot take it from there.
    let manifests = texts().into_iter().filter(|(path, _)| {
        let name = path.rsplit('/').next().unwrap();
        ["plugin.json", "gemini-extension.json"].contains(&name) && !path.starts_with("fixtures/")
    });
    for (path, text) in manifests {
        let manifest: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(manifest["version"], version, "{path}");
    }
}

#[test]
fn the_address_of_the_repository_stands_once() {
    let address = table("Cargo.toml")["workspace"]["package"]["repository"].as_str().unwrap().to_owned();
    let project = address.strip_prefix("https://github.com/").unwrap().to_owned();
    let inherits = |package: &Table| package["package"]["repository"]["workspace"].as_bool();
    assert_eq!(inherits(&table("cli/Cargo.toml")), Some(true));
    // A fork has another owner; a badge or a link of it would be one more place.
    let any_owner = Regex::new(r"(?i)[\w.-]+/skilltune(?:\.git)?\b").unwrap();
    let of_github = Regex::new(r"github\.com[/:]([\w.-]+/[\w.-]+)").unwrap();
    let typed =
        texts().into_iter().filter(|(path, _)| !path.starts_with("fixtures/")).flat_map(|(path, text)| {
            let found = of_github.captures_iter(&text).map(|found| found[1].to_owned());
            let found = found.filter(|found| *found == project || any_owner.is_match(found));
            found.map(|found| (path.clone(), found)).collect::<Vec<_>>()
        });
    let allowed = ["Cargo.toml", "tests/suite/packaging.rs"];
    let typed: Vec<_> = typed.filter(|(path, _)| !allowed.contains(&path.as_str())).collect();
    assert!(typed.is_empty(), "take it from Cargo.toml: {typed:?}");
}

#[test]
fn a_release_is_refused_while_the_owner_is_not_known() {
    let ready = |root: &Path, tag: &str| {
        let output = Command::new("bash").arg(root.join("packaging/ready")).arg(tag).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("packaging")).unwrap();
    fs::copy(root().join("packaging/ready"), folder.path().join("packaging/ready")).unwrap();
    let write = |owner: &str| {
        let manifest = format!(
            "[workspace.package]\nversion = \"1.2.3\"\nrepository = \"https://github.com/{owner}/skilltune\"\n"
        );
        fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    };
    write("OWNER");
    let (is_ready, why) = ready(folder.path(), "v1.2.3");
    assert!(!is_ready && why.contains("the repository is still"), "{why}");
    write("somebody");
    let (is_ready, why) = ready(folder.path(), "v1.2.4");
    assert!(!is_ready && why.contains("the tag is v1.2.4"), "{why}");
    assert_eq!(ready(folder.path(), "v1.2.3"), (true, String::new()));
    assert!(read(".github/workflows/release.yml").contains("run: packaging/ready \"$GITHUB_REF_NAME\""));
}

#[test]
fn binstall_finds_the_archives_that_dist_makes() {
    let manifest = table("cli/Cargo.toml");
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let workspace = table("Cargo.toml");
    let repository = workspace["workspace"]["package"]["repository"].as_str().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let dist = table("dist-workspace.toml");
    let (dist, mut targets) = (&dist["dist"], Vec::new());
    let ending = dist["unix-archive"].as_str().unwrap();
    for target in dist["targets"].as_array().unwrap() {
        let target = target.as_str().unwrap();
        let expanded = |template: &str| {
            let values = [
                ("{ repo }", repository),
                ("{ version }", version),
                ("{ name }", "skilltune"),
                ("{ target }", target),
                ("{ bin }", "skilltune"),
                ("{ binary-ext }", ""),
            ];
            values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
        };
        let archive = format!("{repository}/releases/download/v{version}/skilltune-{target}{ending}");
        assert_eq!(expanded(binstall["pkg-url"].as_str().unwrap()), archive);
        let program = format!("skilltune-{target}/skilltune");
        assert_eq!(expanded(binstall["bin-dir"].as_str().unwrap()), program);
        targets.push(target);
    }
    assert_eq!((ending, binstall["pkg-fmt"].as_str()), (".tar.gz", Some("tgz")));
    let npm: Value = serde_json::from_str(&read("packaging/npm/platforms.json")).unwrap();
    assert_eq!(npm.as_object().unwrap().keys().collect::<Vec<_>>(), targets, "npm has the platforms of dist");
    let binaries = read(".github/workflows/build-binaries.yml");
    assert!(targets.iter().all(|target| binaries.contains(&format!("target: {target},"))), "{targets:?}");
}

#[test]
fn workflows_use_only_pinned_actions_and_pipe_no_download_into_a_shell() {
    let uses = Regex::new(r"(?m)^\s*(?:- )?uses: *(\S+)(?: *# *(\S+))?").unwrap();
    let piped = Regex::new(r"(?:curl|wget)[^\n]*\|\s*(?:sudo )?(?:ba|da|z)?sh\b").unwrap();
    let all = workflows();
    assert!(all.len() >= 3, "{all:?}");
    for (path, text) in all {
        assert!(!piped.is_match(&text), "{path}: a download is piped into a shell");
        for found in uses.captures_iter(&text) {
            let (action, comment) = (&found[1], found.get(2).map_or("", |comment| comment.as_str()));
            let is_pinned = ACTIONS
                .iter()
                .any(|(name, hash, version)| *action == format!("{name}@{hash}") && comment == *version);
            assert!(is_pinned || action.starts_with("./"), "{path}: {action} # {comment}");
        }
    }
}

#[test]
fn the_page_about_installing_names_what_uninstalling_leaves() {
    let page = read("docs/install.md");
    let leftovers = read("packaging/leftovers");
    let paths: Vec<&str> =
        leftovers.lines().filter_map(|line| line.split_once(" ~/")).map(|(_, path)| path).collect();
    assert!(paths.len() >= 4, "{paths:?}");
    for path in paths {
        assert!(
            [format!("`~/{path}`"), format!("`{path}`")].iter().any(|name| page.contains(name)),
            "{path}"
        );
    }
}

#[test]
fn the_skill_of_the_plugin_has_no_finding_and_its_suite_passes() {
    let scene = Scene::empty();
    for line in [["lint", "skills/skilltune"].as_slice(), &["suite", "check", "packaging/plugin/suite.toml"]]
    {
        let ran = Ran::of(scene.command(line).current_dir(root()).output().unwrap());
        assert_eq!(ran.code, Some(0), "{line:?}: {ran:?}");
    }
}
