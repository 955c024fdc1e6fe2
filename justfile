# What is done often. `just` lists it.

default:
    @just --list

# Everything that CI runs.
ci:
    bash .ci/run

# All tests, the real binary with scripted agents included.
test:
    cargo test --workspace --all-features

# The adapters against the real claude and gemini, which npm installs; no key is needed.
agents *filter:
    bash tests/agents/run {{filter}}

# Workers over real sshd and SLURM, as root: kills, cuts, liars.
workers:
    tests/workers/run ssh
    tests/workers/run slurm
    tests/workers/run bad
    tests/workers/run kube

# `night install` with a real cron and a real systemd, as root.
night:
    bash tests/night/run

# All packages from one optimised build, a static one as well; then each installed, run and uninstalled. Takes many minutes.
packages:
    bash packaging/build --static
    bash packaging/try
    bash packaging/lint-workflows

# Only the pure core: no disk, no processes.
core:
    cargo test -p skilltune-phases -p skilltune-proof

# The engine against a bare loop that spawns the same program.
bench:
    cargo bench -p skilltune-orchestrator --features test-program --bench engine

# Compares search policies in a simulated world, without agents or cost: benches/research/README.md.
research *options:
    cargo run --release -p skilltune-research -- {{options}}

# What the search of gepa, a Python package, is worth in the same worlds.
gepa *options:
    cargo build --release -p skilltune-research --example worlds
    python3 -m venv target/gepa
    target/gepa/bin/pip install --quiet gepa==0.1.4
    target/gepa/bin/python benches/gepa/compare.py {{options}}

# A crash at every durable step, and not only at some of each kind.
crash:
    SKILLTUNE_TIER=all cargo test -p skilltune --all-features --test suite crash -- --nocapture

# Hundreds of kills instead of a dozen.
kill:
    SKILLTUNE_TIER=all cargo test -p skilltune --all-features --test suite kill -- --nocapture

# Four hundred searches by the real program, each next to the simulator's with the same seed.
law:
    cargo test --release -p skilltune --all-features --test suite law:: -- --ignored --nocapture

# Searches and comparisons of equal skills by the real program, and by an older one: how often each verdict comes.
useless *old:
    {{ if old == "" { "" } else { "SKILLTUNE_OLD=" + absolute_path(old) } }} cargo test --release -p skilltune --all-features --test suite equal_versions -- --ignored --nocapture

# Four hundred random scripted cases of all loops: this binary and an older one have to decide, print and write the same.
same-decisions old:
    SKILLTUNE_OLD={{absolute_path(old)}} cargo test -p skilltune --all-features --test suite same_decisions -- --ignored --nocapture

# The pages of all stored runs in a browser; SKILLTUNE_SHOTS=FOLDER writes pictures of them.
pages:
    SKILLTUNE_TIER=all cargo test -p skilltune --all-features --bin skilltune -- frozen::browser --nocapture

# Writes `docs/commands.md`, `docs/settings.md`, its schema and `fixtures/cli` again, from what the program prints.
cli-texts:
    SKILLTUNE_RENEW=1 cargo test -p skilltune --all-features --test suite cli_texts

# The rooms of each crate: what each needs, its size, circles, and what is longest; writes their tables in ARCHITECTURE.md.
structure:
    SKILLTUNE_RENEW=1 cargo test -p skilltune --all-features --test suite structure -- --nocapture --test-threads 1

lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    cargo fmt --manifest-path tests/agents/Cargo.toml
    cargo clippy --manifest-path tests/agents/Cargo.toml --all-targets --all-features -- -D warnings

# Twenty months of thirty nights through the real program.
nights:
    SKILLTUNE_TIER=all SKILLTUNE_SEEDS=20 cargo test --release -p skilltune --all-features --test suite night::month -- --nocapture

# Writes anew what is expected of stored runs (fixtures/frozen): only in a commit that changes words or formats on purpose.
freeze:
    SKILLTUNE_FREEZE=write cargo test -p skilltune --all-features --bin skilltune frozen

# Records runs of tests/suite/frozen by name, or those that are not stored yet: just record new.
record *names:
    SKILLTUNE_RECORD="{{names}}" cargo test -p skilltune --all-features --test suite frozen -- --ignored --nocapture

# Measures the plugin's skill against no skill and writes packaging/plugin/verdict.md. Needs an agent with a login, and spends its money.
skill-verdict *options:
    cargo build --release -p skilltune
    PATH="$PWD/target/release:$PATH" bash packaging/plugin/measure {{options}}
