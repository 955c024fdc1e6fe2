"""SLURM: 40 calls wait on 4 slots while a node is set down, and a paused run is carried out by arrays over `step --export`."""

import time
from pathlib import Path

import ground
from coordinator import STEPS, Coordinator, alone, assert_same, worker

ARRAY = Path(__file__).resolve().parent.parent.parent / "docs/workers/array"
SCENARIOS = 60
WAITING = 40
SCRIPT = {"improve": STEPS, "delay_ms": 300, "jitter_ms": 300}


def main():
    read = ground.arguments(__doc__, lambda parser: parser.add_argument("--only", choices=("queue", "arrays")))
    report = ground.Report()
    with ground.Ground(read) as place:
        base, baseline = alone(place, SCENARIOS)
        slurm = ground.Slurm(place, SCRIPT)
        for part in (queue, arrays):
            if read.only in (None, part.__name__):
                part(report, place, slurm, base, baseline)
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
    """The calls that a run waits for are files of a shared folder, and docs/workers/array makes them."""
    place.forget("slurm")
    one = Coordinator(place, "array", worker("slurm", slurm.srun(), 1, slurm.env), SCENARIOS)
    # A worker says which agent the run has, and makes its first call; then a limit pauses it.
    code = one.run(*one.tune("--workers", "slurm", "--max-calls", "1"))
    report.must("the run has paused", code == 5, code)
    code = one.run("resume", "--yes", "--max-calls", "9999", "--export", place.root / "shared/calls")
    report.must("it has exported calls", code == 5, code)
    since, before = time.monotonic(), place.calls("slurm")
    options = f"--chdir=/tmp --output={place.root}/shared/%A-%a.out --export=HOME={slurm.home},PATH={place.root}/bin:/usr/bin:/bin"
    env = {"PATH": f"{place.root}/bin:/usr/bin:/bin", "OPTIONS": options, **slurm.env}
    code = one.start(one.run_folder().name, place.root / "shared/calls", program=ARRAY, env=env).wait()
    report.must("it has ended", code in (0, 3), code)
    calls = place.calls("slurm") - before
    report.say("arrays", f"{calls} calls, {time.monotonic() - since:.0f} s")
    assert_same(report, one, baseline, base)


if __name__ == "__main__":
    main()
