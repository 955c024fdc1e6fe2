//! Checks the dependencies of skilltune: known sources, compatible licences, no wildcard, no unlisted duplicate.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Package licences as their authors write them. All of them let us publish under MIT or Apache-2.0.
const LICENSES: [&str; 16] = [
    "(Apache-2.0 OR MIT) AND BSD-3-Clause",
    "(MIT OR Apache-2.0) AND Unicode-3.0",
    "Apache-2.0",
    "Apache-2.0 OR MIT",
    "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
    "Apache-2.0/MIT",
    "CC0-1.0 OR Apache-2.0 OR Apache-2.0 WITH LLVM-exception",
    "CC0-1.0 OR MIT-0 OR Apache-2.0",
    "MIT",
    "MIT OR Apache-2.0",
    "MIT/Apache-2.0",
    "Unicode-3.0",
    "Unlicense OR MIT",
    "Unlicense/MIT",
    "Zlib",
    "Zlib OR Apache-2.0 OR MIT",
];

/// Packages under MPL-2.0, used unchanged: only changes to their own files would have to be published.
const UNCHANGED: [&str; 2] = ["cssparser", "dtoa-short"];

/// Packages that the tree holds in two versions. The list may only shrink.
const TWICE: [&str; 2] = ["similar", "syn"];

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The platforms that skilltune is built for. A machine has only its own packages, CI also those of macOS.
const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"];

fn packages(manifest: &str, platform: &str) -> Option<Vec<Value>> {
    let cargo = std::env::var("CARGO").expect("cargo starts the tests");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let options = ["metadata", "--offline", "--locked", "--all-features", "--format-version", "1"];
    let mut command = Command::new(cargo);
    command.current_dir(root).args(options).args([
        "--manifest-path",
        manifest,
        "--filter-platform",
        platform,
    ]);
    let output = command.output().expect("cargo starts");
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        // CI downloads the packages of every platform first.
        assert!(std::env::var_os("CI").is_none(), "{manifest} on {platform}: {why}");
        eprintln!("SKIPPED: {manifest} on {platform}: {why}");
        return None;
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    Some(metadata["packages"].as_array().expect("a list of packages").clone())
}

fn text<'v>(package: &'v Value, field: &str) -> &'v str {
    package[field].as_str().unwrap_or_default()
}

/// Returns the packages of the registry; our own have no source.
fn foreign(packages: &[Value]) -> impl Iterator<Item = &Value> {
    packages.iter().filter(|package| !package["source"].is_null())
}

fn is_licensed(package: &Value) -> bool {
    let (name, license) = (text(package, "name"), text(package, "license"));
    LICENSES.contains(&license) || license == "MPL-2.0" && UNCHANGED.contains(&name)
}

fn has_wildcard(package: &Value) -> bool {
    let dependencies = package["dependencies"].as_array().expect("a list of dependencies");
    dependencies.iter().any(|one| one["path"].is_null() && text(one, "req") == "*")
}

#[test]
fn every_package_comes_from_the_registry_under_a_licence_that_fits_ours() {
    for manifest in ["Cargo.toml", "tests/agents/Cargo.toml"] {
        for packages in PLATFORMS.iter().filter_map(|platform| packages(manifest, platform)) {
            for package in foreign(&packages) {
                assert_eq!(text(package, "source"), REGISTRY, "{}", text(package, "name"));
                assert!(is_licensed(package), "{}: {}", text(package, "name"), package["license"]);
            }
            let ours = packages.iter().filter(|package| package["source"].is_null());
            let wild: Vec<&str> = ours.filter(|one| has_wildcard(one)).map(|one| text(one, "name")).collect();
            assert_eq!(wild, [""; 0], "{manifest}: a dependency on any version");
        }
    }
}

#[test]
fn no_package_is_in_the_tree_twice_without_a_reason() {
    let Some(packages) = packages("Cargo.toml", PLATFORMS[0]) else { return };
    let mut names = BTreeSet::new();
    let twice: BTreeSet<&str> =
        foreign(&packages).map(|one| text(one, "name")).filter(|name| !names.insert(*name)).collect();
    assert_eq!(twice.into_iter().collect::<Vec<_>>(), TWICE);
}
