#!/usr/bin/env python3
"""A scripted `kubectl` for `kube.py`: it takes what docs/workers/kubectl-run passes, and starts the container's command here.

Like the real one it is attached some time after the container has begun: what the container prints before that is lost.
It keeps the pod that it would have made, and fails on a flag that it does not know.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time

ATTACHED_AFTER = 0.3


def main():
    parser = argparse.ArgumentParser(prog="kubectl", allow_abbrev=False)
    parser.add_argument("verb", choices=["run"])
    parser.add_argument("name")
    parser.add_argument("--image", required=True)
    parser.add_argument("--labels", required=True)
    parser.add_argument("--restart", choices=["Never"], required=True)
    parser.add_argument("--pod-running-timeout", required=True)
    parser.add_argument("--overrides", type=json.loads, required=True)
    for flag in ("--stdin", "--rm", "--quiet"):
        parser.add_argument(flag, action="store_true", required=True)
    read = parser.parse_args()
    # As with `--override-type=merge`: a list takes the place of a list.
    pod = {"apiVersion": "v1", "kind": "Pod", **read.overrides}
    pod["metadata"] = {"name": read.name, "labels": dict([read.labels.split("=")])}
    with open(f"{os.environ['PODS']}/{read.name}.json", "x") as file:
        json.dump(pod, file)
    [container] = pod["spec"]["containers"]
    env = {"PATH": os.environ["WORKER_PATH"], "HOME": os.environ["WORKER_HOME"]}
    child = subprocess.Popen(container["command"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(ATTACHED_AFTER)
    os.set_blocking(child.stdout.fileno(), False)
    child.stdout.read()
    os.set_blocking(child.stdout.fileno(), True)
    threading.Thread(target=feed, args=(child,), daemon=True).start()
    while piece := os.read(child.stdout.fileno(), 65_536):
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    print(f'pod "{read.name}" deleted')
    sys.stdout.flush()
    os._exit(child.wait())


def feed(child):
    while piece := os.read(0, 65_536):
        os.write(child.stdin.fileno(), piece)
    child.stdin.close()


if __name__ == "__main__":
    main()
