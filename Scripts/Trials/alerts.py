"""Trials of alerts: a real Prometheus scrapes the nodes with the rules of Deployment. Nothing fires while all is well; each sabotage fires its
alert. Each rule's `for` is a twentieth of the shipped one, and 3 s at least; expressions, labels and texts are those of Deployment.

Then promtool evaluates the rules as they are shipped over the scrapes, with a clock that runs twenty times faster: a calm of 30 s is one of
ten minutes. Each alert fires there, too.
"""
import contextlib
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

from Frame.checks import ROOT
from Frame.programs import Child, ask, finish, free_port, get, program, until
from Trials.debian import COMPILER
from Trials.keys import SPEKE
from Trials.replay import Replay, scrapes

FASTER, SHORTEST = 20, 3
FIRES_WITHIN = 45  # Seconds, of which the longest `for` takes 30.
# The replay alone shows these, whose windows are too long for a trial.
REPLAYED = {"LatchkeyNoRequests"}
SPARE = "00000000-0000-4000-8000-0000000000aa"  # A key that is disabled during an outage.
DEPLOYMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Deployment/prometheus")


def faster(text):
    """The rules with `for` made shorter."""
    def shorter(match):
        seconds = int(match[2]) * {"s": 1, "m": 60}[match[3]] / FASTER
        return f"{match[1]}{round(max(seconds, SHORTEST) * 1000)}ms"
    return re.sub(r"^( +for: )(\d+)([sm])$", shorter, text, flags=re.M)


class Alerts:
    def __init__(self, cluster):
        self.cluster, self.port, self.fired, self.began = cluster, free_port(), set(), 0
        with open(f"{DEPLOYMENT}/alerts.yml") as file:
            self.rules = file.read()
        self.names = set(re.findall(r"- alert: (\w+)", self.rules))

    def start(self):
        cluster = self.cluster
        cluster.bring("demo", "speke", SPEKE.format(content="spare", kid=SPARE))
        cluster.write("alerts.yml", faster(self.rules))
        targets, port = [f"127.0.0.1:{node.operators}" for node in cluster.nodes + [cluster.third]], free_port()
        self.probe = Child(cluster.folder, "probe", [
            cluster.tool, "probe", "--license-url", cluster.license, "--content-id", cluster.load_uri, "--credentials",
            f"{cluster.folder}/credentials", "--token-key", f"{cluster.folder}/token-key.hex", "--every", "1s", "--port", str(port)], user=None, group=None)
        cluster.write("prometheus.yml", json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": ["alerts.yml"],
            "scrape_configs": [{"job_name": "latchkey", "static_configs": [{"targets": targets}]},
                               {"job_name": "probe", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}]}))
        for name in ["alerts.yml", "prometheus.yml"]:
            os.chmod(f"{cluster.folder}/{name}", 0o644)
        self.prometheus = Child(cluster.folder, "prometheus", [
            program("prometheus"), "--config.file", f"{cluster.folder}/prometheus.yml",
            "--storage.tsdb.path", f"{cluster.folder}/tsdb", "--web.listen-address", f"127.0.0.1:{self.port}"])
        until(lambda: get(f"http://127.0.0.1:{self.port}/-/ready")[0] == 200, 30, "Prometheus's start")
        until(lambda: all(one["health"] == "up" for one in self.targets()), 30, "the first scrapes")
        time.sleep(SHORTEST + 2)
        until(lambda: not self.firing(), 30, "silence")
        self.began = time.time()

    def targets(self):
        return json.loads(get(f"http://127.0.0.1:{self.port}/api/v1/targets")[1])["data"]["activeTargets"]

    def firing(self):
        """The alerts that fire, each with its labels."""
        found = json.loads(get(f"http://127.0.0.1:{self.port}/api/v1/alerts")[1])["data"]["alerts"]
        return [one for one in found if one["state"] == "firing"]

    def fires(self, what, name, begin, /, within=FIRES_WITHIN, **labels):
        """Does something, and waits for an alert. Returns whether it came."""
        start = time.monotonic()
        if begin:
            begin()

        def found():
            return [one for one in self.firing() if one["labels"]["alertname"] == name and labels.items() <= one["labels"].items()]
        try:
            until(found, within, name)
            self.fired.add(name)
            summary = found()[0]["annotations"]["summary"]
            self.cluster.row(f"{what}: {name}", f"after {time.monotonic() - start:.1f} s: {summary}", True)
        except (TimeoutError, IndexError):
            seen = sorted({one["labels"]["alertname"] for one in self.firing()})
            self.cluster.row(f"{what}: {name}", f"not within {within} s; firing: {', '.join(seen) or 'none'}", False)

    def ends(self, what, name, end, within=30):
        end()
        try:
            until(lambda: all(one["labels"]["alertname"] != name for one in self.firing()), within, name)
            self.cluster.row(f"{what} over: {name} ends", "ended", True)
        except TimeoutError:
            self.cluster.row(f"{what} over: {name} ends", f"not within {within} s", False)

    # The trials

    def run(self, seconds, rate):
        self.start()
        try:
            self.trials(seconds, rate)
            self.replay(seconds)
        finally:
            self.prometheus.kill()
            self.probe.kill()
        missing = self.names - self.fired - REPLAYED
        self.cluster.row("alerts that fired", f"{len(self.fired)} of {len(self.names)}; in the replay alone: {', '.join(sorted(REPLAYED))}",
                         not missing, f"also {', '.join(sorted(missing))}")

    def trials(self, seconds, rate):
        cluster, third = self.cluster, self.cluster.third
        self.calm(seconds, rate)
        self.check_metrics()
        self.large_heads(rate)
        load = cluster.load(rate, 1200, "--retry", "1")
        try:
            self.nodes()
            self.database()
            self.sessions()
            self.record(third)
            self.module(third)
            self.node_c(third)
            self.lone_node(third)
            self.tenant(third)
            self.front()
        finally:
            load.kill()
            load.wait()
        self.refusals()
        self.callout()
        self.log(third)
        self.sheds(rate)
        self.backup()
        self.all_gone()

    def replay(self, seconds):
        """The rules as they are shipped, over the scrapes."""
        end = time.time()
        found = scrapes(self.port, set(re.findall(r"\blatchkey_\w+", self.rules)) | {"up"}, end - self.began + 5)
        replay = Replay(found, self.began, end, FASTER)
        rules = os.path.abspath(f"{DEPLOYMENT}/alerts.yml")
        seen = replay.firing(self.cluster.folder, rules, self.began, self.began + seconds)
        self.judge_calm(f"all is well for {seconds * FASTER // 60} minutes, with each `for` as it is shipped", seen, None)
        seen = replay.firing(self.cluster.folder, rules, self.began, end)
        self.cluster.row("alerts that fired, with each `for` as it is shipped", f"{len(seen)} of {len(self.names)}", seen == self.names,
                         f"also {', '.join(sorted(self.names - seen))}")

    def calm(self, seconds, rate):
        """Nothing fires on a cluster that is well."""
        seen, start = set(), time.monotonic()
        load = self.cluster.load(rate, seconds)
        while time.monotonic() - start < seconds:
            seen |= {one["labels"]["alertname"] for one in self.firing()}
            time.sleep(0.5)
        finish(load, 60)
        self.judge_calm(f"all is well for {seconds} s", seen, start)

    def judge_calm(self, what, seen, start):
        """Where other programs take the processors, Redis may well be late, and a node sheds."""
        late = seen <= {"LatchkeyLicensesDegraded", "LatchkeySlow", "LatchkeySheds", "LatchkeyErrorBudgetBurns", "LatchkeyErrorBudgetBurnsFast"}
        if start:
            self.busy = self.cluster.machine.excuse(start, time.monotonic())
        self.cluster.row(what, f"{len(seen)} alerts {', '.join(sorted(seen))}", not seen, "none", excuse=self.busy if late else None)

    def check_metrics(self):
        """promtool's opinion of a node's metrics."""
        text = get(f"http://127.0.0.1:{self.cluster.nodes[0].operators}/metrics")[1]
        run = subprocess.run([program("promtool"), "check", "metrics"], input=text, capture_output=True)
        words = (run.stdout + run.stderr).decode().strip()
        self.cluster.row("promtool check metrics", words or "nothing", run.returncode == 0 and not words)

    def nodes(self):
        node = self.cluster.nodes[1]
        instance = f"127.0.0.1:{node.operators}"
        self.fires("a node is killed", "LatchkeyNodeDown", node.child.kill, instance=instance)
        self.ends("a node is killed", "LatchkeyNodeDown", node.start)
        self.fires("a node hangs", "LatchkeyNodeDown", node.child.hang, instance=instance)
        self.ends("a node hangs", "LatchkeyNodeDown", node.child.resume)

    def database(self):
        cluster = self.cluster
        for what, begin, end in [("PostgreSQL hangs", cluster.postgres.hang, cluster.postgres.resume),
                                 ("PostgreSQL is killed", cluster.postgres.kill, cluster.postgres.start)]:
            self.fires(what, "LatchkeyStoreOutage", begin, store="keyStore")
            self.fires(what, "LatchkeyAuditUnwritable", None)
            if what == "PostgreSQL hangs":
                self.fires(what, "LatchkeyLicensesDegraded", None, why="staleKey")
                stop = threading.Event()
                asking = threading.Thread(target=self.package, args=(stop,))
                asking.start()
                self.fires(what, "LatchkeyPackagerErrors", None)
                stop.set()
                asking.join()
                self.fires(what, "LatchkeyChangesPending", lambda: ask(
                    f"http://127.0.0.1:{cluster.nodes[0].operators}/admin/v1/tenants/demo/keys/{SPARE}/disable",
                    cluster.admin_key, body=b""), within=75)
                self.shows()
            self.ends(what, "LatchkeyStoreOutage", end)

    def shows(self):
        """The console's figures and the readiness say so, too."""
        node = self.cluster.nodes[0]
        overview = json.loads(get(f"http://127.0.0.1:{node.operators}/admin/v1/overview", self.cluster.admin_key)[1])
        states = {one["name"]: one["state"] for one in overview["engines"]}
        word = json.loads(get(f"http://127.0.0.1:{node.operators}/readyz?verbose")[1])["status"]
        self.cluster.row("PostgreSQL hangs: console and readiness", f"{states}, {word}",
                         states.get("keyStore") == states.get("auditStore") == "away" and states.get("sessionStore") == "answers"
                         and word == "degraded")

    def package(self, stop):
        node, number = self.cluster.nodes[0], 0
        while not stop.is_set():
            number += 1
            document = SPEKE.format(content=f"new-{number}", kid=f"00000000-0000-4000-8000-{number:012d}").encode()
            try:
                get(f"http://127.0.0.1:{node.packagers}/t/demo/speke", body=document, headers=self.cluster.packager_headers("demo"))
            except OSError:
                pass
            stop.wait(0.5)

    def sessions(self):
        redis = self.cluster.redis
        self.fires("Redis hangs", "LatchkeyStoreOutage", redis.hang, store="sessionStore")
        self.fires("Redis hangs", "LatchkeyLicensesDegraded", None, why="sessionStore")
        self.ends("Redis hangs", "LatchkeyStoreOutage", redis.resume)
        self.fires("Redis is killed", "LatchkeyStoreOutage", redis.kill, store="sessionStore")
        self.ends("Redis is killed", "LatchkeyStoreOutage", redis.start)

    def record(self, node):
        """A node's record: its destination is away, and its spool is taken from under it."""
        rows, spool = f"{node.folder}/rows", f"{node.folder}/record"
        node.child.kill()
        node.configure(record={"folder": spool, "destination": f"files:{rows}"})
        node.start()
        until(lambda: node.metric("latchkey_record_shipped_total") > 0, 60, "the first shipped row")

        def away():
            os.rename(rows, f"{rows}.away")
            open(rows, "w").close()

        def back():
            os.remove(rows)
            os.rename(f"{rows}.away", rows)
        instance = f"127.0.0.1:{node.operators}"
        self.fires("the record's destination is away", "LatchkeyRecordWaits", away, instance=instance)
        self.ends("the record's destination is away", "LatchkeyRecordWaits", back)
        self.fires("the spool's files are gone", "LatchkeyRecordLost", lambda: os.rename(spool, f"{spool}.gone"), instance=instance)
        node.child.kill()
        # The destination is away for longer: 8 of 16 MB are filled by licenses whose rows are long.
        shutil.rmtree(spool, ignore_errors=True)
        away()
        node.configure(record={"folder": spool, "destination": f"files:{rows}", "megabytes": 16})
        node.start()
        content = f"skd://{'x' * 150}/{self.cluster.load_uri.rsplit('/', 1)[1]}"
        load = self.cluster.load(1000, 300, "--viewers", "2000", "--content-id", content, at=f"http://127.0.0.1:{node.players}/t/demo/fairplay")
        self.fires("the spool is more than half full", "LatchkeyRecordFills", None, within=240, instance=instance)
        load.kill()
        load.wait()
        node.child.kill()
        node.configure()
        node.start()

    def module(self, node):
        """A licensee's module, the tests' stand-in, crashes at each request for one asset."""
        cluster, library, credentials = self.cluster, f"{node.folder}/module.so", f"{self.cluster.folder}/credentials"
        subprocess.run([COMPILER, "-shared", "-fPIC", "-w", f"-I{ROOT}/Sources/CLatchkeyDerivation",
                        f"{ROOT}/Tests/Support/Module/standin_module.c", "-lcrypto", "-o", library], check=True)
        node.child.kill()
        node.configure(licensee={"credentials": [{"folder": credentials}], "module": {
            "library": library, "credentials": credentials, "members": {"lease-duration": "{leaseSeconds}", "x-iv": "{iv}"}}})
        node.start()
        content = f"skd://crash/{cluster.load_uri.rsplit('/', 1)[1]}"
        load = cluster.load(5, 300, "--content-id", content, at=f"http://127.0.0.1:{node.players}/t/demo/fairplay")
        self.fires("a licensee's module crashes", "LatchkeyModuleFails", None, outcome="crashed")
        self.fires("a licensee's module crashes", "LatchkeyModuleRestarts", None)
        load.kill()
        load.wait()
        node.child.kill()
        node.configure()
        node.start()

    def node_c(self, node):
        """What one node's configuration does."""
        cluster = self.cluster
        other = f"{cluster.folder}/other-policies"
        os.makedirs(other, exist_ok=True)
        with open(f"{cluster.folder}/policies/demo.json") as file:
            policy = file.read().replace('"5m"', '"6m"')
        with open(f"{other}/demo.json", "w") as file:
            file.write(policy)

        def configure(**changes):
            node.configure(**changes)
            node.child.signal(signal.SIGHUP)
        self.fires("a node has another policy", "LatchkeyPoliciesDiffer", lambda: configure(policies=other), name="demo")
        self.ends("a node has another policy", "LatchkeyPoliciesDiffer", configure)
        self.fires("a node's configuration is wrong", "LatchkeyConfigurationRefused", lambda: configure(policies="/nowhere"))
        self.ends("a node's configuration is wrong", "LatchkeyConfigurationRefused", configure)
        self.fires("the audit is changed", "LatchkeyAuditBroken", self.forge)
        # A listener with a certificate of three days, and a long stop.
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3", "-subj", "/CN=localhost",
                        "-keyout", f"{node.folder}/key.pem", "-out", f"{node.folder}/certificate.pem"], check=True, capture_output=True)
        for name in ["key.pem", "certificate.pem"]:
            os.chmod(f"{node.folder}/{name}", 0o600)
            if node.child.user:
                shutil.chown(f"{node.folder}/{name}", node.child.user, node.child.group)
        # The licensee's certificate once more, which ends in ten days.
        ending = f"{node.folder}/ending"
        shutil.copytree(f"{cluster.folder}/credentials", ending)
        subprocess.run(["openssl", "x509", "-in", f"{ending}/certificate.der", "-inform", "der", "-signkey", f"{ending}/private-key.pem",
                        "-days", "10", "-outform", "der", "-out", f"{ending}/certificate.der"], check=True, capture_output=True)
        if node.child.user:
            for path in [ending, *(f"{ending}/{name}" for name in os.listdir(ending))]:
                shutil.chown(path, node.child.user, node.child.group)
        node.child.kill()
        node.configure(drainDelay="25s", licensee={"credentials": [{"folder": f"{cluster.folder}/credentials"}, {"folder": ending}]}, packagers={
            "address": "127.0.0.1", "port": node.packagers, "certificate": f"{node.folder}/certificate.pem",
            "privateKey": f"{node.folder}/key.pem"})
        node.start()
        self.fires("a certificate ends", "LatchkeyTLSCertificateEnds", None, listener="packagers")
        self.fires("the licensee's certificate ends", "LatchkeyCredentialEnds", None)
        self.fires("a node stops, and is asked still", "LatchkeyNotReady", lambda: node.child.signal(signal.SIGTERM))
        node.child.process.wait(60)
        node.configure()
        node.start()

    def give(self, node, tenant, members, **changes):
        """Has a node's tenant other members, and the node other settings than at its start."""
        node.configure(**changes)
        with open(node.configuration) as file:
            settings = json.load(file)
        settings["tenants"][tenant].update(members)
        with open(node.configuration, "w") as file:
            json.dump(settings, file)
        node.child.signal(signal.SIGHUP)

    def lone_node(self, node):
        """A node's configuration differs from the others', and names a key set and a sign-in provider that do not exist."""
        provider = {"issuer": f"https://127.0.0.1:{free_port()}", "clientID": "trial", "redirectBase": "https://localhost", "grants": []}
        operators = {"operators": {**node.listeners()["operators"], "openID": provider}}
        elsewhere = {"tokens": {"keys": f"https://127.0.0.1:{free_port()}/jwks.json", "longestLife": "1h"}}
        self.fires("a node's key set is not there", "LatchkeyKeySetFails", lambda: self.give(node, "stored", elsewhere, **operators), within=75, tenant="stored")
        self.fires("a node's sign-in provider is not there", "LatchkeySignInFails", None, within=75, instance=f"127.0.0.1:{node.operators}")
        self.fires("a node has another configuration", "LatchkeyConfigurationsDiffer", None, within=75)
        node.configure()
        self.ends("a node's key set is not there", "LatchkeyKeySetFails", lambda: node.child.signal(signal.SIGHUP))

    def tenant(self, node):
        """A tenant has as many keys as it may, and wants one more."""
        def another():
            document = SPEKE.format(content="one-more", kid="00000000-0000-4000-8000-0000000000bb").encode()
            get(f"http://127.0.0.1:{node.packagers}/t/demo/speke", body=document, headers=self.cluster.packager_headers("demo"))
        self.fires("a tenant is near its limit", "LatchkeyTenantNearLimit", lambda: self.give(node, "demo", {"limits": {"keys": 2}}),
                   tenant="demo", limit="keys")
        self.fires("a tenant is at its limit", "LatchkeyTenantAtLimit", another, tenant="demo", limit="keys")
        node.configure()
        node.child.signal(signal.SIGHUP)

    def front(self):
        """No more requests come: as long as the shipped windows take, by the replay's clock."""
        proxy = self.cluster.proxy
        self.fires("HAProxy is killed", "LatchkeyProbeFails", proxy.kill)
        time.sleep(40)
        self.ends("HAProxy is killed", "LatchkeyProbeFails", proxy.start)

    def backup(self):
        """A backup of before a takedown is restored under the nodes."""
        cluster = self.cluster
        dump = f"{cluster.folder}/before.dump"
        cluster.operate(f"tenants/demo/keys/{SPARE}/enable")
        cluster.postgres.run("pg_dump", "--format=custom", f"--file={dump}", "latchkey")
        cluster.operate(f"tenants/demo/keys/{SPARE}/disable")
        self.fires("a backup is restored", "LatchkeyStoreBehind", lambda: cluster.restore(dump), within=90)

        def accept():
            for node in cluster.nodes + [cluster.third]:
                cluster.administer("copy", "accept", node=node)
        self.ends("a backup is accepted", "LatchkeyStoreBehind", accept, within=60)

    def forge(self):
        cluster = self.cluster
        cluster.postgres.run(
            "psql", "-c", "ALTER TABLE latchkey.audit DISABLE TRIGGER ALL; UPDATE latchkey.audit SET text = text || ' ' WHERE sequence = 1", "latchkey")
        cluster.operate("audit/verify")

    def refusals(self):
        """A release of an app whose tokens are wrong."""
        node = self.cluster.nodes[0]
        request = (f"POST /t/demo/fairplay HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer none\r\n"
                   "Content-Length: 1\r\n\r\nx").encode()
        self.fires("tokens are wrong", "LatchkeyRefusalBurst", lambda: self.flood(node.players, request, 150, 100), within=60, tenant="demo")

    def large_heads(self, rate):
        """A release of an app whose heads are too large."""
        node = self.cluster.nodes[0]
        request = f"POST /t/demo/fairplay HTTP/1.1\r\nHost: localhost\r\nX: {'x' * 20_000}\r\n\r\n".encode()
        self.fires("heads are too large", "LatchkeyListenerRefuses", lambda: self.flood(node.players, request, 1, max(400, rate * 6), 0), status="431")

    def flood(self, port, request, count, rounds, pause=0.05):
        """Requests one behind the other on one connection, again and again."""
        for _ in range(rounds):
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
                    reading = threading.Thread(target=self.drain, args=(connection,))
                    reading.start()
                    connection.sendall(request * count)
                    connection.shutdown(socket.SHUT_WR)
                    reading.join()
            except OSError:
                pass
            time.sleep(pause)

    @staticmethod
    def drain(connection):
        try:
            while connection.recv(65536):
                pass
        except OSError:
            pass

    def callout(self):
        """The operator's own service is not there."""
        node = self.cluster.nodes[0]

        def without_service():
            lenient = f"{self.cluster.folder}/lenient-policies"
            os.makedirs(lenient, exist_ok=True)
            with open(f"{self.cluster.folder}/policies/demo.json") as file, open(f"{lenient}/demo.json", "w") as changed:
                changed.write(file.read().replace('"sessionStore"', '"callout": "allow:2m", "sessionStore"'))
            self.give(node, "demo", {"callout": {"url": f"http://127.0.0.1:{free_port()}/"}}, policies=lenient)
            time.sleep(2)
            finish(self.cluster.load(40, 8, at=f"http://127.0.0.1:{node.players}/t/demo/fairplay"), 60)
        self.fires("the callout does not answer", "LatchkeyCalloutFails", without_service, tenant="demo")
        self.fires("the callout does not answer", "LatchkeyLicensesDegraded", None, why="callout")
        with self.slow_service() as address:
            self.give(node, "demo", {"callout": {"url": address}})
            time.sleep(2)
            load = self.cluster.load(20, 40, at=f"http://127.0.0.1:{node.players}/t/demo/fairplay")
            self.fires("the callout is slow", "LatchkeySlow", None, within=75)
            finish(load, 60)
        node.configure()
        node.child.signal(signal.SIGHUP)

    @contextlib.contextmanager
    def slow_service(self):
        """An operator's own service that says yes after 0.4 s: its address."""
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                time.sleep(0.4)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *words):
                pass
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as service:
            threading.Thread(target=service.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{service.server_port}/"
            service.shutdown()

    def log(self, node):
        """More than a thousand lines a second of one event."""
        request = b"GET /admin/v1/overview HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer none\r\n\r\n"

        def flood():
            threads = [threading.Thread(target=self.flood, args=(node.operators, request, 2000, 3, 0)) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.fires("the log is flooded", "LatchkeyLogDrops", flood, within=60, event="admin")

    def sheds(self, rate):
        """Ten times the capacity of the nodes."""
        finish(self.cluster.load(max(2000, rate * 20), 8), 120)
        self.fires("more is asked than can be answered", "LatchkeySheds", None)
        self.fires("more is asked than can be answered", "LatchkeyErrorBudgetBurnsFast", None)
        self.fires("more is asked than can be answered", "LatchkeyErrorBudgetBurns", None, within=75)

    def all_gone(self):
        nodes = self.cluster.nodes + [self.cluster.third]

        def hang():
            for node in nodes:
                node.child.hang()
        self.fires("all nodes hang", "LatchkeyAllNodesDown", hang)
        self.fires("all nodes hang", "LatchkeyProbeFails", None)
        for node in nodes:
            node.child.resume()
