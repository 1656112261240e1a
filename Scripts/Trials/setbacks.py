"""Trials of stores that went back in time, with real replication: a standby of PostgreSQL is promoted while the former primary still takes writes, a
base backup is restored under nodes that run, and a replica of Redis is promoted while its primary still takes writes.

Judged: a node licenses no key that it knows as taken down and gives no wrong key, says what is wrong in readiness, metric, log and check, and
takes the older state only by `latchkey-server copy accept`. A takedown at the other side it cannot know; then it has to be degraded.
"""
import json
import os
import shutil
import subprocess
import time
import zlib

from Frame.programs import AS_UNPRIVILEGED, Postgres, Redis, ask, finish, free_port, get, until
from Trials.keys import DISABLED_LICENSED, RIGHT, SPEKE, WRONG

WORDS = "older than this node's last view of"
ROUNDS = 5


class Setbacks:
    def __init__(self, cluster, watch):
        self.cluster, self.watch = cluster, watch
        self.nodes = cluster.nodes + [cluster.third]

    def run(self):
        cluster = self.cluster
        self.standby = Postgres(cluster.folder, free_port(), name="standby", primary=cluster.postgres)
        self.both = f"postgresql://latchkey@127.0.0.1:{cluster.postgres_port},127.0.0.1:{self.standby.port}/latchkey?connect_timeout=2"
        try:
            # The former primary comes first in the address: whoever begins anew finds it.
            self.all_restart(self.both)
            self.splits()
            self.restores()
            self.redis()
        finally:
            self.standby.kill()

    # The nodes' settings and reports

    def stores(self, database, redis=None):
        return {"sessions": f"redis://127.0.0.1:{redis or self.cluster.redis_port}", "keys": database, "audit": database, "copy": "sqlite:copy.db"}

    def restart(self, node, **stores):
        if node.is_started:
            node.child.stop()
        node.configure(stores=self.stores(**stores))
        node.start()

    def all_restart(self, database):
        for node in self.nodes:
            self.restart(node, database=database)

    def title(self, name):
        return next(title for title in self.watch.titles if title.name == name)

    def disable(self, name, node):
        """A takedown at a node. The title counts as taken down from then on."""
        title = self.title(name)
        status, body = get(
            f"http://127.0.0.1:{node.operators}/admin/v1/tenants/{title.tenant}/keys/{title.kid}/disable", self.cluster.admin_key, body=b"")
        if status != 200:
            raise RuntimeError(f"disabling at {node.name}: {status} {body[:300].decode(errors='replace')}")
        title.is_disabled = True
        return title

    def says(self, node):
        """Readiness, its checks that fail, and the metric."""
        body = json.loads(get(f"http://127.0.0.1:{node.operators}/readyz?verbose")[1])
        failed = [one["name"] for one in body["checks"] if one["status"] != "passed"]
        return body["status"], failed, int(node.metric("latchkey_store_behind"))

    def keys(self, what, nodes, but=()):
        """Asks the nodes for all titles, again and again. `but` are titles about which they cannot know."""
        answers = [one for _ in range(ROUNDS) for node in nodes for one in self.watch.round(f"http://127.0.0.1:{node.players}")]
        answers = [one for one in answers if one.title not in but]
        undone, wrong = [[one for one in answers if one.outcome == outcome] for outcome in (DISABLED_LICENSED, WRONG)]
        others = [one for one in answers if one.outcome not in (RIGHT, DISABLED_LICENSED, WRONG)]
        self.cluster.row(
            f"{what}: keys", f"{len(answers)} asked, {len(undone)} licenses of keys that were taken down, {len(wrong)} wrong keys, {len(others)} not given"
            + (f" ({others[0].title.name}: {others[0].what})" if others else ""),
            bool(answers) and not undone and not wrong and not others, "0")

    def degraded(self, what, nodes, is_behind=True, is_told=None):
        """Each node says that its database is older, or that all is well, in readiness, metric and log; and so does a check, which connects anew."""
        is_told = is_behind if is_told is None else is_told
        wanted = ("degraded", ["storeAge"], 1) if is_behind else ("ready", [], 0)
        for node in nodes:
            try:
                took = until(lambda: self.says(node) == wanted, 60, "the word")
                seen = f"{wanted[0]} after {took:.1f} s"
            except TimeoutError:
                seen = f"{self.says(node)}"
            check = subprocess.run(
                [self.cluster.server, "run", "--check", "--config", node.configuration], capture_output=True, text=True, cwd=self.cluster.folder,
                **AS_UNPRIVILEGED)
            told, logged = WORDS in check.stdout + check.stderr, WORDS in node.child.log()
            self.cluster.row(
                f"{what}: {node.name} says it", f"{seen}; log {logged}, check {told}", self.says(node) == wanted and told == is_told
                and (logged or not is_behind), f"{wanted}, and check {is_told}")

    def accept(self, nodes):
        for node in nodes:
            self.cluster.administer("copy", "accept", node=node)

    # The trials

    def splits(self):
        cluster, (first, second, third) = self.cluster, self.nodes
        self.keys("before", self.nodes)
        self.disable("derived", first)
        until(lambda: self.standby.lag(cluster.postgres) == 0, 30, "the standby's catching up")
        # The primary hangs, as a machine that is moved does; the standby takes its place.
        cluster.postgres.hang()
        self.standby.run("psql", "-c", "SELECT pg_promote()", "postgres")
        took = until(lambda: all(self.packages(node, f"promoted-{node.name}") for node in self.nodes), 60, "writing at the promoted standby")
        cluster.row("a standby is promoted for a primary that hangs", f"all nodes write there after {took:.1f} s", took <= 30, "30 s at most",
                    excuse=cluster.machine.excuse(time.monotonic() - took, time.monotonic()))
        self.degraded("a standby is promoted", self.nodes, is_behind=False)
        taken = self.disable("imported", first)
        until(lambda: all(self.outcome(node, taken) == RIGHT for node in self.nodes), 60, "the takedown at all nodes")
        # Now both take writes, and a packager still reaches the former one.
        cluster.postgres.resume()
        self.package_at_former()
        self.keys("two primaries", self.nodes)
        self.restart(third, database=self.both)
        self.degraded("a node begins anew at the former primary", [third])
        self.degraded("the others stay at the promoted standby", [first, second], is_behind=False, is_told=True)
        self.keys("two primaries, a node at each", self.nodes)
        # A node at one side cannot know of a takedown at the other, but reports that it is at the wrong database.
        beyond = self.disable("stored", first)
        self.keys("taken down at the promoted standby meanwhile", self.nodes[:2])
        outcome, said = self.outcome(third, beyond), self.says(third)[0]
        cluster.row("taken down at the promoted standby meanwhile: the node at the other side", f"{outcome}, and it is {said}", said == "degraded")
        enabling = get(f"http://127.0.0.1:{third.operators}/admin/v1/tenants/demo/keys/{taken.kid}/enable", cluster.admin_key, body=b"")[0]
        cluster.row("nothing is enabled at the former primary", f"{enabling}", enabling == 503)
        # The former primary is fenced off.
        cluster.postgres.kill()
        took = until(lambda: self.outcome(third, beyond) == RIGHT, 60, "the takedown at the other side")
        cluster.row("the former primary is fenced off: what was taken down meanwhile", f"is so at {third.name} after {took:.1f} s", took <= 5, "5 s at most",
                    excuse=cluster.machine.excuse(time.monotonic() - took, time.monotonic()) if took <= 15 else None)
        self.degraded("the former primary is fenced off", self.nodes, is_behind=False)
        self.keys("the former primary is fenced off", self.nodes)

    def outcome(self, node, title):
        return self.watch.asked(f"http://127.0.0.1:{node.players}", title).outcome

    def packages(self, node, content):
        """Whether a node makes a key for a content."""
        kid = f"5b5b5b5b-0000-4000-8000-{zlib.crc32(content.encode()):012x}"
        return get(f"http://127.0.0.1:{node.packagers}/t/demo/speke", body=SPEKE.format(content=content, kid=kid).encode(),
                   headers=self.cluster.packager_headers("demo"))[0] == 200

    def package_at_former(self):
        """A new node packages at the former primary, whose audit takes another course."""
        fresh = self.cluster.fresh
        stores = self.stores(f"postgresql://latchkey@127.0.0.1:{self.cluster.postgres_port}/latchkey?connect_timeout=2")
        del stores["copy"]
        fresh.configure(stores=stores)
        fresh.start()
        for number in range(3):
            if not self.packages(fresh, f"split-{number}"):
                raise RuntimeError("packaging at the former primary")
        fresh.child.stop()

    def restores(self):
        """A base backup of before a takedown takes the primary's place, under nodes that run."""
        cluster, standby = self.cluster, self.standby
        backup = f"{cluster.folder}/backup"
        standby.backup(backup)
        taken = self.disable("of the new seed", self.nodes[0])
        until(lambda: all(self.outcome(node, taken) == RIGHT for node in self.nodes), 60, "the takedown at all nodes")
        standby.kill()
        shutil.rmtree(standby.data)
        os.rename(backup, standby.data)
        standby.start()
        self.keys("a base backup is restored", self.nodes)
        self.degraded("a base backup is restored", self.nodes)
        self.restart(self.nodes[1], database=self.both)
        self.degraded("a base backup is restored, and a node begins anew", [self.nodes[1]])
        self.keys("a base backup is restored, and a node begins anew", self.nodes)
        self.accept(self.nodes[:1])
        until(lambda: self.says(self.nodes[0])[2] == 0, 60, "the accepted state")
        outcome = self.outcome(self.nodes[0], taken)
        cluster.row("the older state is accepted at one node", f"there {outcome}, and {self.says(self.nodes[1])[0]} elsewhere",
                    outcome == DISABLED_LICENSED and self.says(self.nodes[1])[0] == "degraded")
        self.accept(self.nodes[1:])
        taken.is_disabled = False
        self.degraded("the older state is accepted at all nodes", self.nodes, is_behind=False)
        self.keys("the older state is accepted at all nodes", self.nodes)

    def redis(self):
        """Two Redis take writes, and nodes are at either: a limit holds at each, and no takedown comes undone."""
        cluster, (first, second, _) = self.cluster, self.nodes
        replica = Redis(cluster.folder, free_port(), name="replica")
        try:
            replica.ask("REPLICAOF", "127.0.0.1", cluster.redis_port)
            until(lambda: "master_link_status:up" in text(replica.ask("INFO", "replication")), 30, "the replica's copy")
            replica.ask("REPLICAOF", "NO", "ONE")
            self.restart(second, database=self.both, redis=replica.port)
            # Longer than two marks of a node.
            loads = [cluster.load(20, 15, "--viewers", "10", "--sessions", "8", "--seed", "9", at=f"http://127.0.0.1:{node.players}/t/demo/fairplay")
                     for node in (first, second)]
            for load in loads:
                finish(load)
            most = [max(cluster.slots(one).values(), default=0) for one in (cluster.redis, replica)]
            cluster.row("two Redis take writes: slots", f"at most {most[0]} and {most[1]} of {cluster.limit} an account", 0 < min(most) and max(most) <= cluster.limit)
            self.keys("two Redis take writes", self.nodes)
            # The former primary becomes the replica of the new one.
            cluster.redis.ask("REPLICAOF", "127.0.0.1", replica.port)
            until(lambda: self.license(first) == 200 and "sessionStore" in self.says(first)[1], 30, "the word")
            cluster.row("the former primary of Redis is a replica: its nodes", f"{self.says(first)[:2]}", True)
            self.keys("the former primary of Redis is a replica", self.nodes)
            self.restart(first, database=self.both, redis=replica.port)
            self.degraded("a node comes to the new primary of Redis", [first])
            self.accept([first])
            self.degraded("all nodes are at the new primary of Redis", [first, second], is_behind=False)
        finally:
            replica.kill()

    def license(self, node):
        title = self.title("of the seed before")
        return ask(f"http://127.0.0.1:{node.players}/t/{title.tenant}/fairplay", self.cluster.token("carla"), title.spc,
                   {"Content-Type": "application/octet-stream"})[0]


def text(value):
    return value if isinstance(value, str) else value.decode(errors="replace")
