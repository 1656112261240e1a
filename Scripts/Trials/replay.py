"""Prometheus's scrapes, once more under the rules of Deployment as they are shipped, evaluated at the shipped interval: promtool does it over the
same scrapes, whose clock goes so many times faster. A second of a trial is so many seconds of each `for` and of each window.
"""
import collections
import json
import os
import re
import subprocess
import tempfile
import urllib.parse

from Frame.programs import get, program

EVERY = 1  # Seconds from scrape to scrape in the trial.


def scrapes(port, names, seconds):
    """All samples of some metrics that a Prometheus has of the last seconds."""
    query = urllib.parse.quote(f'{{__name__=~"{"|".join(sorted(names))}"}}[{round(seconds)}s]')
    return json.loads(get(f"http://127.0.0.1:{port}/api/v1/query?query={query}")[1])["data"]["result"]


def series(name, labels):
    return f"{name}{{{','.join(f'{key}={json.dumps(value)}' for key, value in sorted(labels.items()))}}}"


class Replay:
    """Scrapes as promtool reads them."""

    def __init__(self, found, begin, end, faster):
        self.begin, self.faster, self.count = begin, faster, round((end - begin) / EVERY) + 1
        slots = {}
        for one in found:
            labels = dict(one["metric"])
            name = labels.pop("__name__")
            slots[series(name, labels)] = (name, labels.get("instance"), {self.slot(moment): value for moment, value in one["values"]})
        up = collections.defaultdict(dict)
        for name, instance, values in slots.values():
            if name == "up":
                up[instance] |= values
        self.series = {key: self.values(name, values, up[instance]) for key, (name, instance, values) in slots.items()}

    def slot(self, moment):
        return round((moment - self.begin) / EVERY)

    def values(self, name, values, up):
        """A text for each slot. A value that a target did not report when asked is stale, as it was."""
        texts, is_there = [], False
        for slot in range(self.count):
            if slot in values:
                texts.append(self.shown(name, float(values[slot])))
                is_there = True
            elif is_there and slot in up:
                texts.append("stale")
                is_there = False
            else:
                texts.append("_")
        return " ".join(texts)

    def shown(self, name, value):
        """Moments count from the begin of the replay; those of the trial as its clock goes there."""
        if name.endswith("_timestamp_seconds") and value > 0:
            value -= self.begin
            value *= self.faster if value < self.count * EVERY else 1
        return repr(value)

    def firing(self, folder, rules, begin, end):
        """The alerts that fire between two moments of the trial under the rules of a file, with the settings next to it."""
        wide = max(1, round((end - begin) * self.faster))
        with open(os.path.join(os.path.dirname(rules), "prometheus.yml")) as file:
            every = re.search(r"^  evaluation_interval: (\w+)$", file.read(), re.M)[1]
        test = {"rule_files": [rules], "evaluation_interval": every, "tests": [{
            "interval": f"{self.faster * EVERY}s",
            "input_series": [{"series": key, "values": values} for key, values in self.series.items()],
            "promql_expr_test": [{
                "expr": f'group by (alertname) (last_over_time(ALERTS{{alertstate="firing"}}[{wide}s]))',
                "eval_time": f"{max(wide, round((end - self.begin) * self.faster))}s",
                # None has this name: promtool says then what there is.
                "exp_samples": [{"labels": '{alertname="none"}', "value": 1}]}]}]}
        with open(f"{folder}/replay.yml", "w") as file:
            json.dump(test, file)
        run = subprocess.run([program("promtool"), "test", "rules", f"{folder}/replay.yml"], capture_output=True, text=True)
        said = run.stdout + run.stderr
        got = re.search(r"got: ?(.*)", said)
        if not got:
            raise RuntimeError(f"promtool test rules: {said[:500]}")
        return set(re.findall(r'alertname="(\w+)"', got[1]))


def replayed(rules):
    """The alerts in a replay of made-up scrapes after nine seconds, and after nineteen: lasting, not yet firing, and stale ones."""
    node, begin = {"instance": "node-a", "job": "latchkey"}, 1_800_000_000

    def found(name, texts, **labels):
        return {"metric": {"__name__": name, **node, **labels},
                "values": [[begin + slot, text] for slot, text in enumerate(texts) if text]}
    scraped = [
        # A minute is three seconds: one node is not ready for two, and a second time for five.
        found("latchkey_ready", ["1"] * 3 + ["0"] * 2 + ["1"] * 5 + ["0"] * 5 + ["1"] * 5),
        found("up", ["1"] * 10 + ["0"] * 5 + ["1"] * 5), found("latchkey_build_info", ["1"] * 10 + [None] * 5 + ["1"] * 5),
        # A certificate of three days, and a probe that hangs from the begin on: five minutes are fifteen seconds.
        found("latchkey_tls_certificate_expiry_timestamp_seconds", [str(begin + 3 * 86_400)] * 20, listener="players"),
        found("latchkey_probe_timestamp_seconds", [str(begin + 0.1)] * 20),
    ]
    replay = Replay(scraped, begin, begin + 19, 20)
    with tempfile.TemporaryDirectory() as folder:
        return [sorted(replay.firing(folder, rules, begin, begin + moment)) for moment in (9, 19)]
