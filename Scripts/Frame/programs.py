"""Programs that scripts start on this machine: where they are, how they run, how they are asked; with the engines and the server among them."""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

UNPRIVILEGED = "nobody" if os.geteuid() == 0 else None
GROUP = "nogroup" if UNPRIVILEGED and os.path.exists("/etc/debian_version") else UNPRIVILEGED
AS_UNPRIVILEGED = {"user": UNPRIVILEGED, "group": GROUP, "extra_groups": [] if UNPRIVILEGED else None}


def program(name, *places):
    """The path of a program, or None."""
    for place in places:
        for path in sorted(glob.glob(place), reverse=True):
            if os.access(path, os.X_OK):
                return path
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")


def free_port(taken=set()):
    """A port on which nothing listens, and that was not given out before."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in taken:
            taken.add(port)
            return port


def pinned(core):
    """The steps of a child with its own session before it begins: takes its core, and gets priority over other programs if this is root."""
    def take():
        os.sched_setaffinity(0, {core})
        try:
            os.nice(-20)
            # Where Linux schedules by sessions, a process is nicer only than others in its own session.
            with open("/proc/self/autogroup", "w") as group:
                group.write("-20")
        except OSError:
            pass
    return take


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
        # Only the trial trusts its certificate.
        with urllib.request.urlopen(request, timeout=timeout, context=ssl._create_unverified_context()) as reply:
            return reply.status, reply.read(), reply.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def get(url, key=None, body=None, headers=None, timeout=5):
    """Status and body of a request."""
    return ask(url, key, body, headers, timeout=timeout)[:2]


def process_times(which="[0-9]*"):
    """Each process's parent and its processor time so far, in ticks."""
    found = {}
    for entry in glob.glob(f"/proc/{which}/stat"):
        try:
            with open(entry) as file:
                text = file.read()
        except OSError:
            continue
        fields = text.rsplit(")", 1)[1].split()
        found[int(text.split(" ", 1)[0])] = (int(fields[1]), int(fields[11]) + int(fields[12]))
    return found


class Child:
    """A process in a folder, with its own log, or a pipe for it; on one core, or as an unprivileged user."""

    def __init__(self, folder, name, command, environment=None, user=UNPRIVILEGED, group=GROUP, core=None, output=None):
        self.folder, self.name, self.command, self.output = folder, name, command, output
        self.environment, self.user, self.group = environment, user if core is None else None, group if core is None else None
        self.core, self.process = core, None
        self.start()

    def start(self):
        with open(self.output or f"{self.folder}/{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                user=self.user, group=self.group, extra_groups=[] if self.user else None, start_new_session=True,
                preexec_fn=None if self.core is None else pinned(self.core),
                env={**os.environ, "HOME": self.folder, **(self.environment or {})})

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, within=30):
        """By SIGTERM. Its exit status."""
        self.signal(signal.SIGTERM)
        return self.process.wait(within)

    def processor_time(self):
        """Seconds."""
        return process_times(self.process.pid)[self.process.pid][1] / os.sysconf("SC_CLK_TCK")

    def processes(self):
        """The identifiers of its process and its descendants, including descendants in other sessions, such as PostgreSQL's."""
        running, found = process_times(), [self.process.pid]
        for pid in found:
            found += [child for child, (parent, _) in running.items() if parent == pid]
        return found

    def signal_all(self, number):
        """Also to all that it started."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def hang(self):
        """Connections stay, and nothing answers."""
        self.signal_all(signal.SIGSTOP)

    def resume(self):
        self.signal_all(signal.SIGCONT)

    def kill(self):
        """kill -9, of the process and its descendants."""
        self.signal_all(signal.SIGKILL)
        self.process.wait()

    def log(self):
        with open(f"{self.folder}/{self.name}.log", errors="replace") as log:
            return log.read()


class Postgres(Child):
    """PostgreSQL in a folder, with one role; without a password unless there is one; or a standby of a primary. A start is over when it answers."""

    binaries = os.path.dirname(program("postgres", "/usr/lib/postgresql/*/bin/postgres") or "")

    def __init__(self, folder, port=None, role="latchkey", password=None, hosts=None, name="postgres", primary=None):
        self.port, self.role, self.data, self.password = port or free_port(), role, f"{folder}/{name}", password
        words = ["-A", "trust"]
        if password:
            with open(f"{folder}/password", "w") as file:
                file.write(password)
            words = ["-A", "scram-sha-256", "--pwfile", f"{folder}/password"]
        if UNPRIVILEGED:
            for path in [folder, *glob.glob(f"{folder}/password")]:
                shutil.chown(path, UNPRIVILEGED, GROUP)
        if primary:
            primary.backup(self.data, "--write-recovery-conf")
        else:
            subprocess.run([f"{self.binaries}/initdb", "-D", self.data, "-U", role, "-E", "UTF8", "--no-sync", *words], check=True,
                           capture_output=True, cwd=folder, **AS_UNPRIVILEGED)
        if hosts:
            with open(f"{self.data}/pg_hba.conf", "w") as file:
                file.write(hosts)
        super().__init__(folder, name, [
            f"{self.binaries}/postgres", "-D", self.data, "-p", str(self.port), "-k", folder, "-c", "listen_addresses=127.0.0.1",
            "-c", "max_connections=60"])

    def start(self):
        super().start()
        until(self.answers, 30, "PostgreSQL's start")

    def answers(self):
        return subprocess.run([f"{self.binaries}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode == 0

    def backup(self, place, *words):
        """A base backup into a folder that is not there yet."""
        subprocess.run(
            [f"{self.binaries}/pg_basebackup", "-h", "127.0.0.1", "-p", str(self.port), "-U", self.role, "-D", place, "--checkpoint=fast", "--no-sync",
             *words], check=True, capture_output=True, cwd=self.folder, **AS_UNPRIVILEGED)

    def lag(self, primary):
        """How many bytes of a primary's log this standby lacks."""
        end = primary.run("psql", "-Atc", "SELECT pg_current_wal_lsn()", "postgres").strip()
        return int(self.run("psql", "-Atc", f"SELECT greatest(0, pg_wal_lsn_diff('{end}', pg_last_wal_replay_lsn()))::bigint", "postgres"))

    def run(self, tool, *words):
        """What one of its programs prints, such as createdb."""
        return subprocess.run(
            [f"{self.binaries}/{tool}", "-h", "127.0.0.1", "-p", str(self.port), "-U", self.role, *words], check=True, capture_output=True,
            text=True, env={**os.environ, "PGPASSWORD": self.password or ""}).stdout


class Redis(Child):
    """Redis in a folder, which writes nothing there. A start is over when it answers."""

    def __init__(self, folder, port=None, name="redis", core=None, clustered=False):
        self.port = port or free_port()
        words = ["--cluster-enabled", "yes", "--cluster-config-file", f"nodes-{self.port}.conf", "--cluster-port", str(free_port())]
        super().__init__(folder, name, [
            program("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--maxmemory-policy", "noeviction", "--dir", folder, *(words if clustered else [])], core=core)

    def start(self):
        super().start()
        until(lambda: self.ask("PING") == "PONG", 30, "Redis's start")

    def ask(self, *words):
        """The answer to one command, in RESP2."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            connection.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
            return read_resp(connection.makefile("rb"))


def read_resp(stream):
    line = stream.readline()[:-2]
    kind, rest = line[:1], line[1:]
    if kind in b"+:":
        return rest.decode()
    if kind == b"$":
        count = int(rest)
        if count < 0:
            return None
        data = stream.read(count + 2)[:-2]
        try:
            return data.decode("ascii")
        except UnicodeDecodeError:
            return data
    if kind == b"*":
        return [read_resp(stream) for _ in range(int(rest))]
    raise ValueError(rest.decode())


def proxy_status(folder, name):
    """HAProxy's word for a node: UP, DOWN, MAINT."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"{folder}/haproxy.sock")
        connection.sendall(b"show stat\n")
        lines = connection.makefile().read().splitlines()
    return next(line for line in lines if line.startswith(f"nodes,{name},")).split(",")[17].split(" ")[0]


# The license server


@contextlib.contextmanager
def demonstration(server, folder):
    """A demonstration in its own folder, for as long as the block: its process, and its description of itself."""
    with subprocess.Popen([server, "demo", "--folder", folder, "--port", "0", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


class Server:
    """A license server with a configuration, and the ports of its listeners."""

    child = None

    def __init__(self, program, folder, name, configuration, core=None):
        self.program, self.folder, self.name, self.configuration, self.core = program, folder, name, configuration, core
        self.players, self.packagers, self.operators = free_port(), free_port(), free_port()

    def listeners(self):
        """Their members of the configuration."""
        return {name: {"address": "127.0.0.1", "port": getattr(self, name)} for name in ["players", "packagers", "operators"]}

    def measured(self, demonstrated, change=lambda settings: None):
        """Takes over the configuration of a demonstration that was, with one thread, and without limits for the one address of a load."""
        with open(demonstrated) as file:
            settings = json.load(file)
        settings.update(threads=1, limits={"perAddress": 0}, trustedProxies=["127.0.0.1/32"], **self.listeners())
        change(settings)
        with open(self.configuration, "w") as file:
            json.dump(settings, file)

    def start(self, within=30, output=None):
        """Seconds until it was ready."""
        self.child = Child(self.folder, self.name, [self.program, "run", "--config", self.configuration], core=self.core, output=output)
        try:
            return until(self.is_ready, within, f"{self.name} getting ready")
        except (TimeoutError, RuntimeError) as error:
            raise TimeoutError(f"{error}: {self.child.log()[-2000:]}") from None

    @property
    def is_started(self):
        return self.child is not None and self.child.process.poll() is None

    def is_ready(self):
        if not self.is_started:
            raise RuntimeError(f"{self.name} ended with {self.child.process.returncode}")
        return get(f"http://127.0.0.1:{self.operators}/readyz")[0] == 200

    def metric(self, name, labels=""):
        """The sum of a metric's series whose labels have a text."""
        text = get(f"http://127.0.0.1:{self.operators}/metrics")[1].decode()
        lines = re.findall(rf"^{name}(\{{[^}}]*\}})? (\S+)$", text, re.M)
        return sum(float(value) for series, value in lines if labels in series)

    def granted(self):
        """The licenses so far."""
        return self.metric("latchkey_license_requests_total", 'outcome="granted"')


def load(tool, url, folder, rate, seconds, *options, credentials=None, core=None):
    """Begins a load with the credentials and the tokens' key of a folder. `finish` waits for its figures."""
    return subprocess.Popen(
        [tool, "load", "--license-url", url, "--credentials", credentials or f"{folder}/credentials", "--token-key", f"{folder}/token-key.hex",
         "--rate", str(rate), "--for", f"{seconds}s", "--json", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=core is not None, preexec_fn=None if core is None else pinned(core))


def finish(load, seconds=180):
    output, error = load.communicate(timeout=seconds)
    try:
        return json.loads(output)
    except ValueError:
        raise RuntimeError(f"latchkey load ended with {load.returncode}: {error.decode()[-500:]} {output.decode()[-500:]}") from None


def most(goodput, rate, factor, part, limit):
    """The most a second that comes in time, of a rate that rises until less than a part of it does."""
    best = 0
    while rate < limit:
        seen = goodput(rate)
        best = max(best, seen)
        if seen < part * rate:
            break
        rate = round(rate * factor)
    return best


def figures(report, outcome="granted"):
    return report["requests"].get(outcome, {"count": 0, "p50": 0, "p90": 0, "p99": 0, "max": 0})


def replies(report, but="none"):
    """The replies with their counts, as a text, without those whose label begins so."""
    counts = {label: count for label, count in report["replies"].items() if not label.startswith(but)}
    return ", ".join(f"{count} × {label}" for label, count in sorted(counts.items(), key=lambda one: -one[1]))
