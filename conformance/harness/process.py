"""Child processes with a time limit, which never outlive their parent's interest in them."""

import os
import signal
import subprocess


class Failed(Exception):
    """A step did not end well; the text says which and why."""


def run(what, command, seconds, cwd=None, env=None):
    """Runs a command to its end and returns its output; raises `Failed` with the last lines."""
    status, output = capture(what, command, seconds, cwd, env)
    if status != 0:
        raise Failed(f"{what} ended with status {status}:\n{tail(output)}")
    return output


def capture(what, command, seconds, cwd=None, env=None):
    """Runs a command in a session of its own, so that a timeout ends its children as well."""
    child = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = child.communicate(timeout=seconds)
    except BaseException as reason:
        kill_group(child)
        if isinstance(reason, subprocess.TimeoutExpired):
            raise Failed(f"{what} took longer than {seconds} s") from None
        raise
    return child.returncode, output


def kill_group(child):
    """Ends a child that leads a session, with everything it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def tail(output, lines=20):
    return "\n".join(output.splitlines()[-lines:])
