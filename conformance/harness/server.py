"""A fresh `cairn serve` in memory, stopped whatever happens."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from . import process

ROOT = Path(__file__).resolve().parents[2]
BUILD_SECONDS = 1800
START_SECONDS = 30
STOP_SECONDS = 10


def build_binary():
    """The server's binary: CAIRN_BIN, or a debug build, whose overflow checks find more."""
    given = os.environ.get("CAIRN_BIN")
    if given:
        return Path(given).resolve()
    command = ["cargo", "build", "--quiet", "--bin", "cairn", "--message-format", "json"]
    output = process.run("building cairn", command, BUILD_SECONDS, cwd=ROOT)
    for line in output.splitlines():
        if line.startswith("{") and '"executable":"' in line:
            return Path(json.loads(line)["executable"])
    raise process.Failed(f"cargo built no binary:\n{process.tail(output)}")


class Server:
    """`with Server(binary) as address:` gives the address that clients connect to."""

    def __init__(self, binary):
        self.binary = binary
        self.child = None
        self.folder = None

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="cairn-conformance-")
        ready = Path(self.folder.name) / "ready.json"
        log = open(Path(self.folder.name) / "log", "w+")
        command = [
            self.binary, "serve", "--memory", "--namespace", "test", "--namespace", "bar",
            "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
            "--ready-file", ready,
        ]
        self.child = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            return self.wait_until_ready(ready, log)
        except BaseException:
            self.stop()
            raise

    def wait_until_ready(self, ready, log):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if ready.exists():
                return json.loads(ready.read_text())["aerospike"]
            if self.child.poll() is not None:
                log.seek(0)
                raise process.Failed(f"the server ended at its start:\n{process.tail(log.read())}")
            time.sleep(0.02)
        raise process.Failed(f"the server was not ready within {START_SECONDS} s")

    def __exit__(self, kind, error, trace):
        alive = self.child.poll() is None
        self.stop()
        if error is None and not alive:
            raise process.Failed(f"the server ended with status {self.child.returncode}")

    def stop(self):
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        self.folder.cleanup()
