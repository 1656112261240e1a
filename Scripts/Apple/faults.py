"""The check of the check: faults that a compiler on a Mac refuses, each put alone into a copy of the sources, and code that is sound."""

import collections
import concurrent.futures
import os
import shutil

import hosts
import platforms
from rooms import LIBRARY, Check
from toolchain import WORK, Refusal, fail, say

# `verdict`: the check's expected verdict. A fault that it cannot see is listed too, as a known gap.
REFUSED, PASSED, MISSED, UNDECLARED = "refused", "passed", "missed", "undeclared"

# A change of a room's file, or a new file without `old`; `depth`: how far the room is compiled to find it. An addition is a file alone,
# which imports a room.
Edit = collections.namedtuple("Edit", "name module file old new verdict depth", defaults=(REFUSED, "types"))
Addition = collections.namedtuple("Addition", "name verdict module code")

_DELEGATE = "LatchkeyAVFoundation/AVPlayerKeys+Delegate.swift"
_FILE = "LatchkeyAVFoundation/Fault.swift"
_KEYS = "import AVFoundation\nnonisolated extension AVPlayerKeys {"

EDITS = [
    Edit("a misspelled delegate method", "LatchkeyAVFoundation", _DELEGATE,
         "didProvideRenewingContentKeyRequest keyRequest", "didProvideRenewing keyRequest"),
    Edit("a delegate method with a narrower type", "LatchkeyAVFoundation", _DELEGATE,
         "forContentKeyIdentifier keyIdentifier: Any\n", "forContentKeyIdentifier keyIdentifier: String\n"),
    Edit("a misspelled delegate method outside the conformance", "LatchkeyAVFoundation", _FILE, None,
         "import AVFoundation\nnonisolated extension AVPlayerKeys {\n"
         "    @objc func contentKeySession(_ s: AVContentKeySession, shouldRetryy r: AVContentKeyRequest) -> Bool { true }\n}"),
    Edit("a method for Objective-C that is no delegate's", "LatchkeyAVFoundation", _FILE, None,
         "import AVFoundation\nnonisolated extension AVPlayerKeys { @objc func sound() {} }", PASSED),
    Edit("a delegate that is no NSObject", "LatchkeyAVFoundation", "LatchkeyAVFoundation/AVPlayerKeys.swift",
         "class AVPlayerKeys: NSObject, Sendable", "class AVPlayerKeys: Sendable"),
    Edit("a missing #available", "LatchkeyAVFoundation", "LatchkeyAVFoundation/AVPlayerKeys+Options.swift",
         "deviceIdentifier != .standard, #available(iOS 26, tvOS 26, macOS 26, visionOS 26, watchOS 26, *)",
         "deviceIdentifier != .standard"),
    Edit("a mistake in the simulator's branch", "LatchkeyAVFoundation", "LatchkeyAVFoundation/AVPlayerKeys.swift",
         "onFailure(KeyFailure(.unsupported))", "onFailure(KeyFailure(.unsuported))"),
    Edit("a mistake in a newer compiler's branch", "LatchkeyAVFoundation",
         "LatchkeyAVFoundation/AVContentKeyRequest+AdvisoryKeys.swift", "canBeFulfilledWithAdvisoryKey", "canBeFulfiledWithAdvisoryKey"),
    Edit("a module that nobody declares", "LatchkeyAVFoundation", _FILE, None,
         "#if canImport(UIKit)\n    import UIKit\n    func fault() { UIDevice.current.nme() }\n#endif"),
    Edit("a lock taken twice", "LatchkeyAVFoundation", _FILE, None,
         f"{_KEYS} func fault() {{ state.withLock {{ _ in state.withLock {{ _ in }} }} }} }}"),
    Edit("a lock taken twice, the second time in a function", "LatchkeyAVFoundation", _FILE, None,
         f"{_KEYS} func once() {{ state.withLock {{ _ in }} }}\n    func fault() {{ state.withLock {{ _ in once() }} }} }}"),
    Edit("a lock taken once more later", "LatchkeyAVFoundation", _FILE, None,
         f"{_KEYS} func sound() {{ state.withLock {{ _ in _ = Task {{ state.withLock {{ _ in }} }} }} }} }}", PASSED),
    Edit("a lock taken twice, the second time in another file", "LatchkeyAVFoundation", _FILE, None,
         "import AVFoundation\nnonisolated extension AVPlayerKeys { func fault(_ s: AVContentKeySession) { state.withLock { _ in _ = isCurrent(s) } } }", MISSED),
    Edit("a FileManager in a Sendable", "Latchkey", "Latchkey/Offline/KeyFiles.swift",
         "    let folder: URL\n", "    let folder: URL\n    let files: FileManager = .default\n"),
    Edit("an internal import in the public API", "LatchkeyVendors", "LatchkeyVendors/ConfiguredVendor+Session.swift",
         "#else\n    public import Foundation", "#else\n    import Foundation"),
    Edit("overlapping accesses to a resilient type", "Latchkey", "Latchkey/Offline/OfflineKeys+Player.swift",
         "draft.index.keys[key]?.firstPlayed = firstPlayed",
         "draft.index.keys[key]?.firstPlayed = stored.firstPlayed ?? draft.now; _ = firstPlayed", depth="sil"),
    Edit("an import of Linux's C library", "Latchkey", "Latchkey/Offline/KeyFiles.swift",
         "import Foundation\n", "import Foundation\nimport Glibc\n"),
]

ADDITIONS = [
    Addition("withDiscardingTaskGroup (iOS 17)", REFUSED, "LatchkeyCore",
             "func fault() async { await withDiscardingTaskGroup { $0.addTask {} } }"),
    Addition("Int128 (iOS 18)", REFUSED, "LatchkeyCore", "func fault() -> Int128 { 1 }"),
    Addition("InlineArray (iOS 26)", REFUSED, "LatchkeyCore", "func fault(_ a: InlineArray<3, Int>) -> Int { a.count }"),
    Addition("a pack in a generic type (iOS 17)", REFUSED, "LatchkeyCore", "struct Fault<each T> { var t: (repeat each T) }"),
    Addition("isolated deinit (iOS 18.4)", MISSED, "LatchkeyCore",
             "@MainActor final class Fault { var a = 0; isolated deinit { a = 1 } }"),
    Addition("a task executor (iOS 18)", REFUSED, "LatchkeyCore",
             "func fault(_ e: any TaskExecutor) async { await withTaskExecutorPreference(e) {} }"),
    Addition("Task.immediate (iOS 26)", REFUSED, "LatchkeyCore", "func fault() { Task.immediate {} }"),
    Addition("FoundationNetworking without a guard", REFUSED, "Latchkey", "import FoundationNetworking"),
    Addition("a player off the main actor", REFUSED, "LatchkeyAVFoundation",
             "import AVFoundation\nfunc fault(_ p: AVPlayer) { p.play() }"),
    Addition("a player item made off the main actor", REFUSED, "LatchkeyAVFoundation",
             "import AVFoundation\nfunc fault(_ a: AVURLAsset) async { _ = AVPlayerItem(asset: a); await Task.yield() }"),
    Addition("a media selection across isolation", REFUSED, "LatchkeyAVFoundation",
             "import AVFoundation\nfunc fault(_ s: AVMediaSelection) { Task.detached { _ = s }; _ = s }"),
    Addition("an asset across isolation", REFUSED, "LatchkeyAVFoundation",
             "import AVFoundation\nfunc fault(_ s: AVAsset) { Task.detached { _ = s }; _ = s }"),
    Addition("a cast to a constrained existential (iOS 16)", PASSED, "LatchkeyCore",
             "func sound(_ a: Any) -> (any Sequence<Int>)? { a as? any Sequence<Int> }"),
    Addition("a regular expression (iOS 16)", PASSED, "LatchkeyCore", "func sound(_ s: String) -> Bool { s.contains(/a+/) }"),
    Addition("an optional of what cannot be copied", PASSED, "LatchkeyCore",
             "struct Sound: ~Copyable {}\nfunc sound() -> Sound? { nil }"),
    Addition("a download task on iOS", PASSED, "LatchkeyAVFoundation",
             "import AVFoundation\nfunc sound(_ t: AVAssetDownloadTask) { t.resume() }"),
    Addition("bridging to NSData", PASSED, "Latchkey", "import Foundation\nfunc sound(_ d: Data) -> NSData { d as NSData }"),
]


def run(toolchain, sources):
    """Prints a line for each; gives the exit status."""
    platform = platforms.PLATFORMS["ios"]
    platforms.build(platform, toolchain)
    for finding in filter(None, map(Check(platform, toolchain, sources).module, LIBRARY)):
        raise Refusal(f"the sources do not compile as they are: {finding.problems[0]}")
    shutil.rmtree(WORK / "faults", ignore_errors=True)
    changes = [*EDITS, *ADDITIONS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        judged = list(pool.map(lambda number: _judge(changes[number], toolchain, sources, WORK / "faults" / str(number)), range(len(changes))))
    wrong = 0
    for change, (verdict, said) in zip(changes, judged):
        wrong += verdict != change.verdict
        say(f"{verdict:<11}{change.name}{'' if verdict == change.verdict else f'  (expected: {change.verdict})'}{said and ': ' + said}")
    for name in hosts.self_test():
        wrong += 1
        say(f"not as expected: {name}")
    if wrong:
        fail(f"self-test: {wrong} verdicts are not as expected.")
        return 1
    faults = [change for change in changes if change.verdict != PASSED]
    missed = [change.name for change in faults if change.verdict == MISSED]
    say(f"check-apple: self-test: {len(faults) - len(missed)} of {len(faults)} faults refused; missed: {', '.join(missed)}.")
    return 0


def _judge(change, toolchain, sources, copy):
    """The check's verdict on a change, in a separate folder, and the first problem."""
    check = Check(platforms.PLATFORMS["ios"], toolchain, copy)
    if isinstance(change, Addition):
        copy.mkdir(parents=True)
        (copy / "Fault.swift").write_text(f"import {change.module}\n{change.code}\n")
        problems = check.file(copy / "Fault.swift").problems
    else:
        room = next(room for room in LIBRARY if room.module == change.module)
        shutil.copytree(sources / room.folder, copy / room.folder)
        file = copy / change.file
        text = "" if change.old is None else file.read_text()
        if change.old is not None and change.old not in text:
            return "not there", f"{change.file} has no {change.old.strip()!r}"
        file.write_text(change.new + "\n" if change.old is None else text.replace(change.old, change.new, 1))
        check.depth, check.scratch = change.depth, copy
        problems = check.bodies(room).problems
    verdict = REFUSED if problems else MISSED if change.verdict == MISSED else PASSED
    # If the headers lack the names that the change uses, that proves nothing; a misspelled name is not in them either.
    if isinstance(change, Addition) and any("cannot find" in problem for problem in problems):
        verdict = UNDECLARED
    return verdict, problems[0].split(": ", 1)[-1][:120] if problems else ""
