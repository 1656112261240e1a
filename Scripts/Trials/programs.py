"""Programs that trials start on this machine: where they are, how they run, how they are asked."""
import glob
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

UNPRIVILEGED = "nobody" if os.geteuid() == 0 else None
GROUP = "nogroup" if UNPRIVILEGED and os.path.exists("/etc/debian_version") else UNPRIVILEGED


def program(name, *places):
    """The path of a program, or None."""
    for place in places:
        for path in sorted(glob.glob(place), reverse=True):
            if os.access(path, os.X_OK):
                return path
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")


def free_port(taken=set()):
    """A port that nobody listens on, and that was not given out before."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in taken:
            taken.add(port)
            return port


def until(condition, seconds, what):
    """Waits for a condition. Returns how long it took."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        try:
            if condition():
                return time.monotonic() - start
        except (OSError, ValueError):
            pass
        time.sleep(0.05)
    raise TimeoutError(f"{what} did not happen within {seconds} s")


def ask(url, key=None, body=None, headers=None, method=None, timeout=5):
    """Status, body and header fields of a request."""
    request = urllib.request.Request(url, data=body, headers=dict(headers or {}), method=method)
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return reply.status, reply.read(), reply.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def get(url, key=None, body=None, headers=None):
    """Status and body of a request."""
    return ask(url, key, body, headers)[:2]


class Child:
    """A process in a folder, with a log of its own."""

    def __init__(self, folder, name, command, environment=None, user=UNPRIVILEGED, group=GROUP):
        self.folder, self.name, self.command = folder, name, command
        self.environment, self.user, self.group = environment, user, group
        self.process = None
        self.start()

    def start(self):
        with open(f"{self.folder}/{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                user=self.user, group=self.group, extra_groups=[] if self.user else None, start_new_session=True,
                env={**os.environ, "HOME": self.folder, **(self.environment or {})})

    def signal(self, number):
        self.process.send_signal(number)

    def processes(self):
        """Its process identifier and those of what it started, also in sessions of their own, as PostgreSQL's."""
        parents = {}
        for entry in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(entry) as file:
                    text = file.read()
            except OSError:
                continue
            parents[int(text.split(" ", 1)[0])] = int(text.rsplit(")", 1)[1].split()[1])
        found = [self.process.pid]
        for pid in found:
            found += [child for child, parent in parents.items() if parent == pid]
        return found

    def hang(self):
        """Stops it and all that it started: connections stay, and nothing answers."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGSTOP)
            except ProcessLookupError:
                pass

    def resume(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass

    def kill(self):
        """kill -9, of the process and what it started."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def log(self):
        with open(f"{self.folder}/{self.name}.log", errors="replace") as log:
            return log.read()
