//! The examples that end each command's help.

use crate::terminal::exit;

/// The end of the program's own help.
pub fn program() -> String {
    format!("{PROGRAM}\n\n{}", exit::table())
}

const PROGRAM: &str = "\
Examples:
  skilltune demo
  skilltune lint skills/writer
  skilltune tune skills/writer \"Write release notes for version 2.0\"";

pub const TUNE: &str = "\
Examples:
  skilltune tune skills/writer \"Write release notes for version 2.0\"
  skilltune tune outline,writer --chain --suite suite.toml --preset thorough";

pub const GAN: &str = "\
Examples:
  skilltune gan brief.md --into site
  skilltune gan brief.md --into site --copy copy.json --tokens tokens.json --level thorough
  skilltune gan brief.md --into site --apply branch
  skilltune gan brief.md --profile code --max-rounds 3 --yes";

pub const EXPERT: &str = "\
Examples:
  skilltune expert                              # lists the experts
  skilltune expert architect \"Should orders and stock be one service?\"
  skilltune expert security-reviewer \"Review src/login.rs\" --folder src
  skilltune expert new dba \"Knows Postgres, reads plans of queries\"
  skilltune expert convert .claude/agents/dba.md --to codex";

pub const EXPERT_NEW: &str = "\
Examples:
  skilltune expert new dba \"Knows Postgres, reads plans of queries, wants numbers before an index\"
  skilltune expert new dba - --print < notes.md";

pub const REVIEW: &str = "\
Examples:
  skilltune review                              # what is uncommitted
  skilltune review main --with security,quality # everything since main
  skilltune review main..topic --commands run --yes --fail-on critical
  skilltune review skills/writer --dry-run";

pub const EVOLVE: &str = "\
Examples:
  skilltune evolve spec.md
  skilltune evolve spec.md --plan-only          # shows how it would be done
  skilltune evolve spec.yaml --in service --commands run --yes
  skilltune evolve spec.md --tools files --apply patch
  skilltune evolve --from specs/001-login       # drafts the specification first
  skilltune evolve draft \"Print the areas of circles too\"
  skilltune evolve rerun parser
  skilltune evolve verify skilltune/spec        # repeats what the branch claims";

pub const EVOLVE_DRAFT: &str = "\
Examples:
  skilltune evolve draft \"Print the areas of circles too\"
  skilltune evolve draft - --yes < issue.txt    # asks nothing";

pub const EVOLVE_RERUN: &str = "\
Examples:
  skilltune evolve rerun parser
  skilltune evolve rerun parser c402 --executor claude --apply patch";

pub const EVOLVE_VERIFY: &str = "\
Examples:
  skilltune evolve verify skilltune/spec
  skilltune evolve verify origin/skilltune/spec --trust
  skilltune evolve verify c402 --format json --trust";

pub const CALIBRATE: &str = "\
Examples:
  skilltune calibrate skills/writer --suite suite.toml
  skilltune calibrate writer --suite suite.toml --trials 5 --confidence 0.95";

pub const COMPARE: &str = "\
Examples:
  skilltune compare none skills/writer --suite suite.toml       # is the skill worth having?
  skilltune compare HEAD~1:skills/writer skills/writer --suite suite.toml
  skilltune compare da29/start da29/champion --suite suite.toml --trials 3";

pub const REGRADE: &str = "\
Examples:
  skilltune regrade da29                        # a check of the suite was wrong
  skilltune regrade da29 --evaluator claude     # another judge
  skilltune regrade da29 --suite fixed.toml --dry-run";

pub const LINT: &str = "\
Examples:
  skilltune lint skills/writer
  skilltune lint .                              # every skill of a repository
  skilltune lint ~/.claude/skills --fix";

pub const SUITE: &str = "\
Examples:
  skilltune suite check suite.toml
  skilltune suite convert skills/writer --to toml --out suite.toml
  skilltune suite add --from da29 monthly
  skilltune suite new writer";

pub const SUITE_CHECK: &str = "\
Examples:
  skilltune suite check suite.toml
  skilltune suite check writer --format json
  skilltune suite check suite.toml --try --agent claude --trials 2";

pub const SUITE_CONVERT: &str = "\
Examples:
  skilltune suite convert skills/writer/evals/evals.json --to toml --out suite.toml
  skilltune suite convert suite.toml --to plugin --out evals";

pub const SUITE_ADD: &str = "\
Examples:
  skilltune suite add --from da29
  skilltune suite add --from da29 monthly
  skilltune suite add --from da29 monthly@2 --to suites/reports.toml
  skilltune suite add --from suites/letters.toml yearly";

pub const SUITE_NEW: &str = "\
Examples:
  skilltune suite new writer
  skilltune suite new skills/writer --scenarios 10 --agent claude --to suites/writer.toml";

pub const NIGHT_ADD: &str = "\
Examples:
  skilltune night add writer --suite suite.toml
  skilltune night add skills/writer skills/editor --preset quick --priority 3 --apply branch
  skilltune night add 'skills/*' --executor claude:opus";

pub const NIGHT_INSTALL: &str = "\
Examples:
  skilltune night install
  skilltune night install --at 03:15 --file nights/skills.toml
  skilltune night install --print github > .github/workflows/skilltune-night.yml";

pub const NIGHT_UNINSTALL: &str = "\
Examples:
  skilltune night uninstall
  skilltune night uninstall --file nights/skills.toml";

pub const NIGHT_DOCTOR: &str = "\
Examples:
  skilltune night doctor
  skilltune night doctor --file nights/skills.toml --format json";

pub const STATUS: &str = "\
Examples:
  skilltune status
  skilltune status da29
  skilltune reflex status orders-api";

pub const RESUME: &str = "\
Examples:
  skilltune resume
  skilltune resume da29 --max-usd 5
  skilltune resume da29 --answer apply
  skilltune resume orders-api --answer run";

pub const STOP: &str = "\
Examples:
  skilltune stop
  skilltune stop orders-api \"Good enough.\"";

pub const STEP: &str = "\
Examples:
  ssh -o BatchMode=yes build-1 skilltune step --take -
  skilltune step --take calls/3f0a1c22d9b47e61";

pub const LIST: &str = "\
Examples:
  skilltune list
  skilltune list --loop tune --limit 20
  skilltune list --format json";

pub const HISTORY: &str = "\
Examples:
  skilltune history da29";

pub const SHOW: &str = "\
Examples:
  skilltune show da29
  skilltune show da29 2        # round 2";

pub const DIFF: &str = "\
Examples:
  skilltune diff
  skilltune diff da29 best";

pub const APPLY: &str = "\
Examples:
  skilltune apply
  skilltune apply da29 best
  skilltune apply da29 --merge   # keep your own changes
  skilltune apply da29 --as branch";

pub const ROLLBACK: &str = "\
Examples:
  skilltune rollback
  skilltune rollback da29";

pub const EXPORT: &str = "\
Examples:
  skilltune export da29 best writer-best";

pub const REPORT: &str = "\
Examples:
  skilltune report
  skilltune report da29 --open";

pub const CLEAN: &str = "\
Examples:
  skilltune clean --dry-run
  skilltune clean --keep 3";

pub const TRUST: &str = "\
Examples:
  skilltune trust
  skilltune trust suite.toml";

pub const DEMO: &str = "\
Examples:
  skilltune demo
  skilltune demo /tmp/skilltune-demo";

pub const CONFIG: &str = "\
Examples:
  skilltune config show
  skilltune config schema > skilltune.schema.json  # then `#:schema ./skilltune.schema.json` begins skilltune.toml";

pub const CONFIG_SHOW: &str = "\
Examples:
  skilltune config show
  skilltune config show --format json";

pub const CONFIG_SCHEMA: &str = "\
Examples:
  skilltune config schema > skilltune.schema.json
  skilltune config schema suite > suite.schema.json";

pub const DOCTOR: &str = "\
Examples:
  skilltune doctor
  skilltune doctor --probe
  skilltune doctor --via ccw
  skilltune doctor --workers";

pub const INIT: &str = "\
Examples:
  skilltune init
  skilltune init --agent claude --suite \"Write release notes for version 2.0\"";

pub const COMPLETIONS: &str = "\
Examples:
  skilltune completions bash > ~/.local/share/bash-completion/completions/skilltune
  skilltune completions fish > ~/.config/fish/completions/skilltune.fish";

pub const MAN: &str = "\
Examples:
  skilltune man | man -l -
  skilltune man --out ~/.local/share/man/man1";

pub const REFLEX: &str = "\
A bare TASK means `new` and takes its options.

Examples:
  skilltune reflex \"Write the API reference of the orders service\"
  skilltune reflex status";

pub const REFLEX_NEW: &str = "\
Examples:
  skilltune reflex new \"Write the API reference of the orders service\" --out docs/orders.md
  skilltune reflex new \"Write the release notes of 2.0\" --rules rules.toml --yes
  skilltune reflex new --task-file task.md --alias orders-api";

pub const NIGHT: &str = "Examples:
  skilltune night add writer --suite suite.toml
  skilltune night
  skilltune night status --if-needed";

pub const TREND: &str = "Examples:
  skilltune trend writer
  skilltune trend writer --csv
  skilltune trend writer --open";
