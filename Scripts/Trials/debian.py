"""Builds the Debian package, follows Documentation/Server/TenMinutes.md with it in a copy of this machine, compares the output with the page's,
upgrades the package under the running server, and removes it.

The copy is an overlay over this machine's root with its own network; nothing is written outside. Not tried: systemd itself. SYSTEMD takes
its place: the unit's user, command, credentials and state folder are read from the installed unit. A licensee's files are test credentials and
the tests' library.
"""
import json
import os
import re
import shutil
import subprocess

from Frame.programs import Child, until
from Trials.pages import missing, steps

PAGE = "Documentation/Server/TenMinutes.md"
UNIT = "/usr/lib/systemd/system/latchkey-server.service"
COMPILER = shutil.which("cc") or shutil.which("clang")

# systemctl, as far as the page and the package's scripts use it.
SYSTEMD = r"""#!/usr/bin/env python3
import glob, os, re, signal, subprocess, sys, time
words = [word for word in sys.argv[1:] if not word.startswith("-")]
pid = "/run/latchkey-trial.pid"
if words[0] in ("stop", "restart") and os.path.exists(pid):
    number = int(open(pid).read())
    os.kill(number, signal.SIGTERM)
    while os.path.exists(f"/proc/{number}") and open(f"/proc/{number}/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
        time.sleep(0.05)
    os.remove(pid)
if words[0] in ("enable", "restart"):
    unit = "".join(open(path).read() for path in ["@UNIT@", *glob.glob("/etc/systemd/system/latchkey-server.service.d/*.conf")])
    one = lambda name: re.findall(rf"^{name}=(.*)$", unit, re.M)[-1]
    place, state, user = "/run/credentials/latchkey-server.service", "/var/lib/" + one("StateDirectory"), one("User")
    for folder, mode in [(place, "0500"), (state, one("StateDirectoryMode"))]:
        subprocess.run(["install", "-d", "-o", user, "-g", user, "-m", mode, folder], check=True)
    for name, source in re.findall(r"^LoadCredential=([^:]+):(.*)$", unit, re.M):
        subprocess.run(["install", "-o", user, "-g", user, "-m", "0400", source, f"{place}/{name}"], check=True)
    log = open("/var/log/latchkey-server", "ab")
    process = subprocess.Popen(
        ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", *one("ExecStart").split()],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True, env={"PATH": os.environ["PATH"]})
    open(pid, "w").write(str(process.pid))
    for _ in range(600):
        if subprocess.run(["curl", "-sf", "-o", "/dev/null", "http://127.0.0.1:8446/readyz"]).returncode == 0:
            break
        if process.poll() is not None:
            sys.exit(f"the server ended with {process.returncode}: {open('/var/log/latchkey-server').read()[-3000:]}")
        time.sleep(0.05)
"""


class Machine:
    """A copy of this machine that forgets all writes."""

    def __init__(self, folder):
        self.root = f"{folder}/root"
        script = (f"mount -t tmpfs tmpfs {folder} && mkdir {folder}/upper {folder}/work {self.root} && "
                  f"mount -t overlay overlay -o lowerdir=/,upperdir={folder}/upper,workdir={folder}/work {self.root} && "
                  f"mount --rbind /dev {self.root}/dev && mount -t proc proc {self.root}/proc && ip link set lo up && exec sleep infinity")
        self.holder = Child(f"{folder}", "machine", ["unshare", "--mount", "--net", "--propagation", "private", "sh", "-c", script],
                            user=None, group=None, output="/dev/null")
        until(lambda: self.run("ip -br link show lo | grep -q UNKNOWN").returncode == 0, 20, "the machine's start")

    def run(self, script, shell="sh"):
        return subprocess.run(
            ["nsenter", "--target", str(self.holder.process.pid), "--mount", "--net", "chroot", self.root, shell, "-eu"], input=script,
            capture_output=True, text=True, env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                                                 "DEBIAN_FRONTEND": "noninteractive", "TERM": "dumb"})

    def write(self, path, text, mode=0o644):
        done = self.run(f"cat > {path} <<'THE-END'\n{text}\nTHE-END\nchmod {mode:o} {path}\n")
        assert done.returncode == 0, done.stderr

    def put(self, file, folder):
        with open(file, "rb") as source:
            subprocess.run(["nsenter", "--target", str(self.holder.process.pid), "--mount", "chroot", self.root, "tee",
                            f"{folder}/{os.path.basename(file)}"], stdin=source, stdout=subprocess.DEVNULL, check=True)

    def stop(self):
        # All that lives in its network, the engines among them.
        self.run("systemctl stop latchkey-server; pg_ctlcluster $(pg_lsclusters -h | head -n 1 | cut -d ' ' -f 1) main stop -m immediate")
        self.holder.kill()


def blocks():
    """The page's commands that this trial runs, and their expected output."""
    with open(PAGE) as page:
        return [step for step in steps(page.read()) if (step.note("not run") or "").startswith("Scripts/check-deployment")]


def differences(found, output):
    """The page's lines that are missing from the output, in which each block's line number comes before its output."""
    outputs = dict(re.findall(r"(?ms)^:: line (\d+)\n(.*?)(?=^:: |\Z)", output))
    for block, expected in zip(found, found[1:]):
        printed = outputs.get(str(block.number), "")
        if expected.kind == "text" and (line := missing(expected.text, printed)):
            yield f"{PAGE}: line {expected.number}: “{line}” is not in the output: {printed[-1500:]}"


def licensee(binaries, folder):
    """The files that a licensee has, as far as tests have them."""
    subprocess.run([f"{binaries}/latchkey", "credentials", "--out", folder], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([COMPILER, "-shared", "-fPIC", "-fvisibility=hidden", "-ISources/CLatchkeyDerivation",
                    "Tests/Support/Derivation/insecure_test_derivation.c", "-lcrypto", "-o", f"{folder}/libacme.so"], check=True)
    return [f"{folder}/{name}" for name in os.listdir(folder)]


def package(binaries, folder, version):
    done = subprocess.run(["Scripts/package-debian", "--bin", binaries, "--out", folder, "--version", version, "--quick"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


def check_debian(binaries, folder, check, leave_out):
    absent = [name for name in ["dpkg-deb", "dpkg-shlibdeps", "pg_lsclusters", "unshare", "nsenter", "setpriv", "xxd"] if not shutil.which(name)]
    absent += [] if COMPILER else ["C compiler"]
    if os.geteuid() != 0 or absent:
        return leave_out(f"the Debian package: {'this is not root' if os.geteuid() != 0 else 'no ' + ', '.join(absent)}")
    os.makedirs(f"{folder}/packages")
    os.makedirs(f"{folder}/machine")
    with open("Sources/LatchkeyCore/LatchkeyVersion.swift") as file:
        version = re.search(r'text = "(.*)"', file.read())[1]
    try:
        files = [package(binaries, f"{folder}/packages", name) for name in [version, f"{version}+next"]]
    except RuntimeError as error:
        return check(False, f"Scripts/package-debian: {error}")
    machine = Machine(f"{folder}/machine")
    try:
        follow(machine, files, licensee(binaries, f"{folder}/licensee"), check)
    finally:
        machine.stop()


def follow(machine, files, credentials, check):
    def step(name, script, said=""):
        done = machine.run(script)
        check(done.returncode == 0 and re.search(said, done.stdout + done.stderr), f"package: {name}: {done.stdout[-1500:]}{done.stderr[-3000:]}")
        return done.stdout

    # The machine is one on which systemd runs, with PostgreSQL started.
    machine.write("/usr/bin/systemctl", SYSTEMD.replace("@UNIT@", UNIT), 0o755)
    # It has no network, so apt must not know of newer packages than the installed ones.
    step("PostgreSQL's start", "rm -rf /var/lib/apt/lists/* /run/systemd/system\nmkdir /root/place /root/fairplay\n"
         "install -d -o postgres -g postgres /run/postgresql\n"
         "[ -n \"$(pg_lsclusters -h)\" ] || pg_createcluster 15 main\n"
         "cluster=$(pg_lsclusters -h | head -n 1 | cut -d ' ' -f 1)\npg_ctlcluster $cluster main start\nmkdir -p /run/systemd/system\n"
         "dpkg -s latchkey >/dev/null 2>&1 && exit 1 || true")
    for folder, names in [("/root/place", files), ("/root/fairplay", credentials)]:
        for name in names:
            machine.put(name, folder)
    found = blocks()
    output = step("the page", "exec 2>&1\ncd /root/place\n" + "".join(
        f"printf '\\n:: line {block.number}\\n'\n{block.text}" for block in found if block.kind == "sh"))
    for problem in differences(found, output):
        check(False, problem)
    step("what was installed", "dpkg --verify latchkey\nman -w latchkey-server >/dev/null\nlatchkey-server --version\n"
         "test $(stat -c %a /etc/latchkey/secrets) = 700\ntest -s /usr/share/latchkey/prometheus/alerts.yml\n"
         "test -s /usr/share/latchkey/grafana/latchkey.json\ntest -s /usr/share/bash-completion/completions/latchkey\n"
         f"systemd-analyze verify --man=no {UNIT}\nid latchkey >/dev/null\n"
         "test $(stat -c %U /proc/$(cat /run/latchkey-trial.pid)) = latchkey")
    # With the licensee's files, which the simulated device takes only because they are test credentials.
    probe = ("latchkey probe --license-url http://127.0.0.1:8443/t/main/fairplay --content-id skd://movie/5d0e6f8a-2f4b-4c1d-9a3e-7b8c9d0e1f2a "
             "--credentials /root/fairplay --token-key /etc/latchkey/secrets/token-key.hex --token-key-id first")
    # A busy machine is not an outage.
    patient = "sed -i 's/\"stores\": {/&\"sessionMilliseconds\": 10000,/' /etc/latchkey/server.json\nsystemctl restart latchkey-server\n"
    step("a license with the licensee's library", f"{patient}{probe}\ngrep -q libacme.so /proc/$(cat /run/latchkey-trial.pid)/maps", "A key came in ")
    newer = os.path.basename(files[1])
    step("the upgrade", "sed -i 's/\"5m\"/\"4m\"/' /etc/latchkey/policies/standard.json\nbefore=$(cat /run/latchkey-trial.pid)\n"
         f"apt-get install -y /root/place/{newer}\ntest -d /proc/$before\n{probe}\nsystemctl restart latchkey-server\n"
         f"grep -q '\"4m\"' /etc/latchkey/policies/standard.json\n{probe}", "Migrate its tables, then restart")
    step("the removal", "pid=$(cat /run/latchkey-trial.pid)\napt-get remove -y latchkey\ntest ! -d /proc/$pid || grep -q Z /proc/$pid/stat\n"
         f"test ! -e /usr/bin/latchkey-server && test ! -e {UNIT} && test ! -d /usr/share/latchkey && test ! -d /usr/share/doc/latchkey\n"
         "test -s /etc/latchkey/secrets/kek.hex && test -s /etc/latchkey/server.json && test -s /etc/latchkey/policies/standard.json\n"
         "apt-get purge -y latchkey\ntest ! -e /etc/latchkey/policies/standard.json\ntest -s /etc/latchkey/secrets/kek.hex\ntest -s /var/lib/latchkey/copy.db\n"
         "test $(runuser -u latchkey -- psql -Atc 'SELECT version FROM latchkey.schema' latchkey) -ge 3", "only copy of a key encryption key")
