"""Nodes that are restarted in turn behind real proxies, with a license every 20 ms through each: HAProxy with the shipped back end, nginx that keeps
connections, and a proxy that pools as Envoy does, 20 ms away from the nodes. License requests are not sent twice: each without a license is lost.

restarts.py PORT PLAYERS[:OPERATORS]… is that proxy: it asks each node for readiness once a second, leaves it after two failures, keeps its connections,
and tries the other node if a connection is refused, and in no other case. Its traffic is delayed by 10 ms, each way.
"""
import asyncio
import sys
import time

from Frame.programs import Child, figures, finish, free_port, get, program, until

RATE = 50  # Licenses a second through each proxy.
AWAY = 0.01  # Seconds to a node.

NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx-errors.log;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream nodes {{ {servers} keepalive 16; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://nodes; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""


class Restarts:
    def __init__(self, cluster):
        self.cluster, self.children = cluster, []

    def start(self):
        cluster, (nginx, pool) = self.cluster, (free_port(), free_port())
        cluster.write("nginx.conf", NGINX.format(
            folder=cluster.folder, port=nginx, servers=" ".join(f"server 127.0.0.1:{node.players} max_fails=0;" for node in cluster.nodes)))
        self.children = [
            Child(cluster.folder, "nginx", [program("nginx"), "-c", f"{cluster.folder}/nginx.conf", "-e", f"{cluster.folder}/nginx-errors.log"],
                  user=None, group=None),
            Child(cluster.folder, "pool", [sys.executable, __file__, str(pool), *(f"{node.players}:{node.operators}" for node in cluster.nodes)],
                  {"PYTHONPATH": sys.path[0]}, user=None, group=None)]
        self.fronts = {"HAProxy": cluster.license}
        for name, port in {"nginx": nginx, "a proxy that pools": pool}.items():
            self.fronts[name] = f"http://127.0.0.1:{port}/t/demo/fairplay"
            until(lambda: get(f"http://127.0.0.1:{port}/t/demo/certificate")[0] == 200, 20, f"the start of {name}")

    def run(self, seconds):
        """For so long, or until each node was restarted."""
        try:
            self.start()
            self.judge(seconds)
        finally:
            for child in self.children:
                child.kill()

    def judge(self, seconds):
        cluster, begin, restarts = self.cluster, time.monotonic(), 0
        loads = {name: cluster.load(RATE, seconds, "--arrivals", "fixed", at=url) for name, url in self.fronts.items()}
        time.sleep(1)
        while time.monotonic() < begin + seconds - 10 or restarts < 2:
            node = cluster.nodes[restarts % 2]
            status = node.child.stop()
            if status != 0:
                cluster.row(f"{node.name} ends by SIGTERM", f"exit status {status}", False)
            node.start()
            # Tools that restart nodes one by one wait for each.
            time.sleep(3)
            restarts += 1
        for name, load in loads.items():
            report = finish(load, seconds + 60)
            seen, starts = figures(report), report["starts"]
            others = ", ".join(f"{count} × {label}" for label, count in report["replies"].items() if not label.startswith("20"))
            cluster.row(f"{restarts} restarts behind {name}", f"{starts - seen['count']} of {starts} lost in {seconds} s; p99 {seen['p99']:.1f} ms; "
                        f"causes: {others or 'none'}", starts == seen["count"], "0 lost", excuse=cluster.machine.excuse(begin, time.monotonic()))


class Upstream(asyncio.Protocol):
    """A kept connection to a node, as seen from a distance."""

    def __init__(self):
        self.received, self.has_ended, self.news = b"", False, asyncio.Event()

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.later(self.take, data)

    def connection_lost(self, _):
        self.later(self.end)

    @staticmethod
    def later(call, *words):
        asyncio.get_running_loop().call_later(AWAY, call, *words)

    def take(self, data):
        self.received += data
        self.news.set()

    def end(self):
        self.has_ended = True
        self.news.set()

    def send(self, data):
        self.later(self.transport.write, data)

    async def reply(self):
        """The next reply and whether the connection is kept; None if there is none."""
        while True:
            head, separator, rest = self.received.partition(b"\r\n\r\n")
            fields = head.lower()
            count = int(fields.partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            if separator and len(rest) >= count:
                self.received = rest[count:]
                return head + separator + rest[:count], b"connection: close" not in fields
            if self.has_ended:
                return None
            self.news.clear()
            await self.news.wait()


class Pool:
    def __init__(self, nodes):
        self.nodes, self.turn = nodes, 0
        self.idle, self.failures = {node: [] for node in nodes}, dict.fromkeys(nodes, 0)

    async def watch(self, node):
        while True:
            try:
                ready = (await asyncio.to_thread(get, f"http://127.0.0.1:{node[1]}/readyz"))[0] == 200
            except OSError:
                ready = False
            self.failures[node] = 0 if ready else self.failures[node] + 1
            await asyncio.sleep(1)

    async def connection(self):
        """A node, and a connection to it: one that is kept, if there is one."""
        self.turn += 1
        order = [self.nodes[(self.turn + number) % len(self.nodes)] for number in range(len(self.nodes))]
        for node in sorted(order, key=lambda one: self.failures[one] >= 2):
            while self.idle[node]:
                kept = self.idle[node].pop()
                if not kept.has_ended:
                    return node, kept
            try:
                return node, (await asyncio.get_running_loop().create_connection(Upstream, "127.0.0.1", node[0]))[1]
            except ConnectionRefusedError:
                await asyncio.sleep(2 * AWAY)
        return None, None

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                count = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
                request = head + await reader.readexactly(count)
                node, upstream = await self.connection()
                if upstream:
                    upstream.send(request)
                answer = await upstream.reply() if upstream else None
                if answer is None:
                    writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
                    continue
                reply, is_kept = answer
                if is_kept:
                    self.idle[node].append(upstream)
                else:
                    upstream.transport.close()
                    reply = reply.replace(b"\r\nConnection: close", b"", 1)
                writer.write(reply)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def pool(port, *nodes):
    one = Pool([tuple(int(part) for part in node.split(":")) for node in nodes])
    watches = [asyncio.create_task(one.watch(node)) for node in one.nodes if len(node) > 1]
    async with await asyncio.start_server(one.serve, "127.0.0.1", int(port)) as server:
        await asyncio.gather(server.serve_forever(), *watches)


if __name__ == "__main__":
    asyncio.run(pool(*sys.argv[1:]))
