"""The observations of a run, line by line: as wanted, not as wanted, or not judged here."""


class Report:
    def __init__(self):
        self.rows, self.failures, self.unjudged = [], [], []

    def row(self, what, seen, is_right=True, wanted="", excuse=None):
        """A line of the report. An unwanted result is a NO, unless this run cannot judge it: the excuse says why."""
        mark = "ok" if is_right else "?" if excuse else "NO"
        self.rows.append((what, seen, mark))
        why = "" if is_right else f" (not judged: {excuse})" if excuse else f" (wanted: {wanted})" if wanted else ""
        print(f"{mark:3} {what}: {seen}{why}", flush=True)
        if not is_right:
            (self.unjudged if excuse else self.failures).append(what)

    def summary(self, seconds):
        parts = [f"{len(self.rows)} trials in {seconds:.0f} s"]
        for count, name in [(self.failures, "not as wanted"), (self.unjudged, "not judged")]:
            parts.append(f"{len(count)} {name}" + (f": {'; '.join(count)}" if count else ""))
        return ", ".join(parts)
