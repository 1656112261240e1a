"""What hosts outside Swift see of LatchkeyBridge: the header that the compiler writes, latchkey.h, and the samples of Examples/Hosts."""

import re
import subprocess

from toolchain import HERE, ROOT, SDK, diagnostics

HEADER = ROOT / "Sources" / "LatchkeyBridge" / "include" / "latchkey.h"
SAMPLES = ROOT / "Examples" / "Hosts"
FUNCTION = re.compile(r"^[\w *]+\b(latchkey_\w+)\(([^;]*)\)[\w ]*;", re.M)


def functions(text):
    """The functions that a C header declares, each with the number of its parameters."""
    text = re.sub(r"//.*", "", text)
    return {name: 0 if parameters.strip() in ("", "void") else _count(parameters) for name, parameters in FUNCTION.findall(text)}


def _count(list_text):
    """How many parameters or arguments a list has: its commas outside of any bracket."""
    text, before = list_text, None
    while text != before:
        before, text = text, re.sub(r"\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>|\{[^{}]*\}|\"[^\"]*\"", "", text)
    return text.count(",") + 1 if list_text.strip() else 0


def bound(text):
    """The C functions that a sample binds or calls: names and numbers of arguments."""
    for match in re.finditer(r"\b(latchkey_\w+)\(", text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield match[1], _count(text[match.end():end - 1])


def bindings(declared, samples):
    """The problems of the samples' bindings. `declared` has the functions of latchkey.h, `samples` texts by name."""
    for name, text in samples.items():
        used = list(bound(text))
        if not used:
            yield f"error: {name} binds nothing of latchkey.h"
        for function, count in used:
            if function not in declared:
                yield f"error: {name}: latchkey.h has no {function}"
            elif declared[function] != count:
                yield f"error: {name}: {function} has {declared[function]} parameters, not {count}"


# Possible mistakes of a binding, and the number of problems.
BINDINGS = {
    "a C function that latchkey.h lacks": ("latchkey_keys_creat(a, b, c, d, e, f)", 1),
    "a C function with an argument too few": ("latchkey_keys_protect(keys, asset)", 1),
    "a sample that binds nothing": ("class Keys {}", 1),
    "a C function as declared": ("latchkey_keys_protect(keys, pointer(asset, [1, 2]), title)", 0),
}


def self_test():
    """What `bindings` does not find, or finds where nothing is wrong."""
    declared = functions(HEADER.read_text())
    return [name for name, (text, count) in BINDINGS.items() if len(list(bindings(declared, {"sample": text}))) != count]


def clang(toolchain, target, file, folders, flags=()):
    """Compiles a file of C or Objective-C, past its types; gives its diagnostics."""
    command = [
        str(toolchain.programs / "clang"), "-fsyntax-only", "-target", target, "-isysroot", str(SDK), "-F", str(SDK / "Frameworks"),
        *(f"-I{folder}" for folder in (SDK / "include", *folders)), "-Wall", "-Wno-nullability-completeness", *flags, str(file),
    ]
    answer = subprocess.run(command, capture_output=True, text=True)
    found = diagnostics(answer.stderr)
    return found or ([f"error: clang ended with status {answer.returncode}"] if answer.returncode else [])


def problems(toolchain, target, generated):
    """The problems; `generated` is the folder with LatchkeyBridge-Swift.h."""
    header = (generated / "LatchkeyBridge-Swift.h").read_text()
    declared, written = functions(HEADER.read_text()), functions(header)
    for name in sorted(set(declared) ^ set(written)):
        yield f"error: {name} is only in {'latchkey.h' if name in declared else 'Swift'}"
    # Both in one file: a type that differs is an error.
    both = generated / "both.m"
    both.write_text('#import <AVFoundation/AVFoundation.h>\n#include "latchkey.h"\n#import "LatchkeyBridge-Swift.h"\n')
    (generated / "module.modulemap").write_text('module LatchkeyBridge {\n  header "LatchkeyBridge-Swift.h"\n  export *\n}\n')
    objective_c = ["-x", "objective-c", "-fobjc-arc", "-fblocks", "-include", str(HERE / "Hosts" / "Literals.h")]
    yield from clang(toolchain, target, both, [HEADER.parent, generated, HERE / "Hosts"], objective_c)
    modules = ["-fmodules", f"-fmodules-cache-path={generated / 'cache'}", f"-fmodule-map-file={generated / 'module.modulemap'}"]
    for sample in sorted(SAMPLES.rglob("*.m")):
        yield from clang(toolchain, target, sample, [HERE / "Hosts"], objective_c + modules)
    for language in ("c", "c++"):
        yield from clang(toolchain, target, HEADER, [], ["-x", language, "-Wno-pragma-once-outside-header"])
    others = {file.name: file.read_text() for kind in ("Keys.kt", "Keys.cs") for file in sorted(SAMPLES.rglob(f"*{kind}"))}
    yield from bindings(declared, others)
