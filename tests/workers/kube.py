"""Kubernetes without a cluster: the files of docs/workers are valid, and a run works through a scripted `kubectl`."""

import json
import os
import subprocess
from pathlib import Path

import ground
from coordinator import STEPS, Coordinator, alone, assert_same, worker

HERE = Path(__file__).resolve().parent
PAGES = HERE.parent.parent / "docs/workers"
VALIDATE = HERE.parent.parent / "target/night/python/bin/kubernetes-validate"
SCENARIOS = 10


def main():
    read = ground.arguments(__doc__)
    report = ground.Report()
    with ground.Ground(read) as place:
        validate(report, sorted(PAGES.glob("*.yaml")))
        base, baseline = alone(place, SCENARIOS)
        pods, home, path = place.root / "pods", place.root / "cluster", place.root / "path"
        for folder in (pods, path, home / ".config/skilltune"):
            folder.mkdir(parents=True)
        (home / "script.json").write_text(json.dumps({"improve": STEPS, "log": str(home / "calls.log")}))
        (home / ".config/skilltune/skilltune.toml").write_text(place.agent_settings(home / "script.json"))
        (path / "kubectl").symlink_to(HERE / "kubectl.py")
        env = {
            "PATH": f"{path}:{os.environ['PATH']}", "PODS": str(pods),
            "WORKER_HOME": str(home), "WORKER_PATH": f"{place.root}/bin:/usr/bin:/bin",
        }
        settings = worker("kube", [str(PAGES / "kubectl-run")], 8, env)
        one = Coordinator(place, "coordinator", settings, SCENARIOS)
        one.chosen = ("--workers", "kube")
        one.finish(one.start(*one.tune(*one.chosen)), limit=300)
        journal = assert_same(report, one, baseline, base)
        made = sorted(pods.iterdir())
        report.must("a pod for each call", len(made) >= len(journal.keys), len(made))
        validate(report, made[:1])
    report.exit()


def validate(report, files):
    argv = [VALIDATE, "--strict", "--quiet", *files]
    ran = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    report.must(f"valid: {', '.join(file.name for file in files)}", bool(files) and ran.returncode == 0, ran.stdout.strip())


if __name__ == "__main__":
    main()
