//! Capture and restore compared with their floor, a walk that only reads metadata, and with common tools: `cp -a`, git,
//! restic.
//!
//! `cargo bench -p skilltune-orchestrator --bench snapshot -- [--quick] [--in FOLDER] [--work FOLDER]`. The skills are
//! in one folder, the stores in the other. All alternate on the same files, and each is compared with a walk of the
//! same moment, so that noise of the machine affects all. A missing program is skipped. With `--ignored` a project with
//! ignored files is captured instead, against `git status`. With `--project` a large project is captured, copied and
//! merged.
#![expect(clippy::disallowed_methods, reason = "a bench works in its own folder")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench talks to people")]

mod snapshot_ignored;
mod snapshot_project;
mod snapshot_rivals;
mod snapshot_tree;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use skilltune_orchestrator::snapshot::{Indexes, Limits, Objects, Replacement, scan};
use skilltune_phases::base::id::TreeId;
use snapshot_rivals::{Git, Restic, copy};
use snapshot_tree::Tree;

/// One size of a skill, and the repetitions of the quick and the slow operations.
struct Size {
    files: usize,
    bytes: usize,
    quick: usize,
    slow: usize,
}

const SIZES: [Size; 3] = [
    Size { files: 20, bytes: 5_000, quick: 101, slow: 7 },
    Size { files: 2_000, bytes: 25_000, quick: 41, slow: 5 },
    Size { files: 20_000, bytes: 25_000, quick: 21, slow: 3 },
];

/// An index lists only files unchanged for this long: the bench measures skills as people have them.
const SETTLED: Duration = Duration::from_secs(5);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match compare(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The folders of a measurement.
struct Places {
    skills: PathBuf,
    stores: PathBuf,
}

fn compare(mut options: &[&str]) -> Result<()> {
    let here = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut places = Places { skills: here.clone(), stores: here };
    let mut sizes: &[Size] = &SIZES;
    let (mut has_ignored, mut is_project) = (false, false);
    while let [option, rest @ ..] = options {
        options = match (*option, rest) {
            ("--quick", rest) => {
                sizes = &SIZES[..2];
                rest
            }
            ("--ignored", rest) => {
                has_ignored = true;
                rest
            }
            ("--project", rest) => {
                is_project = true;
                rest
            }
            ("--in", [folder, rest @ ..]) => {
                places = Places { skills: folder.into(), stores: folder.into() };
                rest
            }
            ("--work", [folder, rest @ ..]) => {
                places.stores = folder.into();
                rest
            }
            _ => {
                let options = "[--quick] [--ignored] [--project] [--in FOLDER] [--work FOLDER]";
                return Err(format!("usage: snapshot {options}").into());
            }
        };
    }
    // Deleted at the end: some file systems create files slowly after many deletions.
    let skills = tempfile::tempdir_in(&places.skills)?;
    let stores = tempfile::tempdir_in(&places.stores)?;
    if has_ignored {
        return snapshot_ignored::measure(&skills.path().join("project"), stores.path(), SETTLED);
    }
    if is_project {
        return snapshot_project::measure(&skills.path().join("project"), stores.path(), SETTLED);
    }
    for size in sizes {
        let tree = Tree::grow(skills.path().join(size.files.to_string()), size.files, size.bytes)?;
        std::thread::sleep(SETTLED);
        let table = measure(&tree, size, &stores.path().join(size.files.to_string()))?;
        table.print(size);
    }
    Ok(())
}

/// The measurements, in display order.
struct Table<'a> {
    tree: &'a Tree,
    rows: Vec<(&'static str, Vec<Sample>)>,
}

/// A duration in seconds, with the floor of the same moment.
#[derive(Clone, Copy)]
struct Sample {
    took: f64,
    floor: f64,
}

impl Table<'_> {
    /// Times the walk, then the work; a first walk warms the caches for both.
    fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.tree.look()?;
        let (_, floor) = timed(|| self.tree.look())?;
        let (done, took) = timed(work)?;
        let sample = Sample { took, floor };
        match self.rows.iter_mut().find(|(known, _)| *known == name) {
            Some((_, samples)) => samples.push(sample),
            None => self.rows.push((name, vec![sample])),
        }
        Ok(done)
    }

    fn print(&self, size: &Size) {
        println!(
            "\n{:>6} files of {:>6} bytes      median         least   of the walk",
            size.files, size.bytes
        );
        let walks = self.rows.iter().flat_map(|(_, samples)| samples);
        let walks: Vec<_> = walks.map(|sample| Sample { took: sample.floor, ..*sample }).collect();
        print_row("a walk that only looks", &walks);
        self.rows.iter().for_each(|(name, samples)| print_row(name, samples));
    }
}

fn print_row(name: &str, samples: &[Sample]) {
    let took = sorted(samples.iter().map(|sample| sample.took * 1e3));
    let ratios = sorted(samples.iter().map(|sample| sample.took / sample.floor));
    let (median, least, ratio) = (took[took.len() / 2], took[0], ratios[ratios.len() / 2]);
    println!("{name:<26} {median:>9.3} ms  {least:>9.3} ms  {ratio:>9.2}");
}

fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let began = Instant::now();
    let done = work()?;
    Ok((done, began.elapsed().as_secs_f64()))
}

fn measure<'a>(tree: &'a Tree, size: &Size, stores: &Path) -> Result<Table<'a>> {
    let mut table = Table { tree, rows: Vec::new() };
    let start = scan(&tree.root, None, Limits::default())?;
    let ours = first_captures(&mut table, size, stores)?;
    let git = Git::new(&tree.root, stores.join("git-0"));
    let restic = Restic::new(&tree.root, stores.join("restic-0"));
    for _ in 0..size.quick {
        table.time("read and blake3", || tree.hash())?;
        let unchanged = table.time("ours, unchanged", || ours.capture(&tree.root))?;
        expect(unchanged == start.tree(), "an unchanged capture")?;
    }
    for round in 0..size.quick {
        tree.edit(round)?;
        let edited = table.time("ours, one edit", || ours.capture(&tree.root))?;
        expect(edited != start.tree(), "a capture after an edit")?;
        table.time("ours, restore of one edit", || ours.restore(&tree.root, start.tree()))?;
        if round < size.slow {
            expect(scan(&tree.root, None, Limits::default())? == start, "what we restored")?;
            rivals(&mut table, round, git.as_ref(), restic.as_ref())?;
            ours.restore(&tree.root, start.tree())?;
        }
    }
    Ok(table)
}

/// Makes the same edit for the other tools.
fn rivals(table: &mut Table<'_>, round: usize, git: Option<&Git>, restic: Option<&Restic>) -> Result<()> {
    table.tree.edit(round)?;
    if let Some(restic) = restic {
        table.time("restic, one edit", || restic.backup())?;
    }
    if let Some(git) = git {
        table.time("git, one edit", || git.commit())?;
        table.time("git, restore of one edit", || git.restore())?;
    }
    Ok(())
}

/// Captures everything into empty stores a few times; the first stores are used later.
fn first_captures(table: &mut Table<'_>, size: &Size, stores: &Path) -> Result<Ours> {
    std::fs::create_dir(stores)?;
    let root = table.tree.root.as_path();
    for nth in 0..size.slow {
        let at = |name: &str| stores.join(format!("{name}-{nth}"));
        table.time("ours, first", || Ours::at(&at("ours")).capture(root))?;
        table.time("cp -a", || copy(root, &at("cp")))?;
        if let Some(git) = Git::new(root, at("git")) {
            table.time("git, first", || git.init().and_then(|()| git.commit()))?;
        }
        if let Some(restic) = Restic::new(root, at("restic")) {
            restic.init()?;
            table.time("restic, first", || restic.backup())?;
        }
    }
    Ok(Ours::at(&stores.join("ours-0")))
}

/// Our own store and indexes, opened anew each time, as a command does.
struct Ours {
    objects: PathBuf,
    indexes: Indexes,
}

impl Ours {
    fn at(folder: &Path) -> Self {
        Self { objects: folder.join("objects"), indexes: Indexes::at(&folder.join("indexes")) }
    }

    fn capture(&self, root: &Path) -> Result<TreeId> {
        let objects = Objects::at(self.objects.as_path());
        Ok(self.indexes.capture(&objects, root, None, Limits::default())?.tree)
    }

    fn restore(&self, root: &Path, to: TreeId) -> Result<()> {
        let objects = Objects::at(self.objects.as_path());
        let now = self.indexes.capture(&objects, root, None, Limits::default())?.manifest;
        Replacement::plan(&now, &objects.manifest(to)?).apply(&objects, root)?;
        Ok(())
    }
}

fn expect(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(format!("{what} is not what it should be").into()) }
}
