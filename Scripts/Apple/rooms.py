"""The rooms that an app takes along, compiled for one Apple platform."""

import collections
import re

import hosts
import selectors_of
import sources as texts
from platforms import STANDARD, header
from toolchain import FEATURES, HERE, ROOT, WORK, diagnostics, search

# A target of the package, its folder (or several places, which an app takes together), and the SDK of its player, a folder of Players.
Room = collections.namedtuple("Room", "module folder sdk flags")

LIBRARY = [
    Room("LatchkeyCore", "LatchkeyCore", None, ()),
    Room("LatchkeyTransport", "LatchkeyTransport", None, ()),
    Room("LatchkeyHLS", "LatchkeyHLS", None, ()),
    Room("LatchkeyForms", "LatchkeyForms", None, ()),
    Room("LatchkeyVendors", "LatchkeyVendors", None, ()),
    Room("Latchkey", "Latchkey", None, ()),
    Room("LatchkeySupport", "LatchkeySupport", None, ()),
    Room("LatchkeyAVFoundation", "LatchkeyAVFoundation", None, ()),
    Room("LatchkeyBridge", "LatchkeyBridge", None, ()),
    Room("LatchkeyTesting", "LatchkeyTesting", None, ()),
]

# The generation of each SDK that apps take today.
ADAPTERS = [
    Room("LatchkeyJWPlayer", "LatchkeyJWPlayer", "JWPlayerKit4", ()),
    Room("LatchkeyTHEOplayer", "LatchkeyTHEOplayer", "THEOplayer11", ()),
    Room("LatchkeyOpenTV", "LatchkeyOpenTV", "CONNECT5", ()),
    Room("LatchkeyBitmovin", "LatchkeyBitmovin", "Bitmovin3", ()),
    Room("LatchkeyTVSDK", "LatchkeyTVSDK", "TVSDK", ()),
    Room("LatchkeyReactNativeVideo", "LatchkeyReactNativeVideo", "ReactNativeVideo7", ()),
]

# Older generations, and the other reading where the documentation leaves open whether a protocol is Objective-C's. The lowest version of
# each SDK that `Documentation/Installation.md` names is here or above.
GENERATIONS = [
    Room("LatchkeyJWPlayer", "LatchkeyJWPlayer", "JWPlayer3", ()),
    Room("LatchkeyJWPlayer", "LatchkeyJWPlayer", "JWPlayer3.3", ("-D", "JWPLAYER_3_EARLY")),
    Room("LatchkeyJWPlayer", "LatchkeyJWPlayer", "JWPlayer3.0", ("-D", "JWPLAYER_3_EARLY")),
    Room("LatchkeyJWPlayer", "LatchkeyJWPlayer", "JWPlayerKit4-swift", ()),
    Room("LatchkeyTHEOplayer", "LatchkeyTHEOplayer", "THEOplayer9", ()),
    Room("LatchkeyTHEOplayer", "LatchkeyTHEOplayer", "THEOplayer4", ("-D", "THEOPLAYER_4")),
    Room("LatchkeyOpenTV", "LatchkeyOpenTV", "CONNECT5-swift", ()),
]


def app(sdk, *folders, flags=()):
    """An app: its own files, which are examples, and an adapter's folder next to them."""
    return Room("App", folders, sdk, flags)


EXAMPLES = "../Examples/"
_THEO = [f"{EXAMPLES}{name}.swift" for name in ("THEOplayerCustomIntegrations", "THEOplayerOwnIntegration", "AcmeKeys")]
_CONNECT = [f"{EXAMPLES}{name}.swift" for name in ("ConnectCustomerSSM", "ConnectSSP")]
_JW3 = [f"{EXAMPLES}{name}.swift" for name in ("JWPlayerV3VuDRM", "ObjectiveCKeys")]
_AVFOUNDATION = [f"{EXAMPLES}{name}" for name in ("AVPlayerCloudDRM.swift", "AVPlayerCloudDRMOlderSamples.swift", "ObjectiveCKeys.swift", "Snippets", "Apps")]

# Apps as their engineers write them: Swift 5 and 6, with and without the main actor as default isolation.
APPS = [
    app(None, *_AVFOUNDATION),
    app("IMA3", f"{EXAMPLES}GoogleIMADynamicAds.swift"),
    app("JWPlayerKit4", "LatchkeyJWPlayer", f"{EXAMPLES}JWPlayerVuDRM.swift"),
    app("JWPlayer3", "LatchkeyJWPlayer", *_JW3),
    app("THEOplayer11", "LatchkeyTHEOplayer", *_THEO),
    app("CONNECT5", "LatchkeyOpenTV", *_CONNECT),
    app("TVSDK", "LatchkeyTVSDK", f"{EXAMPLES}TVSDKExpressPlay.swift", f"{EXAMPLES}ObjectiveCKeys.swift"),
    app("Bitmovin3", "LatchkeyBitmovin"),
    app("ReactNativeVideo7", "LatchkeyReactNativeVideo"),
]

# The same with older generations, in Swift 6 alone.
OLDER_APPS = [
    app("JWPlayer3.3", "LatchkeyJWPlayer", *_JW3, flags=("-D", "JWPLAYER_3_EARLY")),
    app("JWPlayer3.0", "LatchkeyJWPlayer", *_JW3, flags=("-D", "JWPLAYER_3_EARLY")),
    app("JWPlayerKit4-swift", "LatchkeyJWPlayer", f"{EXAMPLES}JWPlayerVuDRM.swift"),
    app("THEOplayer9", "LatchkeyTHEOplayer", *_THEO),
    app("THEOplayer4", "LatchkeyTHEOplayer", *_THEO, flags=("-D", "THEOPLAYER_4")),
    app("CONNECT5-swift", "LatchkeyOpenTV", *_CONNECT),
]

# The trials of `acceptance`, without its views: there is no SwiftUI.
_ACCEPTANCE = "../acceptance/Acceptance.swiftpm/Sources/"
_TRIALS = tuple(f"{_ACCEPTANCE}{name}.swift" for name in ("KeyWatch", "Observation", "ObservationList", "PlayerTrials", "RawDelegate", "Setup", "StrictTrials", "Trials"))
ACCEPTANCE = [
    Room("Acceptance", _TRIALS, None, ()),
    Room("Acceptance", ("LatchkeyJWPlayer", *_TRIALS), "JWPlayerKit4", ()),
]

# An SDK's module has another name on tvOS, or there is no SDK for the platform.
RENAMED = {("tvos", "CONNECT5"): ("OPYSDKFPS", "OPYSDKFPSTv"), ("tvos", "JWPlayerKit4"): ("JWPlayerKit", "JWPlayerTVKit")}
ADAPTER_PLATFORMS = {"ios", "tvos", "simulator"}

# Apps made with Xcode 26 have the main actor as default isolation.
APP_FLAGS = [
    ("-swift-version", version, *isolation)
    for version in ("5", "6")
    for isolation in ((), ("-default-isolation", "MainActor"))
]

Finding = collections.namedtuple("Finding", "subject problems")


def places(room):
    return (room.folder,) if isinstance(room.folder, str) else room.folder


class Check:
    """The compilation for one platform, and the compiler's findings."""

    def __init__(self, platform, toolchain, sources=ROOT / "Sources", name=None):
        self.platform, self.toolchain, self.sources = platform, toolchain, sources
        self.modules = WORK / "modules" / (name or platform.name)
        self.modules.mkdir(parents=True, exist_ok=True)
        # Where copies of sources go.
        self.scratch = self.modules
        # Things that do not differ between platforms are checked once: regions, exclusive access and resilience, which are checked past the
        # types, in SIL; the names of delegates' methods; the texts; and the branches that every platform leaves out.
        self.is_first = platform.name == "ios"
        self.depth = "sil" if self.is_first else "types"

    def library(self):
        """Compiles everything but the players' adapters, and keeps its modules for them. A room after one that fails is skipped."""
        for room in LIBRARY:
            finding = self.module(room) or self.bodies(room)
            yield finding
            if finding.problems:
                return

    def adapters(self):
        if self.platform.name not in ADAPTER_PLATFORMS:
            return
        for room in ADAPTERS + (GENERATIONS if self.platform.name == "ios" else []):
            yield self.bodies(room)

    def in_apps(self):
        """Compiles the adapters and the examples as files of an app, where only the public API is to be seen."""
        if not self.is_first:
            return
        for room in APPS + ACCEPTANCE:
            for flags in APP_FLAGS:
                yield self.in_app(room, flags)
        for room in OLDER_APPS:
            yield self.in_app(room, APP_FLAGS[-2])

    def in_hosts(self):
        """Compiles what hosts outside Swift take: the header that the compiler writes of the bridge, latchkey.h, and the samples."""
        if not self.is_first:
            return
        room, generated = next(room for room in LIBRARY if room.module == "LatchkeyBridge"), self.scratch / "hosts"
        generated.mkdir(parents=True, exist_ok=True)
        finding = self._finding(
            "Examples/Hosts", ["-typecheck", "-emit-objc-header-path", generated / "LatchkeyBridge-Swift.h", *self._arguments(room)])
        if not finding.problems:
            finding.problems.extend(hosts.problems(self.toolchain, self.platform.target, generated))
        yield finding

    def in_app(self, room, flags):
        arguments = ["-typecheck", *self._files(room), "-module-name", room.module, "-package-name", "app", *flags, *self._search(room)]
        subject = " and ".join(place.removeprefix("../") for place in places(room))
        finding = self._finding(f"{subject} in an app ({' '.join([*flags, room.sdk or ''])})", arguments)
        finding.problems.extend(self._said_by_texts(room))
        return finding

    def file(self, file):
        """Compiles one file that imports rooms, past the types."""
        return self._finding(file.name, ["-emit-sil", "-o", "/dev/null", *self._arguments(Room("Fault", "", None, ()), [file])])

    def module(self, room):
        """Writes a room's module for the rooms above it; gives a finding only where that fails."""
        product = self.modules / f"{room.module}.swiftmodule"
        product.unlink(missing_ok=True)
        finding = self._finding(
            room.module,
            ["-emit-module", "-emit-module-path", product, *self._arguments(room), "-experimental-skip-all-function-bodies",
             "-experimental-skip-non-exportable-decls"])
        return finding if finding.problems else None

    def bodies(self, room):
        """Compiles the bodies of a room's functions, and compares the names of its delegates' methods."""
        subject = room.module + (f" with {room.sdk}" if room.sdk else "")
        mode = ["-emit-sil", "-o", "/dev/null"] if self.depth == "sil" else ["-typecheck"]
        finding = self._finding(subject, [*mode, *self._arguments(room)])
        if not finding.problems and self.is_first:
            finding.problems.extend(self._said_by_texts(room))
            finding.problems.extend(self._skipped(room))
            finding.problems.extend(self._never_called(room))
        return finding

    def _said_by_texts(self, room):
        known = texts.declared(LIBRARY + ADAPTERS) | {*STANDARD, *(new for _, new in RENAMED.values())}
        return [problem for file in self._files(room) for problem in (*texts.undeclared(file, known), *texts.taken_twice(file))]

    def _skipped(self, room):
        """Compiles a room once more with the branches that no platform of this toolchain takes, in copies."""
        folder = self.scratch / "branches" / f"{room.module}-{room.sdk}"
        chosen, found = [], False
        for number, file in enumerate(self._files(room)):
            text = file.read_text()
            changed = texts.with_skipped_branches(text, self.toolchain.number)
            chosen.append(file if changed == text else folder / str(number) / file.name)
            if changed != text:
                found = True
                chosen[-1].parent.mkdir(parents=True, exist_ok=True)
                chosen[-1].write_text(changed)
        if not found:
            return []
        return self._finding(room.module, ["-typecheck", *self._arguments(room, chosen)]).problems

    def _never_called(self, room):
        """The delegates' methods of a room that no protocol calls: a method has a name in Objective-C once its extension is `@objc`."""
        sdk, folder = self._sdk(room), self.scratch / "delegates" / f"{room.module}-{room.sdk}"
        files = selectors_of.exposed(self._files(room), sdk, folder)
        if not files:
            return []
        generated = folder / "generated.h"
        arguments = ["-typecheck", "-emit-objc-header-path", generated, "-emit-clang-header-min-access", "internal"]
        finding = self._finding(room.module, [*arguments, "-suppress-warnings", *self._arguments(room, files)])
        return finding.problems or selectors_of.never_called(generated, sdk)

    def _finding(self, subject, arguments):
        status, said = self.toolchain.frontend(arguments)
        problems = diagnostics(said)
        if status and not any("error: " in problem for problem in problems):
            problems.append(f"error: the frontend ended with status {status}: {said.strip()[-300:]}")
        return Finding(subject, problems)

    def _files(self, room):
        # The manifest leaves libcurl's client out on Apple's platforms.
        linux = self.sources / "LatchkeyTransport/Curl"
        found = [self.sources / place for place in places(room)]
        files = [file for place in found for file in ([place.resolve()] if place.suffix else sorted(place.rglob("*.swift")))]
        return [file for file in files if linux not in file.parents]

    def _arguments(self, room, files=None):
        features = [flag for name in FEATURES for flag in ("-enable-upcoming-feature", name)]
        return [
            *(files or self._files(room)), "-module-name", room.module, "-package-name", "latchkey", "-swift-version", "6", *features,
            *self._search(room),
        ]

    def _search(self, room):
        sdk = self._sdk(room)
        return [
            *search(self.platform.target), "-I", self.modules, *(("-I", sdk, "-F", sdk) if sdk else ()), "-parse-as-library",
            "-plugin-path", self.toolchain.runtime / "host" / "plugins", *room.flags,
        ]

    def _sdk(self, room):
        """The folder with the modules of a player's SDK for this platform."""
        if not room.sdk:
            return None
        declared = HERE / "Players" / room.sdk
        interfaces = sorted(declared.glob("*.swiftinterface"))
        if not interfaces:
            return declared
        old, new = RENAMED.get((self.platform.name, room.sdk), ("", ""))
        folder = WORK / "players" / self.platform.name / room.sdk
        folder.mkdir(parents=True, exist_ok=True)
        for interface in interfaces:
            module = new if interface.stem == old else interface.stem
            text = interface.read_text()
            text = re.sub(rf"\b{old}\b", new, text) if old else text
            text = header(module, self.platform, self.toolchain) + text
            written = folder / f"{module}.swiftinterface"
            if not written.exists() or written.read_text() != text:
                written.write_text(text)
        return folder
