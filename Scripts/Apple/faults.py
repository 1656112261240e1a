"""The check of the check: faults that a compiler on a Mac refuses, each put alone into a copy of the sources, and code that is sound."""

import collections
import shutil

import platforms
from rooms import LIBRARY, Check
from toolchain import WORK, Refusal, fail, say

# `verdict`: what the check has to say. A fault that it cannot see is listed too, so that nobody relies on it.
REFUSED, PASSED, MISSED, UNDECLARED = "refused", "passed", "missed", "undeclared"

Edit = collections.namedtuple("Edit", "name module file old new")
Addition = collections.namedtuple("Addition", "name verdict module code")

_DELEGATE = "LatchkeyAVFoundation/AVPlayerKeys+Delegate.swift"

EDITS = [
    Edit("a misspelled delegate method", "LatchkeyAVFoundation", _DELEGATE,
         "didProvideRenewingContentKeyRequest keyRequest", "didProvideRenewing keyRequest"),
    Edit("a delegate method with a narrower type", "LatchkeyAVFoundation", _DELEGATE,
         "forContentKeyIdentifier keyIdentifier: Any\n", "forContentKeyIdentifier keyIdentifier: String\n"),
    Edit("a delegate that is no NSObject", "LatchkeyAVFoundation", "LatchkeyAVFoundation/AVPlayerKeys.swift",
         "class AVPlayerKeys: NSObject, Sendable", "class AVPlayerKeys: Sendable"),
    Edit("a missing #available", "LatchkeyAVFoundation", "LatchkeyAVFoundation/AVContentKeyRequest+Latchkey.swift",
         "guard #available(iOS 26, tvOS 26, macOS 26, visionOS 26, watchOS 26, *) else { return nil }", ""),
    Edit("a FileManager in a Sendable", "Latchkey", "Latchkey/Offline/KeyFiles.swift",
         "    let folder: URL\n", "    let folder: URL\n    let files: FileManager = .default\n"),
    Edit("an internal import in the public API", "LatchkeyVendors", "Vendors/VendorProfile+Session.swift",
         "#else\n    public import Foundation", "#else\n    import Foundation"),
    Edit("overlapping accesses to a resilient type", "Latchkey", "Latchkey/Offline/OfflineKeys+Player.swift",
         "draft.index.keys[key]?.firstPlayed = firstPlayed",
         "draft.index.keys[key]?.firstPlayed = stored.firstPlayed ?? draft.now; _ = firstPlayed"),
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
    wrong = sum([_judge(edit, REFUSED, toolchain, sources) for edit in EDITS])
    wrong += sum([_judge(addition, addition.verdict, toolchain, sources) for addition in ADDITIONS])
    faults = len(EDITS) + sum(addition.verdict != PASSED for addition in ADDITIONS)
    if wrong:
        fail(f"self-test: {wrong} verdicts are not as expected.")
        return 1
    missed = [addition.name for addition in ADDITIONS if addition.verdict == MISSED]
    say(f"check-apple: self-test: {faults - len(missed)} of {faults} faults refused; missed: {', '.join(missed)}.")
    return 0


def _judge(change, expected, toolchain, sources):
    room = next(room for room in LIBRARY if room.module == change.module)
    copy = WORK / "faults"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(sources / room.folder, copy / room.folder)
    if isinstance(change, Edit):
        file = copy / change.file
        text = file.read_text()
        if change.old not in text:
            say(f"not there    {change.name}: {change.file} has no {change.old.strip()!r}")
            return 1
        file.write_text(text.replace(change.old, change.new, 1))
    else:
        (copy / room.folder / "Fault.swift").write_text(change.code + "\n")
    problems = Check(platforms.PLATFORMS["ios"], toolchain, copy).bodies(room).problems
    verdict = REFUSED if problems else MISSED if expected == MISSED else PASSED
    if any("cannot find" in problem for problem in problems):
        verdict = UNDECLARED  # The headers lack what the change uses: that proves nothing.
    mark = "" if verdict == expected else f"  (expected: {expected})"
    say(f"{verdict:<11}{change.name}{mark}{': ' + problems[0].split(': ', 1)[-1][:120] if problems else ''}")
    return verdict != expected
