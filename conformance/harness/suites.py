"""One class per client: how it is installed from its registry and how its program is run.

A program takes the server's address and ends with a line `N passed, M failed, K skipped`; every
failed check is a line that starts with `FAILED`.
"""

import re
import shutil
import sys
from pathlib import Path

from . import process

HERE = Path(__file__).resolve().parents[1]
CLIENTS = HERE / "clients"
CACHE = HERE / ".cache"
INSTALL_SECONDS = 1800
RUN_SECONDS = 300
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)


class Unavailable(Exception):
    """The toolchain of a suite is not on this machine."""


def tool(name):
    """Where a program is, or the reason why a suite cannot run."""
    found = shutil.which(name)
    if not found:
        raise Unavailable(f"`{name}` is not installed")
    return found


class Suite:
    """What all suites share: running a program and reading its counts."""

    def prepare(self):
        """Installs the client; leaves what is there already."""
        raise NotImplementedError

    def command(self, address):
        """The program and its arguments."""
        raise NotImplementedError

    def run(self, address):
        status, output = process.capture("the suite", self.command(address), RUN_SECONDS)
        counts = SUMMARY.findall(output)
        if not counts:
            raise process.Failed(f"no summary, status {status}:\n{process.tail(output)}")
        for line in output.splitlines():
            if line.startswith("FAILED"):
                print(f"  {line}", file=sys.stderr)
        passed, failed, skipped = (int(count) for count in counts[-1])
        if status != 0 and failed == 0:
            raise process.Failed(f"status {status} without a failed check:\n{process.tail(output)}")
        return {"passed": passed, "failed": failed, "skipped": skipped}


class Python(Suite):
    """The client for Python, in a virtual environment."""

    def prepare(self):
        self.python = CACHE / "python" / "bin" / "python"
        wanted = CLIENTS / "python" / "requirements.txt"
        done = CACHE / "python" / "installed.txt"
        if done.exists() and done.read_text() == wanted.read_text():
            return
        base = tool("python3")
        status, output = process.capture("venv", [base, "-m", "venv", CACHE / "python"], 120)
        if status != 0:
            raise Unavailable(f"python3 makes no virtual environments: {process.tail(output, 3)}")
        pip = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        process.run("installing the Python client", [*pip, "-r", wanted], INSTALL_SECONDS)
        done.write_text(wanted.read_text())

    def command(self, address):
        return [self.python, CLIENTS / "python" / "suite.py", address]


class Node(Suite):
    """The client for Node.js, with the addon that its package brings along."""

    def prepare(self):
        self.node, npm = tool("node"), tool("npm")
        folder = CACHE / "node"
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "suite.js"):
            shutil.copyfile(CLIENTS / "node" / name, folder / name)
        wanted = (folder / "package.json").read_text()
        done = folder / "installed.json"
        if done.exists() and done.read_text() == wanted:
            return
        # The package's install script would compile what its prebuilt addon already holds.
        install = [npm, "install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts"]
        process.run("installing the Node.js client", install, INSTALL_SECONDS, cwd=folder)
        done.write_text(wanted)

    def command(self, address):
        return [self.node, CACHE / "node" / "suite.js", address]


class Rust(Suite):
    """The client for Rust, in a workspace and target folder of its own."""

    def prepare(self):
        cargo = tool("cargo")
        target = CACHE / "rust" / "target"
        build = [cargo, "build", "--quiet", "--locked", "--target-dir", target]
        process.run("building the Rust client", build, INSTALL_SECONDS, cwd=CLIENTS / "rust")
        self.program = target / "debug" / "cairn-conformance"

    def command(self, address):
        return [self.program, address]


SUITES = {"rust": Rust, "python": Python, "node": Node}
