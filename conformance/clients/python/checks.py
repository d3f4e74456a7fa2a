"""Counts checks, section by section; a section that breaks off counts as one failed check."""

import traceback


class Checks:
    def __init__(self):
        self.sections = []
        self.passed = self.failed = self.skipped = 0
        self.current = ""

    def section(self, function):
        """Marks a function of one client as a section to be run."""
        self.sections.append(function)
        return function

    def check(self, what, held, seen=None):
        if held:
            self.passed += 1
            return
        self.failed += 1
        shown = "" if seen is None else f": {seen!r:.200}"
        print(f"FAILED {self.current}: {what}{shown}")

    def raises(self, what, expected, function, *arguments):
        try:
            function(*arguments)
        except expected:
            self.check(what, True)
        except Exception as other:  # anything else is what the check is about
            self.check(what, False, other)
        else:
            self.check(what, False, "nothing was raised")

    def run(self, client):
        for section in self.sections:
            self.current = section.__name__
            try:
                section(client)
            except Exception as error:  # one section must not end the others
                self.check("runs to its end", False, error)
                traceback.print_exc()
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0
