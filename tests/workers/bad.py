"""Workers that lack something, lie or flood. Beside each stands a good one: the run ends as on one machine, nothing runs here,
and one line says what is wrong."""

import glob
import sys
from pathlib import Path

import ground
from coordinator import STEPS, Coordinator, alone, assert_same, worker

SCENARIOS = 10
SCRIPT = {"improve": STEPS}
FORGE = Path(__file__).with_name("forge.py")
# A worker that refuses is named when it refuses; one that is only lost is named with the call that another one made.
REFUSED, LOST, GOOD = "refused", "lost", "good"


def main():
    read = ground.arguments(__doc__, lambda parser: parser.add_argument("--only", default="", help="a part of its name"))
    report = ground.Report()
    with ground.Ground(read) as place:
        base, baseline = alone(place, SCENARIOS)
        good = place.sshd("good", SCRIPT)
        # What it is, how it ends, and the command of its worker.
        cases = [
            ("without the agent", REFUSED, place.sshd("bare", SCRIPT, agents=False)),
            ("with another version of the agent", REFUSED, other_version(place)),
            ("with another version of skilltune", REFUSED, say('{"skilltune_worker":1,"program":"0.0.1","machine":"old"}')),
            ("with another protocol", REFUSED, say('{"skilltune_worker":99,"program":"9.9.9","machine":"new"}')),
            ("on a full disk", LOST, full_disk(place)),
            ("with a clock an hour off", GOOD, clock_off(place)),
            ("with a login script that prints a page", GOOD, chatty(place)),
            ("that is not there", LOST, ["ssh", "-F", str(place.config), "-oConnectTimeout=2", "-p9", "127.0.0.1", "true"]),
            ("that prints and never greets", LOST, ["sh", "-c", "yes"]),
        ]
        cases += [(about, LOST, [sys.executable, str(FORGE), kind, *good]) for about, kind in FORGED]
        for nth, (about, end, command) in enumerate(case for case in cases if read.only in case[0]):
            case(report, place, base, baseline, (nth, about, end, command, good))
        report.must("calls made here", not (place.root / "worker/calls.log").exists(), 0)
        ground.until(lambda: not place.agents() and not place.workers(), 30, "an agent or a worker is left")
    report.exit()


def case(report, place, base, baseline, made):
    nth, about, end, command, good = made
    print(f"== a worker {about}", flush=True)
    place.forget("good")
    one = Coordinator(place, f"bad-{nth}", worker("good", good, 2) + worker("bad", command, 1), SCENARIOS)
    one.chosen = ("--workers", "good,bad")
    try:
        one.finish(one.start(*one.tune(*one.chosen)), limit=200, most=3)
    except SystemExit as failed:
        report.must("the run ends", False, failed)
        return
    journal = assert_same(report, one, baseline, base)
    notes = [event["noted"].get("worker_refused") for event in one.events() if isinstance(event.get("noted"), dict)]
    lines = [note["why"] for note in notes if note and note["worker"] == "bad"]
    by_bad = sum(machine["worker"] == "bad" for machine in journal.machines)
    lost, whys = journal.lost()
    if end == GOOD:
        report.must("it makes calls like any other", by_bad > 0 and not lost, by_bad)
        return
    if "another hash" in about:
        # Nothing is wrong with its replies that have no parts, such as those of judges.
        report.say("its calls that count, as they have no parts", by_bad)
    else:
        report.must("it made no call that counts", by_bad == 0, by_bad)
    if end == REFUSED:
        report.must("one line says why", len(lines) == 1 and len(lines[0].splitlines()) == 1, "; ".join(lines))
    else:
        report.must("the journal says why", lost > 0, f"{lost} lost: {'; '.join(sorted(whys))}")


FORGED = [
    ("that replies to another call", "key"),
    ("that sends a part with another hash", "hash"),
    ("that sends a bomb of a tree", "bomb"),
    ("that sends a line without an end", "line"),
    ("that announces a reply of 1 TiB", "size"),
    ("that sends words in place of frames", "words"),
]


def say(line):
    return ["sh", "-c", 'printf "%s\\n" "$0"; exec cat >/dev/null', line]


def other_version(place):
    def update(own):
        # The same agent by its name and settings, but not by its content.
        agent = own / "bin" / place.agent.name
        agent.parent.mkdir()
        agent.write_bytes(place.agent.read_bytes() + b"newer")
        agent.chmod(0o755)
        settings = own / "home/.config/skilltune/skilltune.toml"
        settings.write_text(settings.read_text().replace(str(place.agent), str(place.root / "worker/bin" / agent.name)))

    return place.sshd("other", SCRIPT, prepare=update)


def full_disk(place):
    def fill(own):
        home = own / "home"
        settings = home / ".config/skilltune/skilltune.toml"
        text = settings.read_text()
        place.disk(home, "64k")
        settings.parent.mkdir(parents=True)
        settings.write_text(text)
        try:
            (home / "full").write_bytes(bytes(1 << 20))
        except OSError as error:
            print(f"as it should be: {error}")

    return place.sshd("full", SCRIPT, prepare=fill)


def clock_off(place):
    library = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")))
    return place.sshd("late", SCRIPT, env={"LD_PRELOAD": library, "FAKETIME": "+1h", "FAKETIME_DONT_FAKE_MONOTONIC": "1"})


def chatty(place):
    def greet(own):
        page = "".join(f'Welcome, line {nth}: {{"frame":"began"}}\n' for nth in range(400))
        (own / "home/page").write_text(page + "no end of a line:")
        # Debian's bash reads this for each command of ssh.
        (own / "home/.bashrc").write_text("cat ~/page\n")

    return place.sshd("chatty", SCRIPT, prepare=greet)


if __name__ == "__main__":
    main()
