"""Three sshd: 1,000 calls, 30 kills of worker, sshd and coordinator, and one cut of a network. Nothing may be lost, recorded
twice or left alive, and the decisions have to be those of one machine."""

import collections
import time

import ground
from coordinator import STEPS, Coordinator, Journal, alone, assert_same, worker

SLOTS = 4
# One call in 16 outlives the ten seconds after a cut, if nothing ends it.
SCRIPT = {"improve": STEPS, "delay_ms": 100, "jitter_ms": 300, "slow_ms": 15_000}


def main():
    def more(parser):
        parser.add_argument("--scenarios", type=int, default=112, help="112 make 1,000 calls")
        parser.add_argument("--kills", type=int, default=30)

    read = ground.arguments(__doc__, more)
    report = ground.Report()
    with ground.Ground(read) as place:
        base, baseline = alone(place, read.scenarios)
        total = base.length()
        network = ground.Network()
        runs = {name: place.sshd(name, SCRIPT, network=network if name == "c" else None) for name in "abc"}
        settings = "".join(worker(name, run, SLOTS) for name, run in runs.items())
        one = Coordinator(place, "coordinator", settings, read.scenarios)
        one.chosen = ("--workers", "a,b,c")
        chaos = Chaos(place, one, network, read.kills, total)
        since = time.monotonic()
        resumed = one.finish(chaos.begin(), tick=chaos.tick)
        wall = time.monotonic() - since
        report.say("run", f"{len(baseline.keys)} calls, {wall:.0f} s, resumed {resumed} times")
        report.say("kills", ", ".join(f"{count} of {what}" for what, count in sorted(chaos.done.items())))
        report.must("all kills came", sum(chaos.done.values()) == read.kills and chaos.cut_at is not None)
        before, after = chaos.alive
        report.must("agents alive 10 s after the cut", before > 0 and after == 0, f"{after} (before it {before})")
        journal = assert_same(report, one, baseline, base)
        ground.until(lambda: not place.agents() and not place.workers(), 15, "an agent or a worker is left")
        report.must("agents alive at the end", not place.agents(), 0)
        report.must("calls made here", not (place.root / "worker/calls.log").exists(), 0)
        explain(report, place, journal, chaos)
    report.exit()


class Chaos:
    """Kills something whenever the run has made its next share of progress."""

    def __init__(self, place, one, network, kills, total):
        self.place, self.one, self.network = place, one, network
        of = ["coordinator"] * (kills // 5) + ["sshd"] * (kills // 3)
        self.left = of + ["worker"] * (kills - len(of)) + ["cut"]
        place.random.shuffle(self.left)
        self.share = total / (len(self.left) + 1)
        self.done, self.in_flight = collections.Counter(), 0
        self.cut_at, self.alive, self.is_mended = None, (0, None), False

    def begin(self):
        return self.one.start(*self.one.tune(*self.one.chosen))

    def tick(self):
        self.watch_cut()
        nth = sum(self.done.values()) + (self.cut_at is not None) + 1
        if not self.left or self.one.length() < nth * self.share:
            return
        if self.strike(self.left[0]):
            self.left.pop(0)

    def strike(self, what):
        """Returns whether there was something to kill."""
        if what == "cut":
            # An agent that has just begun a long call, so that it does not end by itself.
            alive = len(self.place.agents(self.network))
            if alive < 2:
                return False
            self.network.cut()
            self.cut_at, self.alive = time.monotonic(), (alive, None)
            return True
        if what == "coordinator":
            # The stem of the run is the only skilltune here that takes no call.
            found = [pid for pid in ground.pids() if ground.program(pid) == self.place.skilltune
                     and ground.argv_of(pid)[1:2] in ([b"tune"], [b"resume"])]
            self.in_flight += len(self.place.agents()) if found else 0
        else:
            found = self.place.sessions() if what == "sshd" else self.place.workers()
        if not found:
            return False
        ground.end(self.place.random.choice(found))
        self.done[what] += 1
        return True

    def watch_cut(self):
        if self.cut_at is None or self.is_mended:
            return
        since = time.monotonic() - self.cut_at
        if since >= 10 and self.alive[1] is None:
            self.alive = (self.alive[0], len(self.place.agents(self.network)))
        if since >= 20:
            self.network.mend()
            self.is_mended = True


def explain(report, place, journal, chaos):
    """Says how many calls were carried out more than once, and why."""
    begun = sum(place.calls(name) for name in "abc")
    lost, whys = journal.lost()
    report.say("carried out more than once", f"{begun - len(journal.keys)} ({begun} begun, {len(journal.keys)} recorded)")
    report.say("  lost with a worker and made again", lost)
    for why, count in whys.most_common():
        report.say(f"    last of {count}", why)
    report.say("  under way when the coordinator was killed", f"at most {chaos.in_flight}")
    for text, count in journal.failures().items():
        report.say(f"  recorded as failed, {count} times", text)
    shares = collections.Counter(machine["worker"] for machine in journal.machines)
    report.say("calls by worker", ", ".join(f"{name} {count}" for name, count in sorted(shares.items())))


if __name__ == "__main__":
    main()
