"""Which Objective-C names our delegates have, and which the protocols ask for: a method with another name is never called."""

import re
import shutil

from toolchain import SDK

PROTOCOL = re.compile(r"@protocol\s+(\w+)\s*(?:<([^>]*)>)?\s*\n(.*?)@end", re.S)
CLASS = re.compile(r"@interface\s+(\w+)\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*(?::\s*\w+)?\s*(?:<([^>]*)>)?\s*\n(.*?)@end", re.S)
METHOD = re.compile(r"^\s*[-+]\s*\([^;]*;", re.M)
MACRO = re.compile(r"__attribute__\(\(.*?\)\)|\b(?:SWIFT|API|NS|IN|NOT|DEP|AV)_?\w*(?:\([^()]*\))?(?=[\s;])")
SWIFT_PROTOCOL = re.compile(r"@objc public protocol (\w+)[^{]*\{(.*?)^\}", re.S | re.M)
SWIFT_METHOD = re.compile(r"func (\w+)\(([^)]*)\)")
CONFORMANCE = re.compile(r"^([ \t]*)((?:nonisolated |public )*extension \w+: (\w+) \{)", re.M)
INHERITED = {"init", "new"}
# Methods that no documentation asks for, and the reason to have them all the same.
OFFERED = {
    # TVSDK's protocol corresponds to AVFoundation's: an SDK that passes renewals on would find it by its name.
    "TVSDKKeys": {"resourceLoader:shouldWaitForRenewalOfRequestedResource:"},
}


def exposed(files, sdk, folder):
    """The files of a room with each conformance to an Objective-C protocol made `@objc`, in copies; nothing if there is none."""
    asked = _asked(sdk)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    chosen, found = [], False
    for file in files:
        text = file.read_text()
        changed = CONFORMANCE.sub(lambda match: f"{match[1]}{'@objc ' if match[3] in asked else ''}{match[2]}", text)
        found = found or changed != text
        chosen.append(file if changed == text else folder / file.name)
        if changed != text:
            chosen[-1].write_text(changed)
    return chosen if found else []


def never_called(generated, sdk):
    """The methods in a generated header that are in a conformance and match no method of its protocols, and the class's other
    extensions' methods that begin as one of these methods does."""
    asked = _asked(sdk)
    parts = [(name, re.findall(r"\w+", protocols), body) for name, protocols, body in CLASS.findall(generated.read_text())]
    known = {}
    for name, protocols, _ in parts:
        known.setdefault(name, set()).update(protocol for protocol in protocols if protocol in asked)
    for name, protocols, body in parts:
        here = sorted(known[name].intersection(protocols)) or sorted(known[name])
        wanted = set().union(*(_with_inherited(protocol, asked) for protocol in here))
        beginnings = {selector.split(":")[0] for selector in wanted if ":" in selector}
        for method in sorted({_selector(text) for text in METHOD.findall(body)} - wanted - INHERITED - OFFERED.get(name, set())):
            if known[name].intersection(protocols) or method.split(":")[0] in beginnings:
                yield f"error: {name} has {method}, which {', '.join(here)} never calls"


def _asked(sdk):
    """The protocols of the declared SDKs: what each inherits, and its methods."""
    asked = {}
    folders = [SDK] + ([sdk] if sdk else [])
    for header in (file for folder in folders for file in folder.rglob("*.h")):
        for name, inherited, body in PROTOCOL.findall(header.read_text()):
            asked[name] = (re.findall(r"\w+", inherited), {_selector(text) for text in METHOD.findall(body)})
    for interface in sdk.glob("*.swiftinterface") if sdk else []:
        for name, body in SWIFT_PROTOCOL.findall(interface.read_text()):
            asked[name] = ([], {_swift_selector(*method) for method in SWIFT_METHOD.findall(body)})
    return asked


def _with_inherited(protocol, asked):
    inherited, methods = asked.get(protocol, ([], set()))
    return methods.union(*(_with_inherited(name, asked) for name in inherited))


def _selector(declaration):
    """`- (BOOL)does:(id)this with:(id)that;` is `does:with:`."""
    text = MACRO.sub("", re.sub(r"^\s*[-+]\s*", "", declaration))
    while True:
        shorter = re.sub(r"\([^()]*\)", "", text)
        if shorter == text:
            break
        text = shorter
    labels = re.findall(r"(\w+)\s*:", text)
    return "".join(f"{label}:" for label in labels) or re.match(r"\s*(\w+)", text).group(1)


def _swift_selector(name, parameters):
    """The name that the compiler gives an `@objc` function: its first label is part of the name, after `With`."""
    labels = re.findall(r"(?:^|,)\s*(\w+)(?: \w+)?\s*:", parameters)
    if not labels:
        return name
    first = "" if labels[0] == "_" else labels[0][0].upper() + labels[0][1:] if name.endswith("With") else f"With{labels[0][0].upper()}{labels[0][1:]}"
    return f"{name}{first}:" + "".join(f"{'' if label == '_' else label}:" for label in labels[1:])
