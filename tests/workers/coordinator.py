"""A coordinator: a project with a skill and a suite, and the runs of it that a test starts, kills and resumes."""

import collections
import json
import os
import re
import subprocess
import time

PAGE = """---
name: writer
description: Writes a page for tests. Use it in tests.
---

# writer

Quality: {quality}

See references/style.md.
"""

# The scripted improver raises the quality step by step, so that a search has as many rounds.
STEPS = {"writer": {"40": 48, "48": 56, "56": 64, "64": 72, "72": 80, "80": 88}}
# What two runs on the same input share, wherever their calls were made.
SHARED = ("verdict", "comparison", "outcome", "reason", "initial_score", "final_score", "iterations", "accepted",
          "rejected", "champion", "rounds", "scenarios", "applied")
# What differs in them: times, and the folders of calls, which are named by the agent's fingerprint.
OWN = ("seconds", "started_at", "closed_at", "call")
# skilltune itself failed, or does not understand the command line.
BROKEN = (1, 2)


class Coordinator:
    def __init__(self, ground, name, settings, scenarios, files=()):
        self.folder, self.skilltune = ground.root / name, ground.skilltune
        self.project = self.folder / "project"
        for folder in ("home", "config/skilltune", "state", "cache", "project/.git"):
            (self.folder / folder).mkdir(parents=True)
        self.write_skill(self.project / ".claude/skills/writer", 40, files)
        task = '[[scenarios]]\nid = "page-{0}"\ndescription = "Write page {0} of the handbook."\n'
        (self.project / "suite.toml").write_text("\n".join(task.format(nth) for nth in range(scenarios)))
        self.settings = self.folder / "config/skilltune/skilltune.toml"
        self.settings.write_text(ROLES + settings)
        self.out, self.said = self.folder / "out", self.folder / "said"

    def write_skill(self, folder, quality, files=()):
        (folder / "references").mkdir(parents=True)
        (folder / "SKILL.md").write_text(PAGE.format(quality=quality))
        (folder / "references/style.md").write_text("Be brief.\n")
        for name, content in files:
            (folder / "references" / name).write_bytes(content)

    def start(self, *arguments, env=None, program=None):
        env = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.folder / "home"), "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_STATE_HOME": str(self.folder / "state"), "XDG_CACHE_HOME": str(self.folder / "cache"), **(env or {}),
        }
        with open(self.out, "wb") as out, open(self.said, "ab") as said:
            argv = [program or self.skilltune, *map(str, arguments)]
            return subprocess.Popen(argv, cwd=self.project, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=said)

    def run(self, *arguments, env=None):
        """Runs to the end. Returns the exit code."""
        return self.start(*arguments, env=env).wait()

    def tune(self, *more):
        return ["tune", "writer", "--suite", "suite.toml", *SEARCH, *RUN, *more]

    def resume(self, *more):
        return ["resume", *RUN[:-2], *more]

    def compare(self, quality, trials, *more):
        """A comparison with another version: few of its calls wait for others, and none is answered from a store."""
        other = self.project / f"versions/{quality}/writer"
        if not other.exists():
            self.write_skill(other, quality)
        skills = [".claude/skills/writer", other.relative_to(self.project)]
        return ["compare", *skills, "--suite", "suite.toml", "--trials", trials, "--fresh", *RUN, *more]

    def run_folder(self):
        runs = self.project / ".skilltune/runs"
        return max(runs.iterdir(), default=None) if runs.exists() else None

    def result(self):
        try:
            return json.loads(self.out.read_text())
        except ValueError:
            return {}

    def report(self):
        return json.loads((self.run_folder() / "report.json").read_text())

    def events(self):
        """Returns the whole lines of the journal."""
        folder = self.run_folder()
        journal = folder and folder / "history.jsonl"
        if not journal or not journal.exists():
            return []
        whole = journal.read_bytes().rpartition(b"\n")[0]
        return [json.loads(line)["event"] for line in whole.splitlines()]

    def length(self):
        """Returns the number of events, without reading them."""
        folder = self.run_folder()
        journal = folder and folder / "history.jsonl"
        return journal.read_bytes().count(b"\n") if journal and journal.exists() else 0

    def said_last(self, lines=3):
        said = self.said.read_text(errors="replace").strip().splitlines()[-lines:]
        return " / ".join([*said, json.dumps(self.result().get("paused"))])

    def finish(self, process, limit=900, tick=lambda: None, most=200):
        """Waits for the end of a run, and resumes it whenever it was killed or has paused. Returns how often."""
        resumed, since = 0, time.monotonic()
        while True:
            while process.poll() is None:
                tick()
                if time.monotonic() - since > limit:
                    process.kill()
                    raise SystemExit(f"FAILED: no end after {limit} s: {self.said_last()}")
                time.sleep(0.02)
            if process.returncode in (0, 3) and self.result().get("outcome"):
                return resumed
            if resumed == most or process.returncode in BROKEN:
                raise SystemExit(f"FAILED: it ends with {process.returncode}: {self.said_last()}")
            resumed += 1
            # A call of a killed run may take a moment to be cleaned up.
            time.sleep(0.2 if process.returncode < 0 else 2)
            began = self.run_folder() is not None and self.length() > 0
            process = self.start(*(self.resume() if began else self.tune(*self.chosen)))


class Journal:
    """What a run has recorded of its calls."""

    def __init__(self, events):
        self.decided = [event["decided"] for event in events if "decided" in event]
        self.done = [event["done"] for event in events if "done" in event]
        self.answered = [done for done in self.done if not is_failure(done)]
        self.steps = collections.Counter(json.dumps(done["step"], sort_keys=True) for done in self.answered)
        self.keys = collections.Counter(done["call"] for done in self.answered if done.get("call"))
        self.machines = [done["machine"] for done in self.done if done.get("machine")]

    def lost(self):
        """Returns how often calls were lost with a worker, and the reasons as far as they were kept."""
        # The number of a temporary file is no other reason.
        texts = (re.sub(r"-tmp-[\d-]+", "-tmp", one["why"]) for one in self.machines if one.get("why"))
        whys = collections.Counter(text.split(": ", 1)[-1] for text in texts)
        return sum(one.get("lost", 0) for one in self.machines), whys

    def failures(self):
        texts = (json.dumps(done["outcome"], sort_keys=True) for done in self.done if is_failure(done))
        return collections.Counter(texts)


def is_failure(done):
    return "failed" in done["outcome"]


def shared(value):
    """Returns a part of a report without what two runs never share."""
    if isinstance(value, dict):
        return {key: shared(inner) for key, inner in value.items() if key not in OWN}
    return [shared(inner) for inner in value] if isinstance(value, list) else value


def assert_same(report, one, baseline, base):
    """Compares a run with one that this machine made alone."""
    theirs, ours = base.report(), one.report()
    journal = Journal(one.events())
    differing = [name for name in SHARED if shared(theirs.get(name)) != shared(ours.get(name))]
    report.must("the same report", not differing, ", ".join(differing))
    report.must("the same decisions", journal.decided == baseline.decided, f"{len(journal.decided)}")
    lost = baseline.steps - journal.steps
    report.must("calls lost", not lost, sum(lost.values()))
    twice = [step for step, count in journal.steps.items() if count > baseline.steps[step]]
    again = [key for key, count in journal.keys.items() if count > 1]
    report.must("calls recorded twice", not twice and not again, len(twice) + len(again))
    return journal


ROLES = """[roles]
executor = "mine"
evaluator = "mine"
improver = "mine"

[tune]
apply = "auto"

"""
RUN = ("--yes", "--format", "json", "--seed", "7")
SEARCH = ("--search", "rounds", "--max-iterations", "7", "--threshold", "99")


def worker(name, run, slots, env=None):
    """Returns the settings of a worker."""
    text = f"[workers.{name}]\nrun = {json.dumps(run)}\nslots = {slots}\n"
    pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in (env or {}).items())
    return text + (f"env.set = {{ {pairs} }}\n" if pairs else "") + "\n"


def alone(ground, scenarios, script=None, limit=900):
    """Makes the same run on this machine alone, with an agent that takes no time. Returns it and its journal."""
    own = ground.root / "alone.json"
    own.write_text(json.dumps({"log": str(ground.root / "alone.log"), "improve": STEPS, **(script or {})}))
    one = Coordinator(ground, "alone", ground.agent_settings(own), scenarios)
    one.chosen = ()
    one.finish(one.start(*one.tune()), limit=limit)
    return one, Journal(one.events())
