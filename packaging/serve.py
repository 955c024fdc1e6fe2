"""Serves a folder on a free port of loopback, and writes its address and each request: serve.py FOLDER ADDRESS LOG."""

import functools
import http.server
import pathlib
import sys

folder, address, log = sys.argv[1:]


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        with open(log, "a") as file:
            file.write(format % args + "\n")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
draft = pathlib.Path(address + ".new")
draft.write_text(f"http://127.0.0.1:{server.server_port}")
draft.rename(address)
server.serve_forever()
