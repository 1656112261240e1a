"""Deployment/haproxy.cfg under a real HAProxy, before nodes that hang, and before nodes whose names are not known yet."""
import collections
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from Frame.programs import Child, ask, free_port, proxy_status, until

# A node, as far as HAProxy can tell: ready, and with an answer to each request.
NODE = """
import http.server, sys
class Node(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = sys.argv[3].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *words): pass
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Node).serve_forever()
"""
# HAProxy leaves a node that hangs within 2 s; a busy machine has a second more, and two tries.
LEFT_WITHIN, SLACK, TRIES = 2, 1, 2


class NameServer:
    """Answers questions for addresses, on loopback. A name that it does not know does not exist."""

    def __init__(self):
        self.names = {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            question, asker = self.socket.recvfrom(512)
            place, labels = 12, []
            while question[place]:
                labels.append(question[place + 1:place + 1 + question[place]].decode())
                place += 1 + question[place]
            kind = struct.unpack(">H", question[place + 1:place + 3])[0]
            address = self.names.get(".".join(labels))
            answers = 1 if address and kind == 1 else 0
            reply = question[:2] + struct.pack(">HHHHH", 0x8180 if address else 0x8183, 1, answers, 0, 0) + question[12:place + 5]
            if answers:
                reply += b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 1, 4) + socket.inet_aton(address)
            self.socket.sendto(reply, asker)


class Proxy:
    """HAProxy with the shipped file, but for ports, limits of this machine and who knows names."""

    def __init__(self, haproxy, folder, text, ports, name_server, named=None, health=None):
        self.port, self.folder = free_port(), folder
        for name, port in ports.items():
            host = name if named else "127.0.0.1"
            text = re.sub(rf"server {name} {name}:8443", f"server {name} {host}:{port} check port {health or port}", text)
        text = text.replace("bind :8443", f"bind 127.0.0.1:{self.port}")
        text = text.replace("maxconn 20000", f"maxconn 1000\n    stats socket {folder}/haproxy.sock mode 600")
        text = text.replace("parse-resolv-conf", f"nameserver test 127.0.0.1:{name_server.port}")
        with open(f"{folder}/haproxy.cfg", "w") as file:
            file.write(text)
        self.child = Child(folder, "haproxy", [haproxy, "-db", "-f", f"{folder}/haproxy.cfg"], user=None, group=None)

    def status(self, name):
        return proxy_status(self.folder, name)

    def post(self):
        """Status, body, header fields, and seconds of a request as long as a license's."""
        begin = time.monotonic()
        status, body, headers = ask(f"http://127.0.0.1:{self.port}/t/main/fairplay", body=bytes(10_000), timeout=20)
        return status, body.decode(), headers, time.monotonic() - begin


def node(folder, name, address, port, answer=""):
    return Child(folder, name, [sys.executable, "-c", NODE, address, str(port), answer or name], user=None, group=None)


def leaves_hung_node(haproxy, folder, text, check):
    """A node that hangs: each request is answered, soon by the other node alone."""
    ports = {name: free_port() for name in ["node-a", "node-b"]}
    nodes = [node(folder, name, "127.0.0.1", port) for name, port in ports.items()]
    proxy = Proxy(haproxy, folder, text, ports, NameServer())
    try:
        until(lambda: {proxy.status(name) for name in ports} == {"UP"} and {proxy.post()[1] for _ in range(4)} == set(ports), 20,
              "both nodes' answers")
        for attempt in range(TRIES):
            problems = hang(proxy, nodes[1], "node-b")
            if not problems:
                break
            until(lambda: proxy.status("node-b") == "UP", 20, "the node's return")
        for problem in problems:
            check(False, f"Deployment/haproxy.cfg: {problem}")
    finally:
        for child in [proxy.child, *nodes]:
            child.kill()


def hang(proxy, child, name):
    """Stops a node under load, and reports deviations."""
    answers, is_over = [], threading.Event()

    def viewer():
        while not is_over.is_set():
            try:
                status, _, _, seconds = proxy.post()
                answers.append((status, seconds))
            except OSError as error:
                answers.append((type(error).__name__, 0))
            time.sleep(0.02)

    viewers = [threading.Thread(target=viewer) for _ in range(8)]
    for thread in viewers:
        thread.start()
    time.sleep(0.3)
    child.signal(signal.SIGSTOP)
    try:
        left = until(lambda: proxy.status(name) != "UP", 20, "leaving the node that hangs")
        time.sleep(0.5)
    finally:
        is_over.set()
        for thread in viewers:
            thread.join()
        child.signal(signal.SIGCONT)
    problems = []
    others = collections.Counter(status for status, _ in answers if status != 200)
    slowest = max(seconds for _, seconds in answers)
    if others:
        problems.append(f"while a node hung, of {len(answers)} requests: {dict(others)}")
    if left > LEFT_WITHIN + SLACK:
        problems.append(f"a node that hangs is left after {left:.1f} s, not {LEFT_WITHIN}")
    if slowest > LEFT_WITHIN + SLACK:
        problems.append(f"a viewer waited {slowest:.1f} s for a node that hangs, not {LEFT_WITHIN}")
    return problems


def waits_for_names(haproxy, folder, text, check):
    """Names that do not exist yet: HAProxy starts, asks viewers to come again, takes a node as its name comes, and follows its address."""
    names, port = NameServer(), free_port()
    ports = {"node-a": port, "node-b": free_port()}
    proxy = Proxy(haproxy, folder, text, ports, names, named=True)
    nodes = []
    try:
        until(lambda: proxy.status("node-a") in ("MAINT", "DOWN"), 20, "HAProxy's start")
        status, body, headers, _ = proxy.post()
        check(status == 503 and "Retry-After" in headers and '"overloaded"' in body,
              f"Deployment/haproxy.cfg: without nodes the answer is {status} {body!r}, Retry-After {headers.get('Retry-After')}")
        nodes.append(node(folder, "first", "127.0.0.1", port))
        names.names["node-a"] = "127.0.0.1"
        until(lambda: proxy.post()[1] == "first", 20, "an answer of the node whose name came")
        if not sys.platform.startswith("linux"):
            return  # Elsewhere loopback has one address only.
        nodes[0].kill()
        nodes.append(node(folder, "anew", "127.0.0.2", port))
        names.names["node-a"] = "127.0.0.2"
        until(lambda: proxy.post()[1] == "anew", 30, "an answer of the node at its new address")
    except TimeoutError as error:
        check(False, f"Deployment/haproxy.cfg: {error}")
    finally:
        for child in [proxy.child, *nodes]:
            child.kill()


def check_proxy(haproxy, path, folder, check):
    done = subprocess.run([haproxy, "-c", "-q", "-f", path], capture_output=True, text=True)
    check(done.returncode == 0, f"{path}: where names are not known, HAProxy does not start: {done.stderr}")
    with open(path) as file:
        text = file.read()
    for trial in [leaves_hung_node, waits_for_names]:
        place = f"{folder}/{trial.__name__}"
        os.mkdir(place)
        trial(haproxy, place, text, check)
