"""What the search of gepa is worth in the worlds of `skilltune-research`: the same scenarios, agents, judges and seeds.

benches/research/README.md, "Beside gepa", says how to run it and what its rows mean.
"""

import argparse
import json
import math
import os
import subprocess
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import gepa
from gepa.core.adapter import EvaluationBatch
from gepa.strategies.proposal_sampling import SameParentSampling
from gepa.strategies.proposal_selection import BestImprovement

WORLDS = Path(__file__).parents[2] / "target/release/examples/worlds"
WHOLE = ("start", "pool", "edits")
OTHER = ("shows", "shows_absent", "finds", "invents", "noise", "leniency", "fixes", "breaks", "overfits")

# Whether the best version has to win a final comparison, and whether the improver is told all that it has missed.
POLICIES = {
    "gepa": (False, False),
    "gepa-confirmed": (True, False),
    "memory": (False, True),
    "memory-confirmed": (True, True),
}
# The options of gepa, as it has them where nobody says otherwise, and those of the adapter.
DEFAULTS = {
    "minibatch": 3,
    "trainset": 0,  # so many scenarios; 0 for all
    "valset": 0,
    "split": 0,  # 1: no scenario is in both sets
    "select": "pareto",
    "frontier": "instance",
    "accept": "strict_improvement",
    "cache": 0,
    "proposals": 1,
    "edits": 0,  # the improver is told of the so many statements that were missed most often; 0 for all
    "spare": 0,  # max_metric_calls is so much below the budget, for gepa goes on until it is used up
}
# What did best for a search of so many runs or more, with and without a memory.
BEST = {
    False: {
        0: {"minibatch": 2, "valset": 1, "spare": 1},
        16: {"minibatch": 3, "valset": 3, "spare": 4},
        48: {"minibatch": 4, "valset": 6, "spare": 5},
    },
    True: {
        0: {"minibatch": 1, "valset": 2, "spare": 1},
        16: {"minibatch": 1, "valset": 3, "spare": 1},
        48: {"minibatch": 1, "valset": 6, "spare": 2},
    },
}


class Worlds:
    """The program that serves worlds."""

    def __init__(self):
        self.process = subprocess.Popen(
            [WORLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"no answer to {request}")
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Scenarios:
    """A data loader whose ids are the numbers of the scenarios, so that both sets name them alike."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def all_ids(self):
        return self.numbers

    def fetch(self, ids):
        return list(ids)

    def __len__(self):
        return len(self.numbers)


class Adapter:
    """The text of a candidate is the number of a version; the simulated agents do the rest."""

    def __init__(self, worlds, has_memory, edits):
        self.worlds, self.has_memory, self.edits = worlds, has_memory, edits
        self.seen = {}

    def evaluate(self, batch, candidate, capture_traces=False):
        version = int(candidate["skill"])
        tried = self.worlds.ask({"try": [[version, scenario] for scenario in batch]})
        missed = [[one for one in trial["statements"] if not one["is_met"]] for trial in tried]
        self.seen.setdefault(version, []).extend(one for some in missed for one in some)
        # Those with the same words are one objective.
        met = [{one["words"]: float(one["is_met"]) for one in trial["statements"]} for trial in tried]
        return EvaluationBatch(missed, [trial["score"] / 100 for trial in tried], missed, met)

    def make_reflective_dataset(self, candidate, eval_batch, components_to_update):
        records = [{"Feedback": missed} for missed in eval_batch.trajectories]
        return {name: records for name in components_to_update}

    def propose_new_texts(self, candidate, reflective_dataset, components_to_update):
        version = int(candidate["skill"])
        missed = [one for record in reflective_dataset["skill"] for one in record["Feedback"]]
        if self.has_memory:
            missed = self.seen[version]
        if self.edits:
            often = Counter(one["words"] for one in missed).most_common(self.edits)
            missed = [one for one in missed if one["words"] in dict(often)]
        improve = {"version": version, "missed": [one["id"] for one in missed]}
        return {"skill": str(self.worlds.ask({"improve": improve}))}


class Quiet:
    """gepa goes on after some errors; a comparison must not."""

    def log(self, message):
        if "xception" in message or "failed" in message:
            raise RuntimeError(message)


def search(worlds, scenarios, runs, seed, has_memory, options):
    """The best version by gepa's own scores, and by how many points it is better there."""
    own = options["valset"] or len(scenarios)
    trainset = scenarios[own:] if options["split"] else scenarios[: options["trainset"] or None]
    strategies = {}
    if options["proposals"] > 1:
        strategies = {
            "sampling_strategy": SameParentSampling(options["proposals"]),
            "selection_strategy": BestImprovement(),
        }
    result = gepa.optimize(
        seed_candidate={"skill": "0"},
        trainset=Scenarios(trainset),
        valset=Scenarios(scenarios[:own]),
        adapter=Adapter(worlds, has_memory, options["edits"]),
        reflection_minibatch_size=options["minibatch"],
        candidate_selection_strategy=options["select"],
        frontier_type=options["frontier"],
        acceptance_criterion=options["accept"],
        cache_evaluation=bool(options["cache"]),
        max_metric_calls=runs - options["spare"],
        seed=seed,
        logger=Quiet(),
        track_best_outputs=False,
        **strategies,
    )
    scores = result.val_aggregate_scores
    return int(result.best_candidate["skill"]), 100 * (scores[result.best_idx] - scores[0])


def play(worlds, args, policy, runs, seed):
    """One seed."""
    begin = {"law": law(args), "seed": seed, "runs": runs, "confidence": args.confidence}
    world = worlds.ask({"begin": begin})
    is_confirmed, has_memory = POLICIES[policy]
    scenarios, search_runs = list(range(world["scenarios"])), runs
    if is_confirmed:
        scenarios, search_runs = world["searched"], world["search_runs"]
    best = BEST[has_memory]
    best = best[max(fewest for fewest in best if fewest <= search_runs)]
    options = {**DEFAULTS, "select": "current_best", "cache": 1, **best, **dict(args.option)}
    version, claimed = search(worlds, scenarios, search_runs, seed, has_memory, options)
    if is_confirmed and version:
        claimed = worlds.ask({"confirm": version})
        version = version if claimed is not None else 0
    return {**worlds.ask({"end": version}), "claimed": claimed if version else None}


def play_some(args, policy, runs, seeds):
    worlds = Worlds()
    played = [play(worlds, args, policy, runs, seed) for seed in seeds]
    worlds.end()
    return played


def estimate(values):
    """A mean and its standard error."""
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    return mean, math.sqrt(squares / (len(values) - 1) / len(values)) if len(values) > 1 else 0.0


def row(name, runs, played):
    """As `skilltune-research` prints it."""
    count = len(played)
    quality, error = estimate([one["end"] for one in played])
    used = sum(one["runs"] for one in played) / count
    worse = 100 * sum(one["end"] < one["start"] - 1e-6 for one in played) / count
    shipped = [one for one in played if one["claimed"] is not None]
    excess = "-"
    if shipped:
        mean, of_mean = estimate([one["claimed"] - (one["end"] - one["start"]) for one in shipped])
        excess = f"{mean:+.1f} ± {of_mean:.1f}"
    return (
        f"{name:<16} {runs:>5}  {f'{quality:.1f} ± {error:.1f}':>12}  {used:>6.1f}  {f'{worse:.1f}%':>6}  "
        f"{f'{100 * len(shipped) / count:.1f}%':>7}  {excess:>14}"
    )


def law(args):
    """The numbers of the world that are not the usual ones."""
    given = {name: getattr(args, name) for name in WHOLE + OTHER}
    return {name: value for name, value in given.items() if value is not None}


def some(kind):
    return lambda text: [kind(one) for one in text.split(",")]


def option(text):
    name, _, value = text.partition("=")
    if name not in DEFAULTS:
        raise argparse.ArgumentTypeError(f"there is no option {name}")
    return name, type(DEFAULTS[name])(value)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", type=some(str), default=list(POLICIES), help=f"of {', '.join(POLICIES)}")
    parser.add_argument("--runs", type=some(int), default=[16, 32, 64, 128])
    parser.add_argument("--seeds", type=int, default=600)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--confidence", type=float, default=0.9)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument(
        "--option", type=option, action="append", default=[], metavar="NAME=VALUE", help=f"of {', '.join(DEFAULTS)}"
    )
    world = parser.add_argument_group("world", "the flags of `skilltune-research`")
    for name in WHOLE + OTHER:
        kind = int if name in WHOLE else float
        world.add_argument("--" + name.replace("_", "-"), type=kind, metavar="N")
    return parser.parse_args()


def main():
    args = arguments()
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    chunks = [seeds[start : start + 25] for start in range(0, len(seeds), 25)]
    is_first = True
    with ProcessPoolExecutor(args.processes) as pool:
        for policy in args.policy:
            for runs in args.runs:
                chunked = pool.map(partial(play_some, args, policy, runs), chunks)
                played = [one for chunk in chunked for one in chunk]
                if is_first:
                    start = sum(one["start"] for one in played) / len(played)
                    print(f"start {start:.1f}, {len(played)} seeds, confidence {args.confidence:g}\n")
                    print("policy            runs       quality    used   worse  shipped  claimed - true")
                    is_first = False
                print(row(policy, runs, played), flush=True)


if __name__ == "__main__":
    main()
