"""What a call costs over ssh and srun, what travels, and what a coordinator sustains. It prints tables of Markdown.

Without `--only`, all parts are measured, which takes 10 minutes; pass an optimised program by `--binary`. A comparison is
measured, because few of its calls wait for others.
"""

import json
import math
import os
import sys
import time
from pathlib import Path

import ground
from coordinator import STEPS, Coordinator, worker

COUNT = Path(__file__).with_name("count.py")
PARTS = ("call", "bytes", "slots", "rate", "memory")
TICKS = os.sysconf("SC_CLK_TCK")


def main():
    read = ground.arguments(__doc__, lambda parser: parser.add_argument("--only", choices=PARTS, action="append"))
    with ground.Ground(read) as place:
        for part in read.only or PARTS:
            print(f"\n### {part}\n", flush=True)
            globals()[f"measure_{part}"](place)


class Measured:
    """A comparison, with its wall time and what the coordinator itself needed."""

    def __init__(self, one, arguments, stop_after=None):
        since = time.monotonic()
        process = one.start(*arguments)
        self.processor, self.memory = 0.0, 0
        while process.poll() is None:
            self.look(process.pid)
            if stop_after is not None and time.monotonic() - since > stop_after:
                process.terminate()
                process.wait()
            time.sleep(0.02)
        self.wall, self.code = time.monotonic() - since, process.returncode
        events = one.events()
        self.calls = sum(bool(event.get("done", {}).get("call")) for event in events)
        if stop_after is None and self.code not in (0, 3):
            sys.exit(f"FAILED: exit code {self.code}: {one.said_last()}")

    def look(self, pid):
        fields = ground.stat_of(pid)
        if fields:
            self.processor = max(self.processor, (int(fields[11]) + int(fields[12])) / TICKS)
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            self.memory = max(self.memory, int(status.split("VmHWM:")[1].split()[0]))
        except (OSError, IndexError):
            pass

    def per_call(self):
        return 1000 * self.wall / max(self.calls, 1)


def here(place, name, script):
    """Returns the command for a worker on this machine, started by nothing but a launcher."""
    own = place.root / f"workers/{name}"
    (own / "home/.config/skilltune").mkdir(parents=True)
    (own / "script.json").write_text(json_of(script))
    (own / "home/.config/skilltune/skilltune.toml").write_text(place.agent_settings(own / "script.json"))
    return ["env", "-i", f"HOME={own}/home", "PATH=/usr/bin:/bin", str(place.skilltune), "step", "--take", "-"]


def json_of(script):
    return json.dumps({"improve": STEPS, **script})


def local(place, name, scenarios):
    own = place.root / f"{name}.json"
    own.write_text(json_of({}))
    return Coordinator(place, name, place.agent_settings(own), scenarios)


def measure_call(place):
    slurm = ground.Slurm(place, {"improve": STEPS})
    ssh = place.sshd("near", {"improve": STEPS})
    ways = [
        ("this machine", None, None),
        ("a launcher here", here(place, "launched", {}), None),
        ("ssh, a master connection", ssh, None),
        ("ssh, a connection for each call", [*ssh[:1], "-oControlPath=none", *ssh[1:]], None),
        ("srun", slurm.srun(), slurm.env),
    ]
    print("| calls made by | at once | calls | a call | more than here |\n|---|---|---|---|---|")
    for slots in (1, 4):
        base = None
        for nth, (about, run, env) in enumerate(ways):
            name = f"call-{slots}-{nth}"
            scenarios = 12
            if run is None:
                one, more = local(place, name, scenarios), ("--jobs", slots)
            else:
                one, more = Coordinator(place, name, worker("w", run, slots, env), scenarios), ("--workers", "w")
            measured = Measured(one, one.compare(60, 2, *more))
            base = measured.per_call() if base is None else base
            print(f"| {about} | {slots} | {measured.calls} | {measured.per_call():.0f} ms | "
                  f"{measured.per_call() - base:+.0f} ms |", flush=True)


def measure_bytes(place):
    """A skill of 50 files and 2 MB: the first call, calls after it, and the first ones after an edit of one file."""
    content = [(f"page-{nth}.md", os.urandom(20_000).hex().encode()) for nth in range(50)]
    script = {"improve": STEPS}
    ssh = place.sshd("counted", script)
    log = place.root / "bytes.log"
    run = [sys.executable, str(COUNT), str(log), *ssh]
    one = Coordinator(place, "bytes", worker("w", run, 1), 5, content)
    print("| skill | calls | sent, first call | sent, median | received, median |\n|---|---|---|---|---|")
    edited = one.project / ".claude/skills/writer/references/page-0.md"
    for about in ("never seen by the worker", "unchanged", "one file changed"):
        if about == "one file changed":
            edited.write_text("Something else.\n")
        log.write_text("")
        measured = Measured(one, one.compare(60, 1, "--workers", "w"))
        counts = [tuple(map(int, line.split())) for line in log.read_text().splitlines()]
        largest = max(sent for sent, _ in counts)
        sent, received = (sorted(column)[len(counts) // 2] for column in zip(*counts))
        print(f"| {about} | {measured.calls} | {largest:,} | {sent:,} | {received:,} |", flush=True)


def measure_slots(place):
    print("| a call takes | slots | calls | wall | ideal | share |\n|---|---|---|---|---|---|")
    # A third of the pairs is made before the first look, and here decides: a multiple of 64 calls.
    for delay, scenarios in ((200, 576), (2_000, 576), (20_000, 384)):
        run = here(place, f"slots-{delay}", {"delay_ms": delay})
        one = Coordinator(place, f"slots-of-{delay}", worker("w", run, 64), scenarios)
        measured = Measured(one, one.compare(60, 1, "--workers", "w"))
        # One call after the other in each slot: the last ones fill no row, and take as long as one that is full.
        ideal = math.ceil(measured.calls / 64) * delay / 1000
        print(f"| {delay / 1000:g} s | 64 | {measured.calls} | {measured.wall:.1f} s | {ideal:.1f} s | "
              f"{100 * ideal / measured.wall:.0f} % |", flush=True)


def measure_rate(place):
    print("| calls made by | at once | calls | calls a second | coordinator's processor, a call | memory |\n"
          "|---|---|---|---|---|---|")
    for slots in (4, 16, 64):
        for about in ("this machine", "a launcher here"):
            name = f"rate-{slots}-{about.split()[-2]}"
            if about == "this machine":
                one, more = local(place, name, 100), ("--jobs", min(slots, 16))
            else:
                run = here(place, f"{name}-worker", {})
                one, more = Coordinator(place, name, worker("w", run, slots), 100), ("--workers", "w")
            measured = Measured(one, one.compare(60, 3, *more))
            rate = measured.calls / measured.wall
            each = 1000 * measured.processor / max(measured.calls, 1)
            print(f"| {about} | {more[1] if about == 'this machine' else slots} | {measured.calls} | {rate:.0f} | {each:.1f} ms | "
                  f"{measured.memory / 1024:.0f} MB |", flush=True)


def measure_memory(place):
    """Twenty thousand trials that wait for 64 slots of agents which do not answer."""
    print("| calls that wait | slots | memory of the coordinator |\n|---|---|---|")
    for scenarios, trials in ((100, 1), (500, 20)):
        run = here(place, f"memory-{scenarios}", {"delay_ms": 600_000})
        one = Coordinator(place, f"memory-of-{scenarios}", worker("w", run, 64), scenarios)
        measured = Measured(one, one.compare(60, trials, "--workers", "w"), stop_after=60)
        print(f"| {2 * scenarios * trials:,} | 64 | {measured.memory / 1024:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
