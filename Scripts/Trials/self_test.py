"""Whether the trials' judgment can say no, and when it does not judge."""
import contextlib
import io

from Frame.checks import ROOT, judged
from Frame.programs import program
from Frame.report import Report
from Trials.keys import NONE, RIGHT, WRONG, DISABLED_LICENSED, Answer, Sight, Title
from Trials.outages import Outages, Window
from Trials.replay import replayed

TITLE, DISABLED = Title(1, "imported", "demo"), Title(2, "imported, disabled", "demo", is_disabled=True)


class Stage(Report):
    """A cluster that was, and a machine that was busy or not."""

    def __init__(self, reason=None, is_always=False):
        super().__init__()
        self.machine, self.reason, self.is_always = self, reason, is_always

    def excuse(self, begin, end):
        return self.reason

    def others(self, begin, end):
        """Of the processors: more during an outage, where the machine became busy then."""
        return 0.6 if self.reason and (end > 1 or self.is_always) else 0


def window(p99=5, lost=0, count=1_000, timeouts=0, end=1):
    requests = {"granted": {"count": count, "p50": 1, "p99": p99, "max": p99}}
    if timeouts:
        requests["noReply"] = {"count": timeouts, "p50": 10_000, "p99": 10_000, "max": 10_000}
    return Window(0, end, {"requests": requests, "lost": lost, "starts": count, "replies": {"200": count}})


def sight(*outcomes, title=TITLE):
    return Sight([Answer(1, "node", title, outcome, what, 0) for outcome, what in outcomes] or [Answer(1, "node", TITLE, RIGHT, "200", 0)], 0)


def judgment(during=None, load=None, calm=None, others=None, first=None, is_always=False):
    """The NOs, and the lines that are not judged, by the last word of each line's name."""
    stage = Stage(others, is_always)
    outages = Outages(stage, None, 100, 75)
    with contextlib.redirect_stdout(io.StringIO()):
        outages.judge("it", load or window(), during or sight(), calm or [window()] * 4, window(), sight(), 1.0, first)
    return [sorted(name.split(" ")[-1] for name in names) for names in (stage.failures, stage.unjudged)]


def self_test():
    busy = "other programs took 60 % of the processors"
    cases = [
        ("all is well", judgment(), [[], []]),
        ("a wrong key", judgment(sight((WRONG, "11"))), [["keys"], []]),
        ("a wrong key on a busy machine", judgment(sight((WRONG, "11")), others=busy), [["keys"], []]),
        ("a disabled key", judgment(sight((DISABLED_LICENSED, "200"), title=DISABLED), others=busy), [["keys"], []]),
        ("nothing asked", judgment(Sight([], 0)), [["keys"], []]),
        ("a key lost", judgment(sight((NONE, "503 storeUnavailable")), others=busy), [["before"], []]),
        ("a key lost to a busy machine", judgment(sight((NONE, "503 overloaded")), others=busy), [[], ["before"]]),
        ("licenses lost", judgment(load=window(lost=3)), [["load"], []]),
        ("licenses lost on a busy machine", judgment(load=window(lost=3), others=busy), [[], ["load"]]),
        ("licenses lost as before", judgment(load=window(lost=3), calm=[window(lost=1)] * 4), [[], ["load"]]),
        ("twice as slow", judgment(load=window(p99=10)), [["p99"], []]),
        ("twice as slow on a busy machine", judgment(load=window(p99=10), others=busy), [[], ["p99"]]),
        ("twice as slow as what wanders", judgment(load=window(p99=20), calm=[window(p99=number) for number in (5, 10, 10, 5)]), [[], ["p99"]]),
        ("far slower than what wanders", judgment(load=window(p99=40), calm=[window(p99=number) for number in (5, 10, 10, 5)]), [["p99"], []]),
        ("far slower on a machine that is busy since", judgment(load=window(p99=40, end=2), others=busy), [[], ["p99"]]),
        ("far slower on a machine that was busy before", judgment(load=window(p99=40), others=busy, is_always=True), [["p99"], []]),
        ("viewers who wait for nothing", judgment(load=window(timeouts=50)), [["p99"], []]),
        ("a node that holds its viewers", judgment(first=window(timeouts=1), others=busy), [["then"], []]),
    ]
    if program("promtool"):
        certificate = "LatchkeyTLSCertificateEnds"
        cases.append(("a replay", replayed(str(ROOT / "Deployment/prometheus/alerts.yml")), [
            [certificate], ["LatchkeyAllNodesDown", "LatchkeyNodeDown", "LatchkeyNotReady", "LatchkeyProbeFails", certificate]]))
    return judged(([f"{name}: {seen}"], [f"{name}: {wanted}"]) for name, seen, wanted in cases)
