"""Stands between a coordinator and a worker, and changes what the worker says: `forge.py KIND COMMAND...`.

key     the reply has another key
hash    a part of a tree has other bytes than its hash says
bomb    before its reply come a million parts of a tree
line    before its reply comes a line without an end
size    its reply says that it has 1 TiB
words   after the first line comes no frame
"""

import json
import os
import subprocess
import sys
import threading

ENDLESS = b"x" * 65_536


def main():
    kind, command = sys.argv[1], sys.argv[2:]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    threading.Thread(target=pump, args=(sys.stdin.buffer, worker.stdin), daemon=True).start()
    try:
        for line, payload in frames(worker.stdout):
            for piece in forged(kind, line, payload):
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The coordinator has had enough. What is left in the buffer would be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    worker.stdin.close()
    worker.wait()


def pump(from_, to):
    """Copies a stream as it comes."""
    try:
        while piece := os.read(from_.fileno(), 65_536):
            to.write(piece)
            to.flush()
        to.close()
    except (BrokenPipeError, ValueError):
        pass


def frames(stream):
    """Returns each line of JSON with the bytes that follow it."""
    while line := stream.readline():
        try:
            frame = json.loads(line)
        except ValueError:
            frame = {}
        yield (frame, line), stream.read(frame.get("bytes", 0)) if "frame" in frame else b""


def forged(kind, known, payload):
    frame, line = known
    is_reply = frame.get("frame") == "reply"
    if kind == "key" and is_reply:
        yield encode({**frame, "key": "0" * 64})
    elif kind == "size" and is_reply:
        yield encode({**frame, "bytes": 1 << 40})
    elif kind == "bomb" and is_reply:
        for nth in range(1_000_000):
            yield encode({"frame": "object", "digest": f"{nth:064x}", "bytes": 1 << 30})
            yield ENDLESS * (1 << 14)
        yield line
    elif kind == "line" and is_reply:
        for _ in range(1 << 14):
            yield ENDLESS
        yield line
    elif kind == "words" and frame.get("frame") == "accepted":
        yield b"Hello, who is there?\n"
    else:
        yield line
    is_part = kind == "hash" and frame.get("frame") == "object" and payload
    yield bytes([payload[0] ^ 1]) + payload[1:] if is_part else payload


def encode(frame):
    return json.dumps(frame).encode() + b"\n"


if __name__ == "__main__":
    main()
