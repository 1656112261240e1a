"""Builds the Debian package, and with podman the image of Deployment/Containerfile, and starts it as compose.yaml starts a node: with its mounts, rights
and read-only root, and a volume of podman's.

The image's base is the smallest Debian of this machine's release, which mmdebstrap makes from Debian's archive. Not tried: docker.io's base, Docker, and
published ports; the container has this machine's network, where the engines are.
"""
import base64
import json
import os
import re
import shutil
import subprocess

from Frame.programs import get, until
from Trials.debian import package
from Trials.keys import SPEKE
from Trials.shapes import PACKAGER, PASSWORD, USER, Engines, Shape, compose, example

LARGEST = 430  # Megabytes of the image, base included.
KID = "5d0e6f8a-2f4b-4c1d-9a3e-7b8c9d0e1f2a"
KERNEL = ("/dev", "/proc", "/sys")  # Below these, rights decide.


class Podman:
    """podman, with all its files in a folder in memory."""

    def __init__(self, folder):
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
        self.folder = folder
        self.words = ["env", "-u", "NOTIFY_SOCKET", f"HOME={folder}", f"TMPDIR={folder}", "podman", "--runtime", "runc", "--root", f"{folder}/storage",
                      "--runroot", f"{folder}/run", "--tmpdir", f"{folder}/tmp", "--cgroup-manager", "cgroupfs", "--events-backend", "none"]

    def run(self, *words):
        done = subprocess.run([*self.words, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"podman {' '.join(words)}: {done.stdout[-1500:]}{done.stderr[-3000:]}")
        return done.stdout

    def build(self, binaries):
        # The archive is reached as from this machine, through its proxy.
        with open(f"{self.folder}/apt.conf", "w") as file:
            subprocess.run(["apt-config", "dump", "Acquire"], check=True, stdout=file)
        release = re.search(r"^VERSION_CODENAME=(\w+)", example("/etc/os-release"), re.M)[1]
        version = re.search(r'text = "(.*)"', example("Sources/LatchkeyCore/LatchkeyVersion.swift"))[1]
        with subprocess.Popen(["mmdebstrap", "--quiet", "--variant=apt", f"--aptopt={self.folder}/apt.conf", "--dpkgopt=path-exclude=/usr/share/doc/*",
                               release, f"{self.folder}/base.tar"], stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": self.folder}) as base:
            package(binaries, f"{self.folder}/packages", version)
            _, said = base.communicate()
        if base.returncode != 0:
            raise RuntimeError(f"mmdebstrap: {said[-3000:]}")
        self.run("import", f"{self.folder}/base.tar", "localhost/base")
        self.run("build", "--layers=false", "--format", "docker", "--network", "host", "--isolation", "chroot", "--pull-never",
                 "--build-arg", "BASE=localhost/base", "-f", "Deployment/Containerfile", "-t", "latchkey-server", f"{self.folder}/packages")

    def stop(self):
        subprocess.run([*self.words, "rm", "--all", "--force", "--time", "0"], capture_output=True)
        subprocess.run(["umount", "--lazy", self.folder], check=True)


class Container(Shape):
    """A node of compose.yaml."""

    first = [*Shape.first, ["run", "--check"]]

    def __init__(self, podman, service, *words):
        super().__init__("image", *words)
        self.podman, self.service, self.place = podman, service, ""

    def text(self, text):
        settings = json.loads(super().text(text))
        settings["tenants"]["main"]["tokens"]["keys"] = "/etc/latchkey-secrets/jwks.json"
        settings["drainDelay"] = "8s"
        # A busy machine is not an outage.
        settings["stores"]["sessionMilliseconds"] = 10_000
        return json.dumps(settings)

    def command(self, *words):
        flags = ["--read-only", "--read-only-tmpfs=false"] if self.service["read_only"] else []
        for name in ["cap_drop", "security_opt"]:
            for value in self.service[name]:
                flags += [f"--{name.replace('_', '-')}", value]
        for volume in [*self.service["volumes"], "./operators:/etc/latchkey-operators:ro"]:
            source, target, *options = volume.split(":")
            flags += ["--volume", ":".join([f"{self.folder}{target}" if source.startswith("./") else source, target, *options])]
        name = "check" if "--check" in words else words[0]
        # By default podman raises limits, which needs CAP_SYS_RESOURCE, and has systemd repeat the health check.
        return [*self.podman.words, "run", "--name", name, "--network", "host", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096",
                "--no-healthcheck", "--log-driver", "none", "--env", "PGPASSWORD", *flags, "latchkey-server", *words]

    def hears(self, notices):
        """Nothing: containers have no systemd."""

    def drains(self):
        until(lambda: get(f"http://127.0.0.1:{self.ports['health']}/readyz")[0] == 503, 10, "readiness that fails while the node drains")

    def looks(self):
        """A license, and the running container's rights and writes."""
        here = f"http://127.0.0.1:{self.ports['players']}/t/main"
        status, said = get(f"http://127.0.0.1:{self.ports['packagers']}/t/main/speke", body=SPEKE.format(content="movie", kid=KID).encode(),
                           headers={"X-API-Key": PACKAGER, "X-Speke-Version": "2.0", "Content-Type": "application/xml"}, timeout=60)
        self.check(status == 200, f"image: a packager's request: {status} {said}")
        secrets = f"{self.folder}/etc/latchkey-secrets"
        done = subprocess.run([self.tool, "probe", "--license-url", f"{here}/fairplay", "--content-id", f"skd://movie/{KID}", "--credentials",
                               f"{secrets}/credentials", "--token-key", f"{secrets}/token-key.hex", "--token-key-id", "first"], capture_output=True, text=True)
        self.check(done.returncode == 0 and "A key came in " in done.stdout, f"image: a license: {done.stdout}{done.stderr}")
        [image] = json.loads(self.podman.run("image", "inspect", "latchkey-server"))
        health = [word.replace(":8446/", f":{self.ports['health']}/") for word in image["Healthcheck"]["Test"]]
        self.check(health[0] == "CMD" and self.podman.run("exec", "run", *health[1:]).strip() == "ok", f"image: its health check {health}")
        self.check(image["Size"] < LARGEST * 1e6, f"image: {image['Size'] / 1e6:.0f} MB")
        missing = [line for line in self.podman.run("exec", "run", "ldd", "/usr/bin/latchkey-server", "/usr/bin/latchkey").splitlines() if "not found" in line]
        self.check(not missing, f"image: {missing}")
        [container] = json.loads(self.podman.run("inspect", "run"))
        process = f"/proc/{container['State']['Pid']}"
        rights = dict(line.split(":\t", 1) for line in example(f"{process}/status").splitlines())
        self.check(os.path.basename(os.readlink(f"{process}/exe")) == "latchkey-server" and rights["Uid"].split() == [str(USER)] * 4
                   and int(rights["CapBnd"], 16) == 0 and rights["NoNewPrivs"] == "1" and rights["Seccomp"] == "2", f"image: {rights}")
        mounts = [line.split() for line in example(f"{process}/mountinfo").splitlines()]
        writable = {mount[4] for mount in mounts if "rw" in mount[5].split(",") and not mount[4].startswith(KERNEL)}
        self.check(writable == {"/var/lib/latchkey"}, f"image: the server can write to {writable}")
        # podman itself makes the mount points, and so changes their folders.
        points = [f"{mount[4]}/" for mount in mounts if mount[4] != "/"]
        written = [path for path in re.findall(r"^\w (.*)$", self.podman.run("diff", "run"), re.M) if not any(point.startswith(f"{path}/") for point in points)]
        self.check(not written, f"image: outside of its volume the server wrote {written}")
        self.podman.run("exec", "run", "test", "-s", "/var/lib/latchkey/copy.db")


def check_image(programs, folder, yaml, check, leave_out):
    absent = [name for name in ["podman", "runc", "mmdebstrap", "dpkg-shlibdeps"] if not shutil.which(name)]
    absent += Engines.missing + ([] if yaml else ["PyYAML"])
    if os.geteuid() != 0 or absent:
        return leave_out(f"the container: {'this is not root' if os.geteuid() != 0 else 'no ' + ', '.join(absent)}")
    os.makedirs(folder)
    podman = Podman(folder)
    os.mkdir(f"{folder}/engines")
    engines = Engines(f"{folder}/engines")
    try:
        podman.build(os.path.dirname(programs[0]))
        engines.start()
        service = yaml.safe_load(example("Deployment/compose.yaml"))["services"]["node-a"]
        container = Container(podman, service, f"{folder}/node", programs, engines, check)
        compose(container, service)
        key = os.urandom(32)
        container.file("/etc/latchkey-secrets/token-key.hex", key.hex(), 0o400, USER)
        known = {"kty": "oct", "alg": "HS256", "kid": "first", "k": base64.urlsafe_b64encode(key).decode().rstrip("=")}
        container.file("/etc/latchkey-secrets/jwks.json", json.dumps({"keys": [known]}), 0o400, USER)
        container.run(container.looks)
    except (RuntimeError, TimeoutError) as error:
        check(False, f"image: {error}")
    finally:
        engines.stop()
        podman.stop()
