"""Runs a command and appends to a file how many bytes went in and came out: `count.py FILE COMMAND...`."""

import os
import subprocess
import sys
import threading


def copy(from_, to, counted):
    try:
        while piece := os.read(from_, 65_536):
            counted.append(len(piece))
            view = memoryview(piece)
            while view:
                view = view[os.write(to, view):]
    except BrokenPipeError:
        pass


def main():
    child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    sent, received = [], []

    def feed():
        copy(0, child.stdin.fileno(), sent)
        child.stdin.close()

    threading.Thread(target=feed, daemon=True).start()
    copy(child.stdout.fileno(), 1, received)
    code = child.wait()
    with open(sys.argv[1], "a") as file:
        file.write(f"{sum(sent)} {sum(received)}\n")
    # The feeding thread may still wait for its stdin.
    os._exit(code)


if __name__ == "__main__":
    main()
