"""SLURM: 40 calls wait on 4 slots while a node is set down, and a paused run is carried out by arrays over `step --export`."""

import subprocess
import time

import ground
from coordinator import STEPS, Coordinator, alone, assert_same, worker

SCENARIOS = 60
WAITING = 40
SCRIPT = {"improve": STEPS, "delay_ms": 300, "jitter_ms": 300}


def main():
    read = ground.arguments(__doc__)
    report = ground.Report()
    with ground.Ground(read) as place:
        base, baseline = alone(place, SCENARIOS)
        slurm = ground.Slurm(place, SCRIPT)
        queue(report, place, slurm, base, baseline)
        arrays(report, place, slurm, base, baseline)
    report.exit()


def queue(report, place, slurm, base, baseline):
    settings = worker("slurm", slurm.srun(), WAITING, slurm.env)
    one = Coordinator(place, "coordinator", settings, SCENARIOS)
    one.chosen = ("--workers", "slurm")
    half, seen, down = base.length() / 2, {"PENDING": 0, "RUNNING": 0}, []

    def tick():
        time.sleep(0.2)
        for state in seen:
            seen[state] = max(seen[state], slurm.jobs(state))
        if not down and one.length() > half and slurm.jobs("RUNNING") == 4:
            slurm.set_node("n1", "down")
            down.append(time.monotonic())
        if len(down) == 1 and time.monotonic() - down[0] > 10:
            slurm.set_node("n1", "resume")
            down.append(time.monotonic())

    since = time.monotonic()
    resumed = one.finish(one.start(*one.tune(*one.chosen)), tick=tick)
    report.say("srun", f"{len(baseline.keys)} calls, {time.monotonic() - since:.0f} s, resumed {resumed} times")
    report.must("calls that waited at once", seen["PENDING"] >= WAITING - 4, seen["PENDING"])
    report.must("calls that ran at once", seen["RUNNING"] == 4, seen["RUNNING"])
    report.must("a node was set down", len(down) == 2)
    journal = assert_same(report, one, baseline, base)
    lost, whys = journal.lost()
    report.must("calls lost with the node and made again", lost > 0, lost)
    for why, count in whys.most_common():
        report.say(f"  last of {count}", why)
    ground.until(lambda: not place.agents() and not place.workers(), 30, "an agent or a worker is left")


def arrays(report, place, slurm, base, baseline):
    """A run without any worker that is reachable: the calls that it waits for are files of a shared folder."""
    # It gives up at once, and so the run pauses before its first call.
    one = Coordinator(place, "array", worker("files", ["/bin/false"], 1), SCENARIOS)
    one.run(*one.tune("--workers", "files"))
    since, rounds, calls = time.monotonic(), 0, 0
    while True:
        folder = place.root / f"shared/{rounds}"
        exported = one.run("step", "latest", "--export", folder)
        keys = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
        if not keys:
            break
        (folder.parent / f"{rounds}.keys").write_text("\n".join(keys) + "\n")
        failed = array(place, slurm, folder, len(keys))
        report.must(f"array {rounds}: {len(keys)} calls", exported == 0 and not failed, failed or "")
        one.run(*one.resume("--replies", folder))
        rounds, calls = rounds + 1, calls + len(keys)
        if one.result().get("outcome") in ("improved", "unchanged", "kept") or rounds == 60:
            break
    report.say("arrays", f"{calls} calls in {rounds} arrays, {time.monotonic() - since:.0f} s")
    assert_same(report, one, baseline, base)


def array(place, slurm, folder, count):
    """Takes each call of a folder in a task of an array. Returns what went wrong."""
    # The nth line of the list is the call of the nth task; one that fails is asked again by the next export.
    take = f'"{place.skilltune}" step --take "{folder}/$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "{folder}.keys")"'
    ran = subprocess.run(
        ["sbatch", "--wait", "--quiet", "--ntasks=1", "--mem=1G", "--chdir=/tmp", f"--array=0-{count - 1}",
         f"--export=HOME={slurm.home},PATH=/usr/bin:/bin", f"--output={folder}.%a.out", "--wrap", take],
        env={"PATH": "/usr/bin:/bin", **slurm.env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    replies = len(list(folder.glob("*.reply")))
    return "" if ran.returncode == 0 and replies == count else f"{replies} of {count} replies; {ran.stdout.strip()}"


if __name__ == "__main__":
    main()
