"""Apple's platforms, and the modules of their SDKs that the rooms need."""

import collections
import inspect
import re

import foundation
from toolchain import CACHE, HERE, RESOURCES, SDK, WORK, Refusal, diagnostics, digest, is_current, note_current, search

# The lowest version that Package.swift admits, the folder below which the compiler looks for modules, and a module's file name.
Platform = collections.namedtuple("Platform", "name target folder file")

PLATFORMS = {
    platform.name: platform
    for platform in [
        Platform("ios", "arm64-apple-ios16.0", "iphoneos", "arm64-apple-ios"),
        Platform("tvos", "arm64-apple-tvos16.0", "appletvos", "arm64-apple-tvos"),
        Platform("macos", "arm64-apple-macosx13.0", "macosx", "arm64-apple-macos"),
        Platform("visionos", "arm64-apple-xros1.0", "xros", "arm64-apple-xros"),
        Platform("catalyst", "arm64-apple-ios16.0-macabi", "maccatalyst", "arm64-apple-ios-macabi"),
        Platform("simulator", "arm64-apple-ios16.0-simulator", "iphonesimulator", "arm64-apple-ios-simulator"),
    ]
}

STANDARD = ["Swift", "_Concurrency", "SwiftOnoneSupport", "_RegexParser", "_StringProcessing", "Observation"]
OVERLAYS = ["ObjectiveC", "Darwin", "Dispatch", "Foundation", "CoreMedia", "AVFoundation", "os"]
SWIFT_ALONE = ["os"]
# Modules of views, for examples; built after the others, from declarations that import them.
VIEWS = ["SwiftUI", "UIKit", "AVKit"]
WITHOUT_FOUNDATION = ["ObjectiveC", "Dispatch"]
UNDERLYING = {"Foundation": ["Foundation", "ObjectiveC", "Dispatch", "Darwin"]}
IMPORTED = {"Foundation": ["Swift", "_Concurrency", "_StringProcessing"], "Dispatch": ["Swift", "_Concurrency"],
            "AVFoundation": ["Swift", "_Concurrency", "Foundation"]}

# The parts of the standard library that need an Objective-C runtime. Source: the Swift project's repository, `stdlib/public/core`
# (`BridgeObjectiveC.swift`, `ErrorType.swift`), Apache 2.0 with runtime exception: signatures.
OBJECTIVE_C = """
@frozen public struct AutoreleasingUnsafeMutablePointer<Pointee> : Swift._Pointer {
  public let _rawValue: Builtin.RawPointer
  @_transparent public init(_ _rawValue: Builtin.RawPointer) { self._rawValue = _rawValue }
  public var pointee: Pointee { get nonmutating set }
}
public func _getErrorEmbeddedNSError<T>(_ x: T) -> Swift.AnyObject? where T : Swift.Error
public func _bridgeAnyObjectToAny(_ possiblyNullObject: Swift.AnyObject?) -> Any
public func _forceBridgeFromObjectiveC<T>(_ x: Swift.AnyObject, _: T.Type) -> T
public func _conditionallyBridgeFromObjectiveC<T>(_ x: Swift.AnyObject, _: T.Type) -> T?
@available(*, unavailable) extension Swift.AutoreleasingUnsafeMutablePointer : Swift.Sendable { }
"""


def build(platform, toolchain):
    """Builds the modules of a platform that are missing or old; gives the names of those it built."""
    CACHE.mkdir(parents=True, exist_ok=True)
    stamp, built = standard_stamp(toolchain), []
    for module in STANDARD:
        built += _build(module, platform, toolchain, stamp, lambda: _standard(module, platform, toolchain))
    stamp = digest(stamp, SDK, HERE / "Interfaces", HERE / "foundation.py", HERE / "platforms.py")
    for module in OVERLAYS:
        built += _build(module, platform, toolchain, stamp, lambda: _overlay(module, platform, toolchain))
    for module in VIEWS if platform.name != "macos" else [module for module in VIEWS if module != "UIKit"]:
        built += _build(module, platform, toolchain, stamp, lambda: _declared(module, platform, toolchain))
    return built


def standard_stamp(toolchain):
    return digest(toolchain.version, OBJECTIVE_C, inspect.getsource(_standard))


def _build(module, platform, toolchain, stamp, text):
    product = RESOURCES / platform.folder / f"{module}.swiftmodule" / f"{platform.file}.swiftmodule"
    if is_current(product, stamp):
        return []
    product.parent.mkdir(parents=True, exist_ok=True)
    product.unlink(missing_ok=True)
    interface = WORK / "interfaces" / platform.name / f"{module}.swiftinterface"
    interface.parent.mkdir(parents=True, exist_ok=True)
    interface.write_text(text())
    status, said = toolchain.frontend(
        ["-compile-module-from-interface", interface, "-o", product, "-module-name", module, "-enable-objc-interop",
         "-disable-availability-checking", *search(platform.target)]
        + (["-parse-stdlib"] if module == "Swift" else [])
    )
    if not product.exists():
        log = interface.with_suffix(".log")
        log.write_text(said)
        raise Refusal(f"module {module} for {platform.name} cannot be built ({status}): " + "; ".join(diagnostics(said)[:4]) + f" in {log}")
    note_current(product, stamp)
    return [module]


def _standard(module, platform, toolchain):
    """One of the toolchain's interfaces for Linux, for an Apple platform: availability is in it already."""
    text = toolchain.interface(module)
    text = re.sub(r"-target \S+", f"-target {platform.target}", text, count=1)
    text = text.replace("-disable-objc-interop ", "").replace("-static ", "")
    if module == "Swift":
        back_deployed = r"@backDeployed\([^)]*\)\n(@usableFromInline\n@inline\(never\) @_semantics\(\"unavailable_code_reached\"\))"
        text = re.sub(back_deployed, r"\1", text)
        return re.sub(r"self = _stdlib_(remainderl|squareRootl)\([^\n]*", "", text) + OBJECTIVE_C
    text = re.sub(r"^import Glibc\n", "", text, flags=re.M)
    text = re.sub(r"@backDeployed\(before:[^)]*\)\s*", "", text)
    return text.replace("-swift-version", "-disable-availability-checking -swift-version", 1)


def _declared(module, platform, toolchain):
    return header(module, platform, toolchain) + (HERE / "Interfaces" / f"{module}.swiftinterface").read_text()


def _overlay(module, platform, toolchain):
    text = (HERE / "Interfaces" / f"{module}.swiftinterface").read_text() if module != "Foundation" else foundation.foundation(toolchain)
    if module in SWIFT_ALONE:
        return header(module, platform, toolchain) + "import Swift\n" + text
    flags = " -disable-objc-attr-requires-foundation-module" if module in WITHOUT_FOUNDATION else ""
    exported = "".join(f"@_exported import {name}\n" for name in UNDERLYING.get(module, [module]))
    imported = "".join(f"import {name}\n" for name in IMPORTED.get(module, ["Swift"]))
    return header(module, platform, toolchain, f"-import-underlying-module{flags}") + exported + imported + text


def header(module, platform, toolchain, flags=""):
    """The head that the compiler requires of an interface."""
    return (
        "// swift-interface-format-version: 1.0\n"
        f"// swift-compiler-version: {toolchain.version}\n"
        f"// swift-module-flags: -target {platform.target} -enable-objc-interop -enable-library-evolution -swift-version 5 "
        f"-module-name {module} {flags}\n"
    )
