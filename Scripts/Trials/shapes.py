"""Starts latchkey-server as Deployment's files start it: the same configuration, folders, rights and user; with PostgreSQL and Redis, behind
HAProxy and before Prometheus with their shipped files. The operators' listener has a certificate, and some operator is of one tenant, as the pages
advise: balancer, probes and Prometheus have to work all the same.

Not tried: Kubernetes and systemd themselves; image.py starts the container. Their mounts are laid out in a folder, to whose paths those of the
configuration are changed; ports and the engines' addresses are this machine's.
"""
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess

from Frame.programs import Child, Postgres, Redis, free_port, get, program, until
from Trials.proxy import NameServer, Proxy

USER = 65532  # The pod's, the container's, and here also the unit's.
PASSWORD = "a password of a trial"
ADMIN, SUPPORT, PACKAGER = "an operator's key", "the key of one tenant's operator", "a packager's key"
NOBODY_HAS = "0" * 64  # The placeholder for the SHA-256 of a key in the examples.


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Engines:
    """PostgreSQL, with a password, and Redis, in a folder."""

    missing = [name for name, path in [("postgresql", Postgres.binaries)] + [(name, program(name)) for name in ["redis-server", "haproxy", "prometheus"]]
               if not path]

    def __init__(self, folder):
        self.folder = folder

    def start(self):
        self.postgres, self.redis = Postgres(self.folder, password=PASSWORD), Redis(self.folder)

    def stop(self):
        for name in ["postgres", "redis"]:
            if hasattr(self, name):
                getattr(self, name).kill()


class Shape:
    """A root folder as a container or unit sees it, and the server in it."""

    first = [["migrate"], ["tenant", "create", "main"]]

    def __init__(self, name, folder, programs, engines, check):
        self.name, self.folder, self.engines, self.check = name, folder, engines, check
        self.place = folder  # Where the server sees it.
        self.server, self.tool = programs
        self.database = name
        engines.postgres.run("createdb", name)
        self.ports = {name: free_port() for name in ["players", "packagers", "operators", "health"]}
        self.groups = []
        os.mkdir(folder)
        os.chmod(folder, 0o755)

    def text(self, text):
        """A configuration with this machine's paths, ports and addresses."""
        text = re.sub(r'([":])(/etc/latchkey|/run/credentials|/var/lib/latchkey)', rf'\1{self.place}\2', text)
        text = text.replace("redis://redis:6379", f"redis://127.0.0.1:{self.engines.redis.port}")
        text = text.replace("redis://127.0.0.1:6379", f"redis://127.0.0.1:{self.engines.redis.port}")
        text = text.replace("@postgres/latchkey?", f"@127.0.0.1:{self.engines.postgres.port}/{self.database}?")
        text = text.replace("/latchkey?host=/run/postgresql", f"/{self.database}?host={self.engines.folder}&port={self.engines.postgres.port}")
        settings = {**json.loads(text), "drainDelay": "0s"}
        for listener, port in self.ports.items():
            settings[listener] = {**settings.get(listener, {}), "port": port}
        self.make("/etc/latchkey-operators")
        place = f"{self.place}/etc/latchkey-operators"
        settings["operators"] |= dict(certificate=f"{place}/certificate.pem", privateKey=f"{place}/key.pem")
        settings["admins"] = [{**one, "key": sha256(ADMIN)} for one in settings.get("admins", [{"name": "operations", "role": "security"}])]
        settings["admins"].append({"name": "support", "role": "viewer", "tenants": ["main"], "key": sha256(SUPPORT)})
        for tenant in settings["tenants"].values():
            tenant["packagers"] = [{**one, "apiKey": sha256(PACKAGER)} for one in tenant.get("packagers", [{"name": "packager"}])]
        return json.dumps(settings, indent=2)

    # Folders

    def make(self, path):
        os.makedirs(f"{self.folder}{path}", exist_ok=True)
        return f"{self.folder}{path}"

    def file(self, path, contents, mode=0o644, owner=0):
        self.make(os.path.dirname(path))
        with open(f"{self.folder}{path}", "wb") as file:
            file.write(contents if isinstance(contents, bytes) else contents.encode())
        os.chmod(f"{self.folder}{path}", mode)
        if os.geteuid() == 0:
            os.chown(f"{self.folder}{path}", owner, self.groups[0] if self.groups and owner == 0 else owner)

    def mount(self, path, files, mode=0o644, number=1):
        """A ConfigMap's or Secret's mount: flat, each name a link to a link to a folder, changed by one rename."""
        for name, contents in files.items():
            self.file(f"{path}/..{number}/{name}", contents, mode)
        os.symlink(f"..{number}", f"{self.folder}{path}/..new")
        os.rename(f"{self.folder}{path}/..new", f"{self.folder}{path}/..data")
        for name in files:
            if not os.path.lexists(f"{self.folder}{path}/{name}"):
                os.symlink(f"..data/{name}", f"{self.folder}{path}/{name}")

    def credentials(self):
        """The files of test credentials, by their names."""
        place = f"{self.folder}/../credentials"
        if not os.path.exists(place):
            subprocess.run([self.tool, "credentials", "--out", place], check=True, capture_output=True)
        files = {}
        for name in os.listdir(place):
            with open(f"{place}/{name}", "rb") as file:
                files[name] = file.read()
        self.certificate = files["certificate.der"]
        return files

    # The server

    def command(self, *words):
        if os.geteuid() != 0:
            return [self.server, *words]
        groups = ["--groups", ",".join(map(str, self.groups))] if self.groups else ["--clear-groups"]
        return ["setpriv", "--reuid", str(USER), "--regid", str(USER), *groups, "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all",
                self.server, *words]

    def run(self, change=None):
        """Makes the tables, starts, asks at the door of each kind, changes something, and stops."""
        environment = {"PATH": os.environ["PATH"], "PGPASSWORD": PASSWORD}
        configuration = f"{self.place}/etc/latchkey/server.json"
        self.sign_operators()
        for words in self.first:
            run = subprocess.run(self.command(*words, "--config", configuration), env=environment, capture_output=True, text=True, cwd="/")
            self.check(run.returncode == 0, f"{self.name}: {' '.join(words)}: {run.stdout}{run.stderr}")
        notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notices.bind(f"{self.folder}/notify")
        os.chmod(f"{self.folder}/notify", 0o777)
        notices.settimeout(20)
        log = f"{self.folder}/log"
        with open(log, "wb") as file:
            process = subprocess.Popen(
                self.command("run", "--config", configuration), stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd="/",
                env={**environment, "NOTIFY_SOCKET": f"{self.folder}/notify", "WATCHDOG_USEC": "1000000"}, umask=0o077)
        try:
            def is_ready():
                if process.poll() is not None:
                    raise RuntimeError(f"it ended with {process.returncode}")
                return get(f"http://127.0.0.1:{self.ports['health']}/readyz")[0] == 200
            until(is_ready, 30, "getting ready")
            self.asks(notices)
            self.fits()
            if change:
                change()
        except (RuntimeError, TimeoutError, OSError) as error:
            with open(log, errors="replace") as file:
                self.check(False, f"{self.name}: {error}: {file.read()[:1500]}")
        finally:
            if process.poll() is None:
                self.stop(process)

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        self.drains()
        try:
            process.wait(30)
            self.check(process.returncode == 0, f"{self.name}: after SIGTERM it ended with {process.returncode}")
        except subprocess.TimeoutExpired:
            process.kill()
            self.check(False, f"{self.name}: it did not end within 30 s of SIGTERM")

    def asks(self, notices):
        players, packagers = (f"http://127.0.0.1:{self.ports[name]}/t/main" for name in ["players", "packagers"])
        certificate = get(f"{players}/certificate", timeout=60)
        self.check(certificate == (200, self.certificate), f"{self.name}: the certificate: {certificate[0]}")
        status = get(f"{packagers}/speke", headers={"X-API-Key": PACKAGER}, body=b"<a/>", timeout=60)[0]
        self.check(400 <= status < 500 and status not in (401, 403), f"{self.name}: a packager's broken document: {status}")
        self.hears(notices)

    def hears(self, notices):
        """The server's notices to systemd."""
        said = b""
        while b"READY=1" not in said or b"WATCHDOG=1" not in said:
            said += notices.recv(4096) + b"\n"

    def drains(self):
        """Waits for the start of the drain, where the configuration gives it time."""

    def sign_operators(self):
        """A certificate for the operators' listener, for the server's user to read."""
        place = f"{self.folder}/etc/latchkey-operators"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost",
                        "-keyout", f"{place}/key.pem", "-out", f"{place}/certificate.pem"], check=True, capture_output=True)
        os.chmod(f"{place}/key.pem", 0o400)
        if os.geteuid() == 0:
            os.chown(f"{place}/key.pem", USER, USER)

    def fits(self):
        """The shipped balancer and scraper reach the node although the operators' listener speaks TLS and asks for keys."""
        operators = f"https://127.0.0.1:{self.ports['operators']}"
        self.check(get(f"{operators}/metrics", timeout=60)[0] == 401 and get(f"{operators}/metrics", SUPPORT, timeout=60)[0] == 200,
                   f"{self.name}: the operators' listener gives metrics without a key, or not to a tenant's operator")
        place = f"{self.folder}/outside"
        os.makedirs(place)
        os.chmod(place, 0o777)
        proxy = Proxy(program("haproxy"), place, example("Deployment/haproxy.cfg"), {"node-a": self.ports["players"]}, NameServer(),
                      health=self.ports["health"])
        scraper = self.scraper(place)
        try:
            until(lambda: get(f"http://127.0.0.1:{proxy.port}/t/main/certificate") == (200, self.certificate), 20,
                  "a certificate through the shipped HAProxy")
            until(lambda: self.scraped("latchkey_ready") == "1" and self.scraped("up") == "1", 30, "the shipped Prometheus's scrape")
        finally:
            proxy.child.kill()
            scraper.kill()

    def scraper(self, place):
        """Prometheus with the shipped files, but for the target's address and the pause."""
        self.prometheus = free_port()
        shutil.copytree("Deployment/prometheus", f"{place}/prometheus")
        configuration = f"{place}/prometheus/prometheus.yml"
        text = example(configuration)
        target = f'["127.0.0.1:{self.ports["health"]}"]'
        text = text.replace('["node-a:8446", "node-b:8446"]', target).replace("scrape_interval: 5s", "scrape_interval: 1s")
        self.check(target in text, f"{self.name}: prometheus.yml has other targets")
        with open(configuration, "w") as file:
            file.write(text)
        return Child(place, "prometheus", [program("prometheus"), "--config.file", configuration, "--storage.tsdb.path", f"{place}/tsdb",
                                           "--web.listen-address", f"127.0.0.1:{self.prometheus}"])

    def scraped(self, series):
        """The newest value of the one series of a name."""
        found = json.loads(get(f"http://127.0.0.1:{self.prometheus}/api/v1/query?query={series}")[1])["data"]["result"]
        return found[0]["value"][1] if len(found) == 1 else None

    def policy(self):
        """The digest of the policy in force."""
        status, body = get(f"https://127.0.0.1:{self.ports['operators']}/admin/v1/policies/standard", ADMIN, timeout=60)
        return json.loads(body).get("digest") if status == 200 else None


def example(path):
    with open(path) as file:
        return file.read()


def pod(folder, programs, engines, check, yaml, as_written):
    """Kubernetes: links in flat mounts of root's, and a policy that changes under the running server. As written, secrets are for the pod's group
    to read; otherwise for everybody, as where a manifest states no mode.
    """
    parts = {(part["kind"], part["metadata"]["name"]): part for part in yaml.safe_load_all(example("Deployment/kubernetes/latchkey-server.yaml"))}
    maps = {name: part["data"] for (kind, name), part in parts.items() if kind == "ConfigMap"}
    spec = parts["Deployment", "latchkey-server"]["spec"]["template"]["spec"]
    mounts = {mount["name"]: mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]}
    shape = Shape("pod" if as_written else "pod_open", folder, programs, engines, check)
    check(spec["securityContext"]["runAsUser"] == USER, f"pod: another user than {USER}")
    shape.groups = [spec["securityContext"]["fsGroup"]] if as_written else []
    secrets = {
        "latchkey-secrets": {"kek.hex": os.urandom(32).hex(), "node-secret.hex": os.urandom(32).hex(), "postgres-password": PASSWORD},
        "latchkey-credentials": shape.credentials()}
    for volume in spec["volumes"]:
        place = mounts[volume["name"]]
        if "configMap" in volume:
            shape.mount(place, {name: shape.text(text) if name == "server.json" else text for name, text in maps[volume["configMap"]["name"]].items()})
        elif "secret" in volume:
            shape.mount(place, secrets[volume["secret"]["secretName"]], volume["secret"]["defaultMode"] if as_written else 0o644)
        else:
            os.chmod(shape.make(place), 0o777)

    def change():
        before, policies = shape.policy(), maps["latchkey-policies"]
        shape.mount(mounts["policies"], {"standard.json": policies["standard.json"].replace('"lease": "5m"', '"lease": "4m"')}, number=2)
        until(lambda: shape.policy() not in (None, before), 20, "the changed policy")

    shape.run(change)


def compose(shape, service):
    """Compose: folders of the host, with files of user 65532."""
    secrets = {"kek.hex": os.urandom(32).hex(), "node-secret.hex": os.urandom(32).hex()}
    secrets.update({f"credentials/{name}": contents for name, contents in shape.credentials().items()})
    for volume in service["volumes"]:
        source, target = volume.split(":")[:2]
        if source == "./secrets":
            for name, contents in secrets.items():
                shape.file(f"{target}/{name}", contents, 0o400, USER)
        elif source.startswith("./"):
            for name in os.listdir(f"Deployment/{source}"):
                text = example(f"Deployment/{source}/{name}")
                shape.file(f"{target}/{name}", shape.text(text) if name == "server.json" else text)
        else:
            os.chmod(shape.make(target), 0o777)


def unit(folder, programs, engines, check, acl):
    """systemd: copies of secrets in a folder of the unit's user, by its ownership (ramfs) or by an access list (tmpfs of newer kernels)."""
    text = example("Deployment/latchkey-server.service")
    loaded = dict(re.findall(r"^LoadCredential=([^:]+):(.*)$", text, re.M))
    shape = Shape("unit_list" if acl else "unit", folder, programs, engines, check)
    sources = {"kek.hex": os.urandom(32).hex(), "node-secret.hex": os.urandom(32).hex(), **shape.credentials()}
    shape.file("/etc/latchkey/server.json", shape.text(example("Deployment/latchkey-server.json")))
    shape.file("/etc/latchkey/policies/standard.json", example("Deployment/policies/standard.json"))
    place = "/run/credentials/latchkey-server.service"
    for name, source in loaded.items():
        shape.file(f"{place}/{name}", sources[os.path.basename(source)], 0o400, 0 if acl else USER)
        if acl:
            grant(f"{folder}{place}/{name}", 0o4)
    if acl:
        os.chmod(f"{folder}{place}", 0o500)
        grant(f"{folder}{place}", 0o5)
        mode = stat.S_IMODE(os.stat(f"{folder}{place}/kek.hex").st_mode)
        check(mode == 0o440, f"unit: an access list shows mode {mode:o} here")
    elif os.geteuid() == 0:
        os.chown(f"{folder}{place}", USER, USER)
        os.chmod(f"{folder}{place}", 0o500)
    state = shape.make("/var/lib/latchkey")
    if os.geteuid() == 0:
        os.chown(state, USER, USER)
        os.chmod(state, 0o700)
    shape.run()


def grant(path, rights):
    """Lets the user at a file of root's by an access list, as systemd does."""
    entries = [(0x01, rights, 0xFFFFFFFF), (0x02, rights, USER), (0x04, 0, 0xFFFFFFFF), (0x10, rights, 0xFFFFFFFF), (0x20, 0, 0xFFFFFFFF)]
    os.setxattr(path, "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries))


def check_shapes(programs, folder, yaml, check, leave_out):
    os.mkdir(f"{folder}/engines")
    engines = Engines(f"{folder}/engines")
    if engines.missing:
        return leave_out(f"the server's starts: no {', '.join(engines.missing)}")
    os.chmod(folder, 0o755)
    is_root = os.geteuid() == 0 and shutil.which("setpriv")
    if not is_root:
        leave_out(f"user {USER}: this is not root")
    engines.start()
    try:
        if yaml:
            pod(f"{folder}/pod-open", programs, engines, check, yaml, as_written=False)
            shape = Shape("compose", f"{folder}/compose", programs, engines, check)
            compose(shape, yaml.safe_load(example("Deployment/compose.yaml"))["services"]["node-a"])
            shape.run()
            if is_root:
                pod(f"{folder}/pod", programs, engines, check, yaml, as_written=True)
        unit(f"{folder}/unit", programs, engines, check, acl=False)
        if is_root:
            try:
                unit(f"{folder}/unit-list", programs, engines, check, acl=True)
            except OSError as error:
                leave_out(f"access lists: {error}")
    finally:
        engines.stop()
