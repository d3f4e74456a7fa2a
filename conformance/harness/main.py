"""The command line: which suites, against which server, and what is printed in the end."""

import argparse
import json
import signal
import sys
import time

from . import process
from .server import Server, build_binary
from .suites import SUITES, Unavailable


def arguments():
    parser = argparse.ArgumentParser(prog="conformance/run", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--server", metavar="H:P", help="use a running server instead of fresh ones")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=" ".join(SUITES) + " (default: all)")
    options = parser.parse_args()
    unknown = [name for name in options.suites if name not in SUITES]
    if unknown:
        parser.error(f"unknown suite {', '.join(unknown)}; there are {', '.join(SUITES)}")
    options.suites = options.suites or list(SUITES)
    return options


def run_suite(name, options, binary):
    """Prepares one client, starts a server for it and runs its program."""
    suite = SUITES[name]()
    suite.prepare()
    if options.server:
        return suite.run(options.server)
    with Server(binary()) as address:
        return suite.run(address)


def outcome(name, options, binary):
    """One row of the result: never `passed` for something that did not run."""
    started = time.monotonic()
    row = {"suite": name, "status": "failed", "passed": 0, "failed": 0, "skipped": 0}
    try:
        row.update(run_suite(name, options, binary))
        row["status"] = "passed" if row["failed"] == 0 and row["passed"] > 0 else "failed"
    except Unavailable as reason:
        row.update(status="unavailable", reason=str(reason))
    except (process.Failed, OSError) as reason:
        row["reason"] = str(reason)
    row["seconds"] = round(time.monotonic() - started, 1)
    return row


def describe(row):
    if row["status"] == "unavailable":
        return f"{row['suite']}: unavailable ({row['reason']})"
    text = f"{row['suite']}: {row['passed']} passed, {row['failed']} failed, {row['skipped']} skipped"
    if "reason" in row:
        text += f"; {row['status']}: {row['reason']}"
    return f"{text} [{row['seconds']} s]"


def main():
    options = arguments()
    # A termination unwinds like an interrupt, so that no server is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    built = []

    def binary():
        if not built:
            built.append(build_binary())
        return built[0]

    rows = []
    for name in options.suites:
        row = outcome(name, options, binary)
        rows.append(row)
        print(describe(row), file=sys.stderr if options.json else sys.stdout, flush=True)
    if options.json:
        print(json.dumps({"suites": rows}, indent=2))
    return 1 if any(row["status"] == "failed" for row in rows) else 0
