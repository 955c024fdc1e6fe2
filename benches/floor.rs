//! The floor: a bare loop that starts the same program equally often, equally many at a time, and stores nothing.

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::process::Command;

/// Feeds the prompts in turn to `calls` programs, `jobs` at a time.
pub(crate) async fn run(
    agent: &Path,
    prompts: &Path,
    calls: usize,
    jobs: usize,
) -> Result<Duration, Box<dyn Error>> {
    let prompts = Arc::new(crate::engine_run::prompts_in(prompts)?);
    let next = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..jobs {
        workers.spawn(work(agent.to_owned(), Arc::clone(&prompts), Arc::clone(&next), calls));
    }
    while let Some(worker) = workers.join_next().await {
        worker??;
    }
    Ok(began.elapsed())
}

async fn work(
    agent: PathBuf,
    prompts: Arc<Vec<PathBuf>>,
    next: Arc<AtomicUsize>,
    calls: usize,
) -> std::io::Result<()> {
    loop {
        let nth = next.fetch_add(1, Ordering::Relaxed);
        if nth >= calls {
            return Ok(());
        }
        let prompt = File::open(&prompts[nth % prompts.len()])?;
        let mut command = Command::new(&agent);
        command.stdin(prompt).stdout(Stdio::piped()).stderr(Stdio::null());
        let output = command.spawn()?.wait_with_output().await?;
        if !output.status.success() || output.stdout.is_empty() {
            return Err(std::io::Error::other("the agent did not answer"));
        }
    }
}
