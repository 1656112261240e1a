"""Content keys of every kind, asked for again and again at each node as a device asks, and compared with what packagers got."""
import base64
import collections
import json
import re
import subprocess
import threading
import time

from Frame.programs import ask

SPEKE = """<?xml version="1.0"?><cpix:CPIX contentId="{content}" version="2.3" xmlns:cpix="urn:dashif:org:cpix"
 xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc"><cpix:ContentKeyList><cpix:ContentKey kid="{kid}" commonEncryptionScheme="cbcs"/>
</cpix:ContentKeyList><cpix:DRMSystemList><cpix:DRMSystem kid="{kid}" systemId="94ce86fb-07ff-4f43-adb8-93d2fa968ca2">
<cpix:HLSSignalingData playlist="media"/></cpix:DRMSystem></cpix:DRMSystemList><cpix:ContentKeyUsageRuleList>
<cpix:ContentKeyUsageRule kid="{kid}" intendedTrackType="VIDEO"><cpix:VideoFilter/></cpix:ContentKeyUsageRule>
</cpix:ContentKeyUsageRuleList></cpix:CPIX>"""
IMPORT = """<?xml version="1.0"?><cpix:CPIX contentId="{content}" version="2.3" xmlns:cpix="urn:dashif:org:cpix"
 xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc"><cpix:ContentKeyList><cpix:ContentKey kid="{kid}"
 explicitIV="AAECAwQFBgcICQoLDA0ODw==" commonEncryptionScheme="cbcs"><cpix:Data><pskc:Secret><pskc:PlainValue>{key}</pskc:PlainValue>
</pskc:Secret></cpix:Data></cpix:ContentKey></cpix:ContentKeyList></cpix:CPIX>"""
RIGHT, WRONG, REFUSED, NONE, DISABLED_LICENSED = "right", "wrong", "refused", "none", "disabled licensed"
# A node that starts in an outage has a copy of the stored keys, and does not know of any others.
UNKNOWN = "unknown"


class Title:
    """A content with one key, and how the device names it."""

    def __init__(self, number, name, tenant, by_kid=False, is_disabled=False, is_unlisted=False):
        self.name, self.tenant, self.is_disabled, self.is_unlisted = name, tenant, is_disabled, is_unlisted
        self.kid = f"5a5a5a5a-0000-4000-8000-{number:012x}"
        self.content = f"trial-{number}"
        self.uri = f"skd://{self.kid}" if by_kid else f"skd://{self.content}/{self.kid}"
        self.key = None  # Hexadecimal digits: the key that a license has to give.
        self.spc = None


Answer = collections.namedtuple("Answer", "moment target title outcome what seconds")


class KeyWatch:
    """Asks for the keys of all kinds, one after the other, at some targets. Its notes are read by moments."""

    def __init__(self, cluster):
        self.cluster, self.answers, self.targets = cluster, [], []
        self.newcomer = None  # The target that started in the outage.
        self.pause, self.is_paused = 0.12, threading.Event()
        kinds = [
            ("derived", "demo", {}), ("imported", "demo", {}), ("imported, by its kid alone", "demo", {"by_kid": True}),
            ("of the seed before", "rotated", {}), ("of the new seed", "rotated", {}), ("stored", "stored", {}),
            ("derived, disabled", "demo", {"is_disabled": True}), ("imported, disabled", "demo", {"is_disabled": True}),
            ("stored, disabled", "stored", {"is_disabled": True}),
            ("derived, never packaged", "demo", {"is_unlisted": True}),
        ]
        self.titles = [Title(number, name, tenant, **more) for number, (name, tenant, more) in enumerate(kinds, 1)]

    def prepare(self):
        """Gives each title its key, as packagers do, and its request, as a device does."""
        for title in self.titles:
            if title.is_unlisted:
                title.key = None
            elif title.name.startswith("imported"):
                title.key = f"{title.kid[-2:]}" * 16
                self.cluster.bring(title.tenant, "cpix", IMPORT.format(
                    content=title.content, kid=title.kid, key=base64.b64encode(bytes.fromhex(title.key)).decode()))
            else:
                if title.name == "of the new seed":
                    self.cluster.operate(f"tenants/{title.tenant}/seed")
                    # The other nodes learn it by a notice.
                    time.sleep(0.3)
                body = self.cluster.bring(title.tenant, "speke", SPEKE.format(content=title.content, kid=title.kid))
                title.key = base64.b64decode(re.search(rb"PlainValue>([^<]+)<", body)[1]).hex()
            if title.is_disabled:
                self.cluster.operate(f"tenants/{title.tenant}/keys/{title.kid}/disable")
            path = f"{self.cluster.folder}/{title.content}"
            self.cluster.latchkey(
                "spc", "--credentials", f"{self.cluster.folder}/credentials", "--content-id", title.uri, "--out", f"{path}.spc",
                "--state", f"{path}.state")
            with open(f"{path}.spc", "rb") as file:
                title.spc = file.read()

    # Asking

    def begin(self):
        threading.Thread(target=self.go_on, daemon=True).start()

    def go_on(self):
        while True:
            for title in self.titles:
                for target in list(self.targets):
                    if target in self.targets:
                        self.answers.append(self.asked(target, title))
                    time.sleep(self.pause)

    def round(self, target):
        """Asks for all titles once."""
        answers = [self.asked(target, title) for title in self.titles]
        self.answers += answers
        return answers

    def asked(self, target, title):
        begin = time.monotonic()
        outcome, what = self.attempt(target, title)
        if outcome == NONE:  # Once more, as players do.
            time.sleep(0.1)
            outcome, what = self.attempt(target, title)
        if title.is_unlisted and target == self.newcomer and what == "503 storeUnavailable":
            outcome = UNKNOWN
        return Answer(begin, target, title, outcome, what, time.monotonic() - begin)

    def attempt(self, target, title):
        """The outcome of one request, and its code."""
        try:
            status, body, _ = ask(
                f"{target}/t/{title.tenant}/fairplay", self.cluster.token(f"watch-{title.content}"), title.spc,
                {"Content-Type": "application/octet-stream"})
        except OSError as error:
            return NONE, f"{type(error).__name__}"
        if status == 200:
            if title.is_disabled:
                return DISABLED_LICENSED, "200"
            key = self.opened(title, body)
            if title.is_unlisted and title.key is None:
                title.key = key  # The first licensed key counts.
            return (RIGHT, "200") if key == title.key else (WRONG, key or "a CKC that does not open")
        try:
            reply = json.loads(body)
            code = (reply.get("error") or reply).get("code", "")
        except (ValueError, AttributeError):
            code = "without a code"
        if title.is_disabled and status == 403:
            return RIGHT, f"{status} {code}"
        return (REFUSED if status in (401, 403, 404) else NONE), f"{status} {code}"

    def opened(self, title, ckc):
        """The key in a CKC; None if the device cannot open it."""
        run = subprocess.run(
            [self.cluster.tool, "open-ckc", "--state", f"{self.cluster.folder}/{title.content}.state", "--json", "-"],
            input=ckc, capture_output=True)
        return json.loads(run.stdout)["contentKey"] if run.returncode == 0 else None

    # Reading

    def seen(self, begin, end, targets=None):
        return Sight([one for one in self.answers if begin <= one.moment <= end and (targets is None or one.target in targets)], begin)


class Sight:
    """The counts of a time: answers, wrong keys, disabled keys licensed, and licenses lost."""

    def __init__(self, answers, begin):
        self.answers, self.begin = answers, begin
        self.wrong = [one for one in answers if one.outcome == WRONG]
        self.undone = [one for one in answers if one.outcome == DISABLED_LICENSED]
        self.lost = [one for one in answers if one.outcome in (REFUSED, NONE) and not one.title.is_disabled]

    @property
    def is_right(self):
        return bool(self.answers) and not (self.wrong or self.undone or self.lost)

    def text(self):
        parts = [f"{len(self.answers)} asked"]
        for name, found in [("wrong keys", self.wrong), ("disabled keys licensed", self.undone), ("licenses lost", self.lost)]:
            part = f"{len(found)} {name}"
            if found:
                kinds = collections.Counter(one.title.name for one in found)
                part += f" ({', '.join(f'{count} × {kind}' for kind, count in kinds.items())}; first after {found[0].moment - self.begin:.0f} s"
                codes = collections.Counter(one.what for one in found if one.outcome in (REFUSED, NONE))
                part += f"; {', '.join(f'{count} × {code}' for code, count in codes.items())})" if codes else ")"
            parts.append(part)
        return ", ".join(parts)
