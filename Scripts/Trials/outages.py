"""Trials of outages: each part of the cluster is killed, and hangs, for longer than the server's refresh, while licenses are asked for.

Judged: no wrong key, no disabled key licensed, no license lost that was licensed before, and a p99 of at most 1.5 × that of the minute
before. The first three are judged always; if other programs take the processors, losses and delays are not.
"""
import collections
import statistics
import time

from Frame.programs import ask, figures, finish, proxy_status, replies, until

MOST_SLOWER = 1.5
LEFT_WITHIN = 2  # Seconds until HAProxy leaves a node that hangs.
MUCH_BUSIER = 0.15  # Of the processors.
GROSS = 2  # A time so many times over its limit is not a busy machine's fault.
WINDOW = 5  # Seconds of a measurement while all is well.
Window = collections.namedtuple("Window", "begin end report")


def p99(report):
    """Milliseconds. If more than one request in a hundred got no license at first, the unsuccessful waits count, too."""
    waits = [one for outcome, one in report["requests"].items() if outcome in ("noReply", "failed", "shed")]
    is_common = sum(one["count"] for one in waits) * 100 > report["starts"]
    return max([figures(report)["p99"]] + ([one["p50"] for one in waits] if is_common else []))


def slowest(report):
    """Milliseconds until the slowest license, or until the slowest failure was known."""
    return max((one["max"] for one in report["requests"].values()), default=0)


class Outages:
    def __init__(self, cluster, watch, rate, seconds):
        self.cluster, self.watch, self.rate, self.seconds = cluster, watch, rate, seconds
        self.calm = []  # The latest windows while all was well.
        self.table = []

    # Measuring

    def load(self, seconds, *options):
        return self.cluster.load(self.rate, seconds, "--retry", "1", "--content-id", self.cluster.load_uri, *options)

    def measure(self, seconds, happening=None):
        """A window of load, in which something may happen."""
        begin = time.monotonic()
        load = self.load(seconds)
        if happening:
            happening(begin)
        report = finish(load, seconds + 60)
        return Window(begin, time.monotonic(), report)

    def rest(self, count=1):
        for _ in range(count):
            self.calm = (self.calm + [self.measure(WINDOW)])[-4:]
        return self.calm[-1]

    def nodes(self, *more):
        return [f"http://127.0.0.1:{node.players}" for node in self.cluster.nodes + list(more)]

    # The trials

    def run(self):
        cluster = self.cluster
        third = cluster.third
        first = self.watch.round(self.nodes(third)[2])
        self.stop_third()
        self.watch.targets = self.nodes()
        self.watch.begin()
        begin = time.monotonic()
        self.rest(4)
        before = self.watch.seen(begin, time.monotonic())
        cluster.row("keys of all kinds before the outages", before.text(),
                    before.is_right and all(one.outcome == "right" for one in first), "the keys that packagers got")
        refresh = max(self.seconds, 40)
        self.outage("PostgreSQL hangs", cluster.postgres.hang, cluster.postgres.resume, refresh)
        self.outage("PostgreSQL is killed", cluster.postgres.kill, cluster.postgres.start, max(36, round(refresh / 2)), starts_nodes=True)
        short = max(10, self.seconds // 8)
        self.outage("Redis hangs", cluster.redis.hang, cluster.redis.resume, short, metric=True)
        self.outage("Redis is killed", cluster.redis.kill, cluster.redis.start, short, metric=True)
        node, front = cluster.nodes[1], [f"http://127.0.0.1:{cluster.front}"]
        self.watch.targets = front
        short = min(short, 30)
        self.outage("a node hangs", node.child.hang, node.child.resume, short, targets=front, left=node)
        self.outage("a node is killed", node.child.kill, node.start, short, targets=front, left=node)
        self.backend_hangs()
        self.watch.targets = []
        self.show()

    def outage(self, what, begin, end, seconds, starts_nodes=False, metric=False, targets=None, left=None):
        cluster, targets, notes = self.cluster, targets or self.nodes(), []

        def happening(start):
            if not left:
                time.sleep(1)
                begin()
            down = time.monotonic()
            if metric:
                notes.append(self.metric_shows(True))
            if starts_nodes:
                notes.extend(self.starts_third())
            time.sleep(max(0, down + (seconds - 3 if left else seconds) - time.monotonic()))

        start = time.monotonic()
        first = self.measure(4, lambda _: notes.append(self.leaves(left, begin))) if left else None
        window = self.measure(seconds - 3 if left else seconds + 1, happening)
        during = self.watch.seen(start + 1, window.end, None if starts_nodes else targets)
        back = time.monotonic()
        end()
        recovery = self.recovers(what, targets, back)
        calm = self.calm
        if metric:
            notes.append(self.metric_shows(False))
        after = self.rest()
        right_after = self.watch.seen(back + recovery if recovery is not None else back, time.monotonic())
        self.judge(f"{what} for {seconds} s", window, during, calm, after, right_after, recovery, first)
        for name, seen, is_right, *is_sure in notes:
            cluster.row(f"{what}: {name}", seen, is_right, excuse=None if any(is_sure) else cluster.machine.excuse(start, window.end))
        if starts_nodes and cluster.third.is_started:
            self.watch.targets = self.nodes()
            self.stop_third()

    def leaves(self, node, begin):
        """What happens to a node, and when HAProxy notices."""
        time.sleep(1)
        begin()
        try:
            took = until(lambda: proxy_status(self.cluster.folder, node.name) != "UP", 5, "leaving")
            return "HAProxy leaves it", f"after {took:.1f} s", took <= LEFT_WITHIN, took > GROSS * LEFT_WITHIN
        except TimeoutError as error:
            return "HAProxy leaves it", str(error), False

    def stop_third(self):
        self.cluster.third.child.stop()

    def judge(self, what, window, during, calm, after, right_after, recovery, first=None):
        """`first` is the load while HAProxy still had a node that it then left: those viewers wait, and have their license within 2 s."""
        cluster, report = self.cluster, window.report
        reports = [first.report, report] if first else [report]
        busy = cluster.machine.excuse(window.begin, window.end) or cluster.machine.excuse(calm[0].begin, calm[-1].end)
        cluster.row(f"{what}: keys", during.text(), bool(during.answers) and not during.wrong and not during.undone,
                    "no wrong key, no disabled key licensed")
        unsure = all(one.what.split(" ")[-1] in ("overloaded", "TimeoutError") for one in during.lost)
        cluster.row(f"{what}: keys licensed before", f"{len(during.lost)} of {len(during.answers)} lost", not during.lost, "0",
                    excuse=busy if unsure else None)
        lost_before = sum(one.report["lost"] for one in calm)
        lost, starts = (sum(one[name] for one in reports) for name in ("lost", "starts"))
        longest = max(map(slowest, reports))
        cluster.row(f"{what}: load", f"{lost} of {starts} lost after one retry; replies: {'; then '.join(map(replies, reports))}",
                    lost == 0, "0 lost", excuse=f"{lost_before} were lost in the calm before, too" if lost_before else busy)
        if first:
            cluster.row(f"{what}: who asks it then", f"the slowest answer after {longest / 1000:.1f} s", longest <= LEFT_WITHIN * 1000,
                        f"{LEFT_WITHIN} s at most", excuse=busy if longest < GROSS * LEFT_WITHIN * 1000 else None)
        ratio, excuse, p99_before = self.slower(window, calm, busy)
        cluster.row(f"{what}: p99", f"{p99(report):.1f} ms against {p99_before:.1f} ms before, {ratio:.2f} ×", ratio <= MOST_SLOWER,
                    f"at most {MOST_SLOWER} ×", excuse=excuse)
        cluster.row(f"{what}: after", f"all right after {recovery:.1f} s; {right_after.text()}; load: {after.report['lost']} lost"
                    if recovery is not None else f"not right within 40 s; {right_after.text()}",
                    recovery is not None and right_after.is_right and after.report["lost"] == 0,
                    excuse=cluster.machine.excuse(after.begin, after.end)
                    if recovery is not None and not right_after.wrong and not right_after.undone else None)
        self.table.append([
            what, len(during.wrong), len(during.undone), len(during.lost), f"{lost} of {starts}",
            f"{p99_before:.1f}", f"{p99(report):.1f}", f"{ratio:.1f} ×" + (" ?" if excuse else ""), f"{longest:.0f}",
            "–" if recovery is None else f"{recovery:.1f} s"])

    def slower(self, window, calm, busy):
        """How much slower the p99 is than before, why that cannot be judged, and the p99 before."""
        before = [p99(one.report) for one in calm]
        usual = statistics.median(before)
        ratio = p99(window.report) / usual if usual else float("inf")
        excuse = busy
        if max(before) > MOST_SLOWER * max(min(before), 0.001):
            excuse = f"before, p99 wandered from {min(before):.1f} to {max(before):.1f} ms"
        elif figures(window.report)["count"] < 500:
            excuse = f"only {figures(window.report)['count']} licenses"
        # Worse than all that was seen before, by far, while the machine was not busier than then.
        machine = self.cluster.machine
        busier = machine.others(window.begin, window.end) - max(machine.others(one.begin, one.end) for one in calm)
        if p99(window.report) > GROSS * MOST_SLOWER * max(before) and busier < MUCH_BUSIER:
            excuse = None
        return ratio, excuse, usual

    def recovers(self, what, targets, begin):
        """Seconds until each target gave all keys rightly once; None if it did not."""
        def is_right():
            return all(one.outcome == "right" for target in targets for one in self.watch.round(target))
        try:
            until(is_right, 40, f"{what}: right keys")
            return time.monotonic() - begin
        except TimeoutError:
            return None

    def metric_shows(self, is_out):
        nodes = self.cluster.nodes
        if not is_out:
            finish(self.load(1), 30)
        try:
            took = until(lambda: all((n.metric("latchkey_store_outage") >= 1) == is_out for n in nodes), 5, "the metric's change")
            return ("the outage in the metric" if is_out else "the outage's end in the metric"), f"on both nodes after {took:.1f} s", True
        except TimeoutError as error:
            return ("the outage in the metric" if is_out else "the outage's end in the metric"), str(error), False

    def starts_third(self):
        """During the outage: a node that ran before starts, and one that never ran here. Neither gives a wrong key."""
        third, fresh, notes = self.cluster.third, self.cluster.fresh, []
        try:
            took = third.start(within=15)
            self.watch.targets = self.nodes(third)
            self.watch.newcomer = self.watch.targets[2]
            notes.append(("a third node, which ran before, starts", f"ready after {took:.1f} s", True))
        except TimeoutError:
            # A node that ended on its own was not too slow.
            notes.append(("a third node, which ran before, starts", f"not ready: {third.last_words()}", False, not third.is_started))
            third.child.kill()
        try:
            fresh.start(within=4)
            seen = f"ready: {', '.join(sorted({one.outcome for one in self.watch.round(self.nodes(fresh)[2])}))}"
        except TimeoutError:
            seen = f"not ready: {fresh.last_words()}"
        fresh.child.kill()
        # Its answers are among the outage's, where wrong keys count; giving no answer is right.
        fresh_target = self.nodes(fresh)[2]
        fooled = [one for one in self.watch.answers if one.target == fresh_target and one.outcome in ("wrong", "disabled licensed")]
        self.watch.answers = [one for one in self.watch.answers if one.target != fresh_target]
        notes.append(("a node without a past gives no wrong key", seen, not fooled))
        return notes

    def backend_hangs(self):
        """All of HAProxy's back end hangs: viewers are asked to come again, soon; afterwards all is as before."""
        cluster, nodes = self.cluster, self.cluster.nodes
        self.watch.targets = []
        finish(self.load(1), 30)
        for node in nodes:
            node.child.hang()
        longest, codes, closed, retry_after = 0, collections.Counter(), 0, True
        end = time.monotonic() + 6
        while time.monotonic() < end:
            begin = time.monotonic()
            try:
                status, _, headers = ask(cluster.license, body=b"", timeout=10)
                codes[str(status)] += 1
                retry_after = retry_after and "Retry-After" in headers
            except ConnectionError:
                # HAProxy says nothing over a connection to a node that it used before, and has no other node to ask.
                closed += 1
            except OSError as error:
                codes[type(error).__name__] += 1
            longest = max(longest, time.monotonic() - begin)
        back = time.monotonic()
        for node in nodes:
            node.child.resume()
        front = [f"http://127.0.0.1:{cluster.front}"]
        recovery = self.recovers("the back end hangs", front, back)
        window = self.rest()
        cluster.row("HAProxy's whole back end hangs for 6 s: viewers",
                    f"{', '.join(f'{count} × {code}' for code, count in codes.items())}, {'each' if retry_after else 'not each'} with Retry-After, "
                    f"{closed} closed, the slowest after {longest:.1f} s",
                    longest <= 5 and retry_after and set(codes) <= {"503", "504"} and closed <= 2,
                    "503 or 504 with Retry-After, within 5 s; at most those closed that were under way", excuse=cluster.machine.excuse(end - 6, back) if longest <= GROSS * 5 else None)
        cluster.row("HAProxy's whole back end hangs for 6 s: after",
                    "keys are not right within 40 s" if recovery is None else
                    f"all keys right after {recovery:.1f} s; {window.report['lost']} of {window.report['starts']} lost",
                    recovery is not None and window.report["lost"] == 0, excuse=cluster.machine.excuse(window.begin, window.end))

    def show(self):
        head = ["outage", "wrong keys", "disabled licensed", "keys lost", "load lost", "p99 before", "during", "ratio", "max", "right after"]
        rows = [head] + [[str(cell) for cell in row] for row in self.table]
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        for row in rows:
            print("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths))))
        print("(ms; “?”: not judged)", flush=True)
