//! A project with 50,000 ignored files beside its own: a capture compared with `git status`, alternating on the same
//! files.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use skilltune_orchestrator::snapshot::{IgnoreRules, Indexes, Limits, Objects};

use crate::snapshot_rivals::project_git;
use crate::snapshot_tree::Tree;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const OWN: usize = 2_000;
const BYTES: usize = 5_000;
const ROUNDS: usize = 31;

/// Where the ignored files are: in one folder at the top, in a few large ones, and in each folder of the project.
const PACKAGES: usize = 400;
const IN_PACKAGE: usize = 100;
const LOGS: usize = 9_000;
const COMPILED: usize = 50;

pub(crate) fn measure(root: &Path, stores: &Path, settled: Duration) -> Result<()> {
    let tree = Tree::grow(root.to_path_buf(), OWN, BYTES)?;
    let mut ignored = 0;
    let mut add = |folder: &Path, files: usize| -> Result<()> {
        fs::create_dir_all(folder)?;
        ignored += files;
        (0..files).try_for_each(|nth| Ok(fs::write(folder.join(format!("file-{nth}.log")), "ignored")?))
    };
    for nth in 0..PACKAGES {
        add(&root.join(format!("node_modules/package-{nth}/lib")), IN_PACKAGE)?;
    }
    add(&root.join("logs"), LOGS)?;
    for part in fs::read_dir(root.join("references"))? {
        add(&part?.path().join("__pycache__"), COMPILED)?;
    }
    fs::write(root.join(".gitignore"), "node_modules/\n__pycache__/\n*.log\n")?;
    project_git(root, &["init", "--quiet"])?;
    project_git(root, &["add", "--all"])?;
    project_git(root, &["commit", "--quiet", "--message", "one"])?;
    std::thread::sleep(settled);
    let indexes = Indexes::at(&stores.join("indexes"));
    let capture = || -> Result<usize> {
        let objects = Objects::at(stores.join("objects").as_path());
        let rules = IgnoreRules::of(root)?;
        let captured = indexes.capture(&objects, root, Some(rules), Limits::default())?;
        Ok(captured.manifest.entries().iter().filter(|entry| !entry.node.is_folder()).count())
    };
    let files = capture()?;
    if files != OWN + 1 {
        return Err(format!("{files} files captured, not {}", OWN + 1).into());
    }
    let (mut ours, mut git, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        floor.push(seconds(|| tree.look().map(drop))?);
        ours.push(seconds(|| capture().map(drop))?);
        git.push(seconds(|| project_git(root, &["status", "--porcelain"]))?);
    }
    let [ours, git, floor] = [ours, git, floor].map(median);
    println!("\n{OWN} files and {ignored} ignored ones   median");
    println!("a walk that looks at all  {:>9.3} ms", floor * 1e3);
    println!("ours, unchanged           {:>9.3} ms   {:.2} of git status", ours * 1e3, ours / git);
    println!("git status                {:>9.3} ms", git * 1e3);
    Ok(())
}

fn seconds(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64())
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
